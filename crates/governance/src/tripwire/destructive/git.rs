//! The history of a repository, and what others build upon.

use super::command::Call;
use super::{Category, Findings, Severity};

/// Branches that everybody works from.
const SHARED: &[&str] = &["main", "master", "develop", "trunk", "production", "prod", "release"];

/// Tells what the command would do to a repository or a published package.
pub(super) fn judge(call: &Call<'_>, told: &mut Findings) {
    match call.name.as_str() {
        "git" => judge_git(call, told),
        "gh" if call.operand(0) == "repo" && call.operand(1) == "delete" => {
            told.push((Category::Git, Severity::Grave, "deletes a repository"));
        }
        "gh" | "glab" if call.operand(1) == "delete" => {
            told.push((Category::Git, Severity::Risky, "deletes what others see"));
        }
        "npm" | "pnpm" | "yarn" if call.operand(0) == "unpublish" => {
            told.push((Category::Packages, Severity::Grave, "takes back a package that others build upon"));
        }
        "cargo" if call.operand(0) == "yank" => {
            told.push((Category::Packages, Severity::Risky, "takes back a package that others build upon"));
        }
        "gem" if call.operand(0) == "yank" => {
            told.push((Category::Packages, Severity::Grave, "takes back a package that others build upon"));
        }
        "apt" | "apt-get" | "yum" | "dnf" | "pacman" | "apk" | "brew"
            if matches!(
                call.operand(0).as_str(),
                "remove" | "purge" | "autoremove" | "erase" | "uninstall" | "del"
            ) =>
        {
            told.push((Category::Packages, Severity::Risky, "takes programs off the machine"));
        }
        _ => {}
    }
}

fn judge_git(call: &Call<'_>, told: &mut Findings) {
    let mut words: Vec<&str> = call.arguments.clone();
    // `git -C path -c name=value push …`
    while let Some(first) = words.first().copied().filter(|word| word.starts_with('-')) {
        let values = if matches!(first, "-C" | "-c" | "--git-dir" | "--work-tree") { 2 } else { 1 };
        words.drain(..values.min(words.len()));
    }
    let Some((command, arguments)) = words.split_first() else { return };
    let call = Call { name: (*command).to_ascii_lowercase(), arguments: arguments.to_vec() };
    let risky = |reason| (Category::Git, Severity::Risky, reason);
    let grave = |reason| (Category::Git, Severity::Grave, reason);
    match call.name.as_str() {
        "push" => {
            let leased = call.arguments.iter().any(|word| word.starts_with("--force-with-lease"));
            let forced =
                call.has(&['f'], &["force", "mirror"]) || call.operands().any(|word| word.starts_with('+'));
            let deletes = call.has(&['d'], &["delete"]) || call.operands().any(|word| word.starts_with(':'));
            let shared = call.operands().any(|word| {
                let branch =
                    word.trim_start_matches(['+', ':']).rsplit([':', '/']).next().unwrap_or_default();
                SHARED.contains(&branch)
            });
            if (forced || deletes || leased) && shared || call.has(&[], &["mirror"]) {
                told.push(grave("rewrites a branch that everybody works from"));
            } else if forced || leased {
                told.push(risky("rewrites a branch at its origin"));
            } else if deletes {
                told.push(risky("deletes a branch at its origin"));
            }
        }
        "reset" if call.has(&[], &["hard"]) => {
            told.push(risky("throws away changes that are not committed"));
        }
        "clean" if call.has(&['f'], &["force"]) => {
            told.push(risky("deletes files that are not in the repository"));
        }
        "checkout" | "restore"
            if call.operands().any(|word| word == "." || word == "*") || call.has(&['f'], &["force"]) =>
        {
            told.push(risky("throws away changes that are not committed"));
        }
        "branch" if call.has(&['D'], &[]) => {
            told.push(risky("deletes a branch that is not merged"));
        }
        "stash" if matches!(call.operand(0).as_str(), "clear" | "drop") => {
            told.push(risky("throws away changes that were set aside"));
        }
        "filter-branch" | "filter-repo" => {
            told.push(risky("rewrites the whole history"));
        }
        "reflog" if call.operand(0) == "expire" => {
            told.push(risky("throws away the way back"));
        }
        "gc" if call.arguments.iter().any(|word| word.starts_with("--prune=now")) => {
            told.push(risky("throws away the way back"));
        }
        "update-ref" if call.has(&['d'], &[]) => {
            told.push(risky("deletes a branch that is not merged"));
        }
        _ => {}
    }
}
