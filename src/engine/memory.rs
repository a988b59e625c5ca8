//! How much memory the machine can spare, and the share of it that may hold what could be computed
//! again.

use std::fs;
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

/// What the control group still allows: schedulers limit their jobs so.
fn group_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let number = |file: &str| -> Option<u64> {
        let text = fs::read_to_string(format!("/sys/fs/cgroup{path}/{file}")).ok()?;
        text.trim().parse().ok()
    };
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
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
