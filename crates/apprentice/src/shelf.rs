//! What serves, in memory: the programs of promoted artifacts, of all tenants.
//!
//! Nobody reads the store to find out that there is nothing: the shelf is brought up to date now and then, and when somebody
//! decides something. A comparison that differs counts here at once, before the log is read: what a jump of the teacher costs
//! is bounded by the answers in between.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use learning::comparator::Comparator;
use learning::course::{Course, Stage, Turn};
use schema::{ArtifactId, Digest, MicroUsd, PatternId, RunId, TenantId, Timestamp};
use serde_json::Value;
use store::{RecordKind, Store, StoreError};
use wire::{Answer, Request};

use crate::executable::Executable;
use crate::stored::{PROMOTED, StoredPattern, program_text, read};
use crate::study::{Made, avoided_key};
use crate::task::{Loose, Task, Unlearnable};
use crate::template::skeleton_of;

/// The programs that serve.
#[derive(Debug, Default)]
pub struct Shelf {
    /// Whether there is anything at all.
    any: AtomicBool,
    tenants: RwLock<HashMap<TenantId, HashMap<Digest, Arc<Shelved>>>>,
    /// What decides which answers are audited.
    choice: u64,
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
    executable: Executable,
    course: Mutex<Course>,
    /// Inputs to which live said something else of late.
    avoided: Mutex<HashMap<Digest, Timestamp>>,
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
    key: Digest,
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

    /// Brings it up to date, and says how many programs serve.
    ///
    /// # Errors
    /// The store is out of reach; the shelf is as it was.
    pub async fn refresh(&self, store: &dyn Store, now: Timestamp) -> Result<usize, StoreError> {
        let records = store.due_records(RecordKind::Artifact, PROMOTED, now, MOST).await?;
        let (mut next, mut bytes, mut count) =
            (HashMap::<TenantId, HashMap<Digest, Arc<Shelved>>>::new(), 0, 0);
        for (tenant, record) in records {
            let Some(key) = record.key else { continue };
            let known = self.find(tenant, key).filter(|known| {
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
                        executable,
                        course: Mutex::new(made.course),
                        avoided: Mutex::new(made.avoided.into_iter().collect()),
                        seen: record.version,
                    })
                }
            };
            count += 1;
            next.entry(tenant).or_default().insert(key, shelved);
        }
        self.any.store(count > 0, Ordering::Release);
        *self.tenants.write().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(count)
    }

    fn find(&self, tenant: TenantId, key: Digest) -> Option<Arc<Shelved>> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        tenants.get(&tenant)?.get(&key).cloned()
    }

    /// What serves requests that fit a mined template, if one is: where two could be meant, nothing does.
    fn find_template(&self, tenant: TenantId, loose: &Loose) -> Option<Arc<Shelved>> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        let here = skeleton_of(&loose.text);
        let admits = |shelved: &&Arc<Shelved>| {
            let template = shelved.executable.template.as_ref();
            template.is_some_and(|template| template.admits_pieces(loose.base, &here))
        };
        let mut fitting = tenants.get(&tenant)?.values().filter(admits);
        fitting.next().filter(|_| fitting.next().is_none()).cloned()
    }

    /// Whether anything of the tenant's serves.
    #[must_use]
    pub fn has_any(&self, tenant: TenantId) -> bool {
        self.any.load(Ordering::Acquire)
            && self.tenants.read().unwrap_or_else(PoisonError::into_inner).contains_key(&tenant)
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
        let (found, input) = match Task::of(model, request) {
            Ok(task) => (self.find(tenant, task.key), task.input),
            Err(why) => match Loose::of(model, request).filter(|_| why == Unlearnable::NoInstructions) {
                Some(loose) => (self.find_template(tenant, &loose), loose.text),
                None => return Considered::Pass(why.to_string()),
            },
        };
        let Some(shelved) = found else {
            return Considered::Pass("nothing is promoted for work of this kind".to_owned());
        };
        let key = avoided_key(shelved.executable.task, &input);
        let avoided = shelved.avoided.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        if avoided.is_some_and(|until| until > now) {
            return Considered::Pass(format!(
                "{} passes: live said something else to this of late",
                shelved.artifact
            ));
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

    /// An audit said whether the artifact agrees with live: it counts here at once, and for everybody when the log is read.
    pub fn compared(&self, offered: &Offered, agreed: bool) {
        let mut course = offered.shelved.course.lock().unwrap_or_else(PoisonError::into_inner);
        if course.stage() == Stage::Promoted {
            course.compared(agreed, 0.0);
        }
        if !agreed {
            let mut avoided = offered.shelved.avoided.lock().unwrap_or_else(PoisonError::into_inner);
            avoided.insert(offered.key, Timestamp::LAST);
        }
    }
}
