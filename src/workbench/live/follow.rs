//! The thread that follows a stream: reads, judges, records, saves, and draws a picture of it now and then.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::picture::PictureMaker;
use super::{LiveEvent, LiveOrder, Model, Request};
use crate::workbench::TaskError;
use crate::workbench::background::Post;
use crate::workbench::event::Event;
use atomscope_engine::experiment::JobProgress;
use atomscope_engine::session::Session;
use atomscope_engine::stream::{
    Arrival, Feed, Outcome, Paced, StreamError, StreamRun, StreamSource, judge_for, open_source,
};

/// Arrivals that may wait to be judged.
const QUEUE: usize = 4096;
/// A file of a folder counts when it has not changed for so long.
const REST: Duration = Duration::from_secs(1);
/// Pictures are drawn no more often.
const PICTURE_EVERY: Duration = Duration::from_millis(40);
/// How long an arrival is waited for before requests are looked at.
const PATIENCE: Duration = Duration::from_millis(10);

/// Follows a stream until it ends or is told to.
pub(super) fn follow(order: LiveOrder, post: &Post, job: &JobProgress) -> Result<(), TaskError> {
    let session = match &order.session {
        Model::Open(session) => session.as_ref().clone(),
        Model::File(path) => Session::load(path)?,
    };
    if let Some(damage) = &session.damage {
        return Err(TaskError::Refused(damage.to_string()));
    }
    let state_path = order.state_path.as_deref();
    let made = judge_for(&session, &order.source, state_path, order.learning)?;
    let (mut judge, notes) =
        made.ok_or_else(|| TaskError::refused("the session holds no final model: train one"))?;
    let source: Box<dyn StreamSource> = open_source(&order.source, &mut judge, REST)?;
    let source = match order.speed {
        Some(speed) => Box::new(Paced::new(source, speed)),
        None => source,
    };
    let mut run = StreamRun::new(judge, order.state_path.clone());
    // The first state shows at once whether it can be saved.
    run.save()?;
    let picture = PictureMaker::new(&order.source, &run, notes);
    let feed = Feed::start(source, QUEUE);
    let mut following = Following {
        order: &order,
        post,
        run,
        picture,
        last_picture: Instant::now(),
    };
    let followed = following.go_on(&feed, job);
    following.end(&feed, followed)
}

/// A stream that is followed.
struct Following<'a> {
    order: &'a LiveOrder,
    post: &'a Post,
    run: StreamRun,
    picture: PictureMaker,
    last_picture: Instant,
}

impl Following<'_> {
    fn go_on(&mut self, feed: &Feed, job: &JobProgress) -> Result<(), StreamError> {
        while job.go_on(0.0) {
            while let Ok(request) = self.order.requests.try_recv() {
                self.answer(request);
            }
            let arrived = feed.next(PATIENCE);
            let since = arrived.iter().flatten().map(|timed| timed.since).next();
            for timed in arrived.iter().flatten() {
                self.picture.came(&timed.arrival);
            }
            let mut outcome = Outcome::default();
            let taken = self.run.take_all(arrived, &mut outcome);
            if let Some(since) = since {
                self.picture.take(&self.run, outcome, since);
            }
            if !taken? {
                break;
            }
            if let Some(note) = self.run.save_when_due() {
                self.picture.note(note);
            }
            if self.last_picture.elapsed() >= PICTURE_EVERY {
                self.show(feed, false);
            }
        }
        Ok(())
    }

    fn answer(&mut self, request: Request) {
        let run = &mut self.run;
        let answered = match request {
            Request::Record(folder) => run.record(&folder),
            Request::EndRecording => run.end_recording(),
            Request::Acknowledge(path, is_seen) => {
                run.judge.state.files.acknowledge(&path, is_seen);
                Ok(())
            }
            Request::Label(path, class) => {
                let mut outcome = Outcome::default();
                let label = Arrival::Label { path, class };
                let taken = run.judge.take(label, &mut outcome);
                self.picture.take(run, outcome, Instant::now());
                taken
            }
            Request::ApplyProposal(place) => run.judge.apply_proposal(place).map(|done| {
                done.into_iter().for_each(|text| self.picture.note(text));
            }),
            Request::DismissAlarm(place) => {
                run.judge.dismiss_alarm(place);
                Ok(())
            }
        };
        if let Err(error) = answered {
            self.picture.note(error.to_string());
        }
        self.run.has_changed();
        self.picture.has_changed();
    }

    /// Draws a picture if the last one was looked at; the end is shown in any case.
    fn show(&mut self, feed: &Feed, is_over: bool) {
        let mut slot = self
            .order
            .slot
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !is_over && (slot.is_some() || !self.picture.is_news(feed.n_lost())) {
            return;
        }
        self.last_picture = Instant::now();
        *slot = Some(self.picture.view(&self.run, feed.n_lost(), is_over));
        drop(slot);
        self.post.send(Event::Live(LiveEvent::Seen));
    }

    /// What was recorded and learned is kept, however it ended.
    fn end(mut self, feed: &Feed, followed: Result<(), StreamError>) -> Result<(), TaskError> {
        let recorded = self.run.end_recording();
        let saved = self.run.save();
        self.show(feed, true);
        followed?;
        recorded?;
        Ok(saved?)
    }
}
