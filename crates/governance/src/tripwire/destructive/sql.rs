//! SQL that destroys: reads statements as a database does, comments and case aside.
//!
//! Statements are looked for at the beginning of a text, after a semicolon and after a quote or bracket, since most SQL of tools
//! stands within something else. To be told they have to be complete: prose that happens to say "delete from" goes on otherwise.

use super::{Category, Findings, Severity, Told};

/// How many words of a statement are read. Longer ones have a condition, or cannot be told.
const WORDS: usize = 512;

/// Tells what the statements in `text` would destroy.
pub(super) fn judge(text: &str, told: &mut Findings) {
    let mut tokens = Tokens { text, at: 0 };
    let mut begins = true;
    while let Some(token) = tokens.next() {
        if begins && let Token::Word(word) = token {
            let mut ahead = Tokens { text, at: tokens.at };
            if let Some(found) = statement(word, &mut ahead) {
                told.push(found);
                tokens.at = ahead.at;
            }
        }
        begins = matches!(token, Token::Mark(b';' | b'"' | b'\'' | b'`' | b'(' | b'\n'))
            || matches!(token, Token::Word(word) if word.eq_ignore_ascii_case("explain") || word.eq_ignore_ascii_case("begin"));
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    Mark(u8),
}

impl Token<'_> {
    fn is(self, word: &str) -> bool {
        matches!(self, Token::Word(text) if text.eq_ignore_ascii_case(word))
    }

    /// Nothing of the statement follows.
    fn ends(token: Option<Self>) -> bool {
        matches!(token, None | Some(Token::Mark(b';' | b'"' | b'\'' | b'`' | b')')))
    }
}

/// The words and marks of a text, without comments.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            if first == '\n' {
                self.at += 1;
                return Some(Token::Mark(b'\n'));
            } else if first.is_whitespace() {
                self.at += first.len_utf8();
            } else if let Some(run) = rest.strip_prefix("/*!") {
                // What MySQL runs though it looks like a comment.
                self.at += 3 + run.bytes().take_while(u8::is_ascii_digit).count();
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            } else if rest.starts_with("*/") {
                self.at += 2;
            } else if rest.starts_with("--") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if first.is_alphanumeric() || first == '_' {
                let length = rest
                    .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$')))
                    .unwrap_or(rest.len());
                self.at += length;
                return Some(Token::Word(&rest[..length]));
            } else {
                self.at += first.len_utf8();
                return Some(Token::Mark(if first.is_ascii() { first as u8 } else { 0 }));
            }
        }
    }
}

impl<'t> Tokens<'t> {
    /// The next word or mark on whatever line.
    fn token(&mut self) -> Option<Token<'t>> {
        self.find(|token| *token != Token::Mark(b'\n'))
    }

    /// A name, quoted or not, with its schema. False if there is none.
    fn name(&mut self) -> bool {
        match self.token() {
            Some(Token::Word(_)) => true,
            Some(Token::Mark(quote @ (b'"' | b'`' | b'[' | b'\''))) => {
                let end = if quote == b'[' { b']' } else { quote };
                let named = matches!(self.token(), Some(Token::Word(_)));
                // A quoted name may have several words and parts.
                named && self.take(8).any(|token| token == Token::Mark(end))
            }
            _ => false,
        }
    }

    /// Takes the word if it is the next one.
    fn optional(&mut self, words: &[&str]) -> bool {
        let before = self.at;
        if self.token().is_some_and(|token| words.iter().any(|word| token.is(word))) {
            return true;
        }
        self.at = before;
        false
    }
}

/// What the statement that begins with `verb` would destroy.
fn statement(verb: &str, tokens: &mut Tokens<'_>) -> Option<Told> {
    let told = |severity, reason| Some((Category::Database, severity, reason));
    match verb.to_ascii_lowercase().as_str() {
        "drop" => {
            let Some(Token::Word(kind)) = tokens.token() else { return None };
            let (severity, reason) = match kind.to_ascii_lowercase().as_str() {
                "database" | "schema" | "keyspace" => (Severity::Grave, "deletes a database"),
                "table" => (Severity::Grave, "deletes a table with all its rows"),
                "tablespace" => (Severity::Grave, "deletes where tables are kept"),
                "index" | "view" | "trigger" | "function" | "procedure" | "sequence" | "type"
                | "materialized" | "user" | "role" => (Severity::Risky, "deletes a part of a database"),
                _ => return None,
            };
            tokens.optional(&["view"]);
            tokens.optional(&["concurrently"]);
            if tokens.optional(&["if"]) {
                tokens.optional(&["exists"]);
            }
            ends_after_names(tokens, &["cascade", "restrict", "purge", "force", "on"]).then_some((
                Category::Database,
                severity,
                reason,
            ))
        }
        "truncate" => {
            let table = tokens.optional(&["table"]);
            tokens.optional(&["only"]);
            let ends = ends_after_names(tokens, &["cascade", "restrict", "restart", "continue", "identity"]);
            if ends && table { told(Severity::Grave, "empties a table") } else { None }
        }
        "delete" => {
            if !tokens.optional(&["from"]) || !tokens.name() {
                return None;
            }
            match condition(tokens, 2)? {
                Condition::None => told(Severity::Grave, "deletes all rows of a table"),
                Condition::Always => {
                    told(Severity::Grave, "deletes all rows of a table, with a condition that always holds")
                }
            }
        }
        "update" => {
            if !tokens.name()
                || !tokens.optional(&["set"])
                || !tokens.name()
                || tokens.token() != Some(Token::Mark(b'='))
            {
                return None;
            }
            match condition(tokens, WORDS)? {
                Condition::None => told(Severity::Grave, "changes all rows of a table"),
                Condition::Always => {
                    told(Severity::Grave, "changes all rows of a table, with a condition that always holds")
                }
            }
        }
        "alter" => {
            if !tokens.optional(&["table"]) || !tokens.name() || !tokens.optional(&["drop"]) {
                return None;
            }
            told(Severity::Risky, "deletes a part of a table")
        }
        _ => None,
    }
}

/// Whether only names follow, and then the end.
fn ends_after_names(tokens: &mut Tokens<'_>, behind: &[&str]) -> bool {
    if !tokens.name() {
        return false;
    }
    for _ in 0..WORDS {
        let before = tokens.at;
        match tokens.token() {
            Some(Token::Mark(b',')) if tokens.name() => {}
            Some(word) if behind.iter().any(|known| word.is(known)) => {
                if word.is("on") {
                    return tokens.name();
                }
            }
            token => {
                tokens.at = before;
                return Token::ends(token);
            }
        }
    }
    false
}

/// What a statement says of the rows that it means.
enum Condition {
    None,
    Always,
}

/// The condition of the statement; none where it has one that selects, or does not end within `words` words before one.
fn condition(tokens: &mut Tokens<'_>, words: usize) -> Option<Condition> {
    let mut seen = 0;
    let mut quoted: Option<u8> = None;
    loop {
        let before = tokens.at;
        let token = tokens.token();
        match token {
            Some(token) if token.is("where") => return always(tokens).then_some(Condition::Always),
            Some(token)
                if token.is("returning") || token.is("using") || token.is("limit") || token.is("join") =>
            {
                return token.is("returning").then_some(Condition::None);
            }
            // A value in quotes within an assignment does not end it.
            Some(Token::Mark(mark @ (b'\'' | b'"')))
                if words > 2 && quoted.is_none() && is_value(tokens, mark) =>
            {
                quoted = Some(mark);
            }
            Some(Token::Mark(mark)) if quoted == Some(mark) => quoted = None,
            token if quoted.is_none() && Token::ends(token) && token != Some(Token::Mark(b')')) => {
                tokens.at = before;
                return Some(Condition::None);
            }
            None => return Some(Condition::None),
            Some(Token::Mark(b')')) if words <= 2 => return Some(Condition::None),
            Some(_) => {
                seen += 1;
                if seen >= words {
                    return None;
                }
            }
        }
    }
}

/// Whether a quote at this place opens a value: the same quote follows soon.
fn is_value(tokens: &Tokens<'_>, mark: u8) -> bool {
    let rest = &tokens.text.as_bytes()[tokens.at..];
    let window = &rest[..rest.len().min(256)];
    window.iter().position(|byte| *byte == mark || *byte == b';').is_some_and(|at| window[at] == mark)
}

/// Whether a condition holds for every row: `1=1`, `true`, `'a'='a'`.
fn always(tokens: &mut Tokens<'_>) -> bool {
    let mut side = || {
        let mut token = tokens.token();
        while matches!(token, Some(Token::Mark(b'\'' | b'"' | b'('))) {
            token = tokens.token();
        }
        match token {
            Some(Token::Word(word)) => Some(word.to_ascii_lowercase()),
            _ => None,
        }
    };
    let Some(left) = side() else { return false };
    if left == "true" || left == "not" {
        return left == "true";
    }
    let literal = left.bytes().all(|byte| byte.is_ascii_digit());
    let mut token = tokens.token();
    while matches!(token, Some(Token::Mark(b'\'' | b'"'))) {
        token = tokens.token();
    }
    match token {
        Some(Token::Mark(b'=')) => {
            let mut token = tokens.token();
            while matches!(token, Some(Token::Mark(b'\'' | b'"'))) {
                token = tokens.token();
            }
            matches!(token, Some(Token::Word(right)) if right.eq_ignore_ascii_case(&left))
        }
        token => literal && left != "0" && Token::ends(token),
    }
}
