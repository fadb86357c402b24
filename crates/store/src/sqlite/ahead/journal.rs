//! The journal's file: commits one behind the other, each with a number and a checksum.
//!
//! Once all of it is in the database it is written over from the front, under another salt: what lies behind the newest
//! record belongs to another salt, and is nothing. Numbers go on for ever.
//!
//! - A record that was cut off at the end was never acknowledged: the journal ends before it.
//! - A bad record with a whole one behind it is damage.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::{Durability, beside};

const MAGIC: [u8; 8] = *b"punkahd1";
/// Magic, name, salt, the number of the first record, whether every record was on the disk when it was acknowledged, and a
/// checksum.
const HEADER: usize = 8 + 16 + 8 + 8 + 4 + 4;
/// The salt's first half, how long the body is, a checksum, and the number.
pub(super) const FRAME: usize = 4 + 4 + 4 + 8;
/// From here on it begins anew as soon as all of it is in the database.
const LONG: u64 = 4 << 20;
/// It grows by so much at a time.
const STEP: u64 = 128 << 10;

/// A name that a database and its journal share.
pub(in super::super) type Name = [u8; 16];

/// What a journal says.
#[derive(Debug)]
pub(super) struct Read<'b> {
    pub(super) name: Name,
    /// Whether what was acknowledged was on the disk.
    pub(super) durable: bool,
    /// The number of the first record, if there is one.
    pub(super) first: u64,
    /// The bodies, from the first record on without a gap.
    pub(super) records: Vec<&'b [u8]>,
    /// The number of a whole record behind one that is not.
    pub(super) beyond: Option<u64>,
    /// Where the last of the records ends.
    pub(super) end: usize,
}

/// The beginning of a journal is not one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadHeader;

/// Reads a journal. An empty file, or one of zeros, is one in which nothing was ever written.
pub(super) fn read(bytes: &[u8]) -> Result<Option<Read<'_>>, BadHeader> {
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let (header, mut rest) = bytes.split_at_checked(HEADER).ok_or(BadHeader)?;
    let (covered, sum) = header.split_at(HEADER - 4);
    if !header.starts_with(&MAGIC) || sum != crc32fast::hash(covered).to_le_bytes() {
        return Err(BadHeader);
    }
    let mut name = Name::default();
    name.copy_from_slice(&header[8..24]);
    let (salt, first) = (number(header, 24), number(header, 32));
    let mut read = Read { name, durable: header[40] == 1, first, records: Vec::new(), beyond: None, end: 0 };
    while let Some((number, body, behind)) = record(salt, rest) {
        if number != read.next() {
            break;
        }
        read.records.push(body);
        rest = behind;
    }
    read.end = bytes.len() - rest.len();
    read.beyond = beyond(salt, rest, read.next());
    Ok(Some(read))
}

impl Read<'_> {
    /// The number that comes next.
    pub(super) fn next(&self) -> u64 {
        self.first.saturating_add(self.records.len() as u64)
    }
}

/// The record at the front, and what follows it.
fn record(salt: u64, bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (frame, rest) = bytes.split_at_checked(FRAME)?;
    if frame[..4] != salt.to_le_bytes()[..4] {
        return None;
    }
    let length = u32::from_le_bytes(*frame[4..].first_chunk()?);
    let (body, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    let number = number(frame, 12);
    (frame[8..12] == checksum(salt, number, body).to_le_bytes()).then_some((number, body, behind))
}

/// The number of a whole record somewhere in there that is not before `next`.
fn beyond(salt: u64, bytes: &[u8], next: u64) -> Option<u64> {
    let marks = salt.to_le_bytes();
    let places = bytes.windows(4).enumerate().filter(|(_, window)| *window == &marks[..4]);
    let mut found = places.filter_map(|(place, _)| record(salt, &bytes[place..]));
    found.find_map(|(number, ..)| (number >= next).then_some(number))
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().copied().map_or(0, u64::from_le_bytes)
}

fn checksum(salt: u64, number: u64, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&salt.to_le_bytes());
    hasher.update(&number.to_le_bytes());
    hasher.update(body);
    hasher.finalize()
}

/// Bodies on their way into the journal, with room for their frames between them.
#[derive(Default)]
pub(super) struct Bodies {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Bodies {
    /// One more.
    pub(super) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.starts.push(self.bytes.len());
        self.bytes.extend_from_slice(&[0; FRAME]);
        write(&mut self.bytes);
    }

    /// How many bytes they come to.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
        // A batch that was large once does not stay so.
        self.bytes.shrink_to(1 << 20);
    }

    /// Fills in the frames. A body is never as long as a number can be: larger commits do not come here.
    fn frame(&mut self, salt: u64, first: u64) -> &[u8] {
        let ends = self.starts.iter().skip(1).copied().chain([self.bytes.len()]);
        for ((start, end), number) in self.starts.iter().copied().zip(ends).zip(first..) {
            let (frame, body) = self.bytes[start..end].split_at_mut(FRAME);
            let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
            frame[..4].copy_from_slice(&salt.to_le_bytes()[..4]);
            frame[4..8].copy_from_slice(&length.to_le_bytes());
            frame[8..12].copy_from_slice(&checksum(salt, number, body).to_le_bytes());
            frame[12..].copy_from_slice(&number.to_le_bytes());
        }
        &self.bytes
    }
}

/// A journal that is written.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    durability: Durability,
    name: Name,
    salt: u64,
    /// The number of the next record.
    next: u64,
    /// Where it goes.
    end: u64,
    /// How long the file is.
    room: u64,
}

impl Journal {
    /// The file beside a database.
    pub(super) fn beside(database: &Path) -> PathBuf {
        beside(database, "-ahead")
    }

    /// Begins one, whatever the file held.
    pub(super) fn begin(database: &Path, durability: Durability, name: Name, next: u64) -> io::Result<Self> {
        let salt = random_salt().map_err(io::Error::other)?;
        let path = Self::beside(database);
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        let mut journal = Self { file, path, durability, name, salt, next, end: 0, room: 0 };
        journal.write_header()?;
        if durability == Durability::Fsync {
            journal.file.sync_all()?;
            super::super::backup::sync_folder(super::super::backup::folder(database))?;
        }
        Ok(journal)
    }

    fn write_header(&mut self) -> io::Result<()> {
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(&MAGIC);
        header.extend_from_slice(&self.name);
        header.extend_from_slice(&self.salt.to_le_bytes());
        header.extend_from_slice(&self.next.to_le_bytes());
        header.extend_from_slice(&[u8::from(self.durability == Durability::Fsync), 0, 0, 0]);
        header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
        write_at(&self.file, &header, 0)?;
        self.end = HEADER as u64;
        self.room = self.room.max(self.end);
        Ok(())
    }

    /// The number of the newest record.
    pub(super) fn newest(&self) -> u64 {
        self.next - 1
    }

    /// Writes all of them. When it returns they survive what the durability says; after an error none of them is there.
    /// `spare` is how much room there must be behind them: whoever brings them into the database may need it.
    pub(super) fn append(&mut self, bodies: &mut Bodies, spare: u64) -> io::Result<()> {
        let (start, count) = (self.end, bodies.starts.len() as u64);
        self.grow(start + bodies.len() as u64 + spare)?;
        let bytes = bodies.frame(self.salt, self.next);
        let written = write_at(&self.file, bytes, start);
        let written = match self.durability {
            Durability::Commit => written,
            Durability::Fsync => written.and_then(|()| self.file.sync_data()),
        };
        if let Err(error) = written {
            // The next one goes here too. Should this fail as well, what is read later is skipped where it is in the database.
            let _ = write_at(&self.file, &[0; FRAME], start);
            return Err(error);
        }
        self.end = start + bytes.len() as u64;
        self.next += count;
        Ok(())
    }

    /// Makes the file at least so long, with room on the disk for all of it.
    fn grow(&mut self, wanted: u64) -> io::Result<()> {
        if wanted <= self.room {
            return Ok(());
        }
        let (zeros, mut room) = (vec![0; usize::try_from(STEP).unwrap_or(0)], self.room);
        while room < wanted {
            if let Err(error) = write_at(&self.file, &zeros, room) {
                let _ = self.file.set_len(self.room);
                return Err(error);
            }
            room += STEP;
        }
        self.room = room;
        Ok(())
    }

    /// Gives back the room that it does not need for itself.
    pub(super) fn give_room(&mut self) -> io::Result<()> {
        self.file.set_len(self.end)?;
        self.room = self.end;
        Ok(())
    }

    /// All of it is in the database. A long one begins anew.
    pub(super) fn applied(&mut self) -> io::Result<()> {
        if self.end < LONG {
            return Ok(());
        }
        let before = self.salt;
        // Any other salt does; chance only makes it unlike all that there were.
        self.salt = random_salt().unwrap_or(before.wrapping_add(1 | (1 << 32)));
        self.write_header().inspect_err(|_| self.salt = before)
    }

    /// Takes the file away: all of it is in the database, and nothing more comes.
    pub(super) fn remove(&self) -> io::Result<()> {
        remove(&self.path)
    }
}

/// Writes all of it in its place: in one call to the system where that has one for it.
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, at);
    #[cfg(not(unix))]
    {
        use std::io::{Seek as _, SeekFrom, Write as _};
        let mut file = file;
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }
}

fn random_salt() -> Result<u64, crypto::random::RandomError> {
    crypto::random::bytes().map(u64::from_le_bytes)
}

/// Takes a journal away, if there is one.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A journal of ten records, and where each ends.
    fn journal() -> (Vec<u8>, Vec<usize>) {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("punk.db");
        let mut journal = Journal::begin(&database, Durability::Fsync, [3; 16], 41).unwrap();
        let mut ends = vec![HEADER];
        for count in 0..5usize {
            let mut bodies = Bodies::default();
            bodies.add(|out| out.extend_from_slice(&vec![7; 30 + count]));
            bodies.add(|out| out.extend_from_slice(b"another"));
            let end = usize::try_from(journal.end).unwrap();
            ends.extend([end + FRAME + 30 + count, end + bodies.len()]);
            journal.append(&mut bodies, 0).unwrap();
        }
        assert_eq!(journal.newest(), 50);
        (std::fs::read(Journal::beside(&database)).unwrap(), ends)
    }

    #[test]
    fn a_journal_ends_before_whatever_was_cut_off() {
        let (bytes, ends) = journal();
        let whole = read(&bytes).unwrap().unwrap();
        assert_eq!((whole.records.len(), whole.first, whole.next(), whole.durable), (10, 41, 51, true));
        for cut in HEADER..*ends.last().unwrap() {
            let found = read(&bytes[..cut]).unwrap().unwrap();
            let whole = ends.iter().skip(1).filter(|end| **end <= cut).count();
            assert_eq!((found.records.len(), found.beyond), (whole, None), "cut at {cut}");
            // The room behind it was zeros.
            let mut torn = bytes[..cut].to_vec();
            torn.resize(bytes.len(), 0);
            let found = read(&torn).unwrap().unwrap();
            assert!(found.records.len() >= whole && found.beyond.is_none(), "torn at {cut}");
        }
    }

    #[test]
    fn a_changed_byte_is_found_in_every_record_but_the_last() {
        let (bytes, ends) = journal();
        for place in 0..*ends.last().unwrap() {
            let mut changed = bytes.clone();
            changed[place] ^= 0x10;
            let Ok(found) = read(&changed) else {
                assert!(place < HEADER);
                continue;
            };
            let found = found.unwrap();
            let record = ends.iter().skip(1).filter(|end| **end <= place).count();
            assert_eq!(found.records.len(), record, "byte {place}");
            let next = (record < 9).then_some(41 + record as u64 + 1);
            assert_eq!(found.beyond, next, "byte {place}");
        }
    }

    #[test]
    fn what_is_left_from_before_it_began_anew_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("punk.db");
        let mut journal = Journal::begin(&database, Durability::Commit, [3; 16], 1).unwrap();
        let add = |journal: &mut Journal, length: usize| {
            let mut bodies = Bodies::default();
            bodies.add(|out| out.resize(out.len() + length, 9));
            journal.append(&mut bodies, 1_000).unwrap();
        };
        while journal.end < LONG {
            add(&mut journal, 100_000);
        }
        let before = journal.newest();
        journal.applied().unwrap();
        let read_now = || std::fs::read(Journal::beside(&database)).unwrap();
        assert_eq!(read(&read_now()).unwrap().unwrap().records.len(), 0);
        add(&mut journal, 10);
        let bytes = read_now();
        let found = read(&bytes).unwrap().unwrap();
        assert_eq!((found.records.len(), found.first, found.beyond), (1, before + 1, None));
        journal.give_room().unwrap();
        assert_eq!(read_now().len() as u64, journal.end);
        add(&mut journal, 10);
        assert_eq!(read(&read_now()).unwrap().unwrap().records.len(), 2);
        journal.remove().unwrap();
        journal.remove().unwrap();
    }

    #[test]
    fn nothing_was_ever_written_to_a_journal_of_zeros_and_anything_else_is_none() {
        assert!(read(&[]).unwrap().is_none());
        assert!(read(&[0; 1_000]).unwrap().is_none());
        assert_eq!(read(&[1; 10]).unwrap_err(), BadHeader);
        assert_eq!(read(&[1; 1_000]).unwrap_err(), BadHeader);
    }
}
