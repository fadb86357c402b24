//! The lines of `evasions.txt`.

/// One way to talk a client into going where it should not, and the reason it must give.
#[derive(Debug, Clone)]
pub(crate) struct Evasion {
    /// Its line, for messages.
    pub(crate) line: &'static str,
    pub(crate) trick: Trick,
    pub(crate) reason: &'static str,
}

#[derive(Debug, Clone)]
pub(crate) enum Trick {
    Url(String),
    Name {
        name: String,
        addresses: String,
    },
    Rebind {
        first: String,
        then: String,
    },
    /// So many redirects to the server itself, then one to `location`.
    Redirect {
        before: usize,
        status: u16,
        location: String,
    },
    Loop {
        status: u16,
        location: String,
    },
}

pub(crate) fn evasions() -> Vec<Evasion> {
    let lines = include_str!("../evasions.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(read).collect()
}

fn read(line: &'static str) -> Evasion {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |text: &str| text.parse::<u16>().unwrap();
    let (trick, reason) = match words[..] {
        ["url", url, reason] => (Trick::Url(unescape(url)), reason),
        ["name", name, addresses, reason] => {
            (Trick::Name { name: unescape(name), addresses: addresses.to_owned() }, reason)
        }
        ["rebind", first, then, reason] => {
            (Trick::Rebind { first: first.to_owned(), then: then.to_owned() }, reason)
        }
        ["redirect", status, location, reason] => {
            (Trick::Redirect { before: 0, status: number(status), location: unescape(location) }, reason)
        }
        ["chain", before, status, location, reason] => {
            let before = usize::from(number(before));
            (Trick::Redirect { before, status: number(status), location: unescape(location) }, reason)
        }
        ["loop", status, location, reason] => {
            (Trick::Loop { status: number(status), location: unescape(location) }, reason)
        }
        _ => panic!("no such trick: {line}"),
    };
    Evasion { line, trick, reason }
}

/// What the escapes of the table stand for.
fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let (letter, after) = match after.strip_prefix("u{") {
            Some(code) => {
                let (code, after) = code.split_once('}').unwrap();
                (char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap(), after)
            }
            None => {
                let letter = match after.as_bytes()[0] {
                    b't' => '\t',
                    b'n' => '\n',
                    b'r' => '\r',
                    b's' => ' ',
                    b'\\' => '\\',
                    _ => panic!("no such escape: {text}"),
                };
                (letter, &after[1..])
            }
        };
        plain.push(letter);
        rest = after;
    }
    plain + rest
}
