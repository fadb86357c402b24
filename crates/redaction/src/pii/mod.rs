//! Personal data: what can be told by its form, its checksum or the words around it.
//!
//! One file a class; [`DETECTORS`] lists them. `reader.rs` is how each of them reads, and why each of them keeps the laws of a
//! detector: at most 256 bytes behind the trigger and 384 ahead matter, and what is said once is said of every longer text.
//!
//! What is told by form (e-mail, cards, accounts, numbers of states, telephones, internet addresses) is found reliably.
//! Names and postal addresses are found only where the words around them are strong: most names in prose are not. That is
//! deliberate, since a list of names would turn half of every text into alarms.
//!
//! To add a class: a file with a [`Detector`] whose `look` reads through a `Reader`, a line in [`DETECTORS`], and examples of
//! what it finds and what it leaves alone.

mod address;
mod card;
mod checksum;
mod context;
mod email;
mod iban;
mod ip;
mod labelled;
mod national;
mod number;
mod person;
mod phone;
mod reader;
#[cfg(test)]
mod tests;
mod words;

use crate::detector::Detector;

/// Finds personal data.
pub(crate) static DETECTORS: &[Detector] = &[
    email::EMAIL,
    card::CARD,
    iban::IBAN,
    national::WRITTEN,
    national::LABELLED,
    phone::PHONE,
    ip::V4,
    ip::V6,
    address::NUMBERED,
    address::STREET,
    address::ENDING,
    address::BOX,
    address::DOTTED_BOX,
    address::POSTCODE,
    person::TITLED,
    person::INTRODUCED,
];
