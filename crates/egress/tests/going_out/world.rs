//! A listener that should stay alone, names that lead where a test says, and a watch on who is dialled.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use egress::{Client, Dial, Reach, Resolver, Tcp, Trust};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub(crate) const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Listens on one port of 127.0.0.1 and, where the machine has it, of ::1; answers whoever comes, and counts them.
pub(crate) struct Listener {
    pub(crate) port: u16,
    pub(crate) has_v6: bool,
    accepted: UnboundedReceiver<SocketAddr>,
}

impl Listener {
    pub(crate) async fn start() -> Self {
        let (first, second) = loop {
            let first = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            match TcpListener::bind((Ipv6Addr::LOCALHOST, first.local_addr().unwrap().port())).await {
                Ok(second) => break (first, Some(second)),
                // Somebody else has that port there.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(_) => break (first, None),
            }
        };
        let (port, has_v6) = (first.local_addr().unwrap().port(), second.is_some());
        let (sender, accepted) = unbounded_channel();
        for listener in [Some(first), second].into_iter().flatten() {
            let sender = sender.clone();
            tokio::spawn(async move {
                while let Ok((stream, peer)) = listener.accept().await {
                    sender.send(peer).ok();
                    tokio::spawn(answer(stream));
                }
            });
        }
        Self { port, has_v6, accepted }
    }

    /// How many came since the last time this was asked.
    ///
    /// Connections are accepted in their order: when one of our own has been, all before it have been.
    pub(crate) async fn visitors(&mut self) -> usize {
        let v6 = self.has_v6.then_some(IpAddr::V6(Ipv6Addr::LOCALHOST));
        let mut ours = HashSet::new();
        let mut streams = Vec::new();
        for address in [Some(HERE), v6].into_iter().flatten() {
            let stream = TcpStream::connect((address, self.port)).await.unwrap();
            ours.insert(stream.local_addr().unwrap());
            streams.push(stream);
        }
        let mut visitors = 0;
        while !ours.is_empty() {
            let peer = self.accepted.recv().await.unwrap();
            visitors += usize::from(!ours.remove(&peer));
        }
        visitors
    }
}

async fn answer(mut stream: TcpStream) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read_buf(&mut request).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nreached").await.ok();
}

/// Every name leads to the next of these, and the last is for all that follow; `good.example` leads to this machine.
pub(crate) struct Names(Mutex<Vec<Vec<IpAddr>>>);

impl Names {
    /// The answers in turn, each with commas between its addresses.
    pub(crate) fn leading_to(answers: &[&str]) -> Arc<Self> {
        let read = |answer: &&str| answer.split(',').map(|address| address.parse().unwrap()).collect();
        Arc::new(Self(Mutex::new(answers.iter().rev().map(read).collect())))
    }
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut answers = self.0.lock().unwrap();
        match name {
            "good.example" => Ok(vec![HERE]),
            _ if answers.len() > 1 => Ok(answers.pop().unwrap()),
            _ => Ok(answers[0].clone()),
        }
    }
}

/// Remembers who was dialled, and lets only calls to this machine through: a test that fails disturbs nobody else.
#[derive(Default)]
pub(crate) struct Watched(Mutex<Vec<SocketAddr>>);

impl Watched {
    /// Who was dialled since the last time this was asked.
    pub(crate) fn dialled(&self) -> Vec<SocketAddr> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[async_trait]
impl Dial for Watched {
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        self.0.lock().unwrap().push(address);
        let ip = address.ip().to_canonical();
        if ip.is_loopback() || ip.is_unspecified() {
            return Tcp.dial(address).await;
        }
        Err(io::ErrorKind::ConnectionRefused.into())
    }
}

/// A client that goes as far as `reach`, where all names but one lead to this machine.
pub(crate) fn client(reach: Reach) -> Client {
    client_with(reach, Names::leading_to(&["127.0.0.1"]), Arc::new(Watched::default()))
}

pub(crate) fn client_with(reach: Reach, names: Arc<dyn Resolver>, watched: Arc<Watched>) -> Client {
    Client::new(reach, Trust::only(&[]).unwrap()).with_resolver(names).with_dial(watched)
}
