//! The window driven at random on every page, with data and without: no panic, no frame that takes too long.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use atomscope::ui::app::App;
use atomscope::ui::offscreen::Offscreen;
use atomscope::workbench::{Action, Stage, Workbench};
use cpu_time::ThreadTime;
use egui::{
    DroppedFile, Event, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, Theme, ViewportId,
    ViewportInfo, vec2,
};
use rand::RngExt;

use super::Attack;
use super::small_run::{saved_session, write_table};

/// Most CPU time of a frame.
const LONGEST: Duration = Duration::from_millis(100);
/// Actions of one window.
const N_ACTIONS: usize = 400;

pub(super) fn run(attack: &mut Attack) {
    let (folder, session) = saved_session(3);
    let files = hostile_files(folder.path(), session);
    let mut page = 0;
    while attack.goes_on() {
        page = (page + 1) % Stage::ALL.len();
        attack.one(Stage::ALL[page].name(), |attack| {
            drive(attack, Stage::ALL[page], &files)
        });
    }
}

/// A session, a table, tables nobody would wish for and a file that is none.
fn hostile_files(folder: &Path, session: PathBuf) -> Vec<PathBuf> {
    let table = folder.join("table.csv");
    write_table(&table);
    let mut files = vec![session, table];
    for (name, text) in [
        ("empty.csv", ""),
        ("words.csv", "a,b\nx,y\n"),
        ("huge.csv", "a,b,class\n1e300,-1e300,x\ninf,0,y\n1,nan,x\n"),
        (
            "long.csv",
            "\u{5e9}\u{202e}\u{1b}[2J,class\n1,\u{645}\n2,x\n",
        ),
        ("none.edf", "no recording at all"),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        files.push(path);
    }
    files
}

/// A file as the system hands it over.
#[derive(Debug)]
struct Dropped(PathBuf);

impl DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

struct Monkey {
    app: App,
    window: Offscreen,
    size: egui::Vec2,
    seconds: f64,
    /// Files that fall onto the next frame.
    dropped: Vec<Arc<dyn DroppedFile + Send + Sync>>,
}

impl Monkey {
    fn frame(&mut self, events: Vec<Event>) -> Duration {
        self.seconds += 1.0 / 60.0;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            time: Some(self.seconds),
            focused: true,
            events,
            dropped_files: std::mem::take(&mut self.dropped),
            ..RawInput::default()
        };
        let begun = ThreadTime::now();
        let (app, context) = (&mut self.app, self.window.context.clone());
        let output = context.run_ui(input, |ui| app.frame(ui));
        let _drawn = context.tessellate(output.shapes, 1.0);
        begun.elapsed()
    }
}

impl Monkey {
    /// A file falls onto the window. What is unsaved is not given up before the user has said so.
    fn drop_file(&mut self, path: &Path) -> Result<(), String> {
        // Unlike any before: what the user has given up once may go.
        let mine = format!("written at {}", self.seconds);
        let mut draft = self.app.workbench().draft().clone();
        draft.notes.clone_from(&mine);
        self.app.workbench_mut().edit(draft, false);
        self.dropped = vec![Arc::new(Dropped(path.to_owned()))];
        for _ in 0..3 {
            self.frame(Vec::new());
            self.app.workbench_mut().update();
        }
        if self.app.workbench().draft().notes != mine {
            let path = path.display();
            return Err(format!("unsaved work is gone without a question: {path}"));
        }
        self.app.workbench_mut().apply(Action::DoNotSave);
        Ok(())
    }

    /// A look at the window while it is minimised: only the logic runs.
    fn minimised(&mut self) {
        let info = ViewportInfo {
            minimized: Some(true),
            ..ViewportInfo::default()
        };
        let mut input = RawInput::default();
        input.viewports.insert(ViewportId::ROOT, info);
        let context = self.window.context.clone();
        drop(context.run_logic(&input, |context| self.app.attend(context)));
    }
}

fn drive(attack: &mut Attack, page: Stage, files: &[PathBuf]) -> Result<(), String> {
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Show(page));
    let size = vec2(1280.0, 800.0);
    let mut monkey = Monkey {
        app: App::new(workbench, false),
        window: Offscreen::new(size, 1.0, Theme::Dark),
        size,
        seconds: 0.0,
        dropped: Vec::new(),
    };
    // The first frames load fonts and pictures.
    for _ in 0..5 {
        monkey.frame(Vec::new());
    }
    let mut slowest = Duration::ZERO;
    let begun = Instant::now();
    for number in 0..N_ACTIONS {
        let at = Pos2::new(
            attack.random.random_range(0.0..monkey.size.x),
            attack.random.random_range(0.0..monkey.size.y),
        );
        let events = match attack.below(20) {
            0..=9 => click(at),
            10..=13 => key(attack),
            14 => vec![Event::Text(
                ["0", "-1", "1e9", "\u{1b}", "x y", "\u{5e9}"][attack.below(6)].to_owned(),
            )],
            15 => vec![
                Event::PointerMoved(at),
                Event::Zoom(0.5 + attack.below(4) as f32),
            ],
            16 => {
                monkey.drop_file(&files[attack.below(files.len())])?;
                Vec::new()
            }
            17 => {
                let sides = [
                    (320.0, 200.0),
                    (1.0, 1.0),
                    (1920.0, 1080.0),
                    (1280.0, 800.0),
                ];
                let (width, height) = sides[attack.below(sides.len())];
                monkey.size = vec2(width, height);
                Vec::new()
            }
            18 => {
                monkey.app.workbench_mut().apply(Action::Show(page));
                Vec::new()
            }
            19 if attack.below(4) == 0 => {
                monkey.minimised();
                Vec::new()
            }
            _ => vec![Event::PointerMoved(at)],
        };
        for events in [events, Vec::new()] {
            let took = monkey.frame(events);
            slowest = slowest.max(took);
        }
        // What was asked for in the background goes on for a moment.
        if number.is_multiple_of(40) && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    attack.count_more(N_ACTIONS as u64 - 1);
    match slowest < LONGEST {
        true => Ok(()),
        false => Err(format!(
            "a frame took {slowest:?} of CPU on {}",
            page.name()
        )),
    }
}

fn click(at: Pos2) -> Vec<Event> {
    let button = |pressed| Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    vec![Event::PointerMoved(at), button(true), button(false)]
}

fn key(attack: &mut Attack) -> Vec<Event> {
    const KEYS: [Key; 14] = [
        Key::Tab,
        Key::Enter,
        Key::Space,
        Key::Escape,
        Key::ArrowLeft,
        Key::ArrowRight,
        Key::ArrowUp,
        Key::ArrowDown,
        Key::Home,
        Key::End,
        Key::PageDown,
        Key::Z,
        Key::F11,
        Key::Delete,
    ];
    let key = KEYS[attack.below(KEYS.len())];
    let modifiers = [Modifiers::NONE, Modifiers::CTRL, Modifiers::SHIFT][attack.below(3)];
    let event = |pressed| Event::Key {
        key,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers,
    };
    vec![event(true), event(false)]
}
