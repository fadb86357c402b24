//! Facts: what a text holds that a field may want.

use super::text::is_filler;

/// Something in a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact {
    /// What it is.
    pub(super) kind: Kind,
    /// As it was written, without quotes.
    pub(super) text: String,
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
}

impl Fact {
    /// Whether it is a number in letters, which is more often a way to speak than a value: "the two sides".
    pub(super) fn is_spelled(&self) -> bool {
        matches!(self.kind, Kind::Number(..)) && self.text.starts_with(char::is_alphabetic)
    }
}

/// What a fact is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Email,
    Url,
    Phone,
    Date,
    Time,
    /// A number, with its currency if one stands beside it.
    Number(f64, Option<&'static str>),
    /// Letters and digits that name a thing: `ORD-1234`, `#55`.
    Id,
    Quoted,
    Name,
}

/// A piece of a text between spaces, without the signs around it.
#[derive(Debug, Clone, Copy)]
struct Token<'t> {
    text: &'t str,
    start: usize,
    /// Whether a sentence begins here.
    begins: bool,
    /// Whether a sign stands between it and the next.
    breaks: bool,
}

/// The facts of a text, in order.
pub(super) fn facts(text: &str) -> Vec<Fact> {
    let tokens = tokens(text);
    let mut facts = quoted(text);
    let mut place = 0;
    while place < tokens.len() {
        let token = tokens[place];
        let (kind, length) = match typed(&tokens[place..]) {
            Some(found) => found,
            None => match name(&tokens[place..]) {
                Some((skip, 0)) => {
                    place += skip.max(1);
                    continue;
                }
                Some((skip, length)) => {
                    place += skip;
                    (Kind::Name, length)
                }
                None => {
                    place += 1;
                    continue;
                }
            },
        };
        let first = if kind == Kind::Name { tokens[place] } else { token };
        let last = tokens[place + length - 1];
        let end = last.start + last.text.len();
        facts.push(Fact { kind, text: text[first.start..end].to_owned(), start: first.start, end });
        place += length;
    }
    facts.sort_by_key(|fact| fact.start);
    facts
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut begins = true;
    for raw in text.split_whitespace() {
        // `split_whitespace` gives parts of the text itself, so their distance is their place.
        let offset = raw.as_ptr() as usize - text.as_ptr() as usize;
        let bare = raw.trim_start_matches(['(', '[', '{', '"', '\'', '“', '‘', '<']);
        let start = offset + raw.len() - bare.len();
        let bare =
            bare.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '”', '’', '>']);
        let bare = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")).unwrap_or(bare);
        let after = &text[start + bare.len()..offset + raw.len()];
        // `a=1` is a name and its value.
        let (bare, start) = match bare.split_once('=') {
            Some((name, value)) if !value.is_empty() && !name.contains("://") => {
                (value, start + name.len() + 1)
            }
            _ => (bare, start),
        };
        if !bare.is_empty() {
            tokens.push(Token { text: bare, start, begins, breaks: !after.is_empty() });
        }
        begins = after.contains(['.', '!', '?', ':']) || raw.ends_with(['.', '!', '?', ':']);
    }
    tokens
}

/// Dates, numbers, addresses: what its form gives away, and how many tokens it takes.
fn typed(tokens: &[Token<'_>]) -> Option<(Kind, usize)> {
    let token = tokens.first()?;
    let text = token.text;
    let lower = text.to_lowercase();
    if let Some((user, host)) = text.split_once('@')
        && !user.is_empty()
        && host.contains('.')
    {
        return Some((Kind::Email, 1));
    }
    if lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("www.") {
        return Some((Kind::Url, 1));
    }
    if let Some(length) = date(tokens) {
        return Some((Kind::Date, length));
    }
    if let Some(length) = time(tokens) {
        return Some((Kind::Time, length));
    }
    if is_phone(text) {
        return Some((Kind::Phone, 1));
    }
    if let Some((value, currency)) = number(text) {
        let next = tokens.get(1).filter(|_| !token.breaks).and_then(|next| currency_of(next.text));
        let length = if currency.is_none() && next.is_some() { 2 } else { 1 };
        return Some((Kind::Number(value, currency.or(next)), length));
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let id = digits >= 2
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_#/".contains(&byte))
        && (text.starts_with('#')
            || text.bytes().any(|byte| byte.is_ascii_uppercase())
            || text.contains('-'));
    id.then_some((Kind::Id, 1))
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The number of a month, by its name or the first three letters of it.
fn month(word: &str) -> Option<usize> {
    let lower = word.to_lowercase();
    MONTHS
        .iter()
        .position(|month| *month == lower || (lower.len() == 3 && month.starts_with(&lower)))
        .map(|place| place + 1)
}

fn date(tokens: &[Token<'_>]) -> Option<usize> {
    let text = tokens.first()?.text;
    let groups = |separator: char| {
        let groups: Vec<usize> = text
            .split(separator)
            .map(|group| if group.bytes().all(|byte| byte.is_ascii_digit()) { group.len() } else { 0 })
            .collect();
        groups
    };
    let dashed = text.get(..10).is_some_and(|day| {
        day.split('-').map(str::len).eq([4, 2, 2])
            && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    });
    if (dashed && (text.len() == 10 || text[10..].starts_with('T')))
        || matches!(groups('/')[..], [1..=2, 1..=2, 2 | 4] | [4, 1..=2, 1..=2])
    {
        return Some(1);
    }
    let at = |place: usize| tokens.get(place).map_or("", |token: &Token<'_>| token.text);
    let day = |text: &str| {
        let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
        matches!(digits.parse::<u32>(), Ok(1..=31)) && text.len() - digits.len() <= 2
    };
    let year = |text: &str| text.len() == 4 && matches!(text.parse::<u32>(), Ok(1000..=2999));
    // "may" alone is more often a verb, so a month needs a day or a year.
    if month(text).is_some() && day(at(1)) {
        return Some(if year(at(2)) { 3 } else { 2 });
    }
    if month(text).is_some() && year(at(1)) {
        return Some(2);
    }
    if day(text) && month(at(1)).is_some() {
        return Some(if year(at(2)) { 3 } else { 2 });
    }
    None
}

/// A date as `YYYY-MM-DD`, when all of it is there.
pub(super) fn iso_date(text: &str) -> Option<String> {
    if text.get(..10).is_some_and(|day| day.split('-').map(str::len).eq([4, 2, 2])) {
        return text.get(..10).map(str::to_owned);
    }
    let words: Vec<&str> = text.split([' ', ',', '/']).filter(|word| !word.is_empty()).collect();
    let digits = |word: &str| {
        word.trim_end_matches(|character: char| character.is_ascii_alphabetic()).parse::<u32>().ok()
    };
    let (year, month, day) = match words[..] {
        [a, b, c] if month(a).is_some() => (digits(c)?, month(a)? as u32, digits(b)?),
        [a, b, c] if month(b).is_some() => (digits(c)?, month(b)? as u32, digits(a)?),
        [a, b, c] if a.len() == 4 => (digits(a)?, digits(b)?, digits(c)?),
        [a, b, c] if c.len() == 4 => (digits(c)?, digits(a)?, digits(b)?),
        _ => return None,
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day) && year >= 1000)
        .then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn time(tokens: &[Token<'_>]) -> Option<usize> {
    let text = tokens.first()?.text.to_lowercase();
    let bare = text.strip_suffix("am").or_else(|| text.strip_suffix("pm")).unwrap_or(&text);
    let clock = bare.contains(':')
        && bare.split(':').count() <= 3
        && bare
            .split(':')
            .all(|group| (1..=2).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit()));
    let glued = bare.len() < text.len()
        && (1..=2).contains(&bare.len())
        && bare.bytes().all(|byte| byte.is_ascii_digit());
    let half = tokens
        .get(1)
        .is_some_and(|next| matches!(next.text.to_lowercase().as_str(), "am" | "pm" | "a.m" | "p.m"));
    let hour = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    match (clock || glued, half) {
        (true, true) => Some(2),
        (true, false) => Some(1),
        (false, true) if hour => Some(2),
        _ => None,
    }
}

fn is_phone(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let signs = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-().".contains(&byte));
    signs && (7..=15).contains(&digits) && (text.starts_with('+') || text.matches('-').count() >= 2)
}

fn currency_of(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "usd" | "dollar" | "dollars" | "bucks" | "$" => "USD",
        "eur" | "euro" | "euros" | "€" => "EUR",
        "gbp" | "pound" | "pounds" | "£" => "GBP",
        "jpy" | "yen" | "¥" => "JPY",
        "inr" | "rupees" => "INR",
        "cad" => "CAD",
        "aud" => "AUD",
        "chf" | "francs" => "CHF",
        "cny" | "yuan" => "CNY",
        _ => return None,
    })
}

/// A number, alone or with a sign of its currency, a percent sign or a short unit behind it.
fn number(text: &str) -> Option<(f64, Option<&'static str>)> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let lower = text.to_lowercase();
    // "one" is seldom a number.
    if let Some(value) = WORDS.iter().position(|word| *word == lower).filter(|value| *value != 1) {
        return Some((value as f64, None));
    }
    let (rest, currency) = match text.chars().next()? {
        sign @ ('$' | '€' | '£' | '¥') => (&text[sign.len_utf8()..], currency_of(&sign.to_string())),
        _ => (text, None),
    };
    let (rest, currency) = match rest.chars().last()? {
        sign @ ('€' | '£' | '$') => {
            (&rest[..rest.len() - sign.len_utf8()], currency_of(&sign.to_string()))
        }
        _ => (rest, currency),
    };
    let bare =
        rest.trim_end_matches(|character: char| character.is_alphabetic() || "%°²³".contains(character));
    let unit = rest.len() - bare.len();
    if unit > 4 || bare.is_empty() || (unit > 0 && bare.len() == 1 && rest.ends_with("th")) {
        return None;
    }
    let unsigned = bare.strip_prefix('-').unwrap_or(bare);
    let groups: Vec<&str> = unsigned.split(',').collect();
    let grouped = groups.len() == 1
        || groups[1..].iter().all(|group| group.split('.').next().is_some_and(|digits| digits.len() == 3));
    let plain = unsigned.bytes().all(|byte| byte.is_ascii_digit() || b".,".contains(&byte))
        && unsigned.bytes().any(|byte| byte.is_ascii_digit());
    let value: f64 = (grouped && plain).then(|| bare.replace(',', "").parse().ok()).flatten()?;
    let thousand = match &rest[bare.len()..] {
        "k" | "K" => 1e3,
        _ => 1.0,
    };
    Some((value * thousand, currency))
}

/// Words with a capital in a row. Gives how many tokens to skip first and how many are the name; none of it when the
/// capital is only that of a sentence.
fn name(tokens: &[Token<'_>]) -> Option<(usize, usize)> {
    let capital = |token: &Token<'_>| token.text.chars().next().is_some_and(char::is_uppercase);
    let first = tokens.first().filter(|token| capital(token))?;
    let mut length = 1;
    while !tokens[length - 1].breaks && length < tokens.len() {
        let joins = ["of", "de", "la", "van", "von", "the", "del"].contains(&tokens[length].text);
        if capital(&tokens[length]) {
            length += 1;
        } else if joins && tokens.get(length + 1).is_some_and(capital) && !tokens[length].breaks && length > 0
        {
            length += 2;
        } else {
            break;
        }
    }
    let lower = first.text.to_lowercase();
    let only_first = first.begins || is_filler(&lower);
    if only_first && (length == 1 || is_filler(&lower) || is_order(&lower)) {
        return Some((1, length - 1));
    }
    Some((0, length))
}

/// Words that orders begin with.
fn is_order(word: &str) -> bool {
    [
        "find",
        "get",
        "show",
        "book",
        "calculate",
        "compute",
        "search",
        "look",
        "give",
        "list",
        "order",
        "play",
        "send",
        "add",
        "create",
        "make",
        "set",
        "determine",
        "estimate",
        "convert",
        "analyze",
        "predict",
        "check",
        "fetch",
        "retrieve",
        "update",
        "plan",
        "compare",
        "schedule",
        "translate",
        "identify",
        "buy",
        "generate",
        "provide",
        "locate",
        "draw",
        "solve",
    ]
    .contains(&word)
}

fn quoted(text: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('\'', '\''), ('‘', '’'), ('`', '`')] {
        let mut from = 0;
        while let Some(start) = text[from..].find(open).map(|place| from + place) {
            let inside = start + open.len_utf8();
            let before = text[..start].chars().next_back();
            // An apostrophe inside a word opens nothing.
            let opens = before.is_none_or(|before| !before.is_alphanumeric());
            let Some(end) = text[inside..].find(close).map(|place| inside + place).filter(|_| opens) else {
                from = inside;
                continue;
            };
            let after = text[end + close.len_utf8()..].chars().next();
            if after.is_some_and(char::is_alphanumeric) || end == inside || end - inside > 300 {
                from = inside;
                continue;
            }
            let end_of_quote = end + close.len_utf8();
            facts.push(Fact {
                kind: Kind::Quoted,
                text: text[inside..end].to_owned(),
                start,
                end: end_of_quote,
            });
            from = end_of_quote;
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Kind)]) {
        let found = facts(text);
        let found: Vec<_> = found.iter().map(|fact| (fact.text.as_str(), fact.kind)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_a_text_holds_is_found() {
        check(
            "Ada Lovelace (ada@example.org) paid $42.50 for order ORD-1234 on March 5, 2024.",
            &[
                ("Ada Lovelace", Kind::Name),
                ("ada@example.org", Kind::Email),
                ("$42.50", Kind::Number(42.5, Some("USD"))),
                ("ORD-1234", Kind::Id),
                ("March 5, 2024", Kind::Date),
            ],
        );
        check("Book a table in New York at 7:30 pm", &[("New York", Kind::Name), ("7:30 pm", Kind::Time)]);
        check(
            "Find 1,200 items of 30% and two euros",
            &[
                ("1,200", Kind::Number(1200.0, None)),
                ("30%", Kind::Number(30.0, None)),
                ("two euros", Kind::Number(2.0, Some("EUR"))),
            ],
        );
        check(
            "call +1-555-123-4567 or see https://x.org/a",
            &[("+1-555-123-4567", Kind::Phone), ("https://x.org/a", Kind::Url)],
        );
        check(
            "play 'Blue in Green' now",
            &[("Blue in Green", Kind::Quoted), ("Blue", Kind::Name), ("Green", Kind::Name)],
        );
        check("where a=1 and b = -3", &[("1", Kind::Number(1.0, None)), ("-3", Kind::Number(-3.0, None))]);
        check("I don't know.", &[]);
    }

    #[test]
    fn dates_become_iso() {
        for text in ["2024-03-05", "March 5, 2024", "5 March 2024", "3/5/2024", "Mar 5th 2024"] {
            assert_eq!(iso_date(text).as_deref(), Some("2024-03-05"), "{text}");
        }
        assert_eq!(iso_date("March 5"), None);
    }

    proptest! {
        #[test]
        fn every_fact_lies_in_the_text(text in "(?s).{0,80}|[A-Z a-z0-9$€'\"@.,:#/-]{0,80}") {
            for fact in facts(&text) {
                prop_assert!(text.get(fact.start..fact.end).is_some_and(|part| part.contains(&fact.text)));
            }
        }
    }
}
