//! A provider that answers at once: the wires of chat completions and messages, whole and streamed.
//!
//! One thread, hand-written HTTP, answers that are prepared beforehand: some ten microseconds a request, so that what is
//! measured is the gateway before it. How it answers can be changed while it runs:
//! `PUT /_pace?latency_us=…&gap_us=…&chunks=…`.
//!
//! It reads what decides the shape of an answer (the path, `stream`, `include_usage`) and nothing else. Start at
//! [`serve`]; `script.rs` has the answers.

mod script;

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};

use crate::http::Head;
use script::{Script, whole};

/// How fast it answers, and with how much.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Before the first byte of an answer.
    pub(crate) latency: Duration,
    /// Between the chunks of a stream.
    pub(crate) gap: Duration,
    /// The chunks of a stream that carry text.
    pub(crate) chunks: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { latency: Duration::ZERO, gap: Duration::ZERO, chunks: 32 }
    }
}

impl Pace {
    /// The pace that `query` asks for; what it does not name stays as it is.
    fn changed_by(mut self, query: &str) -> Self {
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match (name, value.parse::<u32>()) {
                ("latency_us", Ok(value)) => self.latency = Duration::from_micros(value.into()),
                ("gap_us", Ok(value)) => self.gap = Duration::from_micros(value.into()),
                ("chunks", Ok(value)) => self.chunks = value as usize,
                _ => {}
            }
        }
        self
    }
}

type Shared = Rc<RefCell<(Pace, Rc<Script>)>>;

/// Serves until the process is ended.
pub(crate) fn serve(listen: SocketAddr, pace: Pace) -> io::Result<()> {
    let shared: Shared = Rc::new(RefCell::new((pace, Rc::new(Script::new(pace.chunks)))));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let listener = TcpListener::bind(listen).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            let shared = Rc::clone(&shared);
            // A caller that goes away ends its connection and nothing else.
            spawn_local(async move { converse(stream, &shared).await.ok() });
        }
    })
}

async fn converse(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut read = Vec::with_capacity(16 * 1024);
    loop {
        let head = loop {
            match Head::parse(&read) {
                Some(head) => break head,
                None if stream.read_buf(&mut read).await? == 0 => return Ok(()),
                None => {}
            }
        };
        let end = loop {
            match head.end_of(&read) {
                Some(end) => break end,
                None if stream.read_buf(&mut read).await? == 0 => return Ok(()),
                None => {}
            }
        };
        let (pace, script) = {
            let shared = shared.borrow();
            (shared.0, Rc::clone(&shared.1))
        };
        match Asked::of(&head.first_line, &read[head.length..end]) {
            Asked::Pace(query) => {
                let pace = pace.changed_by(&query);
                *shared.borrow_mut() = (pace, Rc::new(Script::new(pace.chunks)));
                stream.write_all(&whole("200 OK", "{}")).await?;
            }
            Asked::Models => stream.write_all(&script.models).await?,
            Asked::Unknown => stream.write_all(&whole("404 Not Found", "{}")).await?,
            Asked::Answer(answer) => {
                if !pace.latency.is_zero() {
                    tokio::time::sleep(pace.latency).await;
                }
                match answer {
                    Answer::Chat => stream.write_all(&script.chat).await?,
                    Answer::Messages => stream.write_all(&script.messages).await?,
                    Answer::ChatStream { usage } => {
                        send(&mut stream, pace.gap, &script.chat_frames).await?;
                        stream
                            .write_all(if usage { &script.chat_end_usage } else { &script.chat_end })
                            .await?;
                    }
                    Answer::MessagesStream => {
                        send(&mut stream, pace.gap, &script.messages_frames).await?;
                        stream.write_all(&script.messages_end).await?;
                    }
                }
            }
        }
        read.drain(..end);
    }
}

/// Each frame with a write of its own, as tokens come from a model.
async fn send(stream: &mut TcpStream, gap: Duration, frames: &[Vec<u8>]) -> io::Result<()> {
    for (index, frame) in frames.iter().enumerate() {
        if index > 0 && !gap.is_zero() {
            tokio::time::sleep(gap).await;
        }
        stream.write_all(frame).await?;
    }
    Ok(())
}

/// What a request is for.
#[derive(Debug, PartialEq)]
enum Asked {
    Pace(String),
    Models,
    Answer(Answer),
    Unknown,
}

#[derive(Debug, PartialEq)]
enum Answer {
    Chat,
    ChatStream { usage: bool },
    Messages,
    MessagesStream,
}

impl Asked {
    fn of(first_line: &str, body: &[u8]) -> Self {
        let mut words = first_line.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let streams = says(body, "stream");
        match (method, path) {
            ("PUT", "/_pace") => Self::Pace(query.to_owned()),
            ("GET", _) => Self::Models,
            (_, path) if path.ends_with("/chat/completions") => Self::Answer(match streams {
                true => Answer::ChatStream { usage: says(body, "include_usage") },
                false => Answer::Chat,
            }),
            (_, path) if path.ends_with("/messages") => {
                Self::Answer(if streams { Answer::MessagesStream } else { Answer::Messages })
            }
            _ => Self::Unknown,
        }
    }
}

/// Whether the field is true. Our own requests are the only ones it reads, and none of their text looks like a field.
fn says(body: &[u8], field: &str) -> bool {
    let name = format!("\"{field}\":");
    memmem::find_iter(body, &name).any(|at| body[at + name.len()..].trim_ascii_start().starts_with(b"true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_and_two_fields_decide_the_answer() {
        let asked = |line: &str, body: &str| Asked::of(line, body.as_bytes());
        let chat = "POST /v1/chat/completions HTTP/1.1";
        assert_eq!(asked(chat, "{}"), Asked::Answer(Answer::Chat));
        assert_eq!(
            asked(chat, r#"{"stream": true}"#),
            Asked::Answer(Answer::ChatStream { usage: false }),
            "as Python writes it"
        );
        assert_eq!(
            asked(chat, r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
            Asked::Answer(Answer::ChatStream { usage: true })
        );
        assert_eq!(asked(chat, r#"{"stream":false}"#), Asked::Answer(Answer::Chat));
        assert_eq!(
            asked("POST /v1/messages?beta=true HTTP/1.1", r#"{"stream":true}"#),
            Asked::Answer(Answer::MessagesStream)
        );
        assert_eq!(asked("PUT /_pace?chunks=2 HTTP/1.1", ""), Asked::Pace("chunks=2".to_owned()));
        assert_eq!(asked("POST /elsewhere HTTP/1.1", ""), Asked::Unknown);
    }

    #[test]
    fn what_a_change_of_pace_does_not_name_stays() {
        let pace = Pace::default().changed_by("latency_us=20&gap_us=no");
        assert_eq!((pace.latency, pace.gap, pace.chunks), (Duration::from_micros(20), Duration::ZERO, 32));
    }
}
