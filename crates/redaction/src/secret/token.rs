//! Runs of token characters that are secret by how they look and by what is said of them.

use std::ops::Range;

use crate::detector::{Class, Sight, View};
use crate::run::MAX_RUN;
use crate::secret::context::{Context, Tie};
use crate::secret::shape::{Shape, is_digest, is_identifier, is_uuid};
use crate::table::in_run;

/// What the run of `length` bytes at the view's place is.
pub(crate) fn look(view: View<'_>, length: usize) -> Sight {
    let text = view.text;
    let end = trimmed(text, view.at, view.at + length);
    if length >= MAX_RUN || is_public(text, view.at, view.at + length) {
        return Sight::Nothing;
    }
    for range in values(text, view.at..end) {
        if let Some(rule) = judge(text, range.clone()) {
            let Some(end) = joined_after(view, range.end) else { return Sight::Wait };
            let start = hexadecimal_pair(text, &range).unwrap_or_else(|| joined_before(text, range.start));
            return Sight::Found { range: start..end, class: Class::Secret, rule };
        }
    }
    Sight::Nothing
}

/// Whether a run is words and numbers: nothing that is secret, and nothing that is encoded.
pub(crate) fn reads_plainly(run: &[u8]) -> bool {
    if run.len() == 8 || run.contains(&b'=') {
        return false;
    }
    let shape = Shape::of(run);
    shape.chance <= 1.5 && !shape.is_number() && !is_uuid(run)
}

/// The end of a run without the dot that ends a sentence.
fn trimmed(text: &[u8], start: usize, mut end: usize) -> usize {
    while end > start && text[end - 1] == b'.' {
        end -= 1;
    }
    end
}

/// What can be a value in a run: all of it, what follows the signs it begins with, or what stands behind a sign of assignment within.
fn values(text: &[u8], run: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let signs = |from: usize| text[from..run.end].iter().take_while(|byte| **byte == b'=').count();
    let first = run.start + signs(run.start);
    let sign = text[first..run.end].iter().position(|byte| *byte == b'=').map(|index| first + index);
    let assigned = sign.map(|sign| sign + signs(sign)).filter(|start| run.end - start >= 8);
    let is_named = assigned.is_some()
        && sign.is_some_and(|sign| is_name(&text[first..sign]) && !Context::before(&text[..first]).tells());
    let whole = (!is_named).then_some(first);
    // Right behind a quote, a sign of assignment belongs to the value.
    let quoted = run.start > 0 && matches!(text[run.start - 1], b'"' | b'\'' | b'`') && first > run.start;
    let quoted = quoted.then_some(run.start);
    quoted
        .into_iter()
        .chain(whole)
        .chain(assigned)
        .map(move |start| start..run.end)
        .filter(|range| range.len() >= 8)
}

/// Whether what stands before a sign of assignment is a name, and not the first part of a value with such a sign in it.
fn is_name(text: &[u8]) -> bool {
    let shape = Shape::of(text);
    shape.chance < 1.0 && shape.letters() > 0 && shape.digits * 4 <= shape.length
}

/// Where a value begins of which another part stands before: `123456:AAF…`, `1234|…`, `part@part`.
fn joined_before(text: &[u8], start: usize) -> usize {
    let Some(&joint) = start.checked_sub(1).and_then(|before| text.get(before)) else { return start };
    let before = &text[..start - 1];
    let run = |holds: fn(&u8) -> bool| before.iter().rev().take_while(|byte| holds(byte)).count();
    let length = match joint {
        b':' | b'|' => run(u8::is_ascii_digit),
        b'@' | b'%' => run(|byte| byte.is_ascii_alphanumeric() || b"_-+.~=@%".contains(byte)),
        _ => 0,
    };
    if length >= 5 || (length > 0 && matches!(joint, b'@' | b'%')) { start - 1 - length } else { start }
}

/// Where a value ends that goes on behind characters tokens are seldom made of. Nothing: more must be seen.
fn joined_after(view: View<'_>, mut end: usize) -> Option<usize> {
    let holds = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+.~=/".contains(byte);
    loop {
        let rest = &view.text[end..];
        let backslashes = rest.iter().take(8).take_while(|byte| **byte == b'\\').count();
        let joint = match rest.first() {
            Some(b'@' | b'%' | b':' | b'|' | b'!' | b'$' | b'*' | b'#' | b'^') => 1,
            _ => backslashes,
        };
        match rest.get(joint) {
            None if !view.ended => return None,
            // A backslash before one of these is an escape, and no part of the value.
            Some(next) if joint > 0 && holds(next) && !(backslashes > 0 && b"nrtbfux/".contains(next)) => {
                end += joint + rest[joint..].iter().take_while(|byte| holds(byte)).count();
            }
            _ => return Some(end),
        }
    }
}

/// Pictures, fonts, certificates and public keys look like chance too.
fn is_public(text: &[u8], at: usize, end: usize) -> bool {
    let before = &text[at.saturating_sub(40)..at];
    let told = before.ends_with(b"base64,") && memchr::memmem::find(before, b"text/").is_none()
        || [&b"ssh-rsa "[..], b"ssh-ed25519 ", b"ecdsa-sha2-nistp256 "]
            .iter()
            .any(|name| before.ends_with(name));
    // What goes on from a run that was cut because it is too long for a token.
    let goes_on = before.last().is_some_and(|byte| in_run(*byte))
        && !before[before.len().saturating_sub(6)..].contains(&b'\\');
    // A line of a block that is wrapped at the usual widths.
    let alone =
        matches!(before.last(), None | Some(b'\n')) && matches!(text.get(end), None | Some(b'\n' | b'\r'));
    let run = &text[at..end];
    told || goes_on
        || (alone
            && matches!(run.len(), 64 | 76)
            && Shape::of(run).is_mixed()
            && run.iter().any(|byte| b"+/".contains(byte)))
}

/// How much the pairs of a name's letters may speak for chance where much is said of a value.
const STRICT: f32 = -0.05;

/// The rule by which a value is secret.
fn judge(text: &[u8], range: Range<usize>) -> Option<&'static str> {
    let value = &text[range.clone()];
    // What is called a secret is one, even where it looks like a sample.
    rule(text, range).filter(|rule| rule.starts_with("named") || !is_sample(value))
}

fn rule(text: &[u8], range: Range<usize>) -> Option<&'static str> {
    let value = &text[range.clone()];
    if let Some(start) = hexadecimal_pair(text, &range) {
        return Context::before(&text[..start]).tells().then_some("named-pair");
    }
    let shape = Shape::of(value);
    let uuid = is_uuid(value);
    let number = shape.is_number() && (14..=20).contains(&shape.length);
    // Nothing else is secret in any context: spare the look at it.
    if shape.distinct < 5 || !(shape.chance > 1.5 || number || uuid) {
        return None;
    }
    // So is what is a name in a program wherever it stands.
    if shape.chance <= 10.0 && !shape.is_hex() && !uuid && is_identifier(value, STRICT) {
        return None;
    }
    let context = Context::before(&text[..range.start]);
    if uuid {
        let is_named = context.tells() && !context.vague && (!context.benign || context.service);
        return is_named.then_some("named-uuid");
    }
    if number {
        return (context.service && context.tells()).then_some("named-number");
    }
    let in_address = is_address(text, range.start) || in_address(text, range.start);
    if in_address && shape.chance > 10.0 && is_hook(text, &range) {
        return Some("webhook");
    }
    if is_address(text, range.start) {
        return None;
    }
    if shape.is_hex() || value.starts_with(b"0x") {
        return hexadecimal(&shape, &context, in_address);
    }
    // Where little is said of a value, names in programs are given more room.
    let most = if matches!(context.tie, Tie::Assigned | Tie::Told) { STRICT } else { 0.12 };
    if is_identifier(value, most) {
        return None;
    }
    let length = shape.length as f32;
    let enough = match context.tie {
        _ if shape.is_mixed() && shape.digits >= 2 && shape.length >= 12 => 0.08 * length + 0.8,
        Tie::Listed => 0.25 * length + 1.5,
        Tie::Beside => 0.3 * length + 1.5,
        _ if context.service => 0.08 * length + 0.8,
        _ => 0.12 * length + 1.0,
    };
    if context.tells() && (context.secret || !in_address) && shape.chance > enough {
        return Some("named-token");
    }
    if in_address || (context.benign && !context.secret) {
        return None;
    }
    if joined_before(text, range.start) < range.start && shape.chance > 8.0 && shape.length >= 24 {
        return Some("numbered-token");
    }
    if is_prefixed(value) {
        return Some("token-with-prefix");
    }
    if shape.chance < 0.3 * length || is_account(value) {
        return None;
    }
    match context.tie {
        Tie::Assigned if context.labelled && shape.length >= 18 && shape.chance > 7.0 => {
            Some("assigned-token")
        }
        Tie::Listed if context.labelled && shape.length >= 22 && shape.digits >= 2 && shape.chance > 10.0 => {
            Some("assigned-token")
        }
        Tie::Told if shape.length >= 12 && shape.chance > 5.0 => Some("named-token"),
        Tie::None | Tie::Beside if context.near && shape.length >= 14 && shape.chance > 6.0 => {
            Some("token-near-its-name")
        }
        _ if shape.is_mixed() && shape.length >= 30 && shape.chance > 14.0 => Some("random-token"),
        _ => None,
    }
}

fn hexadecimal(shape: &Shape, context: &Context, in_address: bool) -> Option<&'static str> {
    // Unless it is called a secret outright.
    if is_digest(shape) && !context.service && (!context.secret || context.vague) {
        return None;
    }
    let named = context.tells() && (!context.benign || context.service || context.secret);
    if named && shape.length >= if context.tie == Tie::Listed { 20 } else { 14 } {
        return Some("named-token");
    }
    if shape.length < 30 || in_address || context.benign || shape.beyond_hex > 0 {
        return None;
    }
    // No hash is written in both cases at once.
    let cased = shape.lower >= 3 && shape.upper >= 3;
    let assigned = context.tie == Tie::Assigned && context.labelled;
    let told = context.near && context.tie <= Tie::Beside;
    (cased || assigned || told).then_some(if assigned { "assigned-token" } else { "random-token" })
}

/// Where a pair of short hexadecimal numbers begins of which the value is the second: `a3c8c237:ea4fcaab`.
fn hexadecimal_pair(text: &[u8], range: &Range<usize>) -> Option<usize> {
    let hex =
        |range: Range<usize>| text.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_hexdigit));
    let start = range.start.checked_sub(9)?;
    (range.len() == 8 && text[start + 8] == b':' && hex(range.clone()) && hex(start..start + 8))
        .then_some(start)
}

/// Whether the run itself is an address behind its scheme.
fn is_address(text: &[u8], start: usize) -> bool {
    text[start..].starts_with(b"//") && text[..start].ends_with(b":")
}

/// Whether the value stands within an address, where ids are no secret.
fn in_address(text: &[u8], start: usize) -> bool {
    let word = crate::scan::word_start(text, start);
    memchr::memmem::find(&text[word..start], b"://").is_some()
}

/// Whether an address says of itself that it is a hook, which is as good as a key.
fn is_hook(text: &[u8], range: &Range<usize>) -> bool {
    let address = &text[crate::scan::word_start(text, range.start)..range.end];
    address.windows(4).any(|part| part.eq_ignore_ascii_case(b"hook"))
}

/// An account number has the shape of chance, and a rule of its own.
fn is_account(value: &[u8]) -> bool {
    (15..=34).contains(&value.len())
        && value[..2].iter().all(u8::is_ascii_uppercase)
        && value[2..4].iter().all(u8::is_ascii_digit)
        && value.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// Examples in documentation.
fn is_sample(value: &[u8]) -> bool {
    let mut folded = [0; 96];
    let length = value.len().min(96);
    folded[..length].copy_from_slice(&value[..length]);
    folded.make_ascii_lowercase();
    [&b"example"[..], b"xxxxx", b"1234567", b"abcdefg", b"placeholder", b"changeme"]
        .iter()
        .any(|part| memchr::memmem::find(&folded[..length], part).is_some())
}

/// Prefixes of ids that are told freely.
const IDS: &[&str] = &[
    "call", "chatcmpl", "msg", "run", "req", "resp", "toolu", "asst", "thread", "file", "evt", "cus", "pi",
    "ch", "in", "sub", "prod", "price", "fp", "step", "batch", "ft", "gen", "conv", "item", "rs", "fc", "ws",
    "tool", "user", "org", "proj", "id", "sha1", "sha256", "sha384", "sha512", "h1", "chunk", "css",
    "svelte", "data", "node", "vs", "cmpl", "srvtoolu", "job", "task", "session", "acct", "txn", "seti",
    "pm", "src", "si", "il", "md5", "trace", "span", "event", "usr", "doc", "img", "commit", "rev", "build",
    "hash",
];

/// Whether the value is a short name, a joint, and chance: `acme_live_q7X…`.
fn is_prefixed(value: &[u8]) -> bool {
    let is_joint = |byte: &u8| matches!(byte, b'_' | b'-' | b'.');
    let Some(joint) = value.iter().rposition(is_joint) else { return false };
    let (name, body) = (&value[..joint], &value[joint + 1..]);
    let is_id = |part: &[u8]| IDS.iter().any(|id| part == id.as_bytes());
    if !(2..=24).contains(&name.len()) || !name[0].is_ascii_alphabetic() || name.split(is_joint).any(is_id) {
        return false;
    }
    let shape = Shape::of(body);
    Shape::of(name).chance < 4.0
        && shape.length >= if shape.is_hex() { 32 } else { 20 }
        && shape.digits >= 1
        && shape.chance > 8.0
        && shape.chance > 0.3 * shape.length as f32
        && body.iter().all(u8::is_ascii_alphanumeric)
}
