//! Samples from the expressions of rules.

use std::ops::Range;
use std::path::Path;

use regex_syntax::hir::{Class, Hir, HirKind};

/// A generator of numbers whose sequence the seed decides.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A rule of the file.
pub(crate) struct Rule {
    pub(crate) id: String,
    keyword: Option<String>,
    hir: Hir,
    check: regex::Regex,
    entropy: f64,
    group: Option<usize>,
}

/// What a rule wants to find.
pub(crate) struct Sample {
    /// All that the expression matches.
    pub(crate) text: String,
    /// The secret in it.
    pub(crate) secret: Range<usize>,
    /// The service's name, if the rule needs it.
    pub(crate) keyword: Option<String>,
}

/// The rules with an expression.
pub(crate) fn rules(path: &Path) -> Result<Vec<Rule>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file: toml::Table = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    let rules = file.get("rules").and_then(toml::Value::as_array).ok_or("there are no `rules`")?;
    let mut read = Vec::new();
    for rule in rules {
        let id = rule.get("id").and_then(toml::Value::as_str).unwrap_or("?").to_owned();
        let Some(pattern) = rule.get("regex").and_then(toml::Value::as_str) else { continue };
        let hir = regex_syntax::Parser::new().parse(pattern).map_err(|error| format!("{id}: {error}"))?;
        let check = regex::RegexBuilder::new(pattern)
            .size_limit(1 << 28)
            .build()
            .map_err(|error| format!("{id}: {error}"))?;
        let keywords: Vec<&str> = rule
            .get("keywords")
            .and_then(toml::Value::as_array)
            .map(|words| words.iter().filter_map(toml::Value::as_str).collect())
            .unwrap_or_default();
        // A rule that allows space behind its keyword is one that needs the keyword beside the secret.
        let needs = pattern.contains(r"[ \t\w.-]{0,20}");
        let entropy =
            rule.get("entropy").and_then(|value| value.as_float().or(value.as_integer().map(|n| n as f64)));
        read.push(Rule {
            keyword: needs.then(|| keywords.first().map(|word| (*word).to_owned())).flatten(),
            hir,
            check,
            entropy: entropy.unwrap_or(0.0),
            group: rule.get("secretGroup").and_then(toml::Value::as_integer).map(|group| group as usize),
            id,
        });
    }
    Ok(read)
}

impl Rule {
    /// A sample that the rule itself would report.
    pub(crate) fn sample(&self, random: &mut Random) -> Option<Sample> {
        for _ in 0..200 {
            let mut text = String::new();
            write(&self.hir, random, &mut text);
            let Some(captures) = self.check.captures(&text) else { continue };
            let groups = 1..captures.len();
            let secret = match self.group {
                Some(group) => captures.get(group),
                None => groups.filter_map(|group| captures.get(group)).find(|group| !group.is_empty()),
            };
            let whole = captures.get(0)?.range();
            let mut secret = secret.map_or(whole.clone(), |group| group.range());
            // A group that is too short for a secret is there for the expression's own sake.
            if self.keyword.is_none() && secret.len() < 12 && !self.id.starts_with("curl") {
                secret = whole;
            }
            let quotes = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
            if text.as_bytes()[secret.clone()].first().is_some_and(quotes) {
                secret = secret.start + 1..secret.end - 1;
            }
            if entropy(&text[secret.clone()]) > self.entropy {
                return Some(Sample { text, secret, keyword: self.keyword.clone() });
            }
        }
        None
    }
}

/// Shannon's entropy of the characters, in bits.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_f64; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1.0);
    let length = text.len() as f64;
    counts.iter().filter(|count| **count > 0.0).map(|count| -(count / length) * (count / length).log2()).sum()
}

fn write(hir: &Hir, random: &mut Random, text: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => text.push(character(class, random)),
        HirKind::Capture(capture) => write(&capture.sub, random, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, random, text)),
        HirKind::Alternation(parts) => write(random.pick(parts), random, text),
        HirKind::Repetition(repetition) => {
            let least = repetition.min as usize;
            let most = repetition.max.map_or(least + 24, |max| max as usize);
            let spread = (most - least).min(60);
            // The shortest that will do is as likely as all others together where the expression prefers it.
            let more = if !repetition.greedy && random.below(2) == 0 { 0 } else { random.below(spread + 1) };
            (0..least + more).for_each(|_| write(&repetition.sub, random, text));
        }
    }
}

/// One of the class's characters that can be typed; a line end only where nothing else is meant.
fn character(class: &Class, random: &mut Random) -> char {
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => {
            class.iter().map(|range| (range.start() as u32, range.end() as u32)).collect()
        }
        Class::Bytes(class) => {
            class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect()
        }
    };
    let holds = |wanted: u32| ranges.iter().any(|(start, end)| (*start..=*end).contains(&wanted));
    let typed: Vec<char> = (0x20_u8..0x7F).filter(|byte| holds(u32::from(*byte))).map(char::from).collect();
    if holds(u32::from(b'\n')) && typed.len() <= 4 && random.below(6) == 0 {
        return '\n';
    }
    if typed.is_empty() { char::from_u32(ranges[0].0).unwrap_or('?') } else { *random.pick(&typed) }
}
