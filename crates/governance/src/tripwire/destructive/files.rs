//! Files and directories, and who may use them.

use super::command::Call;
use super::{Category, Findings, Severity};

/// Tells what the command would do to files.
pub(super) fn judge(call: &Call<'_>, told: &mut Findings) {
    let targets = || call.operands();
    let everything = || targets().any(is_everything);
    match call.name.as_str() {
        "rm" | "unlink" | "srm" => {
            let deep = call.has(&['r', 'R'], &["recursive"]);
            let forced = call.has(&['f'], &["force"]);
            if call.has(&[], &["no-preserve-root"]) || (deep && everything()) {
                told.push((
                    Category::Files,
                    Severity::Grave,
                    "deletes everything below a directory that much depends on",
                ));
            } else if deep {
                told.push((Category::Files, Severity::Risky, "deletes a directory with all that is in it"));
            } else if forced || targets().any(|target| target.contains('*')) {
                told.push((Category::Files, Severity::Risky, "deletes files without asking"));
            }
        }
        "rmdir" | "rd" | "del" | "erase" => {
            let deep = call.arguments.iter().any(|word| word.eq_ignore_ascii_case("/s"));
            if deep {
                let severity = if call.arguments.iter().any(|word| is_everything(word)) {
                    Severity::Grave
                } else {
                    Severity::Risky
                };
                told.push((Category::Files, severity, "deletes a directory with all that is in it"));
            }
        }
        "remove-item" | "ri"
            if call.arguments.iter().any(|word| word.to_ascii_lowercase().starts_with("-rec")) =>
        {
            let severity = if everything() { Severity::Grave } else { Severity::Risky };
            told.push((Category::Files, severity, "deletes a directory with all that is in it"));
        }
        "find" => {
            let deletes = call.arguments.contains(&"-delete");
            if deletes {
                let severity = if targets().next().is_some_and(is_everything) {
                    Severity::Grave
                } else {
                    Severity::Risky
                };
                told.push((Category::Files, severity, "deletes all files that it finds"));
            }
        }
        "shred" | "wipe" => {
            told.push((Category::Files, Severity::Risky, "overwrites files so that nobody can restore them"));
        }
        "truncate" if call.has(&['s'], &["size"]) => {
            told.push((Category::Files, Severity::Risky, "cuts files off"));
        }
        "rsync" if call.arguments.iter().any(|word| word.starts_with("--delete")) => {
            told.push((Category::Files, Severity::Risky, "deletes what the source does not have"));
        }
        "mv" if targets().last() == Some("/dev/null") => {
            told.push((Category::Files, Severity::Grave, "moves files to where nothing is kept"));
        }
        "chmod" | "chown" | "chgrp" if call.has(&['R'], &["recursive"]) => {
            let severity =
                if targets().skip(1).any(is_everything) { Severity::Grave } else { Severity::Risky };
            told.push((Category::System, severity, "changes who may use everything below a directory"));
        }
        "rimraf" | "trash" => {
            told.push((Category::Files, Severity::Risky, "deletes a directory with all that is in it"));
        }
        _ => {}
    }
}

/// Whether the path is one without which a machine or a person has nothing left.
pub(super) fn is_everything(path: &str) -> bool {
    const ROOTS: &[&str] = &[
        "",
        "bin",
        "boot",
        "data",
        "dev",
        "etc",
        "home",
        "lib",
        "lib64",
        "mnt",
        "opt",
        "proc",
        "root",
        "sbin",
        "srv",
        "sys",
        "usr",
        "var",
        "applications",
        "library",
        "system",
        "users",
        "var/lib",
        "usr/bin",
        "usr/lib",
    ];
    let path = path.trim_matches(['"', '\'']).to_ascii_lowercase().replace('\\', "/");
    if matches!(path.as_str(), "." | ".." | "*" | "./*" | "./" | "../" | ".*" | "../*" | "{*,.*}") {
        return true;
    }
    let home = ["~", "$home", "${home}", "%userprofile%", "$env:userprofile"];
    if let Some(rest) = home.iter().find_map(|home| path.strip_prefix(home)) {
        return rest.trim_matches(['/', '*', '.']).is_empty();
    }
    let path = match path.as_bytes() {
        [drive, b':', ..] if drive.is_ascii_alphabetic() => &path[2..],
        _ if path.starts_with('/') => &path[1..],
        _ => return false,
    };
    // `/tmp/../etc` is `/etc`.
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." | "*" | ".*" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.len() <= 2
        && (ROOTS.contains(&parts.join("/").as_str())
            || parts.as_slice() == ["windows"]
            || (parts.len() == 2 && matches!(parts[0], "home" | "users")))
}
