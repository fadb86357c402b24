//! The reference: `docs/reference/configuration.md`, made of the table.

use crate::key::{DefaultValue, Key, Status};
use crate::keys::{named_tables, sections};
use std::fmt::Write as _;

const HEAD: &str = "\
# Configuration

<!-- Generated from the table in crates/config/src/keys by `UPDATE_EXPECT=1 cargo test -p config`. -->

A setting comes from, the strongest first:

1. a flag: `--port 5000`, or `--set server.port=5000` for any key that is not secret;
2. an environment variable: `PUNK_PORT=5000`;
3. the file `punk.toml`: `port = 5000` below `[server]`;
4. the default.

`punk config` shows what holds and where each of it comes from; `punk config check` only says whether it is
right.

- **The file** is `punk.toml` in the working directory, or the one that `--config` or `PUNK_CONFIG` names. The
  default file may be missing; a named one may not. Paths in it are relative to the working directory.
- **Nothing unknown is ignored.** A key of the file or a variable that starts with `PUNK_` and is not listed here
  stops the start, with its place and the nearest name. Only `PUNK_TEST_…` is left alone. All problems are
  told at once, with exit code 2, and nothing is written.
- **An empty variable counts as unset.** An empty text in the file is refused.
- In variables `true`, `1`, `false` and `0` are booleans; in the file only `true` and `false`.
- **Secrets** are never shown, not even in part, and are refused on the command line, where others can see them.
- **Reserved** keys are accepted and checked today, and take effect when what they wait for is built.
- Tracing is configured by the standard `OTEL_…` variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, …);
  it is off as long as no endpoint is set.
";

/// The whole reference.
pub fn markdown() -> String {
    let mut text = HEAD.to_owned();
    for section in sections() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## `[{}]`\n\n{}\n\n", section.name, section.doc);
        text.push_str("| key | variable | value | default | |\n|---|---|---|---|---|\n");
        for key in section.keys {
            text.push_str(&row(key));
        }
    }
    for table in named_tables() {
        let _ = write!(text, "\n## `[{}.NAME]`\n\n{}\n\n", table.name, table.doc);
        text.push_str("| key | variable | value | default | |\n|---|---|---|---|---|\n");
        for key in table.keys {
            text.push_str(&row(key));
        }
    }
    text
}

fn row(key: &Key) -> String {
    let variables: Vec<_> = key
        .variables()
        .filter(|variable| !variable.is_empty())
        .map(|variable| format!("`{variable}`"))
        .collect();
    let secret = if key.secret { "Secret. " } else { "" };
    let refers = if key.refers { " Or `cred:NAME`: a secret in the vault." } else { "" };
    let reserved = match key.status {
        Status::Active => String::new(),
        Status::Reserved(until) => format!(" *Reserved: waits for {until}.*"),
    };
    format!(
        "| `{}` | {} | {} | {} | {secret}{}{refers}{reserved} |\n",
        key.path,
        variables.join(", else "),
        key.kind.allowed(),
        default(key),
        key.doc,
    )
}

fn default(key: &Key) -> String {
    match key.default {
        DefaultValue::Unset if key.required => "must be set".to_owned(),
        DefaultValue::Unset => "unset".to_owned(),
        DefaultValue::Text(text) => format!("`{text}`"),
        DefaultValue::Under { folder, name } => format!("`{name}` in `{folder}`"),
        DefaultValue::SameAs(path) => format!("as `{path}`"),
        DefaultValue::Inferred(how) => how.to_owned(),
    }
}
