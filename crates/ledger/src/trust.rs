//! The trust file: whose word a verifier takes, as C2SP `tlog-policy` writes it.
//!
//! `log` and `witness` lines name keys, `group` lines combine witnesses, and one `quorum` line says who must have
//! cosigned. A line that cannot be read refuses the whole file: a verifier never guesses what it should trust.

use std::collections::{HashMap, HashSet};

use crate::note::{KeyKind, KeyName, SignatureLine, VerifierKey};

/// Keys, and the rule for cosignatures.
#[derive(Debug, Clone)]
pub struct Trust {
    logs: Vec<VerifierKey>,
    witnesses: Vec<VerifierKey>,
    quorum: Quorum,
}

/// Who must have cosigned.
#[derive(Debug, Clone)]
enum Quorum {
    None,
    /// The witness at this place in the list.
    Witness(usize),
    AtLeast(usize, Vec<Quorum>),
}

/// Why a trust file is refused: the line and the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {rule}")]
pub struct TrustError {
    /// Counted from 1; the number of lines plus one when something is missing at the end.
    pub line: usize,
    /// What should have been there.
    pub rule: String,
}

impl Trust {
    /// The log keys whose name is `origin`.
    pub fn log_keys(&self, origin: &KeyName) -> impl Iterator<Item = &VerifierKey> {
        self.logs.iter().filter(move |key| key.name() == origin)
    }

    /// The key that a line claims to be by: a log key of that origin, or a witness.
    #[must_use]
    pub fn key_of(&self, origin: &KeyName, line: &SignatureLine) -> Option<&VerifierKey> {
        self.log_keys(origin).chain(&self.witnesses).find(|key| key.is_named_by(line))
    }

    /// Whether these witnesses, taken together, are enough.
    #[must_use]
    pub fn is_quorum(&self, cosigned: &[&VerifierKey]) -> bool {
        self.quorum.is_met(&|witness| self.witnesses.get(witness).is_some_and(|key| cosigned.contains(&key)))
    }

    /// Reads a trust file.
    ///
    /// # Errors
    /// The first line that breaks a rule.
    pub fn parse(text: &str) -> Result<Self, TrustError> {
        let mut reader = Reader::default();
        for (i, line) in text.split('\n').enumerate() {
            reader.read(line).map_err(|rule| TrustError { line: i + 1, rule })?;
        }
        let quorum = reader.quorum.ok_or_else(|| TrustError {
            line: text.lines().count() + 1,
            rule: "add a `quorum <name>` or `quorum none` line".into(),
        })?;
        Ok(Self { logs: reader.logs, witnesses: reader.witnesses, quorum })
    }
}

impl Quorum {
    fn is_met(&self, cosigned: &impl Fn(usize) -> bool) -> bool {
        match self {
            Self::None => true,
            Self::Witness(witness) => cosigned(*witness),
            Self::AtLeast(wanted, members) => {
                members.iter().filter(|member| member.is_met(cosigned)).count() >= *wanted
            }
        }
    }
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    logs: Vec<VerifierKey>,
    witnesses: Vec<VerifierKey>,
    names: HashMap<String, Quorum>,
    used: HashSet<String>,
    quorum: Option<Quorum>,
}

impl Reader {
    fn read(&mut self, line: &str) -> Result<(), String> {
        if line.contains(|c: char| c < ' ' && c != '\t') {
            return Err("only spaces, tabs and newlines may be used as white space".into());
        }
        let items: Vec<&str> = line.split([' ', '\t']).filter(|item| !item.is_empty()).collect();
        match items[..] {
            [] => Ok(()),
            [first, ..] if first.starts_with('#') => Ok(()),
            ["log", vkey] | ["log", vkey, _] => add_key(&mut self.logs, vkey, KeyKind::Log),
            ["witness", name, vkey] | ["witness", name, vkey, _] => {
                let witness = Quorum::Witness(self.witnesses.len());
                self.free(name)?;
                add_key(&mut self.witnesses, vkey, KeyKind::Witness)?;
                self.names.insert(name.to_owned(), witness);
                Ok(())
            }
            ["group", name, wanted, ref members @ ..] => {
                let group = self.group(wanted, members)?;
                self.free(name)?;
                self.names.insert(name.to_owned(), group);
                Ok(())
            }
            ["quorum", _] if self.quorum.is_some() => Err("there is already a `quorum` line".into()),
            ["quorum", "none"] => {
                self.quorum = Some(Quorum::None);
                Ok(())
            }
            ["quorum", name] => {
                self.quorum = Some(self.take(name)?);
                Ok(())
            }
            _ => Err("expected `log <vkey> [url]`, `witness <name> <vkey> [url]`, `group <name> all|any|<k> <name>…` or `quorum <name>|none`".into()),
        }
    }

    fn free(&self, name: &str) -> Result<(), String> {
        if name == "none" || self.names.contains_key(name) {
            Err(format!("the name `{name}` is taken"))
        } else {
            Ok(())
        }
    }

    /// A name counts in one place only, so that no witness counts twice.
    fn take(&mut self, name: &str) -> Result<Quorum, String> {
        let found = self
            .names
            .get(name)
            .cloned()
            .ok_or_else(|| format!("`{name}` is not defined on a line above"))?;
        if self.used.insert(name.to_owned()) { Ok(found) } else { Err(format!("`{name}` is used twice")) }
    }

    fn group(&mut self, wanted: &str, members: &[&str]) -> Result<Quorum, String> {
        let wanted = match wanted {
            "all" => members.len(),
            "any" => 1,
            number if number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0') => {
                number.parse().unwrap_or(0)
            }
            _ => 0,
        };
        if wanted == 0 || wanted > members.len() {
            return Err(format!(
                "a group needs `all`, `any` or a number from 1 to its {} members",
                members.len()
            ));
        }
        Ok(Quorum::AtLeast(wanted, members.iter().map(|name| self.take(name)).collect::<Result<_, _>>()?))
    }
}

fn add_key(keys: &mut Vec<VerifierKey>, vkey: &str, kind: KeyKind) -> Result<(), String> {
    let key: VerifierKey = vkey.parse().map_err(|error| format!("{error}"))?;
    if key.kind() != kind {
        return Err("a log key has type 0x01, a witness key type 0x04".into());
    }
    if keys.iter().any(|known| known.public() == key.public()) {
        return Err("this public key is already listed".into());
    }
    keys.push(key);
    Ok(())
}
