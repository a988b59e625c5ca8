//! The heartbeat of a worker: a small file that it writes again and again, by which others know
//! that it lives.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::error::ClusterError;
use super::folder::{WorkFolder, remove};
use crate::session::to_text;

/// How often a worker shows that it lives.
pub(super) const BEAT_EVERY: Duration = Duration::from_secs(5);
/// After this long without a heartbeat a worker on another machine counts as dead.
pub(super) const DEAD_AFTER: Duration = Duration::from_secs(90);

/// What a worker says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Beat {
    pub(super) host: String,
    /// The process, where its machine can look it up.
    process: Option<Process>,
    /// The point it works on, from 0.
    pub(super) point: Option<usize>,
    /// How long it has been at the point.
    pub(super) point_s: f64,
    /// Points it has finished.
    pub(super) n_done: usize,
    /// How long it was at points, the one at hand included: waiting, as in a pause, is not work.
    pub(super) up_s: f64,
}

/// A process that can be told from all others, also from a later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Process {
    /// The start of the machine, and the space in which its processes are numbered.
    machine: String,
    id: u32,
    /// When it began, in ticks of its machine.
    began: u64,
}

impl Process {
    /// This process; nothing where the system does not say (only Linux does).
    fn own() -> Option<Self> {
        let id = std::process::id();
        Some(Self {
            machine: machine()?,
            id,
            began: beginning_of(id)?,
        })
    }

    /// Whether it is surely gone: it was on this machine, and is no more.
    fn is_gone(&self) -> bool {
        machine().is_some_and(|here| here == self.machine)
            && beginning_of(self.id) != Some(self.began)
    }
}

fn machine() -> Option<String> {
    let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", start.trim(), space.display()))
}

/// When a process began; nothing if there is none or it has ended and only waits to be counted.
fn beginning_of(id: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    match fields.next()? {
        "Z" | "X" => None,
        // Field 22 of the line; the state was field 3.
        _ => fields.nth(18)?.parse().ok(),
    }
}

/// Host and number of this process, for names of files.
pub(super) fn own_process() -> String {
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || ".-_".contains(*c);
    let host: String = host.chars().filter(is_plain).collect();
    format!("{host}-{}", std::process::id())
}

/// The heartbeat of this worker.
pub(super) struct Heart<'a> {
    folder: &'a WorkFolder,
    /// Its name, unlike that of any other worker at any time.
    pub(super) name: String,
    now: Mutex<Now>,
}

struct Now {
    point: Option<usize>,
    since: Instant,
    n_done: usize,
    /// How long it was at points before this one.
    worked: Duration,
}

impl Now {
    /// How long it was at points.
    fn worked(&self) -> Duration {
        let at_this = self.point.map(|_| self.since.elapsed());
        self.worked + at_this.unwrap_or_default()
    }
}

impl<'a> Heart<'a> {
    /// Begins to beat.
    pub(super) fn start(folder: &'a WorkFolder) -> Result<Self, ClusterError> {
        static N_HEARTS: AtomicU64 = AtomicU64::new(0);
        let number = N_HEARTS.fetch_add(1, Ordering::Relaxed);
        let moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let moment = moment.map_or(0, |since| since.as_millis());
        let heart = Self {
            folder,
            name: format!("{}-{number}-{moment}", own_process()),
            now: Mutex::new(Now {
                point: None,
                since: Instant::now(),
                n_done: 0,
                worked: Duration::ZERO,
            }),
        };
        heart.beat()?;
        Ok(heart)
    }

    /// Notes on which point it works.
    pub(super) fn work_on(&self, point: Option<usize>, has_finished: bool) {
        if let Ok(mut now) = self.now.lock() {
            now.worked = now.worked();
            (now.point, now.since) = (point, Instant::now());
            now.n_done += usize::from(has_finished);
        }
    }

    /// Beats once. The file need not outlive a power cut, so it is not forced to the disk.
    pub(super) fn beat(&self) -> Result<(), ClusterError> {
        let path = self.folder.worker_path(&self.name);
        let Ok(now) = self.now.lock() else {
            return Ok(());
        };
        let beat = Beat {
            host: gethostname::gethostname().to_string_lossy().into_owned(),
            process: Process::own(),
            point: now.point,
            point_s: now.since.elapsed().as_secs_f64(),
            n_done: now.n_done,
            up_s: now.worked().as_secs_f64(),
        };
        let staged = self.folder.inner(&format!(".beat-{}", self.name));
        fs::write(&staged, to_text(&beat, &path)?)
            .and_then(|()| fs::rename(&staged, &path))
            .map_err(|error| ClusterError::io("write the heartbeat", &path, error))
    }
}

impl Drop for Heart<'_> {
    fn drop(&mut self) {
        // Where that fails it grows old and counts as dead.
        drop(remove(&self.folder.worker_path(&self.name)));
    }
}

/// What is known of a worker.
pub(super) enum Life {
    /// It lives; with what it said, and how long ago.
    Alive(Beat, Duration),
    Dead,
}

/// How far two times of the file server lie apart. A file from the future, as where its clock was set back, would
/// otherwise not grow old until then; a worker that lives writes a new time within seconds.
pub(super) fn apart(now: SystemTime, written: SystemTime) -> Duration {
    let since = now.duration_since(written);
    since.unwrap_or_else(|ahead| ahead.duration())
}

/// Whether a worker lives, at a moment of the file server.
pub(super) fn life_of(folder: &WorkFolder, worker: &str, now: SystemTime) -> Life {
    let path = folder.worker_path(worker);
    // Opened, not only asked for: that shows the newest times on NFS too.
    let written = fs::File::open(&path).and_then(|file| file.metadata()?.modified());
    let (Ok(written), Some(beat)) = (written, folder.read::<Beat>(&path)) else {
        return Life::Dead;
    };
    let age = apart(now, written);
    let is_gone = beat.process.as_ref().is_some_and(Process::is_gone);
    match is_gone || age > DEAD_AFTER {
        true => Life::Dead,
        false => Life::Alive(beat, age),
    }
}
