//! `[sinks.NAME]`: where the heads of the ledger are copied to.

use super::{NameRule, Named};
use crate::key::{Key, Kind};

/// What each kind of sink cannot do without, and what else is its own. Whatever is in no list belongs to all of them.
pub(crate) const FIELDS: [(&str, &[&str], &[&str]); 3] = [
    ("file", &["path"], &[]),
    ("http", &["url"], &["token", "allow_private"]),
    (
        "s3",
        &["endpoint", "bucket", "access_key_id", "secret_access_key"],
        &["region", "prefix", "allow_private"],
    ),
];

pub(super) static TABLE: Named = Named {
    name: "sinks",
    example: "vault",
    doc: "Where the signed heads of the ledger are copied to every minute, a table each: `[sinks.vault]`. A copy that whoever \
          operates the database cannot change shows when the ledger was rewritten.",
    names: NameRule::Plain,
    keys: &[
        Key::new(
            "sinks.NAME.kind",
            "",
            Kind::Choice(&["file", "http", "s3"]),
            "Lines at the end of a file, a `POST` each, or an object each in an S3-compatible store.",
        )
        .required(),
        Key::new("sinks.NAME.path", "", Kind::Path, "`file`: the file. It is made when it is not there."),
        Key::new("sinks.NAME.url", "", Kind::Url(&["http", "https"]), "`http`: where to."),
        Key::new(
            "sinks.NAME.token",
            "PUNK_SINK_<NAME>_TOKEN",
            Kind::Token,
            "`http`: sent as `Authorization: Bearer …`. In the variable's name, the sink's is in capitals with `_` for `-`.",
        )
        .secret_or_reference(),
        Key::new(
            "sinks.NAME.endpoint",
            "",
            Kind::Url(&["http", "https"]),
            "`s3`: where the store is, without the bucket: `https://s3.eu-central-1.amazonaws.com`.",
        ),
        Key::new("sinks.NAME.bucket", "", Kind::Token, "`s3`: the bucket."),
        Key::new(
            "sinks.NAME.prefix",
            "",
            Kind::Token,
            "`s3`: what the names of objects begin with, such as `punk/`.",
        ),
        Key::new("sinks.NAME.region", "", Kind::Token, "`s3`: the region; `us-east-1` when absent."),
        Key::new("sinks.NAME.access_key_id", "", Kind::Token, "`s3`: the id of the access key."),
        Key::new(
            "sinks.NAME.secret_access_key",
            "PUNK_SINK_<NAME>_SECRET_ACCESS_KEY",
            Kind::Token,
            "`s3`: the access key.",
        )
        .secret_or_reference(),
        Key::new(
            "sinks.NAME.runs",
            "",
            Kind::Boolean,
            "Also copy, signed, what became of every finished run: by whom, by which verdict, with which end; not what was said.",
        )
        .or("false"),
        Key::new(
            "sinks.NAME.shape",
            "",
            Kind::Choice(&["punk", "insforge"]),
            "How runs are written: as `punk.context/1`, or that inside an envelope with `orgId`, `actorId` and the like.",
        )
        .or("punk"),
        Key::new(
            "sinks.NAME.environment",
            "",
            Kind::Text,
            "What `environment` says in the shape `insforge`, such as `prod`.",
        ),
        Key::new(
            "sinks.NAME.allow_private",
            "",
            Kind::Boolean,
            "`http` and `s3`: let this one address be a private one; `false` when absent.",
        ),
    ],
};
