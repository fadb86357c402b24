//! Sums: "what is 12 * 7".

/// The first sum in a text with its result, when the text asks for one.
pub(super) fn solve(text: &str) -> Option<(String, String)> {
    let lower = text.to_lowercase();
    let spoken = [
        ("multiplied by", "*"),
        ("divided by", "/"),
        ("times", "*"),
        ("plus", "+"),
        ("minus", "-"),
        ("×", "*"),
        ("÷", "/"),
        ("−", "-"),
    ];
    let text = spoken.iter().fold(lower, |text, (word, sign)| text.replace(word, sign));
    let asks = ["what is", "what's", "calculate", "compute", "how much", "solve", "evaluate", "="];
    let candidate = candidates(&text).into_iter().find_map(|sum| Some((sum.to_owned(), evaluate(sum)?)))?;
    let alone = text.trim().trim_end_matches(['?', '=', '.']).trim().len() <= candidate.0.len() + 2;
    (alone || asks.iter().any(|ask| text.contains(ask)))
        .then(|| (candidate.0.split_whitespace().collect::<Vec<_>>().join(" "), show(candidate.1)))
}

/// Runs of digits and signs that have an operator with something on both sides. Dates and phone numbers are written
/// without spaces around their dashes, and are left alone.
fn candidates(text: &str) -> Vec<&str> {
    text.split(|character: char| !(character.is_ascii_digit() || " +-*/^().,%".contains(character)))
        .map(|run| run.trim_matches([' ', ',', '.']))
        .filter(|run| {
            let digits = run.bytes().filter(u8::is_ascii_digit).count() >= 2 || run.contains('(');
            let operator = run.contains(['+', '*', '^', '%']) || run.contains(" - ") || run.contains('/');
            digits && operator && run.matches('/').count() < 2
        })
        .collect()
}

fn show(value: f64) -> String {
    if !value.is_finite() {
        return "undefined".to_owned();
    }
    // Twelve digits hide what binary fractions add: 0.1 + 0.2 is 0.3.
    let rounded = format!("{value:.9}");
    rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The value of a sum; nothing when it is none.
fn evaluate(sum: &str) -> Option<f64> {
    let sum: String =
        sum.chars().filter(|character| !character.is_whitespace() && *character != ',').collect();
    let mut parser = Parser { rest: sum.as_bytes(), depth: 0 };
    let value = parser.sum()?;
    parser.rest.is_empty().then_some(value)
}

struct Parser<'s> {
    rest: &'s [u8],
    depth: usize,
}

impl Parser<'_> {
    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(b"+-") {
            let next = self.product()?;
            value = if sign == b'+' { value + next } else { value - next };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.power()?;
        while let Some(sign) = self.take(b"*/%") {
            let next = self.power()?;
            value = match sign {
                b'*' => value * next,
                b'/' => value / next,
                _ => value % next,
            };
        }
        Some(value)
    }

    fn power(&mut self) -> Option<f64> {
        let base = self.atom()?;
        match self.take(b"^") {
            Some(_) => Some(base.powf(self.nested(Self::power)?)),
            None => Some(base),
        }
    }

    fn atom(&mut self) -> Option<f64> {
        if self.take(b"-").is_some() {
            return self.nested(Self::atom).map(|value| -value);
        }
        if self.take(b"(").is_some() {
            let value = self.nested(Self::sum)?;
            self.take(b")")?;
            return Some(value);
        }
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Goes one deeper, but not without end: a text may be a million brackets.
    fn nested(&mut self, inner: fn(&mut Self) -> Option<f64>) -> Option<f64> {
        self.depth += 1;
        let value = (self.depth < 64).then(|| inner(self)).flatten();
        self.depth -= 1;
        value
    }

    fn take(&mut self, signs: &[u8]) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        signs.contains(first).then(|| {
            self.rest = rest;
            *first
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(solve(text).map(|(_, result)| result).as_deref(), expected, "{text}");
    }

    #[test]
    fn sums_are_done_and_other_numbers_left_alone() {
        check("What is 12*7?", Some("84"));
        check("calculate (2 + 3) * 4 - 1", Some("19"));
        check("what is 10 divided by 4", Some("2.5"));
        check("What is 0.1 + 0.2", Some("0.3"));
        check("what is 2^10", Some("1024"));
        check("What is 1 / 0?", Some("undefined"));
        check("how much is 1,200 plus 34", Some("1234"));
        check("Call me at 555-1234, what is your name?", None);
        check("What is due on 2024-03-05?", None);
        check("what is 42", None);
        check("I have 2 cats and 3 dogs", None);
    }

    proptest! {
        #[test]
        fn whole_sums_come_out_exactly(a in 0..10_000i64, b in 0..10_000i64, c in 1..100i64) {
            check(&format!("what is {a} + {b} * {c}"), Some(&(a + b * c).to_string()));
        }

        #[test]
        fn nothing_makes_it_panic(text in "[-0-9+*/^(). what is]{0,60}") {
            solve(&text);
        }
    }
}
