//! A model provider on this machine that does what the question asks of it, over real connections.
//!
//! The last message begins with what to do: `whole`, `stream PIECES EVERY_MS`, `tool`, `status CODE`, `reset`, `cut PIECES`,
//! `broken` or `hang`. It speaks OpenAI's chat completions and, at paths that end in `/messages`, Anthropic's messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// By how many names it fails: one that has failed is left alone for a while.
pub(crate) const FAULTY: u64 = 8;

/// Where it is, and what it has seen.
#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) address: String,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    asked: AtomicUsize,
    open: AtomicUsize,
    /// When whoever asked went away before the end.
    left: Mutex<Vec<Instant>>,
}

impl Upstream {
    /// Starts on the runtime that this is called on.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream =
            Self { address: listener.local_addr().unwrap().to_string(), seen: Arc::new(Seen::default()) };
        let seen = upstream.seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let seen = seen.clone();
                tokio::spawn(async move { serve(stream, &seen).await });
            }
        });
        upstream
    }

    /// What a gateway has to know of it.
    pub(crate) fn settings(&self) -> String {
        let Self { address, .. } = self;
        let mut settings = format!(
            "[upstreams.chat]\nbase_url = 'http://{address}/v1'\nfirst_byte_timeout_seconds = 60\n\
             models = ['chat-*']\n\
             [upstreams.messages]\nbase_url = 'http://{address}'\nwire = 'anthropic'\n\
             first_byte_timeout_seconds = 60\nmodels = ['messages-*']\n"
        );
        for number in 0..FAULTY {
            settings.push_str(&format!(
                "[upstreams.faulty{number}]\nbase_url = 'http://{address}/v1'\nfirst_byte_timeout_seconds = 60\n\
                 models = ['faulty-{number}']\n"
            ));
        }
        settings
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.seen.asked.load(Ordering::SeqCst)
    }

    /// How many answers are under way.
    pub(crate) fn open(&self) -> usize {
        self.seen.open.load(Ordering::SeqCst)
    }

    /// When those went away who did before the end.
    pub(crate) fn left(&self) -> Vec<Instant> {
        self.seen.left.lock().unwrap().clone()
    }
}

/// One more answer under way, until it is dropped.
struct Open<'s>(&'s Seen);

impl<'s> Open<'s> {
    fn new(seen: &'s Seen) -> Self {
        seen.asked.fetch_add(1, Ordering::SeqCst);
        seen.open.fetch_add(1, Ordering::SeqCst);
        Self(seen)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn serve(mut stream: TcpStream, seen: &Seen) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    while let Some((path, body)) = request(&mut stream, &mut buffer).await {
        let _open = Open::new(seen);
        if answer(&mut stream, &path, &body, seen).await.is_none() {
            return;
        }
    }
}

/// Reads one request.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<(String, Value)> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            let whole = end + 4 + length.unwrap_or(0);
            if buffer.len() >= whole {
                let body = serde_json::from_slice(&buffer[end + 4..whole]).unwrap_or_default();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                buffer.drain(..whole);
                return Some((path, body));
            }
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

/// Does what it is asked. Nothing when the connection is over.
async fn answer(stream: &mut TcpStream, path: &str, body: &Value, seen: &Seen) -> Option<()> {
    let last = body["messages"].as_array().and_then(|messages| messages.last());
    let text = last.map(|message| match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
    });
    let text = text.unwrap_or_default();
    let mut words = text.split(' ');
    let act = words.next().unwrap_or_default();
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(1);
    let speech = if path.ends_with("/messages") { Speech::Messages } else { Speech::Chat };
    match act {
        "stream" => {
            let (pieces, every) = (number(), Duration::from_millis(number()));
            streamed(stream, speech, pieces, every, seen).await?;
            stream.write_all(b"0\r\n\r\n").await.ok()
        }
        "cut" => {
            let pieces = number();
            stream.write_all(STREAM_HEAD).await.ok()?;
            for frame in speech.frames(pieces).iter().take(pieces as usize) {
                chunk(stream, frame).await?;
            }
            None
        }
        "status" => {
            let error =
                json!({ "type": "error", "error": { "type": "api_error", "message": "as you wish" } });
            whole(stream, number(), &error.to_string()).await
        }
        "broken" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"id\":").await.ok()?;
            None
        }
        "reset" => None,
        "hang" => {
            gone(stream, Duration::from_secs(3_600), seen).await?;
            None
        }
        act => whole(stream, 200, &speech.whole(act == "tool").to_string()).await,
    }
}

const STREAM_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

async fn streamed(
    stream: &mut TcpStream,
    speech: Speech,
    pieces: u64,
    every: Duration,
    seen: &Seen,
) -> Option<()> {
    stream.write_all(STREAM_HEAD).await.ok()?;
    for frame in speech.frames(pieces) {
        if chunk(stream, &frame).await.is_none() {
            seen.left.lock().unwrap().push(moment());
            return None;
        }
        if !every.is_zero() {
            gone(stream, every, seen).await?;
        }
    }
    Some(())
}

/// Waits; nothing when whoever asked has gone meanwhile.
async fn gone(stream: &mut TcpStream, wait: Duration, seen: &Seen) -> Option<()> {
    let mut more = [0; 1];
    tokio::select! {
        () = tokio::time::sleep(wait) => Some(()),
        _ = stream.read(&mut more) => {
            seen.left.lock().unwrap().push(moment());
            None
        }
    }
}

async fn whole(stream: &mut TcpStream, status: u64, body: &str) -> Option<()> {
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).await.ok()
}

async fn chunk(stream: &mut TcpStream, frame: &str) -> Option<()> {
    stream.write_all(format!("{:x}\r\n{frame}\r\n", frame.len()).as_bytes()).await.ok()
}

#[expect(clippy::disallowed_methods, reason = "a test measures in real time")]
pub(crate) fn moment() -> Instant {
    Instant::now()
}

#[derive(Clone, Copy)]
enum Speech {
    Chat,
    Messages,
}

impl Speech {
    fn whole(self, tool: bool) -> Value {
        match self {
            Self::Chat => {
                let mut message = json!({ "role": "assistant", "content": "as you wish" });
                if tool {
                    let function = json!({ "name": "look_up", "arguments": "{\"order\":7}" });
                    message["tool_calls"] =
                        json!([{ "id": "call_1", "type": "function", "function": function }]);
                }
                let finish = if tool { "tool_calls" } else { "stop" };
                json!({
                    "id": "c", "object": "chat.completion", "created": 1, "model": "m",
                    "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
                    "usage": { "prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12 },
                })
            }
            Self::Messages => {
                let mut content = vec![json!({ "type": "text", "text": "as you wish" })];
                if tool {
                    content.push(json!({ "type": "tool_use", "id": "toolu_1", "name": "look_up", "input": { "order": 7 } }));
                }
                json!({
                    "id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
                    "stop_reason": if tool { "tool_use" } else { "end_turn" }, "stop_sequence": null,
                    "usage": { "input_tokens": 9, "output_tokens": 3 },
                })
            }
        }
    }

    /// A whole stream, of so many pieces of text.
    fn frames(self, pieces: u64) -> Vec<String> {
        let mut frames = Vec::new();
        match self {
            Self::Chat => {
                let mut say = |delta: Value, finish: Value| {
                    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
                    let chunk = json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice] });
                    frames.push(format!("data: {chunk}\n\n"));
                };
                for piece in 0..pieces {
                    say(json!({ "content": format!("piece {piece} of what was asked for, ") }), Value::Null);
                }
                say(json!({}), json!("stop"));
                let usage =
                    json!({ "prompt_tokens": 9, "completion_tokens": pieces, "total_tokens": 9 + pieces });
                let chunk = json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage });
                frames.push(format!("data: {chunk}\n\ndata: [DONE]\n\n"));
            }
            Self::Messages => {
                let mut say = |event: Value| {
                    frames.push(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
                };
                let message = json!({
                    "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
                    "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 9, "output_tokens": 1 },
                });
                say(json!({ "type": "message_start", "message": message }));
                let text = json!({ "type": "text", "text": "" });
                say(json!({ "type": "content_block_start", "index": 0, "content_block": text }));
                for piece in 0..pieces {
                    let delta = json!({ "type": "text_delta", "text": format!("piece {piece} of it, ") });
                    say(json!({ "type": "content_block_delta", "index": 0, "delta": delta }));
                }
                say(json!({ "type": "content_block_stop", "index": 0 }));
                let delta = json!({ "stop_reason": "end_turn", "stop_sequence": null });
                say(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": pieces } }));
                say(json!({ "type": "message_stop" }));
            }
        }
        frames
    }
}
