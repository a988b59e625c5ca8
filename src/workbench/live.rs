//! Live: a trained model on a stream, followed in the background; the page reads one bounded picture of it.

mod follow;
mod picture;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::background::{Answer, Background};
use super::event::Event;
use super::notices::Topic;
use super::{Gravity, Workbench};
use atomscope_engine::evaluation::FasterForgetting;
use atomscope_engine::export::write;
use atomscope_engine::session::Session;
use atomscope_engine::stream::{
    Delays, InboxQuery, Learning, LslStream, SavedStream, export_recorded, find_lsl_streams,
};

pub use picture::{LiveAlarm, LiveScore, LiveTraces, LiveView, ShownDecision};

/// Where a stream comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceKind {
    /// A folder that fills.
    #[default]
    Folder,
    /// A recording that is still being written, or any file.
    File,
    /// A stream of the Lab Streaming Layer.
    Lsl,
    /// A recorded stream or a recording, as slowly as it was made.
    Replay,
}

impl SourceKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Folder, Self::File, Self::Lsl, Self::Replay];

    /// The kind in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Folder => "Folder",
            Self::File => "Growing file",
            Self::Lsl => "LSL",
            Self::Replay => "Replay",
        }
    }
}

/// What is filled in before a stream begins.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveForm {
    /// A session in a file; none for the one that is open.
    pub model: Option<PathBuf>,
    /// Kind of source.
    pub kind: SourceKind,
    /// Its path, or the name of the stream.
    pub place: String,
    /// How much faster than it was made a recording is replayed.
    pub speed: f64,
    /// Whether it learns where labels come.
    pub learns: bool,
    /// λ of every mini-batch.
    pub forgetting: f64,
    /// Whether alarms that say that decisions have become worse are answered by the proposal at once.
    pub follows_rule: bool,
}

impl Default for LiveForm {
    fn default() -> Self {
        Self {
            model: None,
            kind: SourceKind::default(),
            place: String::new(),
            speed: 1.0,
            learns: false,
            forgetting: 0.98,
            follows_rule: false,
        }
    }
}

impl LiveForm {
    /// The source as the terminal names it.
    pub fn source(&self) -> String {
        let place = self.place.trim();
        match self.kind {
            SourceKind::Lsl => format!("lsl:{place}"),
            _ => place.to_owned(),
        }
    }

    pub(super) fn learning(&self) -> Option<Learning> {
        let forgetting = self.forgetting.clamp(0.5, 1.0);
        self.learns.then(|| Learning {
            forgetting: Some(forgetting),
            on_alarm: self
                .follows_rule
                .then(|| FasterForgetting::proposed(forgetting)),
        })
    }
}

/// Something on the Live page.
#[derive(Clone, Debug)]
pub enum LiveAction {
    /// Fills in what is to be followed.
    Edit(LiveForm),
    /// Chooses the path of the source.
    ChoosePlace(PathBuf),
    /// Chooses a session in a file, or the open one.
    ChooseModel(Option<PathBuf>),
    /// Looks for streams of the Lab Streaming Layer.
    FindStreams,
    /// Begins.
    Start,
    /// Ends; the state is saved.
    Stop,
    /// Freezes the display while the stream continues, or follows it again.
    Hold,
    /// Records into a new folder.
    Record(PathBuf),
    /// Ends the recording.
    EndRecording,
    /// Filters and sorts the files.
    Query(InboxQuery),
    /// Somebody has seen a file, or has not.
    Acknowledge(PathBuf, bool),
    /// Says what class a file has.
    Label(PathBuf, String),
    /// Does what is proposed about an alarm, by its place.
    ApplyProposal(usize),
    /// The alarm has no consequences.
    DismissAlarm(usize),
    /// Writes the files as a table.
    ExportInbox(PathBuf),
    /// Writes the last recording as EDF+.
    ExportRecorded(PathBuf),
}

/// What the background tells about the stream.
pub(super) enum LiveEvent {
    /// There is a new picture.
    Seen,
    /// It is over.
    Ended(Answer<()>),
    /// Streams that answered.
    Found(Answer<Vec<LslStream>>),
}

/// What is asked of the stream while it runs.
enum Request {
    Record(PathBuf),
    EndRecording,
    Acknowledge(PathBuf, bool),
    Label(PathBuf, String),
    ApplyProposal(usize),
    DismissAlarm(usize),
}

/// The newest picture that nobody has looked at yet.
type ViewSlot = Arc<Mutex<Option<LiveView>>>;

/// What is to be followed.
struct LiveOrder {
    session: Model,
    source: String,
    /// So many times the pace of its time; none: as fast as it comes.
    speed: Option<f64>,
    state_path: Option<PathBuf>,
    learning: Option<Learning>,
    requests: Receiver<Request>,
    slot: ViewSlot,
}

enum Model {
    Open(Box<Session>),
    File(PathBuf),
}

/// The Live page.
#[derive(Default)]
pub struct LiveStage {
    form: LiveForm,
    query: InboxQuery,
    following: Background<(), ()>,
    finding: Background<(), Vec<LslStream>>,
    requests: Option<Sender<Request>>,
    slot: ViewSlot,
    view: Option<Arc<LiveView>>,
    is_held: bool,
    /// When it was last no longer held: what came before was not shown on purpose.
    released: Option<Instant>,
    delays: Delays,
    n_alarms_told: usize,
    /// The folder that was recorded into last.
    recorded: Option<PathBuf>,
    problem: Option<String>,
}

impl LiveStage {
    /// What is filled in.
    pub fn form(&self) -> &LiveForm {
        &self.form
    }

    /// How files are filtered and sorted.
    pub fn query(&self) -> &InboxQuery {
        &self.query
    }

    /// The stream as it is shown; none before the first.
    pub fn view(&self) -> Option<&Arc<LiveView>> {
        self.view.as_ref()
    }

    /// Whether a stream is followed.
    pub fn is_running(&self) -> bool {
        self.following.is_busy()
    }

    /// Whether the picture is frozen while the stream continues.
    pub fn is_held(&self) -> bool {
        self.is_held
    }

    /// Why the last stream ended or did not begin.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Streams of the Lab Streaming Layer that answered last.
    pub fn found(&self) -> Option<&[LslStream]> {
        self.finding.shown().map(|found| found.as_slice())
    }

    /// Why none could be looked for: where the library can be had.
    pub fn finding_problem(&self) -> Option<&str> {
        self.finding.failure()
    }

    /// Whether streams are being looked for.
    pub fn is_finding(&self) -> bool {
        self.finding.is_busy()
    }

    /// The folder that was recorded into last.
    pub fn recorded(&self) -> Option<&Path> {
        self.recorded.as_deref()
    }

    /// Time from a sample that came in to the frame that showed its decision, at a share of them.
    pub fn shown_delay_s(&self, share: f64) -> Option<f64> {
        self.delays.at(share)
    }

    /// Asks the stream to end; its state is saved.
    pub(super) fn stop(&mut self) {
        self.following.cancel();
    }

    fn ask(&self, request: Request) {
        if let Some(requests) = &self.requests {
            // A stream that has just ended takes no more orders.
            drop(requests.send(request));
        }
    }
}

impl Workbench {
    /// The Live page.
    pub fn live(&self) -> &LiveStage {
        &self.tasks.live
    }

    /// Why no stream can be followed; nothing if one can.
    pub fn live_obstacle(&self) -> Option<String> {
        let form = &self.tasks.live.form;
        if form.model.is_none() && !self.has_trained_model() {
            let text = "the open session has no final model: train one (Run menu), or choose a trained session";
            return Some(text.to_owned());
        }
        match (form.place.trim().is_empty(), form.kind) {
            (false, _) => None,
            (true, SourceKind::Lsl) => Some("choose a stream: Find streams lists them".to_owned()),
            (true, _) => Some("choose the path of the source".to_owned()),
        }
    }

    fn has_trained_model(&self) -> bool {
        let state = self.document.training.state();
        state.is_some_and(|run| run.final_model().is_some())
    }

    pub(super) fn handle_live(&mut self, event: LiveEvent) {
        match event {
            LiveEvent::Seen => self.take_picture(),
            LiveEvent::Found(answer) => drop(self.tasks.live.finding.take(answer)),
            LiveEvent::Ended(answer) => {
                let ended = self.tasks.live.following.take_once(answer);
                self.take_picture();
                self.tasks.live.requests = None;
                if let Some(Err(error)) = ended {
                    self.tasks.live.problem = Some(error.to_string());
                    self.notices.fail(Topic::Live, &error);
                }
            }
        }
    }

    /// Takes over the newest picture, unless what is shown is held.
    fn take_picture(&mut self) {
        let live = &mut self.tasks.live;
        if live.is_held {
            return;
        }
        let newest = live.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(view) = { newest }.take() else {
            return;
        };
        let is_late = |since: &&Instant| Some(**since) >= live.released;
        for since in view.fresh.iter().filter(is_late) {
            live.delays.add(since.elapsed().as_secs_f64());
        }
        if let Some(folder) = &view.recording {
            live.recorded = Some(folder.clone());
        }
        for alarm in view.alarms.iter().filter(|a| a.place >= live.n_alarms_told) {
            let text = match &alarm.proposal {
                Some(proposal) => format!("{} Proposed: {proposal}", alarm.sentence),
                None => alarm.sentence.clone(),
            };
            self.notices.post(Topic::Live, Gravity::Note, text);
        }
        let newest = view.alarms.iter().map(|alarm| alarm.place + 1).max();
        live.n_alarms_told = newest.unwrap_or(0).max(live.n_alarms_told);
        live.view = Some(Arc::new(view));
    }

    pub(super) fn apply_live(&mut self, action: LiveAction) {
        let live = &mut self.tasks.live;
        match action {
            LiveAction::Edit(form) => live.form = form,
            LiveAction::ChoosePlace(path) => {
                live.form.place = path.display().to_string();
                self.selection.ask = None;
            }
            LiveAction::ChooseModel(model) => {
                live.form.model = model;
                self.selection.ask = None;
            }
            LiveAction::FindStreams => {
                let wrap = |answer| Event::Live(LiveEvent::Found(answer));
                let on = (&self.tasks.post, "finding streams", wrap as _);
                live.finding.start((), on, |_| Ok(find_lsl_streams()?));
            }
            LiveAction::Start => self.begin_live(),
            LiveAction::Stop => live.stop(),
            LiveAction::Hold => {
                live.is_held = !live.is_held;
                live.released = (!live.is_held).then(Instant::now);
                self.take_picture();
            }
            LiveAction::Record(folder) => {
                self.selection.ask = None;
                live.ask(Request::Record(folder));
            }
            LiveAction::EndRecording => live.ask(Request::EndRecording),
            LiveAction::Query(query) => live.query = query,
            LiveAction::Acknowledge(path, is_seen) => live.ask(Request::Acknowledge(path, is_seen)),
            LiveAction::Label(path, class) => live.ask(Request::Label(path, class)),
            LiveAction::ApplyProposal(place) => live.ask(Request::ApplyProposal(place)),
            LiveAction::DismissAlarm(place) => live.ask(Request::DismissAlarm(place)),
            LiveAction::ExportInbox(path) => self.export_inbox(path),
            LiveAction::ExportRecorded(path) => self.export_recorded(path),
        }
    }

    fn begin_live(&mut self) {
        if self.tasks.live.is_running() || self.live_obstacle().is_some() {
            return;
        }
        self.notices.forget(Topic::Live);
        let source = self.tasks.live.form.source();
        let model_path = match &self.tasks.live.form.model {
            Some(path) => Some(path.clone()),
            None => self.document.path().map(Path::to_owned),
        };
        let session = match &self.tasks.live.form.model {
            Some(path) => Model::File(path.clone()),
            None => Model::Open(Box::new(self.document.to_session(String::new()))),
        };
        let live = &mut self.tasks.live;
        let (sender, requests) = channel();
        live.slot = ViewSlot::default();
        (live.requests, live.view, live.problem) = (Some(sender), None, None);
        (live.is_held, live.delays, live.n_alarms_told) = (false, Delays::default(), 0);
        let order = LiveOrder {
            session,
            speed: (live.form.kind == SourceKind::Replay)
                .then_some(live.form.speed.clamp(0.1, 1000.0)),
            state_path: model_path.map(|path| SavedStream::usual_place(&path, &source)),
            source,
            learning: live.form.learning(),
            requests,
            slot: live.slot.clone(),
        };
        let wrap = |answer| Event::Live(LiveEvent::Ended(answer));
        let on = (&self.tasks.post, "live", wrap as _);
        let post = self.tasks.post.clone();
        live.following
            .start((), on, move |job| follow::follow(order, &post, job));
    }

    fn export_inbox(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let live = &self.tasks.live;
        let Some(view) = live.view.clone() else {
            return;
        };
        let query = live.query.clone();
        let on = (&self.tasks.post, "exporting", Event::Exported as _);
        self.tasks.exporting.start((), on, move |_| {
            write(&path, view.inbox.csv(&query).as_bytes())?;
            Ok(path)
        });
    }

    fn export_recorded(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let Some(folder) = self.tasks.live.recorded.clone() else {
            return;
        };
        let on = (&self.tasks.post, "exporting", Event::Exported as _);
        self.tasks.exporting.start((), on, move |_| {
            export_recorded(&folder, &path)?;
            Ok(path)
        });
    }
}
