//! Keys, tokens and passwords: the kind is recognised, not only a list of formats.
//!
//! Most secrets look thrown together (`shape.rs`) and are called by a name (`context.rs`, `names.rs`): `token.rs` puts the two together.
//! `prefix.rs` knows the beginnings that providers have published; `password.rs`, `header.rs`, `address.rs`, `jwt.rs` and `block.rs` find what need not look
//! like chance, because where it stands says enough.

mod address;
mod block;
mod context;
mod header;
mod jwt;
mod names;
mod password;
mod prefix;
mod shape;
mod token;

use crate::detector::Detector;

pub(crate) use password::{WORDS as PASSWORD_WORDS, look as look_at_password};
pub(crate) use prefix::{PREFIXES, look as look_at_prefix};
pub(crate) use shape::Shape;
pub(crate) use token::{look as look_at_run, reads_plainly};

pub(crate) const DETECTORS: &[Detector] = &[
    block::DETECTOR,
    block::PUTTY,
    address::DETECTOR,
    address::WEBHOOK,
    header::AUTHORIZATION,
    header::BEARER,
    header::CURL,
    jwt::DETECTOR,
];
