//! What is told without reading a shell or SQL: calls in programming languages, names of tools, and whether a text can matter at all.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use super::arguments::words;
use super::files::is_everything;
use super::{Category, Findings, Severity, Told};

/// Words without which nothing here is told. Quotes and backslashes are taken out before they are looked for.
const STEMS: &[&str] = &[
    "rm", "unlink", "rmdir", "rd ", "del", "erase", "remove", "find", "shred", "wipe", "trunc", "rsync",
    "mv", "ch", "rimraf", "trash", "mkfs", "mkswap", "newfs", "dd", "blk", "sgdisk", "hdparm", "disk",
    "part", "format", "lvremove", "vgremove", "zpool", "zfs", "crypt", "/dev/", "/etc/", "halt", "shutdown",
    "reboot", "poweroff", "init", "iptables", "nft", "ufw", "cron", "kill", "history", "journal", "vssadmin",
    "git", "gh ", "glab", "npm", "yarn", "cargo", "gem", "apt", "yum", "dnf", "pacman", "apk", "brew",
    "kubectl", "oc ", "k ", "helm", "terra", "tofu", "pulumi", "cdk", "aws", "gcloud", "az ", "doctl",
    "hcloud", "fly", "heroku", "oci", "gsutil", "s3cmd", "rclone", "mc ", "docker", "podman", "nerdctl",
    "drop", "update", "alter", "flush", "curl", "wget", "fetch", "iwr", "base64", "base32", "xxd", "openssl",
    "()", "destroy", "purge", "userdel", "psql", "mysql", "sqlite", "reset", "ri ", "empty", "tee", "linode",
    "scw", "azcopy", "ibmcloud", "pvremove",
];

static PREFILTER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(STEMS).ok());

/// Whether anything in the text can be told. What it lets go is not read any further.
pub(super) fn may_matter(text: &str) -> bool {
    let Some(stems) = PREFILTER.as_ref() else { return true };
    if text.len() < 3 {
        return false;
    }
    if stems.is_match(text) {
        return true;
    }
    // `r''m`, `r\m`, `$a$b`: look again at what a shell would see; variables can spell anything.
    if !text.contains(['\'', '"', '\\', '$', '`']) {
        return false;
    }
    let bare: String = text.chars().filter(|letter| !matches!(letter, '\'' | '"' | '\\' | '\n')).collect();
    text.contains('$') || stems.is_match(&bare)
}

/// A call in a programming language, what it does, and whether its argument says how bad it is.
const CALLS: &[(&str, Category, &str)] = &[
    ("shutil.rmtree(", Category::Files, "deletes a directory with all that is in it"),
    ("os.removedirs(", Category::Files, "deletes a directory with all that is in it"),
    ("fs.rmsync(", Category::Files, "deletes a directory with all that is in it"),
    ("fs.rmdirsync(", Category::Files, "deletes a directory with all that is in it"),
    ("fs.rm(", Category::Files, "deletes a directory with all that is in it"),
    ("rimraf(", Category::Files, "deletes a directory with all that is in it"),
    ("rimraf.sync(", Category::Files, "deletes a directory with all that is in it"),
    ("fileutils.rm_rf(", Category::Files, "deletes a directory with all that is in it"),
    ("fileutils.deletedirectory(", Category::Files, "deletes a directory with all that is in it"),
    ("remove_dir_all(", Category::Files, "deletes a directory with all that is in it"),
    ("os.removeall(", Category::Files, "deletes a directory with all that is in it"),
    ("directory.delete(", Category::Files, "deletes a directory with all that is in it"),
    ("fs.emptydirsync(", Category::Files, "deletes a directory with all that is in it"),
    ("os.remove(", Category::Files, "deletes a file"),
    ("os.unlink(", Category::Files, "deletes a file"),
    ("fs.unlinksync(", Category::Files, "deletes a file"),
    ("file.delete(", Category::Files, "deletes a file"),
    (".dropdatabase(", Category::Database, "deletes a database"),
    (".drop_database(", Category::Database, "deletes a database"),
    (".drop_all(", Category::Database, "deletes a table with all its rows"),
    (".drop_collection(", Category::Database, "deletes a table with all its rows"),
    (".deletemany({})", Category::Database, "deletes all rows of a table"),
    (".delete_many({})", Category::Database, "deletes all rows of a table"),
    (".remove({})", Category::Database, "deletes all rows of a table"),
    (".objects.all().delete(", Category::Database, "deletes all rows of a table"),
    (".flushall(", Category::Database, "empties a database"),
    (".flushdb(", Category::Database, "empties a database"),
    (".delete_bucket(", Category::Cloud, "deletes something that is kept in the cloud"),
    (".terminate_instances(", Category::Cloud, "deletes something at the cloud provider"),
    ("os.system(", Category::System, ""),
    ("subprocess.run(", Category::System, ""),
    ("subprocess.call(", Category::System, ""),
    ("subprocess.popen(", Category::System, ""),
    ("child_process.exec(", Category::System, ""),
    ("execsync(", Category::System, ""),
    ("exec.command(", Category::System, ""),
    ("command::new(", Category::System, ""),
];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(CALLS.iter().map(|(call, ..)| call))
        .ok()
});

/// Tells what calls in `text` would destroy.
pub(super) fn judge(text: &str, told: &mut Findings) {
    let Some(finder) = FINDER.as_ref() else { return };
    for found in finder.find_iter(text) {
        let (_, category, reason) = CALLS[found.pattern().as_usize()];
        let argument = first_string(&text[found.end()..]);
        if reason.is_empty() {
            // A shell behind a language: what it is given runs.
            if let Some(line) = argument.or_else(|| list(&text[found.end()..])) {
                super::command::judge(&line, 1, told);
            }
            continue;
        }
        let grave = category == Category::Database || argument.as_deref().is_some_and(is_everything);
        let deep = reason.contains("directory");
        let severity =
            if grave && (deep || category == Category::Database) { Severity::Grave } else { Severity::Risky };
        told.push((category, severity, reason));
    }
}

/// The string in quotes at the beginning of an argument list, at most 4,096 bytes of it.
fn first_string(text: &str) -> Option<String> {
    let text = text.trim_start_matches([' ', '\n', '\t', 'r', 'f', 'b']);
    let quote = text.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let body = &text[1..];
    let end = body.bytes().take(4096).position(|byte| char::from(byte) == quote)?;
    Some(body[..end].to_owned())
}

/// A list of strings as one line: `["rm", "-rf", "/"]`.
fn list(text: &str) -> Option<String> {
    let body = text.trim_start().strip_prefix('[')?;
    let end = body.bytes().take(4096).position(|byte| byte == b']')?;
    Some(
        body[..end]
            .split(',')
            .map(|word| word.trim().trim_matches(['"', '\'']))
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// What the name of a tool alone says: `drop_table`, `deleteAllUsers`.
pub(super) fn named(tool: &str) -> Option<Told> {
    const VERBS: &[&str] = &[
        "delete",
        "destroy",
        "drop",
        "erase",
        "format",
        "nuke",
        "purge",
        "remove",
        "terminate",
        "truncate",
        "wipe",
    ];
    const HELD: &[&str] = &[
        "account",
        "accounts",
        "backup",
        "backups",
        "bucket",
        "cluster",
        "database",
        "databases",
        "db",
        "disk",
        "everything",
        "index",
        "instance",
        "namespace",
        "org",
        "organization",
        "project",
        "repo",
        "repository",
        "schema",
        "server",
        "table",
        "tables",
        "tenant",
        "volume",
    ];
    let words: Vec<String> = words(tool).map(str::to_ascii_lowercase).collect();
    let destroys = words.iter().any(|word| VERBS.contains(&word.as_str()));
    let held = words.iter().any(|word| HELD.contains(&word.as_str()));
    let all = words.iter().any(|word| word == "all" || word == "everything");
    (destroys && (held || all)).then_some((
        Category::System,
        Severity::Risky,
        "the tool is made to delete what holds much else",
    ))
}
