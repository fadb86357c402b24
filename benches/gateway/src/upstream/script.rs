//! What the upstream says: whole answers and the frames of streams, as bytes that are ready to be written.

use serde_json::{Value, json};

const SENTENCE: [&str; 8] = ["every ", "answer ", "is ", "kept ", "where ", "it ", "was ", "given "];
/// What both vendors would count of the usual request; nobody checks it.
const INPUT_TOKENS: usize = 150;

/// Every answer, for one number of chunks.
pub(super) struct Script {
    pub(super) models: Vec<u8>,
    pub(super) chat: Vec<u8>,
    pub(super) messages: Vec<u8>,
    /// The first carries the head of the response, too.
    pub(super) chat_frames: Vec<Vec<u8>>,
    pub(super) chat_end: Vec<u8>,
    pub(super) chat_end_usage: Vec<u8>,
    pub(super) messages_frames: Vec<Vec<u8>>,
    pub(super) messages_end: Vec<u8>,
}

impl Script {
    pub(super) fn new(chunks: usize) -> Self {
        let words: Vec<&str> = SENTENCE.iter().copied().cycle().take(chunks).collect();
        // The end of the body goes with the last frame.
        let chat_end = chunk("data: [DONE]\n\n") + "0\r\n\r\n";
        let messages_end = chunk(&event(&json!({ "type": "message_stop" }))) + "0\r\n\r\n";
        let usage = json!({
            "prompt_tokens": INPUT_TOKENS, "completion_tokens": chunks, "total_tokens": INPUT_TOKENS + chunks,
        });
        Self {
            models: whole("200 OK", &models().to_string()),
            chat: whole("200 OK", &chat(&usage).to_string()),
            messages: whole("200 OK", &messages().to_string()),
            chat_frames: streamed(&chat_stream(&words)),
            chat_end_usage: (chunk(&data(&chat_chunk(&json!([]), Some(&usage)))) + &chat_end).into_bytes(),
            chat_end: chat_end.into_bytes(),
            messages_frames: streamed(&messages_stream(&words)),
            messages_end: messages_end.into_bytes(),
        }
    }
}

/// A response in one piece.
pub(super) fn whole(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

/// The head in front of the first frame, and each frame a chunk.
fn streamed(frames: &[String]) -> Vec<Vec<u8>> {
    let mut head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    frames.iter().map(|frame| (std::mem::take(&mut head) + &chunk(frame)).into_bytes()).collect()
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

fn models() -> Value {
    json!({ "object": "list", "data": [{ "id": "gpt-4o-mini", "object": "model", "created": 1_700_000_000, "owned_by": "bench" }] })
}

/// The length of a usual answer, streamed or not.
fn text() -> String {
    SENTENCE.concat().repeat(15)
}

fn chat(usage: &Value) -> Value {
    json!({
        "id": "chatcmpl-bench", "object": "chat.completion", "created": 1_700_000_000, "model": "gpt-4o-mini",
        "choices": [{
            "index": 0, "message": { "role": "assistant", "content": text(), "refusal": null },
            "logprobs": null, "finish_reason": "stop",
        }],
        "usage": usage, "system_fingerprint": "fp_bench",
    })
}

fn chat_chunk(choices: &Value, usage: Option<&Value>) -> Value {
    let mut chunk = json!({
        "id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "gpt-4o-mini", "system_fingerprint": "fp_bench", "choices": choices,
    });
    if let Some(usage) = usage {
        chunk["usage"] = usage.clone();
    }
    chunk
}

fn chat_stream(words: &[&str]) -> Vec<String> {
    let choice = |delta: Value, finish: Value| {
        data(&chat_chunk(
            &json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]),
            None,
        ))
    };
    let first = choice(json!({ "role": "assistant", "content": "" }), Value::Null);
    let last = choice(json!({}), json!("stop"));
    let text = words.iter().map(|word| choice(json!({ "content": word }), Value::Null));
    std::iter::once(first).chain(text).chain([last]).collect()
}

fn messages() -> Value {
    json!({
        "id": "msg_bench", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{ "type": "text", "text": text() }], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": { "input_tokens": INPUT_TOKENS, "output_tokens": 120 },
    })
}

fn messages_stream(words: &[&str]) -> Vec<String> {
    let message = json!({
        "id": "msg_bench", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": INPUT_TOKENS, "output_tokens": 1 },
    });
    let block =
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } });
    let delta = |word: &&str| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": word } });
    let stopped = json!({
        "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null },
        "usage": { "output_tokens": words.len() },
    });
    let mut frames = vec![event(&json!({ "type": "message_start", "message": message })) + &event(&block)];
    frames.extend(words.iter().map(|word| event(&delta(word))));
    frames.push(event(&json!({ "type": "content_block_stop", "index": 0 })) + &event(&stopped));
    frames
}
