//! Evidence: what the text says for a field.

use serde_json::{Map, Number, Value};

use super::schema::Shape;
use super::{DEEP, Field, Filler};
use crate::mock::facts::{Kind, iso_date};
use crate::mock::text::{Word, is_filler, stem, words};

impl Filler<'_> {
    /// A value that the text has for `schema`.
    pub(super) fn found(&mut self, schema: &Value, field: Field<'_>, depth: usize) -> Option<Value> {
        if depth > DEEP {
            return None;
        }
        let shape = self.shape(schema)?;
        if shape.get("const").is_some() {
            return None;
        }
        if let Some(values) = shape.get("enum").and_then(Value::as_array) {
            return self.mentioned(values).cloned();
        }
        if let Some(branches) = shape.branches() {
            return branches.iter().find_map(|branch| self.found(branch, field, depth + 1));
        }
        let about = shape.text("description").to_owned();
        let field = Field { about: if about.is_empty() { field.about } else { &about }, ..field };
        match shape.kind() {
            "object" | "dict" => self.found_object(&shape, depth),
            "array" | "tuple" => self.found_array(&shape, field, depth),
            "integer" => self.found_number(&shape, field, true),
            "number" | "float" => self.found_number(&shape, field, false),
            "boolean" => self.found_boolean(field),
            "null" => None,
            _ => self.found_string(&shape, field),
        }
    }

    /// An object of which the text has something: all that it has, and the rest of what must be there.
    fn found_object(&mut self, shape: &Shape, depth: usize) -> Option<Value> {
        let members = shape.members();
        let mut object = Map::new();
        let mut found: Vec<Option<Value>> = Vec::new();
        // What must be there looks first, so that a mere option does not take its fact.
        for wanted in [true, false] {
            for (place, (name, schema, required)) in members.iter().enumerate() {
                found.resize(members.len(), None);
                if *required == wanted && (wanted || depth < DEEP) {
                    found[place] =
                        self.found(schema, Field { name, about: "", required: *required }, depth + 1);
                }
            }
        }
        if found.iter().all(Option::is_none) {
            return None;
        }
        for ((name, schema, required), value) in members.iter().zip(found) {
            let field = Field { name, about: "", required: *required };
            let value = value.or_else(|| required.then(|| self.made(schema, field, depth + 1)));
            object.extend(value.map(|value| (name.clone(), value)));
        }
        Some(Value::Object(object))
    }

    fn found_array(&mut self, shape: &Shape, field: Field<'_>, depth: usize) -> Option<Value> {
        let any = Value::Bool(true);
        let items = shape.get("items").filter(|items| items.is_object()).unwrap_or(&any).clone();
        if shape.get("prefixItems").is_some() {
            return None;
        }
        let item = self.shape(&items)?;
        let most = shape.count("maxItems").unwrap_or(64).min(64);
        if item.get("const").is_some() {
            return None;
        }
        let mut values: Vec<Value> = if let Some(values) = item.get("enum").and_then(Value::as_array) {
            values
                .iter()
                .filter(|value| self.mentioned(std::slice::from_ref(value)).is_some())
                .cloned()
                .collect()
        } else if item.branches().is_none() && matches!(item.kind(), "number" | "float" | "integer") {
            let whole = item.kind() == "integer";
            self.numbers(whole)
                .into_iter()
                .filter(|number| within(&item, number.as_f64().unwrap_or(f64::NAN)))
                .map(Value::Number)
                .collect()
        } else if item.branches().is_none() && item.kind() == "string" && item.text("format").is_empty() {
            self.strings(field)
                .into_iter()
                .filter(|text| right_length(&item, text))
                .map(Value::from)
                .collect()
        } else {
            self.found(&items, Field { required: true, ..field }, depth + 1).into_iter().collect()
        };
        if shape.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut seen = Vec::new();
            values.retain(|value| {
                !seen.contains(value) && {
                    seen.push(value.clone());
                    true
                }
            });
        }
        values.truncate(most);
        let enough = !values.is_empty() && values.len() >= shape.count("minItems").unwrap_or(0);
        enough.then_some(Value::Array(values))
    }

    /// Numbers that stand together: those in brackets, or all that are left when there are several.
    fn numbers(&mut self, whole: bool) -> Vec<Number> {
        let bracket = self.text.find('[').and_then(|open| Some((open, open + self.text[open..].find(']')?)));
        let inside = |start: usize| bracket.is_none_or(|(open, close)| (open..close).contains(&start));
        let mut numbers = Vec::new();
        for (fact, used) in self.facts.iter().zip(&mut self.used) {
            if let Kind::Number(value, _) = fact.kind
                && !*used
                && inside(fact.start)
                && !fact.is_spelled()
                && (!whole || value.fract() == 0.0)
            {
                numbers.extend(as_number(value, whole));
                *used = true;
            }
        }
        numbers
    }

    /// Texts that stand together: quotes, else names.
    fn strings(&mut self, field: Field<'_>) -> Vec<String> {
        for kind in [Kind::Quoted, Kind::Name] {
            let mut texts = Vec::new();
            for (fact, used) in self.facts.iter().zip(&mut self.used) {
                if fact.kind == kind && !*used {
                    *used = true;
                    texts.push(fact.text.clone());
                }
            }
            if !texts.is_empty() {
                return texts;
            }
        }
        self.told(field).map_or_else(Vec::new, |told| {
            told.split([',', ';'])
                .flat_map(|item| item.split(" and "))
                .map(|item| item.trim().to_owned())
                .filter(|item| !item.is_empty())
                .collect()
        })
    }

    fn found_number(&mut self, shape: &Shape, field: Field<'_>, whole: bool) -> Option<Value> {
        let told = self.told_at(field);
        let mut best: Option<(usize, f64, f64)> = None;
        for (place, fact) in self.facts.iter().enumerate() {
            let Kind::Number(value, currency) = fact.kind else { continue };
            if self.used[place] || (whole && value.fract() != 0.0) {
                continue;
            }
            // A percentage where a share is wanted.
            let share =
                !whole && fact.text.ends_with('%') && shape.number("maximum").is_none_or(|most| most <= 1.0);
            let value = if share { value / 100.0 } else { value };
            let money = ["price", "amount", "cost", "total", "budget", "salary", "principal", "investment"];
            let bonus = if currency.is_some() && names(field).any(|word| money.contains(&word.as_str())) {
                1.0
            } else {
                0.0
            };
            let outright = if told == Some(fact.start) { 10.0 } else { 0.0 };
            let nearness = self.nearness(fact.start, field) * if fact.is_spelled() { 0.5 } else { 1.0 };
            let score = nearness + bonus + outright;
            if within(shape, value) && score > best.map_or(0.0, |(_, _, known)| known) {
                best = Some((place, value, score));
            }
        }
        // An option wants a word of its name nearby, not only of its description.
        let (place, value, _) = best.filter(|(_, _, score)| field.required || *score >= 0.5)?;
        self.used[place] = true;
        as_number(value, whole).map(Value::Number)
    }

    /// How near the words of a field come to a place in the text: words of its name count twice.
    fn nearness(&self, start: usize, field: Field<'_>) -> f64 {
        let at = self.words.iter().position(|word| word.start >= start).unwrap_or(self.words.len());
        let close = |cues: &[String], weight: f64| {
            let mut best: f64 = 0.0;
            for (place, word) in self.words.iter().enumerate() {
                // What comes before a number mostly says what it is: "a base of 10".
                let distance = if place < at { at - place } else { (place - at) * 2 };
                if distance <= 8 && cues.contains(&word.stem) {
                    best = best.max(weight / distance.max(1) as f64);
                }
            }
            best
        };
        let name: Vec<String> = names(field).map(|word| stem(&word)).collect();
        let about: Vec<String> = words(field.about)
            .into_iter()
            .filter(|word| !is_general(&word.text))
            .map(|word| word.stem)
            .collect();
        close(&name, 4.0).max(close(&about, 1.5))
    }

    fn found_boolean(&self, field: Field<'_>) -> Option<Value> {
        let cues: Vec<String> = names(field).map(|word| stem(&word)).collect();
        let place = self.words.iter().position(|word| cues.contains(&word.stem))?;
        let denied = self.words[place.saturating_sub(3)..place].iter().any(|word| {
            ["no", "not", "without", "don't", "dont", "never", "exclude", "excluding", "isn't"]
                .contains(&word.text.as_str())
        });
        Some(Value::Bool(!denied))
    }

    /// The value of a choice that the text speaks of, the longest first.
    pub(super) fn mentioned<'v>(&self, values: &'v [Value]) -> Option<&'v Value> {
        let spoken: Vec<(&Value, Vec<Word>)> =
            values.iter().filter_map(|value| Some((value, words(value.as_str()?)))).collect();
        let fits = |wanted: &[Word]| {
            !wanted.is_empty()
                && self.words.windows(wanted.len()).any(|said| {
                    said.iter()
                        .zip(wanted)
                        .all(|(a, b)| a.text == b.text || (b.text.len() > 3 && a.stem == b.stem))
                })
        };
        spoken
            .iter()
            .filter(|(_, wanted)| fits(wanted))
            .max_by_key(|(_, wanted)| wanted.len())
            .map(|(value, _)| *value)
    }

    fn found_string(&mut self, shape: &Shape, field: Field<'_>) -> Option<Value> {
        let text = self.string_for(shape, field)?;
        right_length(shape, &text).then_some(Value::String(text))
    }

    fn string_for(&mut self, shape: &Shape, field: Field<'_>) -> Option<String> {
        let format = shape.text("format");
        let name: Vec<String> = names(field).collect();
        // A format says more than a name does.
        let called =
            |wanted: &[&str]| format.is_empty() && name.iter().any(|word| wanted.contains(&word.as_str()));
        if format == "email" || called(&["email", "mail"]) {
            return self.take(|kind| kind == Kind::Email);
        }
        if matches!(format, "uri" | "url") || called(&["url", "link", "website", "uri"]) {
            return self.take(|kind| kind == Kind::Url);
        }
        if called(&["phone", "telephone", "mobile"]) {
            return self.take(|kind| kind == Kind::Phone);
        }
        if format == "date" || called(&["date", "day", "deadline", "birthday", "dob", "checkin", "checkout"])
        {
            let iso = format == "date" || field.about.contains("YYYY-MM-DD") || field.about.contains("ISO");
            let date = self.take(|kind| kind == Kind::Date)?;
            return if iso { iso_date(&date).or((format != "date").then_some(date)) } else { Some(date) };
        }
        if called(&["time", "hour"]) {
            return self.take(|kind| kind == Kind::Time);
        }
        // Formats that a text has to be of; none of them is read out of words.
        if !format.is_empty() {
            return None;
        }
        if called(&["currency"]) {
            let currency = self
                .facts
                .iter()
                .find_map(|fact| if let Kind::Number(_, currency) = fact.kind { currency } else { None });
            return currency.map(str::to_owned);
        }
        if called(&[
            "id",
            "order",
            "reference",
            "ticket",
            "invoice",
            "tracking",
            "code",
            "number",
            "sku",
            "account",
        ]) {
            let id = self.take(|kind| kind == Kind::Id);
            if id.is_some() {
                return id;
            }
        }
        if let Some(told) = self.told(field) {
            return Some(told);
        }
        if called(&["unit", "units"]) {
            return self.unit(field);
        }
        if !field.required {
            return None;
        }
        if let Some(quote) = self.take(|kind| kind == Kind::Quoted) {
            return Some(quote);
        }
        self.name_for(&name)
    }

    /// Takes the first fact of a kind that nobody has yet.
    fn take(&mut self, wanted: impl Fn(Kind) -> bool) -> Option<String> {
        let place =
            (0..self.facts.len()).find(|place| !self.used[*place] && wanted(self.facts[*place].kind))?;
        self.used[place] = true;
        Some(self.facts[place].text.clone())
    }

    /// Where the text says outright what a field is: `name: value`, `name = value`, `name is value`.
    fn told_at(&self, field: Field<'_>) -> Option<usize> {
        let wanted: Vec<Word> = words(field.name);
        let said = self.words.windows(wanted.len().max(1));
        said.filter(|said| !wanted.is_empty() && said.iter().zip(&wanted).all(|(a, b)| a.text == b.text))
            .find_map(|said| {
                let last = said.last()?;
                let rest = self.text.get(last.start + last.text.len()..)?;
                let after = rest.trim_start_matches(['"', '\'', '*', '`']);
                let marks = [": ", ":", " = ", "=", " is "];
                let value = marks.iter().find_map(|mark| after.strip_prefix(mark))?.trim_start();
                Some(self.text.len() - value.len())
            })
    }

    /// What the text says outright, up to the next sign.
    fn told(&self, field: Field<'_>) -> Option<String> {
        let value = &self.text[self.told_at(field)?..];
        let end = value.find(['\n', ',', ';']).unwrap_or(value.len());
        let sentence = value[..end].find(". ").unwrap_or(end);
        let value = value[..sentence].trim().trim_end_matches(['.', '?', '!']).trim_matches(['"', '\'', '`']);
        let few = !value.is_empty() && value.split_whitespace().count() <= 8;
        few.then(|| value.to_owned())
    }

    /// The word after a number that the field is near to, or after any.
    fn unit(&self, field: Field<'_>) -> Option<String> {
        let numbers = self.facts.iter().filter(|fact| matches!(fact.kind, Kind::Number(..)));
        numbers
            .filter_map(|fact| {
                let after = self.text.get(fact.end..)?.trim_start();
                let word: String = after
                    .chars()
                    .take_while(|character| character.is_alphabetic() || *character == '/')
                    .collect();
                (word.len() > 1 && !is_filler(&word.to_lowercase())).then_some(word)
            })
            .next()
            .filter(|word| {
                field.required
                    || self.words.iter().any(|said| said.text == "unit" || said.text == word.to_lowercase())
            })
    }

    /// A name: the one after the small word that goes with the field, else the first.
    fn name_for(&mut self, field: &[String]) -> Option<String> {
        let called = |wanted: &[&str]| field.iter().any(|word| wanted.contains(&word.as_str()));
        let small: &[&str] = if called(&["from", "origin", "start", "departure", "source", "sender"]) {
            &["from", "between"]
        } else if called(&["to", "destination", "end", "arrival", "target", "recipient"]) {
            &["to", "and", "for"]
        } else if called(&["city", "location", "place", "country", "state", "region", "address", "where"]) {
            &["in", "at", "near", "around", "of", "for", "from"]
        } else {
            &[]
        };
        let free =
            |filler: &Self, place: usize| !filler.used[place] && filler.facts[place].kind == Kind::Name;
        let places: Vec<usize> = (0..self.facts.len()).filter(|place| free(self, *place)).collect();
        let after = |place: &&usize| {
            let before = self.text[..self.facts[**place].start].split_whitespace().next_back();
            before.is_some_and(|before| small.contains(&before.to_lowercase().as_str()))
        };
        let place = *places.iter().find(after).or_else(|| places.first())?;
        self.used[place] = true;
        Some(self.facts[place].text.clone())
    }
}

/// The words of a field's name that tell it from others.
fn names(field: Field<'_>) -> impl Iterator<Item = String> {
    words(field.name).into_iter().map(|word| word.text)
}

/// Words of descriptions that say nothing about which number is meant.
fn is_general(word: &str) -> bool {
    is_filler(word)
        || [
            "number",
            "value",
            "amount",
            "default",
            "integer",
            "float",
            "string",
            "list",
            "first",
            "second",
            "optional",
            "calculate",
            "specified",
            "used",
            "type",
            "example",
            "format",
            "e",
            "g",
            "eg",
            "unit",
            "units",
        ]
        .contains(&word)
}

/// Whether a number keeps to the limits of a schema.
pub(super) fn within(shape: &Shape, value: f64) -> bool {
    value.is_finite()
        && shape.number("minimum").is_none_or(|least| value >= least)
        && shape.number("maximum").is_none_or(|most| value <= most)
        && shape.number("exclusiveMinimum").is_none_or(|least| value > least)
        && shape.number("exclusiveMaximum").is_none_or(|most| value < most)
        && shape.number("multipleOf").is_none_or(|step| step > 0.0 && (value / step).fract() == 0.0)
}

/// Whether a text keeps to the limits of a schema.
fn right_length(shape: &Shape, text: &str) -> bool {
    let length = text.chars().count();
    length >= shape.count("minLength").unwrap_or(0)
        && shape.count("maxLength").is_none_or(|most| length <= most)
}

/// A number as JSON writes it: without a fraction where there is none.
pub(super) fn as_number(value: f64, whole: bool) -> Option<Number> {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Some(Number::from(value as i64));
    }
    if whole { None } else { Number::from_f64(value) }
}
