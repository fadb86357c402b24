//! Requests as bytes that are ready to be written; where each must differ, a few words are overwritten in place.
//!
//! What makes a request distinct is words, not digits: digits could look like a secret or a number of a person, and what is
//! looked at should be what people write.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::answer::Frames;

/// The shape that a target is asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Messages,
}

/// What the prompts of a load are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// Never the same twice, not even in two loads.
    Distinct,
    /// One and the same.
    Same,
}

/// What is asked, whoever is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) wire: Wire,
    pub(crate) stream: bool,
    pub(crate) prompt: Prompt,
    pub(crate) prompt_bytes: usize,
}

/// A prepared request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    /// Where the words are that make it distinct.
    slot: Option<usize>,
    shape: Shape,
}

/// Four letters each, so that one can take the place of another.
const WORDS: [&[u8; 4]; 64] = [
    b"able", b"acid", b"also", b"area", b"army", b"away", b"baby", b"back", b"ball", b"band", b"bank",
    b"base", b"bath", b"bear", b"beat", b"been", b"beer", b"bell", b"belt", b"best", b"bird", b"blow",
    b"blue", b"boat", b"body", b"bone", b"book", b"born", b"both", b"bowl", b"bulk", b"burn", b"bush",
    b"busy", b"cake", b"call", b"calm", b"came", b"camp", b"card", b"care", b"case", b"cash", b"cast",
    b"cell", b"chat", b"chip", b"city", b"club", b"coal", b"coat", b"code", b"cold", b"come", b"cook",
    b"cool", b"cope", b"copy", b"core", b"cost", b"crew", b"crop", b"dark", b"data",
];
/// 64⁶ prompts before one comes again.
const SLOT_WORDS: usize = 6;
const SLOT_BYTES: usize = SLOT_WORDS * 5;

/// Counts over all loads of the process. It begins where the clock is, so that a second process does not repeat the first.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// Makes the prompts of this process differ from those of any other.
pub(crate) fn begin_at(micros: u64) {
    ASKED.store(micros, Ordering::Relaxed);
}

impl Request {
    /// A request for `model` at `path`, with these headers besides its own.
    pub(crate) fn new(
        shape: Shape,
        address: SocketAddr,
        path: &str,
        model: &str,
        headers: &[String],
    ) -> Self {
        let text = prose(shape.prompt_bytes);
        let mut body = json!({
            "model": model,
            "temperature": 0,
            "max_tokens": 256,
            "messages": [{ "role": "user", "content": text }],
        });
        if shape.stream {
            body["stream"] = true.into();
            if shape.wire == Wire::Chat {
                body["stream_options"] = json!({ "include_usage": true });
            }
        }
        let body = body.to_string();
        let mut head =
            format!("POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n");
        if shape.wire == Wire::Messages {
            head += "anthropic-version: 2023-06-01\r\n";
        }
        for header in headers {
            head += &format!("{header}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n", body.len());
        let begin = head.len() + body.find(&text).unwrap_or_default();
        Self {
            bytes: (head + &body).into_bytes(),
            slot: (shape.prompt == Prompt::Distinct).then_some(begin),
            shape,
        }
    }

    /// The bytes to write now.
    pub(super) fn next(&mut self) -> &[u8] {
        if let Some(slot) = self.slot {
            write_words(&mut self.bytes[slot..slot + SLOT_BYTES], ASKED.fetch_add(1, Ordering::Relaxed));
        }
        &self.bytes
    }

    /// What the frames of the answer have in them, if it is a stream.
    pub(super) fn frames(&self) -> Option<Frames> {
        self.shape.stream.then_some(match self.shape.wire {
            Wire::Chat => Frames { last: b"[DONE]", text: b"\"content\":\"" },
            Wire::Messages => Frames { last: b"message_stop", text: b"text_delta" },
        })
    }
}

fn write_words(slot: &mut [u8], mut number: u64) {
    for place in slot.chunks_exact_mut(5) {
        place[..4].copy_from_slice(WORDS[(number % 64) as usize]);
        place[4] = b' ';
        number /= 64;
    }
}

/// So many bytes of words, room for the distinct ones at the beginning.
fn prose(bytes: usize) -> String {
    let mut text = vec![0; SLOT_BYTES];
    write_words(&mut text, 0);
    let mut state = 1_u64;
    while text.len() < bytes {
        // A step of Knuth's generator: the same text every time, and no short circle.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.extend_from_slice(WORDS[(state >> 58) as usize]);
        text.push(b' ');
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn request(prompt: Prompt) -> Request {
        let shape = Shape { wire: Wire::Chat, stream: false, prompt, prompt_bytes: 800 };
        let headers = ["authorization: Bearer k".to_owned()];
        Request::new(shape, SocketAddr::from(([127, 0, 0, 1], 80)), "/v1/chat/completions", "m", &headers)
    }

    #[test]
    fn distinct_requests_differ_in_their_prompt_alone() {
        let mut request = request(Prompt::Distinct);
        let (first, second) = (request.next().to_vec(), request.next().to_vec());
        assert_eq!(first.len(), second.len());
        assert_ne!(first, second);
        let head = crate::http::Head::parse(&second).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&second[head.length..]).unwrap();
        assert_eq!(head.content_length, Some(second.len() - head.length));
        assert_eq!(body["messages"][0]["content"].as_str().unwrap().len(), 800);
    }

    #[test]
    fn the_same_request_stays_the_same() {
        let mut request = request(Prompt::Same);
        let first = request.next().to_vec();
        assert_eq!(first, request.next());
    }

    #[test]
    fn numbers_make_different_words() {
        let words = |number| {
            let mut slot = [0; SLOT_BYTES];
            write_words(&mut slot, number);
            slot
        };
        let seen: HashSet<_> = (0..5_000).map(words).collect();
        assert_eq!(seen.len(), 5_000);
    }
}
