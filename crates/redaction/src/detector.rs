//! What a detector is: a place to look at, and a function that says what is there.
//!
//! The scanner ([`crate::Stream`]) finds the places in one pass over the text ([`Trigger`]), and only there calls
//! [`Detector::look`]. Text comes in pieces, so a detector can see too little of it and then says [`Sight::Wait`].
//!
//! Laws, on which it rests that findings do not depend on where the text was cut:
//! - `look` depends on at most [`LOOK_BEHIND`] bytes before [`View::at`] and [`LOOK_AHEAD`] bytes from there on. It is shown no more.
//! - Once it has said [`Sight::Nothing`] or [`Sight::Found`], it says the same of every longer text that begins like this one.
//! - It does not wait for what never comes: with [`View::ended`] there is no [`Sight::Wait`]. One that waits although it sees
//!   [`LOOK_AHEAD`] bytes has found nothing.
//! - A match begins no earlier than the word in which its trigger stands (words end at ASCII whitespace). So whatever comes before the
//!   current word can be let go when nobody waits.

use std::ops::Range;

/// How many bytes before its place a detector sees.
pub const LOOK_BEHIND: usize = 256;

/// How many bytes from its place on a detector sees: enough for a PEM block of an RSA key of 8192 bits.
pub const LOOK_AHEAD: usize = 8192;

/// What a detector sees: the text around a place that made it look.
#[derive(Debug, Clone, Copy)]
pub struct View<'t> {
    /// The text, cut to what may be looked at. It may begin or end within a character.
    pub text: &'t [u8],
    /// Where the trigger stands in `text`.
    pub at: usize,
    /// Nothing follows `text`, ever.
    pub ended: bool,
}

/// What a detector says of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// Nothing of its kind is here, whatever follows.
    Nothing,
    /// Here it is, whatever follows.
    Found {
        /// Where, in [`View::text`].
        range: Range<usize>,
        /// Of which class.
        class: Class,
        /// By which rule.
        rule: &'static str,
    },
    /// More text is needed to tell.
    Wait,
}

/// One kind of thing that is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Detector {
    /// The rule's name, as findings carry it.
    pub rule: &'static str,
    /// The class of what it finds; a tenant that does not look for the class does not run the detector.
    pub class: Class,
    /// What makes it look.
    pub trigger: Trigger,
    /// What it says of a place. See the laws above.
    pub look: fn(View<'_>) -> Sight,
}

/// What makes a detector look.
#[derive(Debug, Clone, Copy)]
pub enum Trigger {
    /// This byte; `at` is where it stands.
    Byte(u8),
    /// The first digit of a run of digits for which this says yes; `at` is that digit. A `+` or `(` may stand directly before it. Where it
    /// says no, `look` would find nothing.
    Digits(fn(Digits) -> bool),
    /// Any of these words, in any ASCII case; `at` is the word's first byte. Letters and digits do not touch it, except where a capital
    /// begins a new word (`userPhone`). Without whitespace inside.
    Word(&'static [&'static str]),
    /// Any of these beginnings, to the letter, not after a letter or digit; `at` is its first byte. Without whitespace inside.
    Prefix(&'static [&'static str]),
}

/// A run of digits and its neighbours.
#[derive(Debug, Clone, Copy)]
pub struct Digits {
    /// The two bytes before it; a space where there is none.
    pub before: [u8; 2],
    /// Its first digit.
    pub first: u8,
    /// How many there are, and 255 if there are more.
    pub length: u8,
    /// The byte behind it, and the one behind that.
    pub after: [u8; 2],
}

impl Digits {
    /// Whether no rule looks at them, whatever else follows: they go on from a word or another number, or are few and stand alone.
    #[inline]
    pub(crate) fn are_of_nobody(&self) -> bool {
        let ([earlier, before], [after, _]) = (self.before, self.after);
        // A country's two letters, or a series of capitals.
        let in_a_word = before.is_ascii_lowercase() & !earlier.is_ascii_alphabetic();
        let goes_on = ((before == b'-') | (before == b'.')) & earlier.is_ascii_digit();
        let joins =
            after.is_ascii_alphanumeric() | (after >= 0x80) | (after == b' ') | matches!(after, b'('..=b'/');
        let alone = (self.length < 7) & !joins & !before.is_ascii_alphabetic();
        in_a_word | goes_on | alone | (before == b'_') | (before >= 0x80)
    }
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A key, token or password.
    Secret,
    /// A private key, as a block or a line.
    PrivateKey,
    /// An address of a service with the credentials in it.
    ConnectionString,
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// A payment card's number.
    Card,
    /// A bank account's number.
    Iban,
    /// A number by which a state knows a person.
    NationalId,
    /// A machine's address.
    IpAddress,
    /// Where somebody lives.
    PostalAddress,
    /// A person's name.
    Person,
    /// What a tenant's own pattern or dictionary finds, by the order they were named in.
    Custom(u16),
    /// A value that is known to be secret.
    Known,
    /// A string that was planted and must never come out, by its index.
    Canary(u16),
    /// What stands for a value that was taken out.
    Placeholder,
}

impl Class {
    /// The class's name in settings, placeholders and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::PrivateKey => "private-key",
            Self::ConnectionString => "connection-string",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Card => "card",
            Self::Iban => "iban",
            Self::NationalId => "national-id",
            Self::IpAddress => "ip",
            Self::PostalAddress => "address",
            Self::Person => "person",
            Self::Custom(_) => "custom",
            Self::Known => "known",
            Self::Canary(_) => "canary",
            Self::Placeholder => "placeholder",
        }
    }

    /// The classes that are built in, in the order of [`Class`].
    pub const BUILT_IN: [Self; 11] = [
        Self::Secret,
        Self::PrivateKey,
        Self::ConnectionString,
        Self::Email,
        Self::Phone,
        Self::Card,
        Self::Iban,
        Self::NationalId,
        Self::IpAddress,
        Self::PostalAddress,
        Self::Person,
    ];

    /// How serious a finding is: of two that overlap, the more serious one gives its class.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Canary(_) => 15,
            Self::Known => 14,
            Self::PrivateKey => 13,
            Self::ConnectionString => 12,
            Self::Secret => 11,
            Self::Custom(_) => 10,
            Self::Card => 9,
            Self::Iban => 8,
            Self::NationalId => 7,
            Self::Email => 6,
            Self::Phone => 5,
            Self::IpAddress => 4,
            Self::PostalAddress => 3,
            Self::Person => 2,
            Self::Placeholder => 1,
        }
    }
}
