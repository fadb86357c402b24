//! Looking into a write-ahead log before SQLite does.
//!
//! SQLite reads the log up to the first frame whose checksum is wrong, and takes that for the end: right for a write that
//! was cut off, and a silent loss of commits when the frame was damaged. The difference is what follows. Frames are
//! written in order, so a whole commit behind a bad frame was once part of the log.
//!
//! - A log that ends in a torn write is good. So is one with frames of an abandoned transaction, which has no commit.
//! - Damage to the very last frame cannot be told from a torn write.
//!
//! The format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

use super::beside;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The lowest bit says in which order the bytes of a checksum's words are.
const MAGIC: u32 = 0x377f_0682;

/// What is wrong with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// Its first bytes are not those of a log.
    Header,
    /// A frame is bad, and commits follow it.
    Frame {
        /// Which, counted from 1.
        frame: u64,
        /// How many commits can no longer be reached.
        commits: u64,
    },
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Header => write!(f, "the beginning of its write-ahead log is damaged"),
            Self::Frame { frame, commits } => {
                write!(f, "frame {frame} of its write-ahead log is damaged, and {commits} commits follow it")
            }
        }
    }
}

/// Whether the log of `database`, if it has one, is damaged. Nobody may be writing to it.
pub(super) fn damage(database: &Path) -> io::Result<Option<Damage>> {
    match File::open(beside(database, "-wal")) {
        Ok(file) => look(BufReader::with_capacity(1 << 16, file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn look(mut log: impl Read) -> io::Result<Option<Damage>> {
    let mut header = [0; HEADER];
    if !fill(&mut log, &mut header)? {
        // Cut off before the first commit.
        return Ok(None);
    }
    let word = |at: usize| number(&header, at);
    let (magic, page_size) = (word(0), word(8));
    let order = if magic == MAGIC | 1 { u32::from_be_bytes } else { u32::from_le_bytes };
    let is_header = magic & !1 == MAGIC
        && (512..=65_536).contains(&page_size)
        && page_size.is_power_of_two()
        && Sum::default().add(order, &header[..24]) == Sum(word(24), word(28));
    let mut frame = vec![0; FRAME_HEADER + if is_header { page_size as usize } else { 512 }];
    if !is_header {
        return Ok(fill(&mut log, &mut frame)?.then_some(Damage::Header));
    }
    let salts = (word(16), word(20));

    // What the frame before says of itself, and what it should have said.
    let mut stored = Sum(word(24), word(28));
    let mut computed = stored;
    let mut bad = None;
    let (mut place, mut commits) = (0, 0);
    while fill(&mut log, &mut frame)? {
        place += 1;
        let word = |at: usize| number(&frame, at);
        let content = |sum: Sum| sum.add(order, &frame[..8]).add(order, &frame[FRAME_HEADER..]);
        let own = Sum(word(16), word(20));
        let is_current = (word(8), word(12)) == salts;
        let follows = is_current && (content(stored) == own || content(computed) == own);
        match bad {
            None if !follows => bad = Some(place),
            Some(_) if follows && word(4) != 0 => commits += 1,
            _ => {}
        }
        computed = content(stored);
        stored = own;
    }
    Ok(bad.filter(|_| commits > 0).map(|frame| Damage::Frame { frame, commits }))
}

/// A checksum of SQLite's, as far as it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Sum(u32, u32);

impl Sum {
    fn add(self, order: fn([u8; 4]) -> u32, bytes: &[u8]) -> Self {
        let (pairs, _) = bytes.as_chunks::<8>();
        pairs.iter().fold(self, |Self(first, second), &[a, b, c, d, e, f, g, h]| {
            let first = first.wrapping_add(order([a, b, c, d])).wrapping_add(second);
            Self(first, second.wrapping_add(order([e, f, g, h])).wrapping_add(first))
        })
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().copied().map_or(0, u32::from_be_bytes)
}

/// Fills the buffer; `false` if the file ends before that.
fn fill(log: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// A log of ten commits of about three pages each, and where its frames begin.
    fn log() -> (Vec<u8>, Vec<usize>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE a (x BLOB)").unwrap();
        for number in 0..10u8 {
            connection.execute("INSERT INTO a VALUES (?)", [vec![number; 9_000]]).unwrap();
        }
        let bytes = std::fs::read(beside(&path, "-wal")).unwrap();
        let frames = (HEADER..bytes.len()).step_by(FRAME_HEADER + 4096).collect();
        (bytes, frames)
    }

    #[test]
    fn a_log_is_good_wherever_it_is_cut_off() {
        let (bytes, frames) = log();
        assert!(frames.len() > 20);
        assert_eq!(look(&bytes[..]).unwrap(), None);
        for cut in frames.iter().flat_map(|frame| [*frame, frame + 7, frame + 24, frame + 1_000]) {
            assert_eq!(look(&bytes[..cut.min(bytes.len())]).unwrap(), None, "cut at {cut}");
            // The header of the last frame is written before its page.
            let mut torn = bytes[..cut.min(bytes.len())].to_vec();
            torn.resize(bytes.len().min(cut.next_multiple_of(4_120) + 32), 0);
            assert_eq!(look(&torn[..]).unwrap(), None, "torn at {cut}");
        }
    }

    #[test]
    fn a_changed_byte_is_found_in_every_frame_but_the_last() {
        let (bytes, frames) = log();
        for (number, frame) in frames.iter().enumerate() {
            for offset in [0, 3, 5, 8, 12, 16, 20, 24, 700, 4_119] {
                let mut changed = bytes.clone();
                changed[frame + offset] ^= 0x10;
                let found = look(&changed[..]).unwrap();
                match found {
                    Some(Damage::Frame { frame, .. }) => assert_eq!(frame, number as u64 + 1),
                    other => assert!(number + 1 == frames.len(), "frame {number}, byte {offset}: {other:?}"),
                }
            }
        }
        for offset in 0..HEADER {
            let mut changed = bytes.clone();
            changed[offset] ^= 0x10;
            assert_eq!(look(&changed[..]).unwrap(), Some(Damage::Header), "byte {offset}");
        }
    }

    #[test]
    fn what_is_left_of_an_abandoned_transaction_is_no_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        let small_cache = "PRAGMA journal_mode = WAL; PRAGMA cache_size = 5; CREATE TABLE a (x BLOB)";
        connection.execute_batch(small_cache).unwrap();
        connection.execute_batch("BEGIN").unwrap();
        for number in 0..30u8 {
            connection.execute("INSERT INTO a VALUES (?)", [vec![number; 9_000]]).unwrap();
        }
        connection.execute_batch("ROLLBACK").unwrap();
        let abandoned = std::fs::metadata(beside(&path, "-wal")).unwrap().len();
        connection.execute("INSERT INTO a VALUES (?)", [vec![7u8; 9_000]]).unwrap();
        assert_eq!(std::fs::metadata(beside(&path, "-wal")).unwrap().len(), abandoned, "written over");
        assert_eq!(damage(&path).unwrap(), None);
        // Begun again from the front: old frames lie behind the new ones.
        connection.execute_batch("PRAGMA wal_checkpoint(RESTART)").unwrap();
        connection.execute("INSERT INTO a VALUES (?)", [vec![8u8; 9_000]]).unwrap();
        assert_eq!(damage(&path).unwrap(), None);
    }
}
