//! The clocks of a body, over a connection in memory and with tokio's own time: nothing here really waits.

use super::*;
use crate::upstream::live::Turn;
use crate::upstream::{Auth, Spec, Trust, Upstream};
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::time::sleep;
use wire::Wire;

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn upstream() -> Arc<Upstream> {
    let spec = Spec::new("a", "http://localhost", Auth::Bearer, &[Wire::Chat]).unwrap();
    Upstream::new(spec, &Trust::only(&[]).unwrap()).unwrap()
}

/// A body whose pieces come after these waits, and whose end never comes.
async fn body(waits: Vec<Duration>) -> ReplyBody {
    let (ours, mut theirs) = duplex(1 << 16);
    tokio::spawn(async move {
        // The request comes first, or the answer would be to nothing.
        assert!(theirs.read(&mut [0; 512]).await.unwrap() > 0);
        theirs.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await.unwrap();
        for wait in waits {
            sleep(wait).await;
            if theirs.write_all(b"1\r\nx\r\n").await.is_err() {
                return;
            }
        }
        // Kept open, or the silence would be a broken connection.
        std::future::pending::<()>().await;
    });
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(ours)).await.unwrap();
    tokio::spawn(connection);
    let response = sender.send_request(http::Request::new(Empty::<Bytes>::new())).await.unwrap();
    let now = Instant::now();
    let upstream = upstream();
    let total = upstream.timeouts.total;
    let passage = Passage::open(&upstream, Turn::First, now).unwrap();
    ReplyBody::new(Coming::Shared(response.into_body()), passage, now..now + total)
}

/// How many pieces came, and how and when it ended.
async fn outcome(waits: Vec<Duration>) -> (usize, &'static str, u128) {
    let mut body = body(waits).await;
    let start = Instant::now();
    let mut pieces = 0;
    loop {
        match body.data().await {
            Some(Ok(_)) => pieces += 1,
            Some(Err(error)) => return (pieces, error.name(), start.elapsed().as_millis()),
            None => return (pieces, "end", start.elapsed().as_millis()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_piece_may_take_two_minutes_and_the_others_one() {
    assert_eq!(outcome(vec![]).await, (0, "idle", 120_000));
    assert_eq!(outcome(vec![seconds(119)]).await, (1, "idle", 179_000));
    assert_eq!(outcome(vec![seconds(1), seconds(59), seconds(61)]).await, (2, "idle", 120_000));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_never_stands_still_ends_after_ten_minutes() {
    assert_eq!(outcome(vec![seconds(50); 20]).await, (11, "total", 600_000));
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_is_not_blamed_on_the_upstream() {
    let mut body = body(vec![seconds(0), seconds(310)]).await;
    assert!(body.data().await.unwrap().is_ok());
    sleep(seconds(300)).await;
    assert!(body.data().await.unwrap().is_ok(), "ten seconds after somebody began to wait for it");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the pace: every piece that comes in time is handed on, and the first clock that runs out ends it on time.
    #[test]
    fn the_clocks_are_kept_whatever_the_pace(waits in prop::collection::vec(0u64..130, 0..16)) {
        // Half a second off the marks, so that no two things happen at once.
        let waits: Vec<u64> = waits.into_iter().map(|wait| wait * 1_000 + 500).collect();
        let (mut at, mut pieces, mut patience) = (0, 0, 120_000);
        for wait in &waits {
            if *wait > patience || at + wait > 600_000 {
                break;
            }
            (at, pieces, patience) = (at + wait, pieces + 1, 60_000);
        }
        let (name, end) = if at + patience < 600_000 { ("idle", at + patience) } else { ("total", 600_000) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let heard = runtime.block_on(outcome(waits.into_iter().map(Duration::from_millis).collect()));
        prop_assert_eq!(heard, (pieces, name, u128::from(end)));
    }
}
