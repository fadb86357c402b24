//! Reads a text as a shell does: into commands, with their words unquoted and known variables put in.
//!
//! One pass, whatever the quoting. Substitutions (`$(…)`, backticks) and groups become commands of their own, which remember whose
//! part they are. It is no full shell, and where it differs it errs towards reading more as commands.

use std::collections::HashMap;

/// How many levels of substitutions are told apart.
const NESTED: usize = 32;
/// How much text variables may add to a line.
const EXPANSION: usize = 16 * 1024;

/// A command as it would run.
#[derive(Debug, Default, Clone)]
pub(super) struct Command {
    /// Its words, unquoted.
    pub words: Vec<String>,
    /// The files that its output replaces.
    pub overwrites: Vec<String>,
    /// What comes out of it goes into the next one.
    pub piped: bool,
    /// The number of the command of which this is a part, as a substitution.
    pub within: Option<usize>,
}

/// The commands of `text`, in the order in which they begin.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let mut reader = Reader {
        text,
        at: 0,
        commands: vec![Command::default()],
        current: 0,
        outer: Vec::new(),
        word: None,
        redirects: false,
        variables: HashMap::new(),
        left: EXPANSION,
    };
    reader.read();
    reader.commands
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    commands: Vec<Command>,
    current: usize,
    /// The commands around the current one, the byte that ends the current one, and the word that was being read.
    outer: Vec<(usize, u8, Option<String>, bool)>,
    word: Option<String>,
    /// The next word is a file that is replaced.
    redirects: bool,
    variables: HashMap<String, String>,
    left: usize,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn read(&mut self) {
        let mut quoted = false;
        while self.at < self.text.len() {
            let byte = self.peek(0);
            match byte {
                b'\'' if !quoted => self.literal(),
                b'"' => {
                    quoted = !quoted;
                    self.word.get_or_insert_default();
                    self.at += 1;
                }
                b'\\' => self.escape(),
                b'$' if self.peek(1) == b'(' => {
                    self.at += 2;
                    self.enter(b')', quoted);
                    quoted = false;
                }
                b'`' if self.outer.last().is_some_and(|(_, end, ..)| *end == b'`') => quoted = self.leave(),
                b'`' => {
                    self.at += 1;
                    self.enter(b'`', quoted);
                    quoted = false;
                }
                b'$' => self.variable(),
                _ if quoted => self.plain(),
                b'(' | b'{' if self.word.is_none() || byte == b'(' => {
                    self.at += 1;
                    self.end_command(false);
                    if byte == b'(' {
                        self.enter(b')', false);
                    }
                }
                b')' => quoted = self.leave(),
                b'}' if self.word.is_none() => self.separator(),
                b'|' | b';' | b'&' | b'\n' => self.separator(),
                b'<' | b'>' => self.redirect(byte),
                b'#' if self.word.is_none() => {
                    self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
                }
                b' ' | b'\t' | b'\r' => {
                    self.at += 1;
                    self.end_word();
                }
                _ => self.plain(),
            }
        }
        self.end_command(false);
    }

    /// Takes characters that mean nothing to a shell.
    fn plain(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest
            .char_indices()
            .skip(1)
            .find(|(_, letter)| {
                letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"-_./=:,+@%~*".contains(*letter)
            })
            .map_or(rest.len(), |(at, _)| at);
        self.word.get_or_insert_default().push_str(&rest[..length]);
        self.at += length;
    }

    /// Takes what stands between single quotes.
    fn literal(&mut self) {
        let rest = &self.text[self.at + 1..];
        let length = rest.find('\'').unwrap_or(rest.len());
        self.word.get_or_insert_default().push_str(&rest[..length]);
        self.at += length + 2;
        self.at = self.at.min(self.text.len());
    }

    /// Takes a character for itself; before a line's end, nothing at all.
    fn escape(&mut self) {
        let escaped = self.text[self.at + 1..].chars().next();
        self.at += 1 + escaped.map_or(0, char::len_utf8);
        match escaped {
            Some('\n') | None => {}
            Some('\r') if self.peek(0) == b'\n' => self.at += 1,
            Some(letter) => self.word.get_or_insert_default().push(letter),
        }
    }

    /// Puts in the value of a variable if it is known; `IFS` is a space.
    fn variable(&mut self) {
        let rest = &self.text[self.at + 1..];
        let braced = rest.starts_with('{');
        let name_at = usize::from(braced);
        let length =
            rest[name_at..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let name = &rest[name_at..name_at + length];
        let mut end = name_at + length;
        if braced {
            end += rest[end..].find('}').map_or(rest.len() - end, |at| at + 1);
        } else if rest.starts_with(['@', '*', '?', '!', '#', '-']) {
            end = 1;
        }
        let whole = &self.text[self.at..self.at + 1 + end];
        self.at += whole.len();
        match self.variables.get(name) {
            _ if name == "IFS" => self.end_word(),
            _ if matches!(name, "9" | "1" | "2") || whole == "$@" || whole == "$*" => {}
            Some(value) if value.len() <= self.left => {
                self.left -= value.len();
                self.word.get_or_insert_default().push_str(&value.clone());
            }
            _ => self.word.get_or_insert_default().push_str(whole),
        }
    }

    /// `>` and `<` in all their forms.
    fn redirect(&mut self, byte: u8) {
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if self.peek(1) == b'(' {
            self.at += 2;
            self.enter(b')', false);
            return;
        }
        let run = (0..3).take_while(|ahead| self.peek(*ahead) == byte).count();
        self.at += run;
        if matches!(self.peek(0), b'&' | b'|') {
            self.at += 1;
        }
        match (byte, run) {
            (b'<', 2) => self.skip_document(),
            (b'>', 1) => self.redirects = true,
            _ => {}
        }
    }

    /// Skips a text within the text, unless a shell reads it.
    fn skip_document(&mut self) {
        let words = &self.commands[self.current].words;
        if words.iter().take(4).any(|word| super::command::is_shell(word)) {
            return;
        }
        let rest = &self.text[self.at..];
        // The mark stands on this line; a bound keeps many marks without a line's end from costing much.
        let Some(line) = rest.bytes().take(128).position(|byte| byte == b'\n') else { return };
        let mark = rest[..line]
            .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
            .find(|word| !word.is_empty());
        let Some(mark) = mark else { return };
        let mut at = line + 1;
        for body in rest[at..].split_inclusive('\n') {
            at += body.len();
            if body.trim() == mark {
                break;
            }
        }
        // What stands behind the mark on its own line still runs, and is lost: it is seldom more than another redirection.
        self.at += at;
        self.end_command(false);
    }

    /// `|`, `;`, `&` and the ends of lines.
    fn separator(&mut self) {
        let byte = self.peek(0);
        let double = byte != b'\n' && self.peek(1) == byte;
        self.at += if double || (byte == b'|' && self.peek(1) == b'&') { 2 } else { 1 };
        self.end_command(byte == b'|' && !double);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        let command = &mut self.commands[self.current];
        if std::mem::take(&mut self.redirects) {
            command.overwrites.push(word);
            return;
        }
        if command.words.is_empty()
            && let Some((name, value)) = word.split_once('=')
            && !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            self.variables.insert(name.to_owned(), value.to_owned());
            return;
        }
        command.words.push(word);
    }

    fn end_command(&mut self, piped: bool) {
        self.end_word();
        self.redirects = false;
        let within = self.commands[self.current].within;
        if self.commands[self.current].words.is_empty() && !piped && self.current + 1 == self.commands.len() {
            return;
        }
        self.commands[self.current].piped = piped;
        self.current = self.commands.len();
        self.commands.push(Command { within, ..Command::default() });
    }

    /// Begins a command within the current one.
    fn enter(&mut self, end: u8, quoted: bool) {
        if self.outer.len() == NESTED {
            return;
        }
        self.outer.push((self.current, end, self.word.take(), quoted));
        let within = Some(self.current);
        self.current = self.commands.len();
        self.commands.push(Command { within, ..Command::default() });
    }

    /// Goes back to the command around the current one, and tells whether it was between quotes.
    fn leave(&mut self) -> bool {
        self.at += 1;
        self.end_word();
        let Some((current, _, word, quoted)) = self.outer.pop() else {
            self.end_command(false);
            return false;
        };
        self.current = current;
        self.word = word;
        quoted
    }
}
