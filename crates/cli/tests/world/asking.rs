//! One question to a gateway, and what came of it: many at once, without a thread for each.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Which wire a question goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Chat,
    Messages,
    Responses,
    /// Chat, to the upstream that fails: what is known of one that fails must not tell on those that do not.
    Faulty(u64),
}

/// A question.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) by: By,
    pub(crate) text: String,
    pub(crate) stream: bool,
    /// Whether a kept answer will do.
    pub(crate) cached: bool,
}

impl Question {
    /// What is sent.
    fn body(&self) -> Value {
        let messages = json!([{ "role": "user", "content": self.text }]);
        match self.by {
            By::Chat | By::Faulty(_) => json!({
                "model": match self.by {
                    By::Faulty(number) => format!("faulty-{number}"),
                    _ => "chat-model".to_owned(),
                }, "messages": messages, "stream": self.stream, "temperature": 0,
                "tools": [{ "type": "function", "function": { "name": "look_up", "parameters": { "type": "object" } } }],
            }),
            By::Responses => json!({ "model": "chat-model", "input": self.text, "stream": self.stream }),
            By::Messages => json!({
                "model": "messages-model", "max_tokens": 99, "messages": messages, "stream": self.stream, "temperature": 0,
                "tools": [{ "name": "look_up", "input_schema": { "type": "object" } }],
            }),
        }
    }
}

/// An answer that has begun.
pub(crate) struct Answer {
    stream: TcpStream,
    pub(crate) bytes: Vec<u8>,
    pub(crate) status: u16,
    pub(crate) run: Option<String>,
}

/// Asks, and waits for the head of the answer.
pub(crate) async fn ask(address: &str, question: &Question) -> io::Result<Answer> {
    let path = match question.by {
        By::Chat | By::Faulty(_) => "/v1/chat/completions",
        By::Messages => "/v1/messages",
        By::Responses => "/v1/responses",
    };
    let cache = if question.cached { "on" } else { "off" };
    ask_with(address, path, cache, &question.body().to_string()).await
}

/// The same, with any body.
pub(crate) async fn ask_with(address: &str, path: &str, cache: &str, body: &str) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nx-punk-cache: {cache}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).await?;
    let mut bytes = Vec::with_capacity(512);
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let run = head.lines().find_map(|line| line.strip_prefix("x-punk-run-id: ")).map(str::to_owned);
        bytes.drain(..end + 4);
        return Ok(Answer { stream, bytes, status, run });
    }
}

impl Answer {
    /// Reads on to the end of the connection.
    pub(crate) async fn finish(&mut self) -> io::Result<()> {
        self.stream.read_to_end(&mut self.bytes).await.map(drop)
    }

    /// Reads some more; false at the end.
    pub(crate) async fn more(&mut self) -> io::Result<bool> {
        Ok(self.stream.read_buf(&mut self.bytes).await? > 0)
    }

    /// Whether a stream came to the end that its wire has.
    pub(crate) fn is_whole_stream(&self) -> bool {
        let has = |what: &[u8]| self.bytes.windows(what.len()).any(|window| window == what);
        let ends: [&[u8]; 3] = [b"data: [DONE]", b"event: message_stop", b"event: response.completed"];
        self.bytes.ends_with(b"0\r\n\r\n") && ends.into_iter().any(has)
    }

    /// What was said, as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
