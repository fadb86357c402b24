//! Servers that are less than the real one behind them: far away, or unable to understand some words.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

#[derive(Clone, Copy)]
struct Flaw {
    word: &'static str,
    other: &'static str,
    delay: Duration,
}

/// The URL by which the server at `url` takes `word` for `other`, which is of the same length.
pub(crate) async fn misunderstanding(url: &str, word: &'static str, other: &'static str) -> String {
    assert_eq!(word.len(), other.len(), "the length of a message is in its head");
    through(url, Flaw { word, other, delay: Duration::ZERO }).await
}

/// The URL by which the answers of the server at `url` take `delay`, however much is asked at once.
pub(crate) async fn distant(url: &str, delay: Duration) -> String {
    through(url, Flaw { word: " ", other: " ", delay }).await
}

async fn through(url: &str, flaw: Flaw) -> String {
    let (head, rest) = url.split_once('@').unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let server: SocketAddr = address.parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = TcpStream::connect(server).await.unwrap().into_split();
            tokio::spawn(questions(from_client, to_server, flaw));
            tokio::spawn(answers(from_server, to_client, flaw.delay));
        }
    });
    format!("{head}@{proxy}/{path}")
}

async fn questions(mut client: OwnedReadHalf, mut server: OwnedWriteHalf, Flaw { word, other, .. }: Flaw) {
    let mut buffer = vec![0; 1 << 16];
    // A statement is short, and arrives in one piece.
    while let Ok(length @ 1..) = client.read(&mut buffer).await {
        let piece = &mut buffer[..length];
        if word != other {
            let places = (0..piece.len()).filter(|place| piece[*place..].starts_with(word.as_bytes()));
            for place in places.collect::<Vec<_>>() {
                piece[place..place + word.len()].copy_from_slice(other.as_bytes());
            }
        }
        if server.write_all(piece).await.is_err() {
            break;
        }
    }
}

async fn answers(mut server: OwnedReadHalf, mut client: OwnedWriteHalf, delay: Duration) {
    let (send, mut on_the_way) = mpsc::unbounded_channel();
    let reading = async move {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = server.read(&mut buffer).await {
            let _ = send.send((Instant::now() + delay, buffer[..length].to_vec()));
        }
    };
    let writing = async {
        while let Some((due, piece)) = on_the_way.recv().await {
            sleep_until(due).await;
            if client.write_all(&piece).await.is_err() {
                break;
            }
        }
    };
    tokio::join!(reading, writing);
}
