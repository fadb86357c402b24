//! Promises that cross the modules of this crate.

use crate::keyring::{KeyRing, Purpose};
use crate::random::Generator;
use crate::token::{Token, TokenKind};
use crate::{DataKey, SealKey, Secret, SigningKey};

/// Every type that holds a secret, and what must not show up in its `Debug` form.
#[test]
fn no_secret_is_printed() {
    let seed = [0xa7; 32];
    let folder = tempfile::tempdir().unwrap();
    let mut ring = KeyRing::open(folder.path().join("keys")).unwrap();
    for purpose in Purpose::ALL {
        ring.generate(purpose, jiff::Timestamp::UNIX_EPOCH).unwrap();
    }
    let on_disk: Vec<String> = std::fs::read_dir(folder.path().join("keys"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .filter_map(|text| text.lines().find_map(|line| line.strip_prefix("secret: ").map(str::to_owned)))
        .collect();
    assert_eq!(on_disk.len(), Purpose::ALL.len());
    let token = Token::generate(TokenKind::ApiKey).unwrap();

    // Of a known seed, so that any trace of it shows.
    let seeded = [
        format!("{:?}", Secret::new(seed)),
        format!("{:#?}", SealKey::from_bytes(seed)),
        format!("{:#?}", SigningKey::from_seed(&seed)),
        format!("{:#?}", Generator::from_seed(seed)),
    ];
    for text in seeded {
        assert!(!text.contains("a7a7"), "hex: {text}");
        assert!(!text.contains("167"), "decimal: {text}");
    }
    // Of secrets that nobody chose: ids and folders may hold any digits, the secrets' own texts must not be there.
    let drawn = [format!("{:#?}", DataKey::generate().unwrap()), format!("{ring:#?}"), format!("{token:#?}")];
    for text in drawn {
        assert!(!text.contains(&token.expose()[8..]), "token: {text}");
        assert!(on_disk.iter().all(|secret| !text.contains(secret.as_str())), "ring: {text}");
    }
}
