//! The journal's side of group commit: whoever comes at the same time shares one write.

use std::sync::Arc;

use schema::{RunId, SubjectId, TenantId};

use super::super::KnownRows;
use super::super::event::Prepared;
use super::super::meter::AllMeters;
use super::claims::Claims;
use super::journal::Bodies;
use super::{Ahead, Refusal, plain};
use crate::group_commit::Writer;

/// What it is asked to do.
pub(in super::super) enum Request {
    /// A plain commit.
    Write(Arc<Prepared>),
    /// Nothing is written, but SQLite is about to be told: these runs begin, these keys are erased. Whatever was acknowledged
    /// before the answer is queued when it comes.
    Note { begun: Vec<(TenantId, RunId)>, erased: Vec<SubjectId> },
}

/// Writes the journal.
pub(in super::super) struct AheadWriter {
    ahead: Arc<Ahead>,
    meters: Arc<AllMeters>,
    known: Arc<KnownRows>,
    claims: Claims,
    bodies: Bodies,
    commits: Vec<Arc<Prepared>>,
    /// What the open batch has claimed.
    claimed: Vec<(TenantId, RunId)>,
}

impl AheadWriter {
    /// Of a database whose highest run is this.
    pub(in super::super) fn new(
        ahead: Arc<Ahead>,
        meters: Arc<AllMeters>,
        known: Arc<KnownRows>,
        highest: Option<RunId>,
    ) -> Self {
        let (claims, bodies) = (Claims::new(highest), Bodies::default());
        Self { ahead, meters, known, claims, bodies, commits: Vec::new(), claimed: Vec::new() }
    }

    fn take_back(&mut self, from: usize) {
        for (tenant, run) in self.claimed.drain(from..) {
            self.claims.take_back(tenant, run);
        }
    }
}

impl Writer for AheadWriter {
    type Request = Request;
    type Reply = ();
    type Error = Refusal;

    fn begin(&mut self) -> Result<(), Refusal> {
        self.bodies.clear();
        self.commits.clear();
        self.claimed.clear();
        Ok(())
    }

    fn begin_at_once(&mut self) -> Result<bool, Refusal> {
        // A transaction of SQLite's may be at its end, and a caller has no time for that.
        let is_free = self.ahead.is_free();
        self.begin().map(|()| is_free)
    }

    fn apply(&mut self, request: Request) -> Result<(), Refusal> {
        match request {
            Request::Write(commit) => {
                if !commit.subjects().all(|subject| self.claims.has_key(subject)) {
                    return Err(Refusal::AskSqlite);
                }
                let before = self.claimed.len();
                for run in commit.begun() {
                    if !self.claims.begin(commit.tenant, run) {
                        self.take_back(before);
                        return Err(Refusal::AskSqlite);
                    }
                    self.claimed.push((commit.tenant, run));
                }
                self.bodies.add(|out| plain::encode(&commit, out));
                self.commits.push(commit);
            }
            Request::Note { begun, erased } => {
                for (tenant, run) in begun {
                    self.claims.begin(tenant, run);
                }
                erased.into_iter().for_each(|subject| self.claims.erase(subject));
            }
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Refusal> {
        if self.commits.is_empty() {
            return Ok(());
        }
        let Self { ahead, meters, known, bodies, commits, .. } = self;
        let appended = ahead.append(bodies, commits, meters, known);
        if let Err(Refusal::NotHeld | Refusal::Behind) = appended {
            // They come again.
            self.take_back(0);
        }
        appended
    }
}
