//! The window from the command line, and pictures of its pages without a display.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use clap::Args;

use super::ending::Refusal;
use super::run::run_in_terminal;
use super::terminal::complain;
use crate::ui::app::{WindowStart, begin, run_window};
use crate::ui::screenshot::picture_of;
use crate::workbench::explore::ExploreAction;
use crate::workbench::{Action, Stage, Workbench};
use atomscope_engine::session::{Theme, UserFolders};

/// How long a picture waits for its data and training.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// A picture of a page instead of the window.
#[derive(Debug, Args)]
pub(super) struct PictureArguments {
    /// Write a picture of a page instead of opening the window
    #[arg(long, value_name = "OUT.png")]
    screenshot: Option<PathBuf>,
    /// The page: records, features, split, learner, train, evaluate, explore, compare or live
    #[arg(long, requires = "screenshot", value_parser = page, default_value = "train")]
    page: Stage,
    /// Size in points
    #[arg(long, requires = "screenshot", value_name = "WxH", value_parser = size, default_value = "1600x1000")]
    size: (u16, u16),
    /// dark or light
    #[arg(long, requires = "screenshot", value_parser = theme, default_value = "dark")]
    theme: Theme,
    /// Pixels per point
    #[arg(long, requires = "screenshot", value_name = "N", default_value = "1", value_parser = scale)]
    scale: f32,
    /// Size of all text, 1 as usual
    #[arg(long, requires = "screenshot", value_name = "N", default_value = "1", value_parser = text_size)]
    text_size: f32,
    /// Train this many mini-batches of the first folds before
    #[arg(long, requires = "screenshot", value_name = "N", default_value = "40")]
    batches: usize,
}

fn page(text: &str) -> Result<Stage, String> {
    let is_it = |stage: &Stage| stage.name().eq_ignore_ascii_case(text);
    let names = Stage::ALL.map(|stage| stage.name().to_lowercase());
    Stage::ALL
        .into_iter()
        .find(is_it)
        .ok_or_else(|| format!("pages are {}", names.join(", ")))
}

fn size(text: &str) -> Result<(u16, u16), String> {
    let sides = text.split_once('x').and_then(|(width, height)| {
        let side = |text: &str| text.parse().ok().filter(|n| (320..=8192).contains(n));
        Some((side(width)?, side(height)?))
    });
    sides.ok_or_else(|| {
        "a size is WIDTHxHEIGHT with 320 to 8192 points each, such as 1600x1000".into()
    })
}

fn theme(text: &str) -> Result<Theme, String> {
    match text {
        "dark" => Ok(Theme::Dark),
        "light" => Ok(Theme::Light),
        _ => Err("themes are dark and light".into()),
    }
}

fn scale(text: &str) -> Result<f32, String> {
    let scale = text
        .parse()
        .ok()
        .filter(|scale| (0.5..=4.0).contains(scale));
    scale.ok_or_else(|| "a scale is 0.5 to 4".into())
}

fn text_size(text: &str) -> Result<f32, String> {
    let size = text.parse().ok().filter(|size| (0.5..=3.0).contains(size));
    size.ok_or_else(|| "a text size is 0.5 to 3".into())
}

/// The window, a picture of it, or where there is no display the terminal.
pub(super) fn open(path: Option<&Path>, picture: &PictureArguments) -> io::Result<ExitCode> {
    let beginning = match path {
        Some(path) => WindowStart::Open(path.to_owned()),
        None => WindowStart::Demo,
    };
    if let Some(out) = &picture.screenshot {
        return screenshot(out, beginning, picture);
    }
    let obstacle = match has_display() {
        true => run_window(beginning, UserFolders::find().ok())
            .err()
            .map(|error| error.to_string()),
        false => Some("there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)".into()),
    };
    match obstacle {
        None => Ok(ExitCode::SUCCESS),
        Some(reason) => {
            complain(format!(
                "the window cannot be opened, so this runs in the terminal: {reason}"
            ))?;
            run_in_terminal(path)
        }
    }
}

/// Whether a window can be expected to appear; other systems always have a display.
fn has_display() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

fn screenshot(
    out: &Path,
    beginning: WindowStart,
    picture: &PictureArguments,
) -> io::Result<ExitCode> {
    let (sender, woken) = channel();
    let wake = Arc::new(move || {
        // Nobody waits any more at the very end.
        sender.send(()).unwrap_or_default();
    });
    let mut workbench = Workbench::new(None, wake);
    let prepared = match explored_file(&beginning, picture) {
        Some(path) => {
            workbench.apply(Action::Explore(ExploreAction::OpenFile(path)));
            settle(&mut workbench, &woken)
        }
        None => {
            let opens_session = matches!(beginning, WindowStart::Open(_));
            begin(&mut workbench, beginning);
            workbench.apply(Action::LimitSpeed(None));
            prepare(&mut workbench, &woken, picture, opens_session)
        }
    };
    workbench.apply(Action::SetTheme(picture.theme));
    workbench.apply(Action::SetTextSize(picture.text_size));
    if let Err(message) = prepared {
        complain(message)?;
        return Ok(ExitCode::FAILURE);
    }
    let size = [picture.size.0, picture.size.1].map(f32::from);
    let is_dark = picture.theme == Theme::Dark;
    let drawn = picture_of(workbench, size, picture.scale, is_dark, || {
        // The result is shown by the next frame.
        woken
            .recv_timeout(Duration::from_millis(5))
            .unwrap_or_default();
    });
    let bytes = drawn.to_png().map_err(Refusal::from);
    match bytes.and_then(|bytes| Ok(fs::write(out, bytes)?)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(reason) => {
            complain(format!(
                "cannot write the picture: {reason}: {}",
                out.display()
            ))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// A recording that is only shown: its samples are not needed as data.
fn explored_file(beginning: &WindowStart, picture: &PictureArguments) -> Option<PathBuf> {
    match beginning {
        WindowStart::Open(path) if picture.page == Stage::Explore => {
            let is_session = path.extension().is_some_and(|ending| ending == "ron");
            (!is_session && !path.is_dir()).then(|| path.clone())
        }
        _ => None,
    }
}

/// Loads, trains as far as asked, and rests.
fn prepare(
    workbench: &mut Workbench,
    woken: &Receiver<()>,
    picture: &PictureArguments,
    opens_session: bool,
) -> Result<(), Refusal> {
    let wait = |workbench: &mut Workbench, done: &dyn Fn(&Workbench) -> bool| {
        wait_until(workbench, woken, done)
    };
    wait(workbench, &|workbench| workbench.loading_share().is_none())?;
    if workbench.data().loaded().is_none() {
        let notices = workbench.notices().list();
        let last = notices.last().map(|notice| notice.text.clone());
        return Err(last.as_deref().unwrap_or("nothing was loaded").into());
    }
    let has_run = workbench.training().run().is_some();
    if opens_session && !has_run && picture.batches > 0 {
        workbench.apply(Action::Start);
    }
    let n_batches = picture.batches;
    let is_far_enough = move |workbench: &Workbench| {
        let Some(run) = workbench.training().run() else {
            return n_batches == 0;
        };
        let trained = run.folds().map(|(_, part)| part.rounds.len()).max();
        !run.is_alive() || trained.unwrap_or(0) >= n_batches
    };
    wait(workbench, &is_far_enough)?;
    if workbench.training().is_alive() {
        workbench.apply(Action::Pause);
        let is_resting = |workbench: &Workbench| {
            let run = workbench.training().run();
            run.is_none_or(|run| run.status != atomscope_engine::experiment::Status::Running)
        };
        wait(workbench, &is_resting)?;
    }
    workbench.apply(Action::Show(picture.page));
    if picture.page == Stage::Records {
        workbench.apply(Action::LookAtRecord(0));
    }
    settle(workbench, woken)
}

/// Waits until something is so; an error of the data, the training or the recording ends it.
fn wait_until(
    workbench: &mut Workbench,
    woken: &Receiver<()>,
    done: &dyn Fn(&Workbench) -> bool,
) -> Result<(), Refusal> {
    let begun = Instant::now();
    loop {
        workbench.update();
        let errors = [
            workbench.data().error(),
            workbench.training().error(),
            workbench.explore().error(),
        ];
        if let Some(error) = errors.into_iter().flatten().next() {
            return Err(error.into());
        }
        if done(workbench) {
            return Ok(());
        }
        if begun.elapsed() > LONGEST_WAIT {
            return Err("the picture took too long to prepare".into());
        }
        // The result is looked at by the next update.
        woken
            .recv_timeout(Duration::from_millis(20))
            .unwrap_or_default();
    }
}

/// Waits for the work in the background, and puts the notices away.
fn settle(workbench: &mut Workbench, woken: &Receiver<()>) -> Result<(), Refusal> {
    wait_until(workbench, woken, &|workbench| !workbench.is_busy())?;
    let ids: Vec<u64> = workbench.notices().list().iter().map(|n| n.id).collect();
    for id in ids {
        workbench.apply(Action::DismissNotice(id));
    }
    Ok(())
}
