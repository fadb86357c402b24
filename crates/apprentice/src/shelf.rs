//! What serves, in memory: the programs of promoted artifacts, of all tenants; and of hybrids that are not proven yet, which a small
//! model is asked for now and then, before live is.
//!
//! Nobody reads the store to find out that there is nothing: the shelf is brought up to date now and then, and when somebody
//! decides something. A comparison that differs counts here at once, before the log is read: what a jump of the teacher costs
//! is bounded by the answers in between.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use artifact::program::Open;
use learning::comparator::Comparator;
use learning::course::{Course, Stage, Turn};
use schema::{ArtifactId, Digest, MicroUsd, PatternId, RunId, TenantId, Timestamp};
use serde_json::Value;
use store::{RecordKind, Store, StoreError};
use wire::{Answer, Request};

use crate::board::{Board, Programs};
use crate::executable::Executable;
use crate::hybrid::{Draft, Small};
use crate::rest::Rest;
use crate::stored::{PROMOTED, StoredPattern, UNPROVEN, program_text, read};
use crate::study::{Made, avoided_key};

/// The programs that serve.
#[derive(Debug, Default)]
pub struct Shelf {
    /// Those that answer by themselves.
    whole: Board,
    /// Those that leave fields open.
    hybrid: Board,
    /// What decides which answers are audited.
    choice: u64,
    /// Who may be asked for what is open.
    small: Option<Small>,
}

/// One of them.
#[derive(Debug)]
pub struct Shelved {
    /// The artifact.
    pub artifact: ArtifactId,
    /// The pattern it is made of.
    pub pattern: PatternId,
    /// Its version.
    pub version: u32,
    /// The digest of its text.
    pub digest: Digest,
    /// What asking the model costs and takes, on average.
    pub usual: (MicroUsd, u64),
    /// When its answers and live's are the same.
    pub comparator: Comparator,
    /// The small model it is proven with, if it leaves anything open.
    asks: Option<String>,
    pub(crate) executable: Executable,
    course: Mutex<Course>,
    /// Inputs to which live said something else of late.
    avoided: Mutex<HashMap<Digest, Timestamp>>,
    /// How asking for what it leaves open went of late; whatever version it is.
    pub(crate) rest: Arc<Rest>,
    /// The version of the record it is from.
    seen: u64,
}

/// What the shelf says to a request.
#[derive(Debug)]
pub enum Considered {
    /// Nothing of the tenant's serves.
    Nothing,
    /// Not this one, for this reason.
    Pass(String),
    /// Live answers, and what would have been said is compared with that.
    Audit(Box<Offered>),
    /// It answers.
    Serve(Box<Offered>),
}

/// What the shelf says to a request of which a program may tell a part.
#[derive(Debug)]
pub enum ConsideredPart {
    /// Nothing of the tenant's does.
    Nothing,
    /// Not of this one, for this reason.
    Pass(String),
    /// Live answers, and what the program and the small model would have said is compared with that.
    Opine(Box<Draft>),
    /// They answer.
    Serve(Box<Draft>),
}

/// An answer of an artifact.
#[derive(Debug, Clone)]
pub struct Offered {
    /// Whose it is.
    pub shelved: Arc<Shelved>,
    /// What it says.
    pub said: Value,
    /// As a model would say it.
    pub answer: Answer,
    /// What its input is known by.
    pub(crate) key: Digest,
}

/// So many programs, and so many bytes of their texts, are in memory at most.
const MOST: NonZeroU32 = NonZeroU32::new(512).unwrap();
const MOST_BYTES: u64 = 256 << 20;

impl Shelf {
    /// An empty one. `choice` is the secret number that the learner has too.
    #[must_use]
    pub fn new(choice: u64) -> Self {
        Self { choice, ..Self::default() }
    }

    /// The same, where `small` may be asked for what programs leave open.
    #[must_use]
    pub fn with_small(self, small: Option<Small>) -> Self {
        Self { small, ..self }
    }

    /// Brings it up to date, and says how many programs serve.
    ///
    /// # Errors
    /// The store is out of reach; the shelf is as it was.
    pub async fn refresh(&self, store: &dyn Store, now: Timestamp) -> Result<usize, StoreError> {
        let mut records = store.due_records(RecordKind::Artifact, PROMOTED, now, MOST).await?;
        let serving = records.len();
        if self.small.is_some() {
            for group in UNPROVEN {
                records.extend(store.due_records(RecordKind::Artifact, group, now, MOST).await?);
            }
        }
        let (mut whole, mut hybrid, mut bytes, mut count) = (Programs::new(), Programs::new(), 0, 0);
        for (at, (tenant, record)) in records.into_iter().enumerate() {
            let Some(key) = record.key else { continue };
            let before = self.whole.find(tenant, key).or_else(|| self.hybrid.find(tenant, key));
            let known = before.clone().filter(|known| {
                // Versions of records begin anew when everything does; the text of a program says what it is.
                let digest = record.body.pointer("/program/digest").and_then(Value::as_str);
                known.seen == record.version
                    && known.artifact.to_string() == record.id
                    && digest.is_some_and(|digest| digest == known.digest.to_string())
            });
            let shelved = match known {
                Some(known) => known,
                None => {
                    let made: Made = read(&record)?;
                    let Some(program) = made.program else { continue };
                    bytes += program.bytes;
                    if bytes > MOST_BYTES {
                        tracing::warn!(%tenant, artifact = %made.id, "there is no room for this program; live answers");
                        continue;
                    }
                    let handle = store.tenant(tenant);
                    let Some(text) = program_text(&*handle, program.digest).await? else { continue };
                    let Ok(executable) = Executable::read(&text) else {
                        tracing::error!(%tenant, artifact = %made.id, "a program cannot be read; live answers");
                        continue;
                    };
                    let pattern = handle.record(RecordKind::Pattern, &made.pattern.to_string()).await?;
                    let pattern = pattern.as_ref().map(read::<StoredPattern>).transpose()?;
                    let (cost, millis) =
                        pattern.as_ref().map_or((0, 0), |pattern| pattern.study.pattern.averages());
                    let comparator = pattern.map(|pattern| pattern.study.comparator).unwrap_or_default();
                    Arc::new(Shelved {
                        artifact: made.id,
                        pattern: made.pattern,
                        version: program.version,
                        digest: program.digest,
                        usual: (MicroUsd(i64::try_from(cost).unwrap_or(i64::MAX)), millis),
                        comparator,
                        asks: made.asks,
                        executable,
                        course: Mutex::new(made.course),
                        avoided: Mutex::new(made.avoided.into_iter().collect()),
                        rest: before.map(|before| Arc::clone(&before.rest)).unwrap_or_default(),
                        seen: record.version,
                    })
                }
            };
            count += usize::from(at < serving);
            let next = if shelved.open().is_empty() { &mut whole } else { &mut hybrid };
            next.entry(tenant).or_default().insert(key, shelved);
        }
        self.whole.put(whole);
        self.hybrid.put(hybrid);
        Ok(count)
    }

    /// Whether anything of the tenant's serves by itself.
    #[must_use]
    pub fn has_any(&self, tenant: TenantId) -> bool {
        self.whole.has_any(tenant)
    }

    /// Whether anything of the tenant's leaves fields open to somebody who may be asked.
    #[must_use]
    pub fn has_hybrids(&self, tenant: TenantId) -> bool {
        self.small.is_some() && self.hybrid.has_any(tenant)
    }

    /// What it says to the request of `run`, in its recorded form. `observed`: what is offered will not be given.
    #[must_use]
    pub fn consider(
        &self,
        tenant: TenantId,
        model: &str,
        request: &Request,
        (run, observed, now): (RunId, bool, Timestamp),
    ) -> Considered {
        if !self.has_any(tenant) {
            return Considered::Nothing;
        }
        let (shelved, input) = match self.whole.search(tenant, model, request) {
            Ok(Some(found)) => found,
            Ok(None) => return Considered::Pass("nothing is promoted for work of this kind".to_owned()),
            Err(why) => return Considered::Pass(why.to_string()),
        };
        let key = avoided_key(shelved.executable.task, &input);
        if shelved.avoids(key, now) {
            return Considered::Pass(format!("{} passes: {AVOIDED}", shelved.artifact));
        }
        let said = match shelved.executable.says(&input) {
            Ok(said) => said,
            Err(why) => return Considered::Pass(format!("{} passes: {why}", shelved.artifact)),
        };
        let turn = {
            let mut course = shelved.course.lock().unwrap_or_else(PoisonError::into_inner);
            if course.stage() != Stage::Promoted {
                return Considered::Pass(format!(
                    "{} no longer serves: it differed from live",
                    shelved.artifact
                ));
            }
            if observed { Turn::Serve } else { course.turn(self.choice, run.as_bytes()) }
        };
        let answer = shelved.executable.worded(&said, &request.model);
        let offered = Box::new(Offered { shelved, said, answer, key });
        match turn {
            Turn::Serve => Considered::Serve(offered),
            Turn::Compare => Considered::Audit(offered),
            Turn::Live => Considered::Pass("it is not its turn".to_owned()),
        }
    }

    /// The same for a request of which a program may tell a part. Which small model is asked is what the part was proven with, or is
    /// being proven with.
    #[must_use]
    pub fn consider_part(
        &self,
        tenant: TenantId,
        model: &str,
        request: &Request,
        (run, observed, now): (RunId, bool, Timestamp),
    ) -> ConsideredPart {
        let pass = ConsideredPart::Pass;
        let Some(small) = self.small.as_ref().filter(|_| self.has_hybrids(tenant)) else {
            return ConsideredPart::Nothing;
        };
        // What is not of a kind that anything is known of is told by who asks for whole answers.
        let Ok(Some((shelved, input))) = self.hybrid.search(tenant, model, request) else {
            return ConsideredPart::Nothing;
        };
        let name = shelved.artifact;
        if shelved.asks.as_ref() != Some(&small.model) {
            return pass(format!(
                "{name} passes: `{}` is not the small model it is proven with",
                small.model
            ));
        }
        if !shelved.open().iter().all(Open::can_be_told) || shelved.rest.is_on(now) {
            return pass(format!("{name} passes: asking `{}` came to nothing of late", small.model));
        }
        let part = match shelved.executable.says_in_part(&input) {
            Ok(part) => part,
            Err(why) => return pass(format!("{name} passes: {why}")),
        };
        let key = avoided_key(shelved.executable.task, &input);
        let turn = {
            let mut course = shelved.course.lock().unwrap_or_else(PoisonError::into_inner);
            match course.stage() {
                Stage::Promoted if shelved.avoids(key, now) => {
                    return pass(format!("{name} passes: {AVOIDED}"));
                }
                Stage::Promoted if observed => Turn::Serve,
                Stage::Promoted => course.turn(self.choice, run.as_bytes()),
                Stage::Shadow | Stage::Eligible if !observed && small.takes(self.choice, run) => {
                    Turn::Compare
                }
                Stage::Shadow | Stage::Eligible | Stage::Quarantined => {
                    return pass(format!("{name} passes: it is not promoted"));
                }
            }
        };
        let (small, model) = (small.model.clone(), request.model.clone());
        let draft = Box::new(Draft { shelved, small, part, model, key });
        match turn {
            Turn::Serve => ConsideredPart::Serve(draft),
            Turn::Compare => ConsideredPart::Opine(draft),
            Turn::Live => pass("it is not its turn".to_owned()),
        }
    }

    /// An audit said whether the artifact agrees with live: it counts here at once, and for everybody when the log is read.
    pub fn compared(&self, offered: &Offered, agreed: bool) {
        let mut course = offered.shelved.course.lock().unwrap_or_else(PoisonError::into_inner);
        // What is not promoted is proven by the log alone.
        if course.stage() != Stage::Promoted {
            return;
        }
        course.compared(agreed, 0.0);
        if !agreed {
            let mut avoided = offered.shelved.avoided.lock().unwrap_or_else(PoisonError::into_inner);
            avoided.insert(offered.key, Timestamp::LAST);
        }
    }
}

/// Why an input goes live.
const AVOIDED: &str = "live said something else to this of late";

impl Shelved {
    /// The fields that it leaves open.
    #[must_use]
    pub fn open(&self) -> &[Open] {
        self.executable.open()
    }

    fn avoids(&self, key: Digest, now: Timestamp) -> bool {
        let avoided = self.avoided.lock().unwrap_or_else(PoisonError::into_inner);
        avoided.get(&key).is_some_and(|until| *until > now)
    }
}
