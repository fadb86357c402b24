//! What only starting needed is given back.
//!
//! Starting runs code that serving never comes back to: it reads settings, builds tables and looks over the database. Its pages stay mapped,
//! half of all that an idle process holds. They are the file's own, so letting go of them loses nothing: what is wanted again is mapped
//! again, from the system's cache of files.

#[cfg(target_os = "linux")]
use std::ffi::c_void;

/// Lets go of the pages of the program and its libraries; how many kilobytes that were. Whatever goes wrong, they stay.
#[cfg(target_os = "linux")]
pub(crate) fn give_back() -> u64 {
    use rustix::mm::{Advice, madvise};
    let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") else { return 0 };
    let of_files = mappings(&smaps).into_iter().filter(Mapping::is_its_files);
    let given = of_files.filter(|mapping| {
        let start = std::ptr::with_exposed_provenance_mut::<c_void>(mapping.start);
        #[expect(unsafe_code, reason = "nothing safe lets go of what the loader has mapped")]
        // SAFETY: the mapping is of a file, cannot be written, and no page of it was ever changed, so every page that is let go reads the
        // same when it is mapped again. Nobody unmaps what the loader has mapped; if somebody did, this is refused.
        let advised = unsafe { madvise(start, mapping.length, Advice::LinuxDontNeed) };
        advised.is_ok()
    });
    given.map(|mapping| mapping.resident).sum()
}

/// Elsewhere nothing tells what may be let go.
#[cfg(not(target_os = "linux"))]
pub(crate) fn give_back() -> u64 {
    0
}

/// A piece of memory, as the system tells of it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Mapping {
    start: usize,
    length: usize,
    /// How many kilobytes of it are in memory.
    resident: u64,
    /// How many of those are no file's any more.
    changed: u64,
    readable_only: bool,
    of_file: bool,
}

impl Mapping {
    /// Whether every page of it is as it is in its file, and stays so.
    fn is_its_files(&self) -> bool {
        self.of_file && self.readable_only && self.changed == 0 && self.resident > 0
    }
}

/// The mappings that a text in the form of `smaps` tells of. What is not understood is left out.
fn mappings(smaps: &str) -> Vec<Mapping> {
    let mut mappings: Vec<Mapping> = Vec::new();
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(first), Some(second)) = (words.next(), words.next()) else { continue };
        if let Some((start, end)) = first.split_once('-') {
            let place = usize::from_str_radix(start, 16).ok().zip(usize::from_str_radix(end, 16).ok());
            let Some((start, end)) = place else { continue };
            let path = words.nth(3).unwrap_or_default();
            let mut access = second.chars();
            mappings.push(Mapping {
                start,
                length: end.saturating_sub(start),
                readable_only: access.next() == Some('r') && access.next() == Some('-'),
                of_file: path.starts_with('/'),
                ..Mapping::default()
            });
        } else if let (Some(mapping), Ok(kilobytes)) = (mappings.last_mut(), second.parse::<u64>()) {
            match first {
                "Rss:" => mapping.resident = kilobytes,
                "Anonymous:" | "Private_Dirty:" | "Shared_Dirty:" => mapping.changed += kilobytes,
                _ => {}
            }
        }
    }
    mappings
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
55d0a000-55d0c000 r--p 00000000 fe:00 123   /usr/bin/punk
Rss:                   8 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
55d0c000-55d0f000 r-xp 00002000 fe:00 123   /usr/bin/punk
Rss:                  12 kB
Private_Dirty:         0 kB
Anonymous:             0 kB
55d10000-55d12000 r--p 00005000 fe:00 123   /usr/bin/punk
Rss:                   8 kB
Private_Dirty:         8 kB
Anonymous:             8 kB
55d12000-55d13000 rw-p 00007000 fe:00 123   /usr/bin/punk
Rss:                   4 kB
Anonymous:             0 kB
7f000000-7f001000 r--p 00000000 00:00 0
Rss:                   4 kB
Anonymous:             0 kB
";

    #[test]
    fn what_is_the_files_own_is_let_go_and_nothing_else() {
        let mappings = mappings(SMAPS);
        assert_eq!(mappings.len(), 5);
        let given: Vec<(usize, usize)> =
            mappings.iter().filter(|it| it.is_its_files()).map(|it| (it.start, it.length)).collect();
        assert_eq!(given, [(0x55d0_a000, 0x2000), (0x55d0_c000, 0x3000)]);
    }

    #[test]
    fn what_was_let_go_is_there_when_it_is_wanted() {
        let before = mappings(SMAPS);
        assert!(cfg!(not(target_os = "linux")) || give_back() > 0);
        // The code of this very test, and the text that it reads.
        assert_eq!(mappings(SMAPS), before);
    }
}
