//! The strings of a call's arguments, and which of them somebody only reads.

use serde_json::{Map, Value};

/// Arguments that people read. What they mention does not run.
const READ: &[&str] = &[
    "body",
    "caption",
    "comment",
    "description",
    "message",
    "note",
    "notes",
    "prompt",
    "question",
    "reason",
    "reply",
    "subject",
    "summary",
    "title",
];
/// Words in the names of tools that run what they are given, whatever the argument is called.
const RUNNERS: &[&str] = &[
    "bash",
    "cmd",
    "command",
    "console",
    "exec",
    "execute",
    "powershell",
    "run",
    "script",
    "shell",
    "sql",
    "ssh",
    "terminal",
];
/// Arguments that hold a program and those that hold its arguments.
const PROGRAM: &[&str] = &["command", "cmd", "program", "executable", "binary"];
const LIST: &[&str] = &["args", "arguments", "argv", "parameters"];
/// How deep arguments are followed; nothing that is meant to run lies deeper.
const DEPTH: u8 = 32;

/// Calls `look` with the place and the text of every string that may run.
pub(super) fn visit(tool: &str, arguments: &Value, look: &mut impl FnMut(&str, &str)) {
    let runs = words(tool).any(|word| RUNNERS.iter().any(|runner| runner.eq_ignore_ascii_case(word)));
    walk(runs, &mut String::new(), arguments, DEPTH, look);
}

/// The words of a name in any of its spellings: `runShell`, `run_shell`, `run-shell`.
pub(super) fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_ascii_alphanumeric()).flat_map(|part| {
        let humps = part.char_indices().filter(move |(at, letter)| {
            letter.is_ascii_uppercase() && *at > 0 && part.as_bytes()[at - 1].is_ascii_lowercase()
        });
        let mut starts: Vec<usize> = std::iter::once(0).chain(humps.map(|(at, _)| at)).collect();
        starts.push(part.len());
        starts.windows(2).map(|pair| &part[pair[0]..pair[1]]).collect::<Vec<_>>()
    })
}

fn walk(runs: bool, place: &mut String, value: &Value, depth: u8, look: &mut impl FnMut(&str, &str)) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::String(text) => look(place, text),
        Value::Array(items) => {
            if let Some(line) = line(items) {
                look(place, &line);
            }
            for (index, item) in items.iter().enumerate() {
                within(place, &index.to_string(), |place| walk(runs, place, item, depth, look));
            }
        }
        Value::Object(fields) => {
            if let Some(line) = program(fields) {
                look(place, &line);
            }
            for (name, field) in fields {
                let read = field.is_string() && READ.iter().any(|read| read.eq_ignore_ascii_case(name));
                if runs || !read {
                    within(place, name, |place| walk(runs, place, field, depth, look));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Does something with the place of a field, as a JSON pointer names it.
fn within(place: &mut String, name: &str, work: impl FnOnce(&mut String)) {
    let length = place.len();
    place.push('/');
    place.push_str(&name.replace('~', "~0").replace('/', "~1"));
    work(place);
    place.truncate(length);
}

/// A list of words as a shell line: `["rm", "-rf", "/"]`.
fn line(items: &[Value]) -> Option<String> {
    let words: Vec<&str> = items.iter().map(Value::as_str).collect::<Option<_>>()?;
    (words.len() > 1).then(|| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// A program and its arguments in two fields.
fn program(fields: &Map<String, Value>) -> Option<String> {
    let program = PROGRAM.iter().find_map(|name| fields.get(*name)?.as_str())?;
    let items = LIST.iter().find_map(|name| fields.get(*name)?.as_array())?;
    let words: Vec<&str> = items.iter().map(Value::as_str).collect::<Option<_>>()?;
    Some(
        std::iter::once(program.to_owned())
            .chain(words.iter().map(|word| quoted(word)))
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// A word as a shell keeps it whole.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./~*=:@%+,".contains(&byte));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
