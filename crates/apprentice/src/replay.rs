//! Replay: an artifact is tried on recorded runs, and what they were is a bundle that anybody can take away.
//!
//! It is durable work, a job (`handler.rs`), and what came of it is on record like anything that happens; the learner reads that
//! from the log. It reads and compares, and can do nothing else. What an artifact said to an input does not change, so a comparison is kept by the program and the input
//! and not made twice.

use std::num::NonZeroU32;

use ledger::{Event, sha256};
use schema::{ArtifactId, Digest, RunId, Seq, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{CacheHeld, CacheKind, CacheWrite, Commit, RecordKind, StoreError};

use crate::executable::Executable;
use crate::news::{News, REPLAYED};
use crate::stored::{Loaded, pattern_by, program_text, read};
use crate::study::Made;
use crate::tick::{Apprentice, MOST_ENTRIES};

/// A recorded run as an artifact is tried on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bundle {
    /// The run.
    pub run_id: RunId,
    /// When it ended.
    pub at: Timestamp,
    /// The model's one name.
    pub model: String,
    /// What kind of work it is; of a request without instructions, what its template is mined under.
    pub task: Digest,
    /// What is different every time.
    pub input: String,
    /// What live answered: JSON where it is JSON.
    pub output: Value,
}

/// The bundle of a run; nothing, if nothing can be learned from it.
#[must_use]
pub fn bundle(run: RunId, events: &[Event]) -> Option<Bundle> {
    let lesson = match News::recall(run, events)? {
        News::Lesson(lesson) => *lesson,
        News::Loose(told) => told.1,
        _ => return None,
    };
    Some(Bundle {
        run_id: run,
        at: lesson.at,
        model: lesson.model,
        task: lesson.task.key,
        input: lesson.task.input,
        output: lesson.output,
    })
}

/// What came of a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayReport {
    /// Recorded runs.
    pub runs: u64,
    /// Those that the artifact answers.
    pub answered: u64,
    /// Those that it answers otherwise than live did.
    pub disagreed: u64,
    /// Comparisons that were made before.
    pub known: u64,
}

/// How long a comparison is kept.
const KEPT_MS: u64 = 7 * 24 * 3_600_000;

#[derive(Serialize, Deserialize)]
struct Kept {
    /// Whether both said the same; absent where the artifact says nothing.
    agreed: Option<bool>,
}

impl Apprentice {
    /// Tries the program of an artifact on the newest recorded runs of its pattern, and puts on record what came of it in the name
    /// of `actor`. `None`: there is no such artifact, or it has no program yet. `go_on` is asked between runs.
    ///
    /// # Errors
    /// The store is out of reach.
    pub async fn replay(
        &self,
        tenant: TenantId,
        artifact: ArtifactId,
        actor: &str,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<ReplayReport>, StoreError> {
        let store = self.store.tenant(tenant);
        let Some(record) = store.record(RecordKind::Artifact, &artifact.to_string()).await? else {
            return Ok(None);
        };
        let made: Made = read(&record)?;
        let Some(program) = made.program else { return Ok(None) };
        let Some(text) = program_text(&*store, program.digest).await? else { return Ok(None) };
        let Ok(executable) = Executable::read(&text) else { return Ok(None) };
        let Some(pattern) = pattern_by(&*store, made.pattern).await? else { return Ok(None) };
        let Loaded { study, tutor, .. } = Loaded::read(&*store, pattern).await?;
        let runs: Vec<RunId> = tutor.bundle().collect();
        let compared_by = json!(study.comparator).to_string();
        let now = (self.clock)();
        let (mut report, mut commit) = (ReplayReport::default(), Commit::default());
        for run in runs {
            if !go_on() {
                return Ok(None);
            }
            let events = store.events(run, Seq::START, NonZeroU32::MAX).await?;
            let Some(bundle) = bundle(run, &events) else { continue };
            let output = bundle.output.to_string();
            let key = sha256(
                &[
                    program.digest.as_bytes(),
                    bundle.input.as_bytes(),
                    b"\0",
                    output.as_bytes(),
                    b"\0",
                    compared_by.as_bytes(),
                ]
                .concat(),
            );
            let known = store.cached(CacheKind::Evaluation, key, now).await?.and_then(|row| match row.held {
                CacheHeld::Value(bytes) => serde_json::from_slice::<Kept>(&bytes).ok(),
                CacheHeld::Run(_) => None,
            });
            report.runs += 1;
            let agreed = match known {
                Some(Kept { agreed }) => {
                    report.known += 1;
                    commit.touched.push((CacheKind::Evaluation, key));
                    agreed
                }
                None => {
                    let agreed = executable.agrees(&bundle.input, &bundle.output, &study.comparator);
                    let text = serde_json::to_vec(&Kept { agreed }).unwrap_or_default();
                    commit.cache.push(CacheWrite {
                        kind: CacheKind::Evaluation,
                        key,
                        bytes: text.len() as u64,
                        held: CacheHeld::Value(text),
                        subject: None,
                        model: Some(bundle.model),
                        created_at: now,
                        expires_at: Timestamp::from_millis(now.as_millis() + KEPT_MS)
                            .unwrap_or(Timestamp::LAST),
                        at_most: Some(MOST_ENTRIES),
                    });
                    agreed
                }
            };
            report.answered += u64::from(agreed.is_some());
            report.disagreed += u64::from(agreed == Some(false));
        }
        let ReplayReport { runs, answered, disagreed, known } = report;
        let details = json!({
            "version": program.version, "runs": runs, "answered": answered, "disagreed": disagreed, "known": known,
            "wantedBy": actor,
        });
        commit.appends.push(self.deed(tenant, REPLAYED, &artifact.to_string(), details)?);
        store.commit(commit).await.map_err(StoreError::unavailable)?;
        Ok(Some(report))
    }
}
