//! A server that knows less: everything passes to the real one, except for words that it is made to misunderstand.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The URL by which the server at `url` is reached through a proxy that turns `word` into `other`, of the same length.
pub(crate) async fn misunderstanding(url: &str, word: &'static str, other: &'static str) -> String {
    assert_eq!(word.len(), other.len(), "the length of a message is in its head");
    let (head, rest) = url.split_once('@').unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let server: SocketAddr = address.parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(pass(client, server, word, other));
        }
    });
    format!("{head}@{proxy}/{path}")
}

async fn pass(client: TcpStream, server: SocketAddr, word: &str, other: &str) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = TcpStream::connect(server).await.unwrap().into_split();
    let answers = async {
        let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
    };
    let questions = async {
        let mut buffer = vec![0; 1 << 16];
        // A statement is short, and arrives in one piece.
        while let Ok(length @ 1..) = from_client.read(&mut buffer).await {
            let piece = &mut buffer[..length];
            while let Some(place) = piece.windows(word.len()).position(|window| window == word.as_bytes()) {
                piece[place..place + word.len()].copy_from_slice(other.as_bytes());
            }
            if to_server.write_all(piece).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = answers => {}
        () = questions => {}
    }
}
