//! The script of the workers, and the calls of Slurm: submit, requeue, cancel.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::error::ClusterError;
use super::folder::WorkFolder;
use crate::session::{RealDisk, replace_file};

const SCRIPT_NAME: &str = "job.sh";
/// Jobs that were submitted from a folder, one small file each.
const JOB_START: &str = "job-";
/// Seconds before the limit at which a worker is warned.
const WARNING_S: u64 = 90;
/// Slurm warns up to a minute early, so that with a short limit a worker would stop before it has
/// begun; there the signal that precedes the end by half a minute has to do.
const LEAST_WARNED_S: u64 = 600;

/// What is asked of the scheduler.
#[derive(Clone, Debug, Default)]
pub struct JobRequest {
    /// The program, by its full path.
    pub program: PathBuf,
    /// Name of the job.
    pub name: String,
    /// Workers.
    pub n_workers: usize,
    /// Threads of each, which is how many points it computes at once.
    pub n_threads: usize,
    /// The time limit in the words of Slurm.
    pub time: Option<String>,
    /// The partition.
    pub partition: Option<String>,
    /// Further options of sbatch, as they are written.
    pub sbatch: Option<String>,
    /// Whether a worker that was warned asks to be started again.
    pub is_requeued: bool,
}

/// The seconds of a time limit: `90`, `90:00`, `2:00:00`, `1-12`, `1-12:00`, `1-12:00:00`.
fn limit_s(text: &str) -> Result<u64, ClusterError> {
    let wrong = || {
        ClusterError::Refused(format!(
            "write the time limit as minutes, minutes:seconds, hours:minutes:seconds, \
             days-hours or days-hours:minutes:seconds, as in 2:00:00, not {text:?}"
        ))
    };
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days), rest),
        None => (None, text),
    };
    let numbers: Result<Vec<u64>, _> = rest.split(':').map(str::parse).collect();
    let Ok(numbers) = numbers else {
        return Err(wrong());
    };
    let seconds = match (days.is_some(), numbers.as_slice()) {
        (true, [hours]) => in_seconds(*hours, 0, 0),
        (true, [hours, minutes]) => in_seconds(*hours, *minutes, 0),
        (false, [minutes]) => in_seconds(0, *minutes, 0),
        (false, [minutes, seconds]) => in_seconds(0, *minutes, *seconds),
        (_, [hours, minutes, seconds]) => in_seconds(*hours, *minutes, *seconds),
        _ => return Err(wrong()),
    };
    let Ok(days) = days.map_or(Ok(0), str::parse::<u64>) else {
        return Err(wrong());
    };
    match days.saturating_mul(86_400).saturating_add(seconds) {
        0 => Err(wrong()),
        seconds => Ok(seconds),
    }
}

fn in_seconds(hours: u64, minutes: u64, seconds: u64) -> u64 {
    let minutes = hours.saturating_mul(60).saturating_add(minutes);
    minutes.saturating_mul(60).saturating_add(seconds)
}

/// A word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

impl JobRequest {
    /// One worker of this program on a folder.
    pub fn of_this_program(folder: &Path) -> Result<Self, ClusterError> {
        let program = std::env::current_exe();
        let program = program.map_err(|error| ClusterError::io("find", Path::new("itself"), error));
        let stem = folder.file_stem().unwrap_or_default().to_string_lossy();
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        let name: String = stem.chars().filter(is_plain).collect();
        Ok(Self {
            program: program?,
            name: match name.is_empty() {
                true => "atomscope".to_owned(),
                false => name,
            },
            n_workers: 1,
            n_threads: 1,
            ..Self::default()
        })
    }

    /// What a worker is called with.
    fn command(&self, folder: &Path) -> String {
        let program = quoted(&self.program.display().to_string());
        let folder = quoted(&folder.display().to_string());
        let threads = match self.n_threads {
            0 | 1 => String::new(),
            n_threads => format!(" --threads {n_threads}"),
        };
        let requeue = if self.is_requeued { " --requeue" } else { "" };
        format!("{program} sweep worker {folder}{threads}{requeue}")
    }

    /// The script.
    pub fn script(&self, folder: &Path) -> Result<String, ClusterError> {
        let folder = std::path::absolute(folder)
            .map_err(|error| ClusterError::io("find the folder", folder, error))?;
        // A folder too: a line end in its name would end the comments that name it.
        let place = folder.display().to_string();
        let given = [&self.time, &self.partition, &self.sbatch];
        for text in given.into_iter().flatten().chain([&place]) {
            if text.contains(|c: char| c.is_control()) {
                return Err(ClusterError::Refused(format!(
                    "{text:?} must be one line without control characters"
                )));
            }
        }
        let n_workers = self.n_workers.max(1);
        let mut options = vec![
            format!("--job-name={}", quoted(&self.name)),
            format!("--array=1-{n_workers}"),
            "--ntasks=1".to_owned(),
            format!("--cpus-per-task={}", self.n_threads.max(1)),
            // A name with a space must be quoted for sbatch, which takes a single % for one of its own.
            format!(
                "--output=\"{}/cluster/log/%A_%a.txt\"",
                place.replace('%', "%%")
            ),
            "--open-mode=append".to_owned(),
        ];
        if let Some(time) = &self.time {
            options.push(format!("--time={time}"));
            if limit_s(time)? >= LEAST_WARNED_S {
                options.push(format!("--signal=B:USR1@{WARNING_S}"));
            }
        }
        if let Some(partition) = &self.partition {
            options.push(format!("--partition={}", quoted(partition)));
        }
        if self.is_requeued {
            options.push("--requeue".to_owned());
        }
        options.extend(self.sbatch.clone());
        let mut script = String::from("#!/bin/bash\n");
        for option in options {
            writeln!(script, "#SBATCH {option}").unwrap_or_default();
        }
        let command = self.command(&folder);
        let other = quoted(&folder.join(SCRIPT_NAME).display().to_string());
        let name = quoted(&self.name);
        // PBS has no arrays of one.
        let pbs_array = match n_workers {
            1 => String::new(),
            _ => format!("-J 1-{n_workers} "),
        };
        write!(
            script,
            "#\n\
             # Each worker takes points from the folder until none is open. Any other scheduler can start it:\n\
             # PBS:          qsub {pbs_array}-N {name} -- /bin/bash {other}\n\
             # HTCondor:     printf 'executable=%s\\nqueue {n_workers}\\n' {other} | condor_submit\n\
             # HyperQueue:   hq submit --array 1-{n_workers} -- /bin/bash {other}\n\
             # GNU parallel: parallel -q -N0 /bin/bash {other} ::: $(seq {n_workers})\n\
             exec {command}\n"
        )
        .unwrap_or_default();
        Ok(script)
    }

    /// Writes the script into the folder; its path.
    pub fn write_script(&self, folder: &WorkFolder) -> Result<PathBuf, ClusterError> {
        let script = self.script(folder.path())?;
        let path = folder.path().join(SCRIPT_NAME);
        replace_file(&RealDisk, &path, script.as_bytes())?;
        make_executable(&path)?;
        Ok(path)
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), ClusterError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|error| ClusterError::io("make the script executable", path, error))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result<(), ClusterError> {
    Ok(())
}

fn call(command: &'static str, arguments: &[&str]) -> Result<Output, ClusterError> {
    let answer = Command::new(command).args(arguments).output();
    let answer = answer.map_err(|error| ClusterError::Scheduler {
        command,
        reason: format!(
            "{error}; is this a machine that submits to Slurm? --print shows the script for another scheduler"
        ),
    })?;
    match answer.status.success() {
        true => Ok(answer),
        false => Err(ClusterError::Scheduler {
            command,
            reason: in_one_line(&String::from_utf8_lossy(&answer.stderr)),
        }),
    }
}

/// What a command said in several lines.
fn in_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<&str>>().join("; ")
}

/// Submits the script of a folder; the id of the job.
pub fn submit(folder: &WorkFolder, request: &JobRequest) -> Result<String, ClusterError> {
    let path = request.write_script(folder)?;
    let answer = call("sbatch", &["--parsable", &path.display().to_string()])?;
    let answer = String::from_utf8_lossy(&answer.stdout);
    let id = answer.trim().split(';').next().unwrap_or("").to_owned();
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if id.is_empty() || !id.chars().all(is_id) {
        return Err(ClusterError::Scheduler {
            command: "sbatch",
            reason: format!("it answered {answer:?}, which is no id of a job"),
        });
    }
    replace_file(&RealDisk, &folder.inner(&format!("{JOB_START}{id}")), b"")?;
    Ok(id)
}

/// Cancels the jobs that were submitted from a folder, as far as Slurm still knows them; how many
/// were named. Their workers save what they compute.
pub fn cancel_jobs(folder: &WorkFolder) -> Result<usize, ClusterError> {
    let path = folder.inner("");
    let cannot = |error| ClusterError::io("read the folder", &path, error);
    let mut n_jobs = 0;
    for entry in fs::read_dir(&path).map_err(cannot)? {
        let name = entry.map_err(cannot)?.file_name();
        let name = name.to_string_lossy();
        let Some(id) = name.strip_prefix(JOB_START) else {
            continue;
        };
        // A job that has ended is no longer known, which is as good.
        match call("scancel", &[id]) {
            Ok(_) => n_jobs += 1,
            Err(error) => tracing::debug!(%error, "a job was not cancelled"),
        }
        super::folder::remove(&folder.inner(&name))?;
    }
    Ok(n_jobs)
}

/// Asks Slurm to start the job of this process again.
pub fn requeue_this_job() -> Result<(), ClusterError> {
    let of = |name: &str| std::env::var(name).ok();
    let array = of("SLURM_ARRAY_JOB_ID").zip(of("SLURM_ARRAY_TASK_ID"));
    let id = array.map(|(job, task)| format!("{job}_{task}"));
    match id.or_else(|| of("SLURM_JOB_ID")) {
        Some(id) => call("scontrol", &["requeue", &id]).map(drop),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> JobRequest {
        JobRequest {
            program: "/opt/a program".into(),
            name: "usps".into(),
            n_workers: 40,
            n_threads: 1,
            time: Some("2:00:00".into()),
            partition: Some("long".into()),
            sbatch: Some("--mem=4G --account=lab".into()),
            is_requeued: true,
        }
    }

    #[test]
    fn the_script_says_what_was_asked() {
        let script = request()
            .script(Path::new("/data/my sweep"))
            .expect("sound");
        for line in [
            "#SBATCH --array=1-40",
            "#SBATCH --time=2:00:00",
            "#SBATCH --partition=long",
            "#SBATCH --signal=B:USR1@90",
            "#SBATCH --requeue",
            "#SBATCH --mem=4G --account=lab",
            "exec '/opt/a program' sweep worker '/data/my sweep' --requeue",
        ] {
            assert!(
                script.lines().any(|found| found == line),
                "{line}: {script}"
            );
        }
        for other in [
            "# PBS:          qsub -J 1-40 -N usps -- /bin/bash '/data/my sweep/job.sh'",
            "# HTCondor:     printf 'executable=%s\\nqueue 40\\n' '/data/my sweep/job.sh' | condor_submit",
            "# HyperQueue:   hq submit --array 1-40 -- /bin/bash '/data/my sweep/job.sh'",
            // Without -q the shell that it starts would see two words.
            "# GNU parallel: parallel -q -N0 /bin/bash '/data/my sweep/job.sh' ::: $(seq 40)",
        ] {
            assert!(script.lines().any(|found| found == other), "{script}");
        }
        let one = JobRequest {
            n_workers: 1,
            ..request()
        };
        let one = one.script(Path::new("/data")).expect("sound");
        assert!(one.contains("qsub -N usps"), "{one}");
    }

    #[test]
    fn unusual_folders_lead_to_their_logs_or_are_refused() {
        let script = request().script(Path::new("/data/5 %A")).expect("sound");
        let line = "#SBATCH --output=\"/data/5 %%A/cluster/log/%A_%a.txt\"";
        assert!(script.lines().any(|found| found == line), "{script}");
        let refused = request().script(Path::new("/data/two\nlines"));
        assert!(refused.is_err_and(|error| error.to_string().contains("one line")));
    }

    #[test]
    fn what_slurm_says_is_told_in_one_line() {
        let said = "sbatch: error: invalid partition specified: no\nsbatch: error: Batch job submission failed\n";
        let told = "sbatch: error: invalid partition specified: no; sbatch: error: Batch job submission failed";
        assert_eq!(in_one_line(said), told);
    }

    #[test]
    fn a_short_limit_has_no_warning_and_a_wrong_one_is_refused() {
        let with = |time: &str| {
            let time = Some(time.to_owned());
            JobRequest { time, ..request() }.script(Path::new("/data"))
        };
        assert!(!with("1").expect("a minute").contains("--signal"));
        for (text, seconds) in [
            ("90", 5400),
            ("90:30", 5430),
            ("2:00:00", 7200),
            ("1-12", 129_600),
            ("1-12:30", 131_400),
            ("1-00:00:01", 86_401),
        ] {
            assert_eq!(limit_s(text).expect("sound"), seconds, "{text}");
        }
        for wrong in ["", "two", "0", "1:2:3:4", "1-", "2h\n#SBATCH --x"] {
            assert!(with(wrong).is_err(), "{wrong:?}");
        }
    }
}
