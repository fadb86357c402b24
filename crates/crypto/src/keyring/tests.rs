//! What the ring promises, crashes included.

use super::*;
use crate::seal;
use expect_test::{Expect, expect};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// A ring in a folder of its own, with the first key of both purposes.
fn ring() -> (tempfile::TempDir, KeyRing) {
    let home = tempfile::tempdir().unwrap();
    let mut ring = KeyRing::open(home.path().join("data/keys")).unwrap();
    ring.generate(Purpose::Log, at(0)).unwrap();
    ring.generate(Purpose::Seal, at(0)).unwrap();
    (home, ring)
}

fn reopened(ring: &KeyRing) -> KeyRing {
    KeyRing::open(ring.folder()).unwrap()
}

/// The states of one purpose, newest first.
fn states(ring: &KeyRing, purpose: Purpose) -> Vec<(KeyId, KeyState)> {
    ring.keys().iter().filter(|key| key.purpose == purpose).map(|key| (key.id, key.state)).collect()
}

#[test]
fn opening_a_missing_folder_is_an_empty_ring_and_creates_nothing() {
    let home = tempfile::tempdir().unwrap();
    let ring = KeyRing::open(home.path().join("keys")).unwrap();
    assert!(ring.keys().is_empty() && ring.signing_key().is_none() && ring.seal_key().is_none());
    assert!(!home.path().join("keys").exists());
}

#[test]
fn files_are_readable_by_their_owner_only() {
    let (_home, ring) = ring();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(ring.folder()), 0o700);
    for key in ring.keys() {
        assert_eq!(mode(&key.path), 0o600);
    }
}

#[test]
fn a_key_read_again_is_the_same_key() {
    let (_home, ring) = ring();
    let again = reopened(&ring);
    assert_eq!(again.signing_key().unwrap().public(), ring.signing_key().unwrap().public());
    let sealed = seal::seal(ring.seal_key().unwrap(), b"", b"value").unwrap();
    assert_eq!(seal::open(again.seal_keys(), b"", &sealed).unwrap().as_slice(), b"value");
}

#[test]
fn a_second_first_key_is_refused_and_writes_nothing() {
    let (_home, mut ring) = ring();
    let before = listing(ring.folder());
    let refused = ring.generate(Purpose::Log, at(1)).unwrap_err().to_string();
    assert!(
        refused.contains("is already the active log key; replace it with `punk keys rotate log`"),
        "{refused}"
    );
    assert_eq!(listing(ring.folder()), before);
}

#[test]
fn rotating_nothing_is_refused_with_the_way_out() {
    let home = tempfile::tempdir().unwrap();
    let mut ring = KeyRing::open(home.path().join("keys")).unwrap();
    expect!["there is no active seal key to rotate; make the first with `punk keys generate seal`"]
        .assert_eq(&ring.rotate(Purpose::Seal, at(0)).unwrap_err().to_string());
    assert!(!ring.folder().exists());
}

#[test]
fn rotation_keeps_the_old_key_for_what_it_made() {
    let (_home, mut ring) = ring();
    let sealed = seal::seal(ring.seal_key().unwrap(), b"", b"old value").unwrap();
    let old = ring.active(Purpose::Seal).unwrap().id;
    let new = ring.rotate(Purpose::Seal, at(1)).unwrap();

    let again = reopened(&ring);
    assert_eq!(states(&again, Purpose::Seal), [(new, KeyState::Active), (old, KeyState::Retired)]);
    assert_eq!(again.seal_key().unwrap().id(), new);
    assert_eq!(seal::open(again.seal_keys(), b"", &sealed).unwrap().as_slice(), b"old value");
    assert_eq!(states(&again, Purpose::Log).len(), 1, "the other purpose is left alone");
}

#[test]
fn a_clock_that_goes_backwards_does_not_bring_the_old_key_back() {
    let (_home, mut ring) = ring();
    let newest = (1..5).map(|_| ring.rotate(Purpose::Log, at(-100)).unwrap()).last().unwrap();
    assert_eq!(reopened(&ring).active(Purpose::Log).unwrap().id, newest);
}

#[test]
fn after_a_crash_between_the_steps_of_a_rotation_the_newest_key_wins() {
    let (_home, mut ring) = ring();
    let old = ring.active(Purpose::Log).unwrap().id;
    // The first step of `rotate` and no more: both files now say `active`.
    let new = ring.add(Purpose::Log, at(1)).unwrap();

    let mut crashed = reopened(&ring);
    assert_eq!(states(&crashed, Purpose::Log), [(new, KeyState::Active), (old, KeyState::Retired)]);

    let third = crashed.rotate(Purpose::Log, at(2)).unwrap();
    let active_files = fs::read_dir(ring.folder())
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .filter(|text| text.contains("purpose: log") && text.contains("state: active"))
        .count();
    assert_eq!((active_files, reopened(&ring).active(Purpose::Log).unwrap().id), (1, third));
}

#[test]
fn a_temporary_file_of_a_crash_is_ignored_and_later_cleared_away() {
    let (_home, mut ring) = ring();
    let leftovers =
        [".new-log-key_0000000000000000.key", ".new-seal-key_1.key"].map(|name| ring.folder().join(name));
    for leftover in &leftovers {
        fs::write(leftover, "punk-key-v1\nid: key_00").unwrap();
    }
    assert_eq!(reopened(&ring).keys().len(), 2);
    ring.rotate(Purpose::Log, at(1)).unwrap();
    assert!(leftovers.iter().all(|leftover| !leftover.exists()));
}

#[test]
fn rotations_in_two_processes_leave_one_active_key() {
    let (_home, ring) = ring();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| reopened(&ring).rotate(Purpose::Log, at(1)).unwrap());
        }
    });
    let states = states(&reopened(&ring), Purpose::Log);
    assert_eq!(states.len(), 5);
    assert_eq!(states.iter().filter(|(_, state)| *state == KeyState::Active).count(), 1);
}

#[test]
fn a_file_that_others_can_read_is_refused_with_the_command_that_mends_it() {
    for mode in [0o640, 0o604, 0o660, 0o666, 0o610] {
        let (_home, ring) = ring();
        let path = &ring.keys()[0].path;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = KeyRing::open(ring.folder()).unwrap_err().to_string();
        assert!(refused.ends_with(&format!("run `chmod 600 {}`", path.display())), "{refused}");
    }
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    let (_home, ring) = ring();
    fs::set_permissions(ring.folder(), fs::Permissions::from_mode(0o770)).unwrap();
    let refused = KeyRing::open(ring.folder()).unwrap_err().to_string();
    assert!(refused.ends_with(&format!("run `chmod 700 {}`", ring.folder().display())), "{refused}");
}

/// Opens a ring whose log key file was altered by `damage` and shows what it says.
#[track_caller]
fn check(damage: impl Fn(&str) -> String, expected: &Expect) {
    let (home, ring) = ring();
    let path = &ring.active(Purpose::Log).unwrap().path;
    fs::write(path, damage(&fs::read_to_string(path).unwrap())).unwrap();
    let told = KeyRing::open(ring.folder()).unwrap_err().to_string();
    let id = ring.active(Purpose::Log).unwrap().id.to_string();
    expected.assert_eq(&told.replace(&home.path().display().to_string(), "").replace(&id, "ID"));
}

#[test]
fn a_corrupt_file_is_refused_by_name_and_line() {
    check(
        |_| String::new(),
        &expect![
            "/data/keys/log-ID.key:1 is not `punk-key-v1`: not a key file, or of a version this program does not know"
        ],
    );
    check(
        |text| text.replace("v1", "v2"),
        &expect![
            "/data/keys/log-ID.key:1 is not `punk-key-v1`: not a key file, or of a version this program does not know"
        ],
    );
    check(
        |text| text.replace("id: key_", "id: kee_"),
        &expect!["/data/keys/log-ID.key:2 is not `id: key_…`"],
    );
    check(
        |text| text.replace("purpose: log", "purpose: seal"),
        &expect!["/data/keys/log-ID.key:4 does not name the algorithm of this purpose"],
    );
    check(
        |text| text.replace("27-", "26-"),
        &expect![
            "/data/keys/log-ID.key:8 does not match the lines above: the file is damaged; restore it from a backup"
        ],
    );
    check(
        |text| text.replace("state: active", "state: asleep"),
        &expect!["/data/keys/log-ID.key:6 is not `state: active` or `state: retired`"],
    );
    check(
        |text| text.replace("state: active", "state: retired"),
        &expect![
            "/data/keys/log-ID.key:8 does not match the lines above: the file is damaged; restore it from a backup"
        ],
    );
    check(
        |text| text.replace("secret: ", "secret: A"),
        &expect!["/data/keys/log-ID.key:7 is not `secret: ` and 32 bytes in base64"],
    );
    check(
        |text| text.trim_end().to_owned(),
        &expect!["/data/keys/log-ID.key:9 is more than a key file has, or the last line has no end"],
    );
    check(|text| format!("{text}\n"), &expect!["/data/keys/log-ID.key:10 is more than a key file has"]);
}

#[test]
fn any_flipped_bit_in_a_key_file_is_refused() {
    let (_home, ring) = ring();
    let path = &ring.active(Purpose::Seal).unwrap().path;
    let whole = fs::read(path).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        fs::write(path, damaged).unwrap();
        assert!(matches!(KeyRing::open(ring.folder()), Err(OpenError::Corrupt { .. })), "bit {bit}");
    }
}

#[test]
fn a_renamed_file_is_refused() {
    let (_home, ring) = ring();
    let path = &ring.keys()[0].path;
    fs::rename(path, path.with_file_name("mine.key")).unwrap();
    assert!(matches!(KeyRing::open(ring.folder()), Err(OpenError::Corrupt { line: 2, .. })));
}

#[test]
fn a_key_id_reads_back_and_others_are_refused() {
    let id = KeyId::of_seal_key(&[0; 32]);
    assert_eq!(id.to_string().parse(), Ok(id));
    for text in ["", "key_", "key_00", "key_000000000000000", "KEY_0000000000000000", "key_00000000000000AB"]
    {
        assert!(text.parse::<KeyId>().is_err(), "{text}");
    }
}

fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

proptest::proptest! {
    #[test]
    fn no_text_makes_reading_a_key_file_panic(text in "(punk-key-v1\n)?(id: key_[0-9a-f]{16}\n)?(purpose: log\n)?(\\PC|\n|checksum: )*") {
        proptest::prop_assert!(KeyFile::parse(&text).is_err());
    }
}

#[test]
fn a_key_for_tokens_signs_no_checkpoint_and_the_other_way_round() {
    let (_home, mut ring) = ring();
    let old = ring.generate(Purpose::Token, at(1)).unwrap();
    let new = ring.rotate(Purpose::Token, at(2)).unwrap();
    let ring = reopened(&ring);
    let logs: Vec<_> = ring.signing_keys().map(|key| KeyId::of_public_key(&key.public())).collect();
    assert_eq!(logs, [ring.active(Purpose::Log).unwrap().id]);
    let tokens: Vec<_> =
        ring.token_keys().map(|(key, signing)| (key.id, KeyId::of_public_key(&signing.public()))).collect();
    assert_eq!(tokens, [(new, new), (old, old)]);
}
