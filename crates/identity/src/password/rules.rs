//! Which passwords may be chosen: long enough, not the owner's name, not one that everybody tries first.

use crypto::SecretString;

const SHORTEST: usize = 12;
const LONGEST: usize = 256;

/// Why a password may not be chosen. No message repeats any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// Too short.
    #[error(
        "password: has {actual} characters; choose at least 12, such as four words that do not belong together"
    )]
    Short {
        /// How many there were.
        actual: usize,
    },
    /// Too long.
    #[error("password: has {actual} characters; choose at most 256")]
    Long {
        /// How many there were.
        actual: usize,
    },
    /// The e-mail address, or the part before its `@`.
    #[error("password: is the e-mail address; choose something that is not known of you")]
    Email,
    /// One of those that are tried first.
    #[error("password: is one of those that are tried first; choose four words that do not belong together")]
    Common,
}

/// Whether the owner of `email` may choose `password`.
pub fn check(password: &SecretString, email: &str) -> Result<(), Rule> {
    let text = password.expose();
    let actual = text.chars().count();
    if actual < SHORTEST {
        return Err(Rule::Short { actual });
    }
    if actual > LONGEST {
        return Err(Rule::Long { actual });
    }
    let lower = zeroize::Zeroizing::new(text.to_lowercase());
    let email = email.to_lowercase();
    let name = email.split('@').next().unwrap_or_default();
    if *lower == email || *lower == name {
        return Err(Rule::Email);
    }
    let one_character = lower.chars().all(|character| lower.starts_with(character));
    if one_character || COMMON.contains(&lower.as_str()) {
        return Err(Rule::Common);
    }
    Ok(())
}

/// The commonest of those that are long enough, in lower case.
const COMMON: &[&str] = &[
    "012345678910",
    "0123456789012",
    "112233445566",
    "121212121212",
    "123123123123",
    "1234567890-=",
    "123456789012",
    "1234567890123",
    "12345678901234",
    "123456789abc",
    "12345qwertyuiop",
    "123456789qwe",
    "1234qwerasdf",
    "1234qwerasdfzxcv",
    "123qweasdzxc",
    "1q2w3e4r5t6y",
    "1q2w3e4r5t6y7u",
    "1q2w3e4r5t6y7u8i",
    "1qaz2wsx3edc",
    "1qaz2wsx3edc4rfv",
    "987654321098",
    "a1b2c3d4e5f6",
    "abc123abc123",
    "abcd12345678",
    "abcdefghijkl",
    "abcdefghijklm",
    "adminadminadmin",
    "admin1234567",
    "admin12345678",
    "administrator",
    "administrator1",
    "asdfghjkl123",
    "asdfghjkl;'\\",
    "changeme1234",
    "changemechangeme",
    "changeme12345",
    "correct horse battery staple",
    "correcthorsebatterystaple",
    "dragondragon",
    "footballfootball",
    "iloveyou1234",
    "iloveyou12345",
    "iloveyouiloveyou",
    "letmeinletmein",
    "letmein12345",
    "monkeymonkey",
    "mypassword12",
    "mypassword123",
    "p@ssw0rd1234",
    "p@ssword1234",
    "passw0rd1234",
    "password1234",
    "password123!",
    "password1234!",
    "password12345",
    "password123456",
    "passwordpassword",
    "passwort1234",
    "princess1234",
    "q1w2e3r4t5y6",
    "qazwsxedcrfv",
    "qwerty123456",
    "qwerty12345678",
    "qwertyqwerty",
    "qwertyuiop[]",
    "qwertyuiop12",
    "qwertyuiop123",
    "qwertyuiop1234",
    "qwertyuiopasdf",
    "qwertyuiopasdfghjkl",
    "sunshine1234",
    "superman1234",
    "test12345678",
    "testtesttest",
    "trustno1trustno1",
    "welcome12345",
    "welcome123456",
    "welcomewelcome",
    "zaq12wsxcde3",
    "zxcvbnm12345",
    "zxcvbnmasdfghjkl",
];
