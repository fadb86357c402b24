//! Records as programs print them when nobody made them print JSON.
//!
//! Many tools hand the model what their language prints: `[Mail(id='4', to=['ann@example.org'], at=datetime(2024, 5, 1))]`,
//! `{'ok': True}`, `id=4 title='Lunch'`. Read as one text, a stranger's sentence in it would spoil every id beside it.
//!
//! - All of a text is read or none of it: a quote that a stranger smuggled out of a field makes the whole a plain text.
//! - What is read says nothing about trust; labels do, and they are by tool.

use serde_json::{Map, Number, Value};

/// Deeper is no record of anybody.
const DEEPEST: usize = 32;

/// `text` as JSON or as a printed record; absent if it is neither, and so a plain text.
#[must_use]
pub fn read(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text) {
        return Some(value);
    }
    let mut reader = Reader { rest: text, depth: 0 };
    let value = match reader.fields() {
        Some(fields) if reader.rest.is_empty() && !fields.is_empty() => return Some(Value::Object(fields)),
        _ => {
            reader = Reader { rest: text, depth: 0 };
            reader.value()?
        }
    };
    reader.blank();
    (reader.rest.is_empty() && (value.is_array() || value.is_object())).then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, sign: char) -> bool {
        self.blank();
        let taken = self.rest.strip_prefix(sign);
        self.rest = taken.unwrap_or(self.rest);
        taken.is_some()
    }

    /// A word such as `Mail`, `datetime.datetime` or `id_`.
    fn word(&mut self) -> Option<String> {
        self.blank();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-');
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }

    /// Several `name=value`, with blanks or commas between them.
    fn fields(&mut self) -> Option<Map<String, Value>> {
        let mut fields = Map::new();
        loop {
            self.blank();
            if self.rest.is_empty() || self.rest.starts_with(')') {
                return Some(fields);
            }
            let name = self.word()?;
            if !self.take('=') {
                return None;
            }
            let value = self.value()?;
            fields.insert(name, value);
            self.take(',');
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        self.blank();
        let value = match self.rest.chars().next()? {
            '[' => self.list('[', ']'),
            '(' => self.list('(', ')'),
            '{' => self.braces(),
            quote @ ('\'' | '"') => self.quoted(quote).map(Value::String),
            '<' => self.angle(),
            _ => self.bare(),
        };
        self.depth -= 1;
        value
    }

    fn list(&mut self, open: char, close: char) -> Option<Value> {
        self.take(open);
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.value()?);
            if !self.take(',') && !self.rest.trim_start().starts_with(close) {
                return None;
            }
        }
        Some(Value::Array(items))
    }

    /// A mapping, or a set.
    fn braces(&mut self) -> Option<Value> {
        self.take('{');
        let (mut fields, mut items) = (Map::new(), Vec::new());
        while !self.take('}') {
            let key = self.value()?;
            if self.take(':') {
                let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                let value = self.value()?;
                fields.insert(key, value);
            } else {
                items.push(key);
            }
            if !self.take(',') && !self.rest.trim_start().starts_with('}') {
                return None;
            }
        }
        Some(if items.is_empty() { Value::Object(fields) } else { Value::Array(items) })
    }

    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => match letters.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    // The digits of `\x..` stay behind as letters: no reader looks for control characters.
                    other => text.push(other),
                },
                _ if letter == quote => {
                    self.rest = &self.rest[at + quote.len_utf8()..];
                    return Some(text);
                }
                _ => text.push(letter),
            }
        }
        None
    }

    /// `<Status.confirmed: 'confirmed'>`: what is behind the colon.
    fn angle(&mut self) -> Option<Value> {
        self.take('<');
        self.word()?;
        let value = if self.take(':') { self.value()? } else { return None };
        self.take('>').then_some(value)
    }

    /// A number, a word of the language, a bare word, or a call such as `Mail(…)`.
    fn bare(&mut self) -> Option<Value> {
        let word = self.word()?;
        if self.take('(') {
            return self.constructor(&word);
        }
        Some(match word.as_str() {
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            "None" | "null" => Value::Null,
            _ => number(&word).map_or_else(|| Value::String(word), Value::Number),
        })
    }

    fn constructor(&mut self, name: &str) -> Option<Value> {
        let before = self.rest;
        if let Some(fields) = self.fields().filter(|_| self.take(')')) {
            return Some(Value::Object(fields));
        }
        self.rest = before;
        let mut parts = Vec::new();
        while !self.take(')') {
            parts.push(self.value()?);
            if !self.take(',') && !self.rest.trim_start().starts_with(')') {
                return None;
            }
        }
        let is_moment = ["date", "datetime", "time"].iter().any(|kind| name.rsplit('.').next() == Some(kind));
        let numbers: Option<Vec<u64>> = parts.iter().map(Value::as_u64).collect();
        Some(match numbers.as_deref() {
            Some([y, m, d]) if is_moment => Value::String(format!("{y:04}-{m:02}-{d:02}")),
            Some([y, m, d, hour, minute, ..]) if is_moment => {
                Value::String(format!("{y:04}-{m:02}-{d:02} {hour:02}:{minute:02}"))
            }
            _ if parts.len() == 1 => parts.pop()?,
            _ => Value::Array(parts),
        })
    }
}

fn number(word: &str) -> Option<Number> {
    let is_number = word.trim_start_matches('-').starts_with(|letter: char| letter.is_ascii_digit());
    is_number.then(|| serde_json::from_str(word).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn printed_records_are_read_as_what_they_are() {
        let text = r#"[Mail(id_='4', to=["ann@example.org"], body='It\'s\nfine', read=True, n=2.5,
            at=datetime.datetime(2024, 5, 1, 9, 30), flag=confirmed, shares={'bob@example.org': rw}, none=None)]"#;
        let expected = json!([{ "id_": "4", "to": ["ann@example.org"], "body": "It's\nfine", "read": true, "n": 2.5,
            "at": "2024-05-01 09:30", "flag": "confirmed", "shares": { "bob@example.org": "rw" }, "none": null }]);
        assert_eq!(read(text), Some(expected));
        assert_eq!(
            read("id=4 title='Lunch' tags=[]"),
            Some(json!({ "id": 4, "title": "Lunch", "tags": [] }))
        );
        assert_eq!(read("{'ok': True}"), Some(json!({ "ok": true })));
        assert_eq!(read(r#"{"ok": [1]}"#), Some(json!({ "ok": [1] })));
    }

    #[test]
    fn a_text_is_no_record_and_neither_is_half_of_one() {
        for text in [
            "Hello",
            "2024-05-15",
            "Dear Ann,\nplease pay.",
            "[Mail(id='4', body='x' y')]",
            "[1, 2",
            "id=4 and more",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "[\\[\\](){}'\"=:,<>\\\\a1 é]{0,60}") {
            let _ = read(&text);
        }

        #[test]
        fn what_stands_in_quotes_cannot_get_out(said in "[a-z'\"\\\\=,()\\[\\] ]{0,40}") {
            let escaped = said.replace('\\', "\\\\").replace('\'', "\\'");
            let text = format!("[Mail(id='4', body='{escaped}')]");
            prop_assert_eq!(read(&text), Some(json!([{ "id": "4", "body": said }])));
        }
    }
}
