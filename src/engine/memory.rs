//! How much memory the machine can spare, and the share of it that may hold what could be computed
//! again.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Assumed where the system does not tell.
const UNKNOWN_FREE: u64 = 4 << 30;
/// All reservations together take at most one part in so many of the free memory.
const SHARE: u64 = 4;

/// Bytes of all reservations of the program.
static RESERVED: AtomicU64 = AtomicU64::new(0);

/// Bytes of memory that programs can still take, within the limit of the control group if there is one.
pub fn free_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let of_machine = available_bytes(&text).unwrap_or(UNKNOWN_FREE);
    group_bytes().map_or(of_machine, |of_group| of_machine.min(of_group))
}

/// `MemAvailable` of Linux's list.
fn available_bytes(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// What the control groups still allow: schedulers limit their jobs so.
fn group_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    within_groups(Path::new("/sys/fs/cgroup"), &groups)
}

/// How a version of control groups names its files.
struct GroupFiles {
    limit: &'static str,
    used: &'static str,
    /// Entries of `memory.stat` for copies of files, which the system gives up where memory is short.
    cached: [&'static str; 2],
}

const SECOND: GroupFiles = GroupFiles {
    limit: "memory.max",
    used: "memory.current",
    cached: ["inactive_file", "active_file"],
};
const FIRST: GroupFiles = GroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: ["total_inactive_file", "total_active_file"],
};

/// The least that the groups of a process and those around them still allow, by the list of its groups. The limit of a
/// job often is that of a group around the process's own, which has none.
fn within_groups(root: &Path, groups: &str) -> Option<u64> {
    let known = groups.lines().filter_map(|line| {
        let (_, group) = line.split_once(':')?;
        match group.split_once(':')? {
            ("", path) => Some((root.to_owned(), path, &SECOND)),
            ("memory", path) => Some((root.join("memory"), path, &FIRST)),
            _ => None,
        }
    });
    let allowed = known.flat_map(|(root, path, files)| {
        let path = Path::new(path.trim_start_matches('/'));
        let around = path.ancestors();
        around.filter_map(move |group| files.allowed(&root.join(group)))
    });
    allowed.min()
}

impl GroupFiles {
    /// What one group still allows; nothing where it has no limit.
    fn allowed(&self, group: &Path) -> Option<u64> {
        let read = |file: &str| fs::read_to_string(group.join(file)).ok();
        let number = |file: &str| -> Option<u64> { read(file)?.trim().parse().ok() };
        let limit = number(self.limit)?;
        let facts = read("memory.stat").unwrap_or_default();
        let cached = facts.lines().filter_map(|line| {
            let (name, bytes) = line.split_once(' ')?;
            let is_cached = self.cached.contains(&name);
            is_cached.then(|| bytes.trim().parse::<u64>().ok())?
        });
        let used = number(self.used)?.saturating_sub(cached.sum());
        Some(limit.saturating_sub(used))
    }
}

/// Bytes set aside for values that could be computed again; given back when dropped.
#[derive(Debug, Default)]
pub struct Reservation {
    bytes: u64,
}

impl Reservation {
    /// Asks for `wanted` bytes in place of those it has. What is granted is as much of it as leaves
    /// all reservations within a quarter of the memory that would be free without them.
    pub fn ask(&mut self, wanted: u64) -> u64 {
        self.give_back();
        let free = free_bytes();
        let grant = |reserved: u64| {
            let limit = (free.saturating_add(reserved)) / SHARE;
            wanted.min(limit.saturating_sub(reserved))
        };
        let change = |reserved: u64| Some(reserved + grant(reserved));
        let ordering = Ordering::Relaxed;
        let before = RESERVED.fetch_update(ordering, ordering, change);
        self.bytes = before.map_or(0, grant);
        self.bytes
    }

    fn give_back(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        RESERVED.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_system_is_read() {
        let text = "MemTotal:  100 kB\nMemAvailable:   24 kB\n";
        assert_eq!(available_bytes(text), Some(24 * 1024));
        assert_eq!(available_bytes("MemTotal: 100 kB"), None);
        assert!(free_bytes() > 1 << 20);
    }

    #[test]
    fn the_tightest_of_the_groups_around_counts_without_copies_of_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let group = |path: &str, files: [(&str, &str); 3]| {
            let place = folder.path().join(path);
            fs::create_dir_all(&place).expect("writable");
            for (name, text) in files {
                fs::write(place.join(name), text).expect("writable");
            }
        };
        let second = |path: &str, limit: &str, used: &str| {
            let facts = "anon 5\nfile 300\ninactive_file 100\nactive_file 50\n";
            let files = [("memory.max", limit), ("memory.current", used)];
            group(path, [files[0], files[1], ("memory.stat", facts)]);
        };
        second("job/step", "max\n", "400\n");
        let free = |groups: &str| within_groups(folder.path(), groups);
        assert_eq!(free("0::/job/step\n"), None);
        second("job", "1000\n", "400\n");
        assert_eq!(free("0::/job/step\n"), Some(750));
        second("job/step", "600\n", "400\n");
        assert_eq!(free("0::/job/step\n"), Some(350));
        second("job/step", "200\n", "400\n");
        assert_eq!(free("0::/job/step\n"), Some(0));
        let files = [
            ("memory.limit_in_bytes", "900"),
            ("memory.usage_in_bytes", "300"),
        ];
        let facts = "inactive_file 1\ntotal_inactive_file 10\ntotal_active_file 20\n";
        group("memory/job", [files[0], files[1], ("memory.stat", facts)]);
        assert_eq!(free("5:cpu:/job\n4:memory:/job\n0::/\n"), Some(630));
        assert_eq!(free(""), None);
    }

    #[test]
    fn reservations_stay_within_their_share_and_are_given_back() {
        let (mut first, mut second) = (Reservation::default(), Reservation::default());
        assert_eq!(first.ask(1000), 1000);
        assert_eq!(first.ask(500), 500);
        let granted = second.ask(u64::MAX);
        assert!(granted < free_bytes());
        let before = granted;
        drop(first);
        assert_eq!(second.ask(10), 10);
        assert!(second.ask(u64::MAX) > before / 2);
    }
}
