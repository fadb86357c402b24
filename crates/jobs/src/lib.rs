//! Jobs: durable work, done at least once, given up in the open.
//!
//! A job is made in the same commit as the events that cause it and waits in `store::JobQueue`. A [`Worker`] claims what
//! is due, runs the [`Handler`] of its [`Kind`], keeps the lease while that runs, and records what became of it: done,
//! tried again later, or dead. A [`Scheduler`] makes the jobs of [`Recurring`] work when their [`Schedule`] says. What each
//! kind does is not here: handlers come with their domains.
//!
//! Start at [`core`]: a state machine that decides everything and touches nothing, driven by [`Worker`] in the process
//! and by `tests/simulation/` in a world of crashes. `decision.rs` holds its two judgements, `backoff.rs` the waits. `agenda.rs` is the
//! same for recurring work.
//!
//! - No job is lost: it ends done, or dead after its attempts are used up or its handler gave up. At least once, not
//!   exactly once: a handler can run again after a crash, so what it does must bear repeating.
//! - A job is finished once: only the newest token counts, and a handler whose lease is lost is stopped.
//! - An occurrence of recurring work is one job, however many processes make it (`agenda.rs`).
//! - Nobody polls tightly: a worker sleeps until the next job falls due or the store says that something changed.
//!
//! To add a kind: a variant in `kind.rs`, and a [`Handler`] in the crate whose work it is.

mod agenda;
mod backoff;
pub mod core;
mod decision;
mod handler;
mod kind;
mod moment;
mod options;
mod schedule;
mod scheduler;
mod worker;

pub use agenda::{Agenda, AgendaError, Answer, Due, Recurring};
pub use backoff::backoff;
pub use decision::{Outcome, Settlement, pause, settle};
pub use handler::{Context, Failure, Handler};
pub use kind::{Kind, UnknownKind};
pub use moment::Moment;
pub use options::{Options, OptionsError};
pub use schedule::{Schedule, ScheduleError};
pub use scheduler::Scheduler;
pub use worker::{Clock, Random, Worker, WorkerError};
