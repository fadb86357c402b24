//! What the user said, and whether it accounts for a value.

use std::collections::HashSet;

use serde_json::Value;

use crate::intent;
use crate::kind::{Day, days, days_of, identities, is_opaque};
use crate::settings::Role;
use crate::words::{Word, contains, is_one_of, is_significant, numbers, singular, sums, tokens, words};

/// Words that vouch for the values in them.
#[derive(Debug, Default)]
pub(crate) struct Said {
    raw: String,
    words: Vec<Word>,
    stems: HashSet<String>,
    identities: HashSet<String>,
    numbers: HashSet<u64>,
    sums: HashSet<u64>,
    days: Vec<Day>,
}

impl Said {
    /// One text that vouches.
    pub(crate) fn new(text: &str) -> Self {
        let mut said = Self::default();
        said.add(text);
        said
    }

    /// Takes in another text. Nothing is read across the end of one: two halves of a name in two texts are no name.
    pub(crate) fn add(&mut self, text: &str) {
        let words = words(text);
        self.raw.push('\n');
        self.raw.push_str(&text.to_lowercase());
        self.stems.extend(words.iter().map(|word| singular(&word.text).to_owned()));
        self.identities.extend(identities(text).into_iter().map(|identity| identity.value));
        self.numbers.extend(numbers(text).map(f64::to_bits));
        self.sums.extend(sums(text));
        self.days.extend(days(&words));
        self.words.push(Word { text: String::new(), opens: true, quoted: false, numbered: false });
        self.words.extend(words);
    }

    /// The verbs that it asks with.
    pub(crate) fn verbs(&self) -> HashSet<String> {
        intent::verbs(&self.words)
    }

    /// Whether it accounts for `value`, whose text is `text`. `nouns` are what the argument is called, for ids.
    pub(crate) fn accounts_for(&self, value: &Value, text: &str, role: Role, nouns: &[String]) -> bool {
        let counted = if role == Role::Amount { number_of(value) } else { value.as_f64() };
        if let Some(number) = counted.filter(|_| role != Role::Target) {
            return self.numbers.contains(&number.to_bits());
        }
        let found = identities(text);
        if role == Role::Target && !found.is_empty() {
            return found.iter().all(|identity| self.identities.contains(&identity.value));
        }
        let wanted = tokens(text);
        if role == Role::Target {
            return self.names_target(text, &wanted, nouns);
        }
        let is_day = days_of(text).iter().any(|day| self.days.iter().any(|said| said.is(*day)));
        let mut heavy = wanted.iter().filter(|word| is_significant(word)).peekable();
        is_day
            || contains(&self.words, &wanted)
            || (heavy.peek().is_some() && heavy.all(|word| self.stems.contains(singular(word))))
    }

    /// A target has to be said as it is. A short number is said in many ways that mean no id: it has to be called one.
    fn names_target(&self, text: &str, wanted: &[String], nouns: &[String]) -> bool {
        let [only] = wanted else {
            // Slashes and dots decide where a path leads.
            let is_path = text.contains(['/', '\\']);
            return if is_path {
                self.raw.contains(&text.to_lowercase())
            } else {
                contains(&self.words, wanted)
            };
        };
        if text.contains(['/', '\\']) {
            return self.raw.contains(&text.to_lowercase());
        }
        if !is_opaque(text) || only.len() >= 5 {
            return self.words.iter().any(|word| word.text == *only);
        }
        const CALLED: &str = "id ids no nr number code";
        (0..self.words.len()).filter(|at| self.words[*at].text == *only).any(|at| {
            let before = at.checked_sub(1).map_or("", |before| singular(&self.words[before].text));
            let word = &self.words[at];
            word.quoted
                || word.numbered
                || is_one_of(before, CALLED)
                || nouns.iter().any(|noun| singular(noun) == before)
        })
    }

    /// Whether an identity was said.
    pub(crate) fn has_identity(&self, value: &str) -> bool {
        self.identities.contains(value)
    }

    /// Whether it points at a record that is called `name`: all of the name was said, or two heavy words of it in a row.
    pub(crate) fn points_at(&self, name: &str) -> bool {
        let wanted = tokens(name);
        let is_known =
            |word: &String| is_significant(word) && word.bytes().any(|byte| byte.is_ascii_alphabetic());
        let has_weight = || wanted.iter().any(|word| is_known(word) && (wanted.len() > 1 || word.len() >= 4));
        // Whether it was said comes first: most names were not, and that is soon found out.
        (wanted.len() <= 12 && contains(&self.words, &wanted) && has_weight())
            || wanted.windows(2).any(|pair| contains(&self.words, pair) && pair.iter().all(is_known))
    }

    /// Whether it names a payment of this sum.
    pub(crate) fn has_sum(&self, number: f64) -> bool {
        self.sums.contains(&number.to_bits())
    }
}

/// A number, also where it is written as a text.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    let written =
        |text: &str| text.trim_start_matches(['$', '€', '£', '¥']).trim().replace(',', "").parse().ok();
    value.as_f64().or_else(|| value.as_str().and_then(written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(said: &str, value: &Value, role: Role, expected: bool) {
        let text = crate::leaf::text_of(value);
        let nouns = ["file".to_owned()];
        assert_eq!(Said::new(said).accounts_for(value, &text, role, &nouns), expected, "{said} / {value}");
    }

    #[test]
    fn a_short_number_is_an_id_only_where_it_is_called_one() {
        check("What happens on June 13?", &json!("13"), Role::Target, false);
        check("Look at file 13.", &json!("13"), Role::Target, true);
        check("Look at the one with ID '13'.", &json!(13), Role::Target, true);
    }

    #[test]
    fn a_target_is_said_as_it_is_or_not_at_all() {
        check("Write to ann.lee@example.org", &json!("ann@lee.example.org"), Role::Target, false);
        check("Read report.txt", &json!("../report.txt"), Role::Target, false);
        check("Read report.txt", &json!("report.txt"), Role::Target, true);
        check("Pay Apple", &json!("Apple"), Role::Target, true);
    }

    #[test]
    fn content_and_details_may_be_put_in_other_words_of_the_same_kind() {
        check("on May 15th at noon", &json!("2024-05-15 12:00"), Role::Detail, true);
        check("the iPhone subscription service", &json!("Subscription iPhone"), Role::Content, true);
        check("I owe 10.00", &json!(10), Role::Amount, true);
    }

    #[test]
    fn a_record_is_pointed_at_by_its_name_and_not_by_a_stray_word() {
        let said = Said::new("Add milk to the grocery list, and update my rent payment");
        assert!(said.points_at("grocery-list-today.docx"));
        assert!(said.points_at("Rent"));
        assert!(!said.points_at("Payment terms"));
        assert!(!said.points_at("to the"));
    }
}
