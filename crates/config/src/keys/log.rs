//! `[log]`: what the process says about itself.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "log",
    doc: "What the process says about itself, on standard error.",
    keys: &[
        Key::new(
            "log.filter",
            "PUNK_LOG",
            Kind::Text,
            "What to log: a level (error, warn, info, debug, trace) or directives such as \
             `info,gateway=debug`.",
        )
        .or("info"),
        Key::new(
            "log.format",
            "PUNK_LOG_FORMAT",
            Kind::Choice(&["auto", "human", "json"]),
            "`auto` is human on a terminal and JSON lines elsewhere.",
        )
        .or("auto"),
    ],
};
