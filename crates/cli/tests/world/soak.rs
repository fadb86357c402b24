//! Mixed load with faults, for as long as one likes: the questions, and what may come of each.
//!
//! What may not is kept as a violation, with the seed that repeats the order of the questions.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::asking::{Answer, By, Question, ask, ask_with};
use super::upstream::FAULTY;

/// Beyond what any question takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(120);

/// Numbers that a seed repeats.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Whole,
    Stream,
    Cached,
    Tool,
    Malformed,
    NoModel,
    Fails,
    TooMany,
    Reset,
    Cut,
    Broken,
    /// Nothing comes, and the caller goes.
    Hang,
    /// The caller goes in the middle.
    Left,
}

/// What is asked, in the shares in which it is.
const MIX: &[What] = &[
    What::Whole,
    What::Whole,
    What::Whole,
    What::Whole,
    What::Stream,
    What::Stream,
    What::Stream,
    What::Cached,
    What::Cached,
    What::Tool,
    What::Malformed,
    What::NoModel,
    What::Fails,
    What::TooMany,
    What::Reset,
    What::Cut,
    What::Broken,
    What::Hang,
    What::Left,
];

/// What came of it, as far as that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Came {
    /// All that was asked for.
    Answered,
    /// A refusal or an error, told as such.
    Told,
    /// 503, with a time to come back.
    Later,
    /// The connection was lost: the process was killed.
    Lost,
    /// The caller did not wait.
    Left,
}

/// What all clients share.
#[derive(Default)]
pub(crate) struct Soak {
    pub(crate) over: AtomicBool,
    pub(crate) tally: Mutex<BTreeMap<(What, Came), u64>>,
    /// Runs that were answered in full.
    pub(crate) acknowledged: Mutex<Vec<String>>,
    pub(crate) violations: Mutex<Vec<String>>,
}

impl Soak {
    /// Asks one question after another, until it is over.
    pub(crate) async fn client(&self, address: &str, seed: u64) {
        let mut random = Random(seed);
        while !self.over.load(Ordering::Relaxed) {
            let what = MIX[random.below(MIX.len() as u64) as usize];
            let asked = tokio::time::timeout(PATIENCE, self.one(address, what, &mut random)).await;
            match asked.unwrap_or_else(|_| Err(format!("nothing came within {PATIENCE:?}"))) {
                Ok(came) => *self.tally.lock().unwrap().entry((what, came)).or_default() += 1,
                Err(violation) => {
                    self.violations.lock().unwrap().push(format!("{what:?}, seed {seed}: {violation}"));
                }
            }
            tokio::time::sleep(Duration::from_millis(random.below(20))).await;
        }
    }

    /// How many questions came to this.
    pub(crate) fn count(&self, wanted: impl Fn(What, Came) -> bool) -> u64 {
        let tally = self.tally.lock().unwrap();
        tally.iter().filter(|((what, came), _)| wanted(*what, *came)).map(|(_, count)| count).sum()
    }

    async fn one(&self, address: &str, what: What, random: &mut Random) -> Result<Came, String> {
        let number = random.next();
        let by = if number.is_multiple_of(2) { By::Chat } else { By::Messages };
        let question =
            |by, text: &str, stream| Question { by, text: format!("{text} {number}"), stream, cached: false };
        let asked = match what {
            What::Whole => question(by, "whole", false),
            What::Tool => question(by, "tool", false),
            What::Stream => question(by, &format!("stream {} {}", 2 + number % 20, number % 15), true),
            What::Cached => {
                let text = format!("whole {}", number % 20);
                Question { by, text, stream: number.is_multiple_of(3), cached: true }
            }
            What::Fails => question(By::Faulty(number % FAULTY), "status 500", number.is_multiple_of(2)),
            What::TooMany => question(By::Faulty(number % FAULTY), "status 429", false),
            What::Reset => question(By::Faulty(number % FAULTY), "reset", number.is_multiple_of(2)),
            What::Cut => question(By::Faulty(number % FAULTY), "cut 3", true),
            What::Broken => question(By::Faulty(number % FAULTY), "broken", false),
            What::Hang => {
                let asked = question(By::Faulty(number % FAULTY), "hang", true);
                let patience = Duration::from_millis(20 + number % 200);
                return match tokio::time::timeout(patience, ask(address, &asked)).await {
                    Err(_) => Ok(Came::Left),
                    Ok(answer) => self.judge(what, answer).await,
                };
            }
            What::Left => return self.leave(address, &question(by, "stream 200 20", true), number).await,
            What::Malformed => {
                let answer =
                    ask_with(address, "/v1/chat/completions", "on", r#"{"model":7,"messages":[]}"#).await;
                return self.judge(what, answer).await;
            }
            What::NoModel => {
                let body = r#"{"model":"nobody:has-this","messages":[{"role":"user","content":"hi"}]}"#;
                return self.judge(what, ask_with(address, "/v1/chat/completions", "on", body).await).await;
            }
        };
        self.judge(what, ask(address, &asked).await).await
    }

    async fn leave(&self, address: &str, asked: &Question, number: u64) -> Result<Came, String> {
        let answer = ask(address, asked).await;
        let Ok(mut answer) = answer else { return self.judge(What::Left, answer).await };
        if answer.status != 200 {
            return self.judge(What::Left, Ok(answer)).await;
        }
        for _ in 0..number % 10 {
            if !answer.more().await.unwrap_or(false) {
                return Ok(Came::Lost);
            }
        }
        Ok(Came::Left)
    }

    /// Whether what came may come of this.
    async fn judge(&self, what: What, answer: io::Result<Answer>) -> Result<Came, String> {
        let Ok(mut answer) = answer else { return Ok(Came::Lost) };
        if answer.finish().await.is_err() {
            return Ok(Came::Lost);
        }
        let text = answer.text();
        let is_stream = text.contains("\ndata: ");
        // A whole answer ends as its length says, a streamed one with the empty chunk: what does not was cut by a kill.
        let is_cut = if is_stream { !text.ends_with("0\r\n\r\n") } else { !text.trim_end().ends_with('}') };
        if is_cut {
            return Ok(Came::Lost);
        }
        let told = match answer.status {
            200 if !is_stream => Came::Answered,
            200 if answer.is_whole_stream() && !text.contains("punk_") => Came::Answered,
            200 if text.contains("punk_") => Came::Told,
            503 => Came::Later,
            400..=599 => Came::Told,
            _ => return Err(format!("{}: {text}", answer.status)),
        };
        let expected: &[u16] = match what {
            What::Whole | What::Stream | What::Cached | What::Tool | What::Left => &[200],
            What::Malformed => &[400],
            What::NoModel => &[404],
            What::Fails => &[500, 502],
            What::TooMany => &[429],
            What::Reset | What::Broken => &[502],
            What::Cut => &[200, 502],
            What::Hang => &[504],
        };
        if answer.status != 503 && !expected.contains(&answer.status) {
            return Err(format!("{}: {text}", answer.status));
        }
        if told == Came::Answered {
            let Some(run) = answer.run else { return Err(format!("an answer without a run: {text}")) };
            self.acknowledged.lock().unwrap().push(run);
        }
        Ok(told)
    }
}
