//! Both ends of a connection, byte by byte: an upstream and a client that keep to no rules.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Far beyond what a busy machine needs.
const SOON: Duration = Duration::from_secs(30);

/// What the upstream does next.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Say(Vec<u8>),
    /// Sends these bytes until nobody takes them any more.
    Repeat(Vec<u8>),
    /// Waits for a word from the test.
    Wait(Arc<Notify>),
    /// Says nothing until the caller leaves.
    Hang,
    /// Breaks the connection, at once and for both sides.
    Reset,
}

/// Bytes to send.
pub(crate) fn say(text: impl AsRef<[u8]>) -> Step {
    Step::Say(text.as_ref().to_vec())
}

/// An upstream that answers in bytes. After its last step it closes the connection.
#[derive(Clone)]
pub(crate) struct RawUpstream {
    pub(crate) url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    asked: Mutex<usize>,
    /// How many callers left an upstream that had more to say, or nothing.
    left: AtomicUsize,
    /// How many bytes were taken from it.
    sent: AtomicUsize,
    changed: Notify,
}

impl RawUpstream {
    /// Starts one. `script` is asked for every request, with how many came before it.
    pub(crate) async fn start(script: impl Fn(usize) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (state, script) = (Arc::new(State::default()), Arc::new(script));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(answer(stream, Arc::clone(&shared), Arc::clone(&script)));
            }
        });
        Self { url, state }
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        *self.state.asked.lock().unwrap()
    }

    /// How many bytes were taken from it.
    pub(crate) fn sent(&self) -> usize {
        self.state.sent.load(Ordering::SeqCst)
    }

    /// How many callers left it early.
    pub(crate) fn left(&self) -> usize {
        self.state.left.load(Ordering::SeqCst)
    }

    /// Waits until it was asked so often.
    pub(crate) async fn was_asked(&self, times: usize) {
        self.wait(|| self.asked() >= times).await;
    }

    /// Waits until so many callers left early.
    pub(crate) async fn was_left(&self, times: usize) {
        self.wait(|| self.left() >= times).await;
    }

    async fn wait(&self, done: impl Fn() -> bool) {
        let waiting = async {
            loop {
                let changed = self.state.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if done() {
                    return;
                }
                changed.await;
            }
        };
        timeout(SOON, waiting).await.expect("the upstream sees it");
    }
}

async fn answer(mut stream: TcpStream, state: Arc<State>, script: Arc<impl Fn(usize) -> Vec<Step>>) {
    if read_request(&mut stream).await.is_none() {
        return;
    }
    let before = {
        let mut asked = state.asked.lock().unwrap();
        *asked += 1;
        *asked - 1
    };
    state.changed.notify_waiters();
    for step in script(before) {
        if perform(step, &mut stream, &state).await.is_err() {
            state.left.fetch_add(1, Ordering::SeqCst);
            state.changed.notify_waiters();
            return;
        }
    }
    // What was said arrives before the end of it; whoever leaves meanwhile has all there is.
    let _ = stream.shutdown().await;
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
}

/// An error means that the caller has left.
async fn perform(step: Step, stream: &mut TcpStream, state: &State) -> std::io::Result<()> {
    match step {
        Step::Say(bytes) => stream.write_all(&bytes).await,
        Step::Repeat(bytes) => loop {
            stream.write_all(&bytes).await?;
            state.sent.fetch_add(bytes.len(), Ordering::SeqCst);
        },
        Step::Wait(word) => {
            word.notified().await;
            Ok(())
        }
        Step::Hang => {
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
            Err(std::io::ErrorKind::ConnectionAborted.into())
        }
        Step::Reset => stream.set_zero_linger(),
    }
}

/// Reads one request to its end.
async fn read_request(stream: &mut TcpStream) -> Option<()> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            if bytes.len() >= end + 4 + length.map_or(0, |length| length.trim().parse().unwrap()) {
                return Some(());
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// A client that sends what it likes.
pub(crate) struct RawClient(TcpStream);

impl RawClient {
    pub(crate) async fn connect(address: &str) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// One that has room for next to nothing.
    pub(crate) async fn narrow(address: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        Self(socket.connect(address.parse().unwrap()).await.unwrap())
    }

    /// Sends some bytes; whether anybody is there to take them.
    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.write_all(bytes.as_ref()).await.is_ok()
    }

    /// Whatever is said until the connection ends, however it does.
    pub(crate) async fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        let _ = timeout(SOON, self.0.read_to_end(&mut bytes)).await.expect("the connection ends");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Takes so many bytes of what is said; fewer, when it ends before.
    pub(crate) async fn sip(&mut self, most: usize) -> Vec<u8> {
        let (mut bytes, mut sip) = (Vec::new(), (&mut self.0).take(most as u64));
        let _ = timeout(SOON, sip.read_to_end(&mut bytes)).await.expect("something is said");
        bytes
    }

    /// Whatever is said until this is in it.
    pub(crate) async fn until(&mut self, word: &str) -> String {
        let mut bytes = Vec::new();
        let reading = async {
            while !String::from_utf8_lossy(&bytes).contains(word) {
                assert_ne!(self.0.read_buf(&mut bytes).await.unwrap(), 0, "it ended without `{word}`");
            }
        };
        timeout(SOON, reading).await.expect("it is said");
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
