//! A resolver that answers as it is told, for tests of whatever goes out.

use crate::resolve::Resolver;
use async_trait::async_trait;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Answers from a script, one answer after the other, and remembers what it was asked. The last answer for a name is for
/// all questions that follow; a name that is not in the script does not exist.
#[derive(Debug, Default)]
pub struct Scripted(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    answers: HashMap<String, VecDeque<Vec<IpAddr>>>,
    asked: Vec<String>,
}

impl Scripted {
    /// Knows no name yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next answer for `name`.
    #[must_use]
    pub fn answer(self, name: &str, addresses: &[IpAddr]) -> Self {
        self.state().answers.entry(name.to_owned()).or_default().push_back(addresses.to_vec());
        self
    }

    /// What was asked, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.state().asked.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Resolver for Scripted {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut state = self.state();
        state.asked.push(name.to_owned());
        let answers = state.answers.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Ok(answer.unwrap_or_default())
    }
}
