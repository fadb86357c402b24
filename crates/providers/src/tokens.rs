//! Token counts: how long a text or a request is for a model.
//!
//! [`count`] and [`count_request`] count with the vendor's vocabulary where it is public, and say so when the number is
//! an estimate. [`rough`] needs no vocabulary: it cuts a text into pieces about as long as tokens are, and is what the
//! mock goes by. The vocabularies are loaded when first asked for: the newer takes some 65 MB and 70 ms, the older another
//! 30 MB, which a process that only serves the mock should not pay.
//!
//! What is estimated, and how:
//! - models of vendors that keep their vocabulary to themselves: by OpenAI's newest;
//! - tools: by their JSON, and eight tokens for what is written around each;
//! - a picture: 85 tokens at low detail, else 765 (four tiles and a base), 1334 for Claude (a megapixel by 750);
//! - a document: 1500, which is about a page.

use wire::{Part, Request};

/// How many tokens, and whether that is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// How many.
    pub tokens: u64,
    /// Whether the vendor may count otherwise.
    pub estimated: bool,
}

/// How many tokens `text` is for `model`.
#[must_use]
pub fn count(model: &str, text: &str) -> Count {
    let (vocabulary, estimated) = vocabulary(model);
    Count { tokens: exact(vocabulary, text), estimated }
}

/// How many tokens a request is, all of it: messages, tools, pictures.
#[must_use]
pub fn count_request(request: &Request) -> Count {
    let (vocabulary, unknown) = vocabulary(&request.model);
    let (tokens, guessed) = measure(request, |text| exact(vocabulary, text));
    Count { tokens, estimated: unknown || guessed }
}

/// About how many tokens `text` is, without any vocabulary.
#[must_use]
pub fn rough(text: &str) -> u64 {
    split(text).count() as u64
}

/// About how many tokens a request is, without any vocabulary.
#[must_use]
pub fn rough_request(request: &Request) -> u64 {
    measure(request, rough).0
}

/// About how many tokens a request is, for whoever only has to set something aside for it: a long text is judged by samples
/// of it, so that this takes no longer for a long conversation than for a short one.
#[must_use]
pub fn guess_request(request: &Request) -> u64 {
    measure(request, guess).0
}

/// How many samples of a text are taken, and how long each is; what is no longer than all of them is counted.
const SAMPLES: usize = 8;
const SAMPLE: usize = 40;

fn guess(text: &str) -> u64 {
    if text.len() <= SAMPLES * SAMPLE {
        return rough(text);
    }
    let stride = text.len() / SAMPLES;
    let (mut tokens, mut bytes) = (0, 0);
    for begin in (0..SAMPLES).map(|sample| text.ceil_char_boundary(sample * stride)) {
        let sample = &text[begin..text.ceil_char_boundary(begin + SAMPLE)];
        tokens += rough(sample);
        bytes += sample.len() as u64;
    }
    tokens * text.len() as u64 / bytes.max(1)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Vocabulary {
    O200k,
    Cl100k,
}

/// Which vocabulary a model has, and whether that is a guess.
fn vocabulary(model: &str) -> (Vocabulary, bool) {
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    if begins(&["gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "gpt-oss", "chatgpt-4o", "o1", "o3", "o4", "codex-"])
    {
        (Vocabulary::O200k, false)
    } else if begins(&["gpt-4", "gpt-3.5", "text-embedding-"]) {
        (Vocabulary::Cl100k, false)
    } else {
        (Vocabulary::O200k, true)
    }
}

fn exact(vocabulary: Vocabulary, text: &str) -> u64 {
    let tokenizer = match vocabulary {
        Vocabulary::O200k => bpe_openai::o200k_base(),
        Vocabulary::Cl100k => bpe_openai::cl100k_base(),
    };
    tokenizer.count(text) as u64
}

/// The tokens of a request, and whether any of them are guessed.
fn measure(request: &Request, count: impl Fn(&str) -> u64) -> (u64, bool) {
    // What OpenAI writes around messages: three tokens and a role each, and three before the answer.
    let mut tokens = 3;
    let mut guessed = false;
    for message in &request.messages {
        tokens += 4;
        for part in &message.parts {
            let (more, guess) = measure_part(&request.model, part, &count);
            tokens += more;
            guessed |= guess;
        }
    }
    for tool in &request.tools {
        guessed = true;
        let parameters = tool.parameters.as_ref().map(ToString::to_string).unwrap_or_default();
        tokens += 8 + count(&tool.name) + tool.description.as_deref().map_or(0, &count) + count(&parameters);
    }
    if let wire::Format::Schema { schema, .. } = &request.format {
        guessed = true;
        tokens += count(&schema.to_string());
    }
    (tokens, guessed)
}

fn measure_part(model: &str, part: &Part, count: &impl Fn(&str) -> u64) -> (u64, bool) {
    match part {
        Part::Text { text, .. } | Part::Refusal { text } => (count(text), false),
        Part::Thinking { text, .. } => (count(text), true),
        Part::Image { detail, .. } => {
            let picture = match detail.as_deref() {
                Some("low") => 85,
                _ if model.contains("claude") => 1334,
                _ => 765,
            };
            (picture, true)
        }
        Part::File { .. } => (1500, true),
        Part::RedactedThinking { data } => (data.len() as u64 / 4, true),
        Part::ToolCall(call) => (8 + count(&call.name) + count(&call.arguments), true),
        Part::ToolResult(result) => {
            let inner = result.content.iter().map(|part| measure_part(model, part, count).0);
            (4 + inner.sum::<u64>(), true)
        }
        Part::Foreign { value } | Part::Beside { value } => (count(&value.to_string()), true),
    }
}

/// Cuts `text` into pieces about as long as tokens: a word or the beginning of a long one, three digits, a sign, with the
/// space before it. Together they are the text again.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = first(rest)?;
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}

/// How many letters of a word are one token; most English words are one.
const LETTERS: usize = 8;

/// The length of the first piece, in bytes.
fn first(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let at = |place: usize| bytes.get(place).map(|byte| Kind::OF[usize::from(*byte)]);
    let begins = usize::from(bytes.first() == Some(&b' ') && at(1).is_some_and(|next| next != Kind::Space));
    let kind = at(begins)?;
    let most = match kind {
        Kind::Space => 16,
        Kind::Digit => 3,
        Kind::Letter => LETTERS,
        Kind::Sign => 2,
        Kind::Control => 1,
        Kind::Wide => return wide(text),
    };
    let taken = (begins + 1..begins + most).take_while(|place| at(*place) == Some(kind)).count();
    let ends = begins + 1 + taken;
    // Other scripts have spaces of their own.
    if kind == Kind::Space && at(ends) == Some(Kind::Wide) { wide(text) } else { Some(ends) }
}

/// What a byte is the beginning of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Digit,
    Letter,
    Sign,
    Control,
    /// A character outside of ASCII.
    Wide,
}

impl Kind {
    /// By the byte: most of what is counted is ASCII, and every request is counted.
    const OF: [Self; 256] = {
        let mut kinds = [Self::Wide; 256];
        let mut byte = 0u8;
        while byte < 128 {
            kinds[byte as usize] = match byte {
                b'\t'..=b'\r' | b' ' => Self::Space,
                b'0'..=b'9' => Self::Digit,
                b'A'..=b'Z' | b'a'..=b'z' => Self::Letter,
                0..=31 | 127 => Self::Control,
                _ => Self::Sign,
            };
            byte += 1;
        }
        kinds
    };
}

/// The same for whatever there may be, character by character.
fn wide(text: &str) -> Option<usize> {
    let mut characters = text.char_indices().peekable();
    let (_, mut character) = characters.next()?;
    if character == ' ' && characters.peek().is_some_and(|(_, next)| !next.is_whitespace()) {
        (_, character) = characters.next()?;
    }
    let (same, most): (fn(char) -> bool, usize) = match character {
        c if c.is_whitespace() => (char::is_whitespace, 16),
        c if c.is_ascii_digit() => (|c| c.is_ascii_digit(), 3),
        c if c.is_ascii_alphabetic() => (|c| c.is_ascii_alphabetic(), LETTERS),
        c if c.is_ascii_punctuation() => (|c| c.is_ascii_punctuation(), 2),
        // Other scripts: about two letters a token.
        c if c.is_alphabetic() => (char::is_alphabetic, 2),
        _ => (|_| false, 1),
    };
    let mut taken = 1;
    while taken < most && characters.peek().is_some_and(|(_, next)| same(*next)) {
        characters.next();
        taken += 1;
    }
    Some(characters.peek().map_or(text.len(), |(place, _)| *place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn the_vendors_own_examples_count_as_they_say() {
        // The README of OpenAI's tokenizer: "hello world" is two tokens, in both vocabularies.
        assert_eq!(count("gpt-4o", "hello world"), Count { tokens: 2, estimated: false });
        assert_eq!(count("gpt-4", "hello world"), Count { tokens: 2, estimated: false });
        // The cookbook: "antidisestablishmentarianism" is six tokens, in both.
        assert_eq!(count("gpt-4", "antidisestablishmentarianism").tokens, 6);
        assert_eq!(count("gpt-4o", "antidisestablishmentarianism").tokens, 6);
        assert!(count("claude-sonnet-4-5", "hello").estimated);
    }

    #[test]
    fn a_model_has_the_vocabulary_of_its_family() {
        for (model, expected) in [
            ("gpt-4o-mini", Vocabulary::O200k),
            ("gpt-4.1", Vocabulary::O200k),
            ("o3-mini", Vocabulary::O200k),
            ("gpt-4-turbo", Vocabulary::Cl100k),
            ("gpt-3.5-turbo", Vocabulary::Cl100k),
            ("text-embedding-3-small", Vocabulary::Cl100k),
        ] {
            assert_eq!(vocabulary(model), (expected, false), "{model}");
        }
    }

    #[test]
    fn the_rough_count_is_near_the_exact_one_for_what_people_write() {
        let texts = [
            "The quick brown fox jumps over the lazy dog. It was, after all, a Tuesday.",
            "Please classify the following message as one of: billing, technical, account, other.",
            r#"{"name": "Ada Lovelace", "born": 1815, "email": "ada@example.org", "tags": ["maths", "poetry"]}"#,
            "I was charged twice for order 48213 on 2024-03-05 and I would like a refund of $42.50, thanks!",
            "fn main() {\n    let total: u64 = items.iter().map(|item| item.price).sum();\n}\n",
        ];
        for text in texts {
            let (exact, rough) = (count("gpt-4o", text).tokens as f64, rough(text) as f64);
            assert!((0.7..=1.4).contains(&(rough / exact)), "{rough} for {exact}: {text}");
        }
    }

    #[test]
    fn a_long_text_is_guessed_near_its_rough_count_and_a_short_one_is_counted() {
        let words = "Ein Satz mit Umlauten, 1234567 Zahlen und naïve café 字字字. ";
        assert_eq!(guess(words), rough(words));
        for text in [words.repeat(200), "x".repeat(100_000), "字".repeat(30_000)] {
            let (guessed, counted) = (guess(&text), rough(&text));
            assert!(guessed.abs_diff(counted) * 10 <= counted, "{guessed} for {counted}");
        }
    }

    #[test]
    fn every_part_of_a_request_counts() {
        let mut request = crate::mock::tests::ask("gpt-4o", "hello world");
        let bare = count_request(&request);
        assert_eq!(bare, Count { tokens: 9, estimated: false });
        request.tools.push(wire::Tool {
            name: "look".into(),
            description: Some("looks".into()),
            parameters: Some(json!({ "type": "object" })),
            strict: None,
            cache_control: None,
        });
        let with_tool = count_request(&request);
        assert!(with_tool.tokens > bare.tokens + 8 && with_tool.estimated);
        let picture = wire::ImageSource::Url { url: "https://x.org/a.png".into() };
        request.messages[0].parts.push(Part::Image { source: picture, detail: Some("low".into()) });
        assert_eq!(count_request(&request).tokens, with_tool.tokens + 85);
    }

    proptest! {
        #[test]
        fn the_pieces_are_the_text(text in "(?s).*") {
            prop_assert!(split(&text).all(|piece| !piece.is_empty()));
            prop_assert_eq!(split(&text).collect::<String>(), text);
        }

        #[test]
        fn what_is_quick_cuts_where_what_is_thorough_does(text in "(?s)[ a-zA-Z0-9.,;\\t\\n\u{1}é\u{3000}字]{0,40}") {
            prop_assert_eq!(first(&text), wide(&text));
        }
    }
}
