//! The real program in a real window, on a virtual display where one can be had.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A virtual display, ended with the test.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// A display on a free number; none where there is no Xvfb.
    fn start() -> Option<Self> {
        let mut server = Command::new("Xvfb")
            // Otherwise it begins anew, and refuses whoever comes, when the last of its clients has gone.
            .args(["-displayfd", "1", "-noreset", "-screen", "0", "1280x800x24"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut number = String::new();
        let output = server.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut number).ok()?;
        let name = format!(":{}", number.trim());
        Some(Self { server, name })
    }

    /// What xdotool answers, if it can do what it is told.
    fn tool(&self, arguments: &[&str]) -> Option<String> {
        let told = Command::new("xdotool")
            .args(arguments)
            .env("DISPLAY", &self.name)
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&told.stdout).trim().to_owned();
        told.status.success().then_some(text)
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.server.kill().unwrap_or_default();
        drop(self.server.wait());
    }
}

/// Asks again until there is an answer.
fn until<T>(limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    None
}

fn program(display: &Display, settings: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_atomscope"))
        .env("DISPLAY", &display.name)
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .env("ATOMSCOPE_CONFIG_DIR", settings)
        .env_remove("WAYLAND_DISPLAY")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Processor time of a process so far, in ticks (hundredths of a second).
fn ticks(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    // The name in brackets may hold spaces; user and system time are the 12th and 13th after it.
    let after = text.rsplit(')').next().unwrap_or("");
    let fields: Vec<&str> = after.split_whitespace().collect();
    let number = |place: usize| {
        fields
            .get(place)
            .and_then(|field| field.parse::<u64>().ok())
    };
    number(11)
        .zip(number(12))
        .map_or(0, |(user, system)| user + system)
}

/// Whether a window that nothing happens in costs nothing: at most a tick in five seconds. What
/// was just shown (a notice, a tooltip) may still have to go away, so it is asked several times.
fn comes_to_rest(process: u32) -> bool {
    (0..8).any(|_| {
        let before = ticks(process);
        std::thread::sleep(Duration::from_secs(5));
        ticks(process) - before <= 1
    })
}

#[test]
fn the_window_opens_is_driven_by_mouse_and_keys_and_closes_with_status_0() {
    let is_there = |tool: &str| Command::new(tool).arg("-version").output().is_ok();
    if !is_there("Xvfb") || !is_there("xdotool") {
        eprintln!("skipped: Xvfb and xdotool are not both installed");
        return;
    }
    let display = Display::start().expect("Xvfb starts");
    let settings = tempfile::tempdir().expect("a folder");
    let mut program = program(&display, settings.path());
    let limit = Duration::from_secs(60);
    let window = until(limit, || {
        let found = display.tool(&["search", "--name", "^Atomscope"])?;
        found.lines().next().map(str::to_owned)
    });
    let Some(window) = window else {
        program.kill().unwrap_or_default();
        let output = program.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        panic!("no window appeared: {said}");
    };
    let do_it = |arguments: &[&str]| {
        let done = display.tool(arguments);
        assert!(done.is_some(), "xdotool {arguments:?} fails");
        std::thread::sleep(Duration::from_millis(200));
    };
    // A window can have the focus only once it is shown.
    let focused = until(limit, || display.tool(&["windowfocus", &window]));
    assert!(focused.is_some(), "the window cannot be given the focus");
    for page in ["1", "2", "3", "4", "6", "5"] {
        do_it(&["key", page]);
    }
    // Start or pause, then the list of stages by mouse.
    do_it(&["key", "space"]);
    do_it(&["mousemove", "100", "260", "click", "1"]);
    assert!(
        program.try_wait().expect("it is ours").is_none(),
        "it ended"
    );
    do_it(&["key", "Escape"]);
    assert!(
        comes_to_rest(program.id()),
        "the window is drawn although nothing happens"
    );
    let title = display.tool(&["getwindowname", &window]);
    assert!(title.is_some_and(|title| title.starts_with("Atomscope")));
    do_it(&["key", "ctrl+q"]);
    let status = until(Duration::from_secs(20), || {
        program.try_wait().expect("it is ours")
    });
    if status.is_none() {
        program.kill().unwrap_or_default();
    }
    let status = status.expect("it closes when told to");
    assert_eq!(status.code(), Some(0));
}
