//! A closed loop over connections that stay open: each asks, reads the answer to its end, and asks again.
//!
//! One thread, requests as prepared bytes. What is answered during the warm-up is not counted. Start at [`run`];
//! `request.rs` has the bytes, `answer.rs` reads answers and notes when their parts came, `figures.rs` is what is told of it.

mod answer;
mod figures;
mod request;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::{JoinSet, LocalSet};

use crate::process::Tree;
use answer::{Answer, Timing};
pub(crate) use figures::{Figures, median, micros};
pub(crate) use request::{Prompt, Request, Shape, Wire, begin_at};

/// How long the loop goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// For this time, after a warm-up that is not counted.
    Time { warm: Duration, counted: Duration },
    /// So many requests, all of them counted.
    Requests(u64),
}

/// One load on one target.
pub(crate) struct Plan<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) request: &'a Request,
    pub(crate) connections: usize,
    pub(crate) until: Until,
    /// The process whose tree is charged for it; nobody is when there is none.
    pub(crate) charged: Option<u32>,
}

/// What the connections share.
struct Course {
    begins: Instant,
    ends: Option<Instant>,
    left: Option<u64>,
    timings: Vec<Timing>,
    errors: u64,
    first_error: Option<String>,
}

/// Puts the load on the target, and gives what was seen. An answer that is not a whole 200 is an error and counts in no other figure.
pub(crate) fn run(plan: &Plan<'_>) -> Result<Figures, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    LocalSet::new().block_on(&runtime, drive(plan))
}

async fn drive(plan: &Plan<'_>) -> Result<Figures, String> {
    let (warm, counted, left) = match plan.until {
        Until::Time { warm, counted } => (warm, Some(counted), None),
        Until::Requests(requests) => (Duration::ZERO, None, Some(requests)),
    };
    let begins = Instant::now() + warm;
    let ends = counted.map(|counted| begins + counted);
    let course = Course { begins, ends, left, timings: Vec::new(), errors: 0, first_error: None };
    let course = Rc::new(RefCell::new(course));
    let mut connections = JoinSet::new();
    for _ in 0..plan.connections {
        let (course, request, address) = (Rc::clone(&course), plan.request.clone(), plan.address);
        connections.spawn_local(async move { ask_on(address, request, &course).await });
    }
    let tree = plan.charged.map(Tree::of);
    tokio::time::sleep_until(begins.into()).await;
    let before = tree.map(Tree::usage).transpose()?;
    match ends {
        Some(ends) => tokio::time::sleep_until(ends.into()).await,
        None => while connections.join_next().await.is_some() {},
    }
    let after = tree.map(Tree::usage).transpose()?;
    let took = begins.elapsed();
    // Whoever still waits for an answer is not waited for: the answers that count are in.
    connections.shutdown().await;
    let course = course.borrow();
    let spent = before.zip(after).map(|(before, after)| figures::Spent {
        cpu: after.cpu.saturating_sub(before.cpu),
        rss_bytes: after.rss_bytes,
    });
    Ok(Figures::of(&course.timings, took, spent, course.errors, course.first_error.clone()))
}

/// One connection, until the course is over. After an error it connects again, not at once.
async fn ask_on(address: SocketAddr, mut request: Request, course: &RefCell<Course>) {
    let mut connection: Option<(TcpStream, Answer)> = None;
    let frames = request.frames();
    loop {
        {
            let mut course = course.borrow_mut();
            match &mut course.left {
                Some(0) => return,
                Some(left) => *left -= 1,
                None => {}
            }
        }
        let asked = Instant::now();
        let answered = async {
            let (stream, answer) = match &mut connection {
                Some(open) => open,
                none => {
                    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
                    stream.set_nodelay(true).map_err(|error| error.to_string())?;
                    none.insert((stream, Answer::new(frames)))
                }
            };
            stream.write_all(request.next()).await.map_err(|error| error.to_string())?;
            answer.read(stream, asked).await
        };
        let answered = answered.await;
        let failed = answered.is_err();
        {
            let mut course = course.borrow_mut();
            // By when it was answered: what was under way at the beginning makes up for what is at the end.
            let now = Instant::now();
            let counts = now >= course.begins && course.ends.is_none_or(|ends| now <= ends);
            match answered {
                Ok(timing) if counts => course.timings.push(timing),
                Ok(_) => {}
                Err(error) => {
                    course.errors += 1;
                    course.first_error.get_or_insert(error);
                }
            }
        }
        if failed {
            connection = None;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
