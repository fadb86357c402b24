//! What the commands of a shell line would do: unwraps them and asks the file of each category.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::shell::{Command, commands};
use super::{Category, Findings, Severity, cloud, database, disk, files, git, sql};

/// A command without what wraps it.
pub(super) struct Call<'c> {
    /// The name of the program, without its path, in lower case.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<&'c str>,
}

impl Call<'_> {
    /// Whether one of the short flags or long options is given, in any order and joined or not.
    pub(super) fn has(&self, short: &[char], long: &[&str]) -> bool {
        self.arguments.iter().any(|argument| match argument.strip_prefix("--") {
            Some(option) => long.iter().any(|long| option.split('=').next() == Some(long)),
            None => {
                argument.strip_prefix('-').is_some_and(|flags| flags.contains(short) || long.contains(&flags))
            }
        })
    }

    /// Its arguments that are no options.
    pub(super) fn operands(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().copied().filter(|argument| !argument.starts_with('-'))
    }

    /// The nth of them, in lower case.
    pub(super) fn operand(&self, nth: usize) -> String {
        self.operands().nth(nth).unwrap_or_default().to_ascii_lowercase()
    }
}

/// Tells what the commands in `text` would destroy.
pub(super) fn judge(text: &str, depth: u8, told: &mut Findings) {
    if is_fork_bomb(text) {
        told.push((Category::System, Severity::Grave, "starts copies of itself without end"));
    }
    let commands = commands(text);
    let calls: Vec<Option<Call<'_>>> = commands.iter().map(|command| unwrap(&command.words)).collect();
    for (index, command) in commands.iter().enumerate() {
        for file in &command.overwrites {
            disk::judge_overwrite(file, told);
        }
        let Some(call) = &calls[index] else { continue };
        files::judge(call, told);
        disk::judge(call, told);
        git::judge(call, told);
        cloud::judge(call, told);
        database::judge(call, told);
        judge_flow(&commands, &calls, index, told);
        if let Some(depth) = depth.checked_sub(1) {
            judge_inner(&commands, &calls, index, depth, told);
        }
    }
}

/// The program that a command runs, behind `sudo`, `env` and their like.
fn unwrap(words: &[String]) -> Option<Call<'_>> {
    let mut rest = words;
    loop {
        let (first, behind) = rest.split_first()?;
        let name = program(first);
        let takes_value: &[&str] = match name.as_str() {
            "sudo" | "doas" => &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T"],
            "xargs" | "parallel" => &["-n", "-P", "-I", "-L", "-d", "-s", "-a", "-j"],
            "nice" | "ionice" => &["-n", "-c", "-p"],
            "timeout" => &["-s", "-k"],
            "env" => &["-u", "-C", "-S"],
            "stdbuf" => &["-i", "-o", "-e"],
            "nohup" | "time" | "exec" | "command" | "builtin" | "setsid" | "busybox" | "toybox"
            | "unbuffer" | "chronic" | "then" | "do" | "else" | "if" | "while" | "until" | "elif" | "!"
            | "{" | "proxychains" | "call" => &[],
            _ => return Some(Call { name, arguments: behind.iter().map(String::as_str).collect() }),
        };
        rest = behind;
        while let Some((option, behind)) = rest.split_first() {
            let assigns = option.split_once('=').is_some_and(|(name, _)| {
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            });
            let length = name == "timeout" && option.starts_with(|letter: char| letter.is_ascii_digit());
            if !option.starts_with('-') && !assigns && !length {
                break;
            }
            rest = behind;
            if takes_value.contains(&option.as_str()) {
                rest = rest.split_first().map_or(rest, |(_, behind)| behind);
            }
        }
    }
}

/// The name of a program without its path and ending.
fn program(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    name.strip_suffix(".exe").map_or_else(|| name.clone(), str::to_owned)
}

/// Whether the word is a program that runs what it is given.
pub(super) fn is_shell(word: &str) -> bool {
    matches!(
        program(word).as_str(),
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ksh"
            | "fish"
            | "ash"
            | "csh"
            | "tcsh"
            | "pwsh"
            | "powershell"
            | "cmd"
    )
}

fn runs_code(name: &str) -> bool {
    is_shell(name)
        || matches!(
            name,
            "python" | "python2" | "python3" | "perl" | "ruby" | "node" | "php" | "eval" | "source" | "."
        )
}

fn fetches(name: &str) -> bool {
    matches!(name, "curl" | "wget" | "fetch" | "iwr" | "invoke-webrequest" | "aria2c" | "lynx")
}

/// What goes from one command into another.
fn judge_flow(commands: &[Command], calls: &[Option<Call<'_>>], index: usize, told: &mut Findings) {
    let Some(call) = &calls[index] else { return };
    let within = commands[index].within.and_then(|outer| calls.get(outer)?.as_ref());
    let fetched = fetches(&call.name) && within.is_some_and(|outer| runs_code(&outer.name));
    let into = flows_into(commands, calls, index);
    if fetched || (fetches(&call.name) && into.is_some_and(|next| runs_code(&next.name))) {
        told.push((Category::RemoteCode, Severity::Grave, "runs a script straight from the network"));
    }
    let decodes = match call.name.as_str() {
        "base64" | "base32" => call.has(&['d', 'D'], &["decode"]),
        "xxd" => call.has(&['r'], &["revert"]),
        "openssl" => call.has(&['d'], &["d"]),
        _ => false,
    };
    if decodes
        && (into.is_some_and(|next| runs_code(&next.name))
            || within.is_some_and(|outer| runs_code(&outer.name)))
    {
        told.push((Category::RemoteCode, Severity::Grave, "runs what it decodes first"));
    }
}

/// The command that what comes out of this one reaches, through those that only pass it on.
fn flows_into<'a, 'c>(
    commands: &[Command],
    calls: &'a [Option<Call<'c>>],
    mut index: usize,
) -> Option<&'a Call<'c>> {
    // Decoders and tees are seldom more than a few.
    for _ in 0..4 {
        if !commands[index].piped {
            return None;
        }
        index += 1;
        let next = calls.get(index)?.as_ref()?;
        if !matches!(
            next.name.as_str(),
            "base64" | "base32" | "gunzip" | "gzip" | "zcat" | "tee" | "tr" | "sed" | "xxd" | "rev" | "cat"
        ) {
            return Some(next);
        }
    }
    None
}

/// Texts within the command that would run in turn: `sh -c "…"`, `eval`, `ssh host "…"`, `echo … | sh`.
fn judge_inner(
    commands: &[Command],
    calls: &[Option<Call<'_>>],
    index: usize,
    depth: u8,
    told: &mut Findings,
) {
    let Some(call) = &calls[index] else { return };
    let words = &call.arguments;
    let behind = |mark: &str| words.iter().position(|word| *word == mark).map(|at| words[at + 1..].join(" "));
    let inner = match call.name.as_str() {
        name if is_shell(name) => {
            let at = words.iter().position(|word| {
                word.starts_with('-') && word.ends_with('c') || matches!(*word, "/c" | "/C" | "-Command")
            });
            at.and_then(|at| words.get(at + 1)).map(|text| (*text).to_owned())
        }
        "eval" => Some(words.join(" ")),
        "ssh" => Some(behind_operands(words, 1, &["-p", "-i", "-l", "-o", "-F", "-J", "-b"])),
        "su" | "runuser" => behind("-c"),
        "watch" => Some(words.join(" ")),
        "find" => behind("-exec").or_else(|| behind("-execdir")).map(|text| text.replace("{}", "found")),
        "kubectl" | "oc" => behind("--"),
        "docker" | "podman" | "nerdctl" if matches!(call.operand(0).as_str(), "exec" | "run") => {
            Some(behind_operands(
                words,
                2,
                &["-u", "-e", "-w", "-v", "-p", "--name", "--user", "--env", "--network", "--entrypoint"],
            ))
        }
        "echo" | "printf" => {
            let text = call.operands().collect::<Vec<_>>().join(" ");
            match flows_into(commands, calls, index) {
                Some(next) if is_shell(&next.name) => Some(decoded(&text).unwrap_or(text)),
                Some(next) if database::is_client(&next.name) => {
                    sql::judge(&text, told);
                    None
                }
                _ => None,
            }
        }
        _ => None,
    };
    if let Some(inner) = inner {
        judge(&inner, depth, told);
    }
}

/// What follows the first `count` words that are no options, where some options have a value behind them.
fn behind_operands(words: &[&str], count: usize, with_value: &[&str]) -> String {
    let mut seen = 0;
    let mut at = 0;
    while at < words.len() && seen < count {
        match words[at] {
            option if with_value.contains(&option) => at += 1,
            option if option.starts_with('-') => {}
            _ => seen += 1,
        }
        at += 1;
    }
    words.get(at..).unwrap_or_default().join(" ")
}

/// The text that base64 hides.
fn decoded(text: &str) -> Option<String> {
    let text = text.trim();
    (text.len() >= 8).then(|| STANDARD.decode(text).ok())?.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// A function that calls itself twice in the background: `:(){ :|:& };:`.
fn is_fork_bomb(text: &str) -> bool {
    let Some(at) = text.find("()") else { return false };
    let name: String = text[..at]
        .chars()
        .rev()
        .take_while(|letter| !letter.is_whitespace() && *letter != ';')
        .take(32)
        .collect();
    let name: String = name.chars().rev().collect();
    let body: String = text[at..].chars().filter(|letter| !letter.is_whitespace()).take(128).collect();
    !name.is_empty() && body.starts_with("(){") && body.contains(&format!("{name}|{name}&"))
}
