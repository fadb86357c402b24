//! Apprentice: learning over the store. What the log of a tenant teaches, what serves because of it, and how both are made again.
//!
//! `learning` decides and `artifact` answers; neither knows where runs come from. Here, each leaf of the log becomes [`News`]
//! (`news.rs`), the news of one kind of work ([`Task`], `task.rs`) are folded into its [`Study`] (`study.rs`) with the help of a
//! [`Tutor`] (`tutor/mod.rs`), and a tick keeps what came of it (`tick.rs`, `stored.rs`). What serves is in memory on the [`Shelf`]; [`reexecute`] answers a recorded
//! request again, for whoever verifies.
//!
//! Start at [`Apprentice::tick`]. There is no way from here to a model, a tool or a permit to act: a shadow or a replay can only
//! compare.
//!
//! - Everything but the texts of programs follows from the log: the same log gives the same studies, wherever ticks cut it.
//! - Only what went live teaches, in the tokenised form that the ledger has.
//! - Work is proportional to what is new in the log.

mod aside;
mod board;
mod choice;
mod desk;
mod executable;
mod handler;
mod hybrid;
mod instructions;
mod keeping;
mod memory;
mod news;
mod plan;
mod portable;
mod replay;
mod report;
mod rest;
mod shelf;
mod stored;
mod study;
mod task;
mod template;
mod tick;
mod tutor;
mod view;

pub use choice::choice_of;
pub use executable::{ENGINE, Executable, ExecuteError, Style, reexecute, said};
pub use handler::{LearningTick, ReplayEvaluation};
pub use hybrid::{Draft, Small};
pub use learning::comparator::Comparator;
pub use news::{ASKED, COMPARED, Compared, EXECUTED, Lesson, News, Order, REPLAYED, Replay, Served, order};
pub use portable::{PORTABLE, Portable, PortableError};
pub use replay::{Bundle, ReplayReport, bundle};
pub use report::Report;
pub use shelf::{Considered, ConsideredPart, Offered, Shelf, Shelved};
pub use stored::{
    RETIRED, StoredPattern, attempt_id, imported_program, program_id, program_text, read, stage_name,
};
pub use study::{
    AttemptMade, Changed, Correction, Evaluation, Made, Negative, Occasion, Outcome, ProgramName, Study,
    Version,
};
pub use task::{Loose, Task, Unlearnable};
pub use template::{Mined, Skeleton};
pub use tick::{Apprentice, Clock};
pub use tutor::Tutor;
pub use view::Learned;
