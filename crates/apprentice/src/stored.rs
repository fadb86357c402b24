//! Studies as the store keeps them: a small record for each pattern and each artifact, a large one for the learner of a pattern.
//!
//! The large one is written when there is a new version, and not with every lesson: in between, the small one names the runs
//! that came since, and whoever needs the learner teaches it those again.

use std::num::NonZeroU32;

use artifact::fingerprint::Templates;
use schema::{ArtifactId, Digest, PatternId, RunId, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Record, RecordBody, RecordChange, RecordFilter, RecordKind, StoreError, TenantStore};

use crate::news::{Lesson, News};
use crate::study::{AttemptMade, Made, ProgramName, Study};
use crate::tutor::Tutor;

/// Runs of which the events are read together: few enough that others who read need not wait for long.
pub(crate) const AT_ONCE: usize = 16;

/// How far the log was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Place {
    /// The next leaf.
    pub(crate) cursor: u64,
    /// How many patterns there are.
    pub(crate) patterns: u64,
    /// How often everything began anew: what is in memory from before is of another time, whatever its version.
    #[serde(default)]
    pub(crate) epoch: u64,
    /// Everything is about to begin anew.
    #[serde(default)]
    pub(crate) clearing: Option<Clearing>,
    /// The small model that may be asked for what programs leave open, as the log says up to here.
    #[serde(default)]
    pub(crate) small: Option<String>,
}

/// What was derived is being deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clearing {
    /// Since when.
    pub(crate) since: Timestamp,
    /// Whether the texts of programs are, too.
    pub(crate) texts: bool,
}

/// The id of the only record of its kind.
pub(crate) const PLACE: &str = "log";

/// How far the log was read, with the version of the record that says so.
pub(crate) async fn place(store: &dyn TenantStore) -> Result<(u64, Place), StoreError> {
    let record = store.record(RecordKind::Learning, PLACE).await?;
    let version = record.as_ref().map_or(0, |record| record.version);
    Ok((version, record.as_ref().map(read).transpose()?.unwrap_or_default()))
}

/// What is mined of requests without instructions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mine {
    pub(crate) templates: Templates,
    /// The version of the record it is from.
    pub(crate) version: u64,
    /// Whether it has to be written.
    pub(crate) is_changed: bool,
}

impl Mine {
    /// Reads what was mined under `base`.
    pub(crate) async fn read(store: &dyn TenantStore, base: Digest) -> Result<Self, StoreError> {
        let Some(record) = store.record(RecordKind::Learning, &mine_id(base)).await? else {
            return Ok(Self::default());
        };
        Ok(Self { templates: read(&record)?, version: record.version, is_changed: false })
    }

    /// The change that keeps it, after which it is as if it had just been read.
    pub(crate) fn change(&mut self, base: Digest) -> RecordChange {
        let to = body("templates", None, json!(self.templates), Timestamp::EPOCH);
        let change = change(RecordKind::Learning, mine_id(base), self.version, to);
        self.version += 1;
        self.is_changed = false;
        change
    }
}

fn mine_id(base: Digest) -> String {
    format!("templates.{base}")
}

/// A pattern as its record has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredPattern {
    /// The pattern.
    #[serde(flatten)]
    pub study: Study,
    /// Its artifact.
    pub artifact_id: Option<ArtifactId>,
    /// Runs that its learner has to be taught again when it is read.
    pub pending: Vec<RunId>,
}

/// A study in memory, with its learner, and the versions of the records it came from.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) study: Study,
    pub(crate) tutor: Tutor,
    pub(crate) pending: Vec<RunId>,
    pub(crate) versions: Versions,
    /// See [`Place::epoch`].
    pub(crate) epoch: u64,
    /// Whether anything of it has to be written.
    pub(crate) is_changed: bool,
    /// Whether the learner has to be.
    pub(crate) is_grown: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Versions {
    pub(crate) pattern: u64,
    pub(crate) artifact: u64,
    pub(crate) learner: u64,
}

/// After so many lessons the learner is written though it has no new version. A learner of long texts is megabytes: to be taught this
/// many again, by whoever needs it and has it not in memory, takes about as long as writing it once.
pub(crate) const MOST_PENDING: usize = 1024;

impl Loaded {
    pub(crate) fn new(study: Study) -> Self {
        Self {
            study,
            tutor: Tutor::default(),
            pending: Vec::new(),
            versions: Versions::default(),
            epoch: 0,
            is_changed: true,
            is_grown: false,
        }
    }

    /// Reads a pattern with everything that belongs to it.
    pub(crate) async fn read(store: &dyn TenantStore, record: Record) -> Result<Self, StoreError> {
        let StoredPattern { mut study, artifact_id, pending } = read(&record)?;
        let mut versions = Versions { pattern: record.version, ..Versions::default() };
        if let Some(id) = artifact_id
            && let Some(record) = store.record(RecordKind::Artifact, &id.to_string()).await?
        {
            versions.artifact = record.version;
            study.artifact = Some(read(&record)?);
        }
        let mut tutor = Tutor::default();
        if let Some(record) = store.record(RecordKind::Learner, &study.id.to_string()).await? {
            versions.learner = record.version;
            tutor = read(&record)?;
        }
        for runs in pending.chunks(AT_ONCE) {
            for (run, events) in runs.iter().zip(store.whole_runs(runs).await?) {
                match News::recall(*run, &events) {
                    Some(News::Lesson(lesson)) => teach(&mut tutor, &study, &lesson),
                    Some(News::Loose(told)) => teach(&mut tutor, &study, &told.1),
                    Some(News::Served(served)) => drop(tutor.meet(&served.input)),
                    _ => {}
                }
            }
        }
        Ok(Self { study, tutor, pending, versions, epoch: 0, is_changed: false, is_grown: false })
    }

    /// The same, of this epoch.
    pub(crate) fn of(self, epoch: u64) -> Self {
        Self { epoch, ..self }
    }

    /// The changes that keep it, after which it is as if it had just been read.
    pub(crate) fn changes(&mut self) -> Vec<RecordChange> {
        let mut changes = Vec::new();
        if self.is_grown || self.pending.len() >= MOST_PENDING {
            self.pending.clear();
            let id = self.study.id.to_string();
            changes.push(change(
                RecordKind::Learner,
                id,
                self.versions.learner,
                body("", None, json!(self.tutor), self.study.created_at),
            ));
            self.versions.learner += 1;
        }
        if let Some(made) = &self.study.artifact {
            changes.push(artifact_change(made, stage_name(made), self.study.key, self.versions.artifact));
            self.versions.artifact += 1;
        }
        let stored = StoredPattern {
            study: self.study.clone(),
            artifact_id: self.study.artifact.as_ref().map(|made| made.id),
            pending: self.pending.clone(),
        };
        let state = json!(self.study.pattern.state);
        let to = body(
            state.as_str().unwrap_or_default(),
            Some(self.study.key),
            json!(stored),
            self.study.created_at,
        );
        changes.push(change(RecordKind::Pattern, self.study.id.to_string(), self.versions.pattern, to));
        self.versions.pattern += 1;
        (self.is_changed, self.is_grown) = (false, false);
        changes
    }
}

/// Teaches a learner what it has been taught before.
fn teach(tutor: &mut Tutor, study: &Study, lesson: &Lesson) {
    let opinion = tutor.meet(&lesson.task.input);
    // No version comes of it: there would be a newer record of the learner.
    tutor.learn(lesson.run, &lesson.task.input, &lesson.output, &opinion, study.aim());
}

/// Where an artifact stands, in the word its record is grouped under.
#[must_use]
pub fn stage_name(made: &Made) -> &'static str {
    use learning::course::Stage;
    match made.course.stage() {
        Stage::Shadow => "shadow",
        Stage::Eligible => "eligible",
        Stage::Promoted => "promoted",
        Stage::Quarantined => "quarantined",
    }
}

/// The group of the artifacts that serve.
pub(crate) const PROMOTED: &str = "promoted";
/// The groups of those that are compared with live. Gateways look there for hybrids: only they can ask a small model.
pub(crate) const UNPROVEN: [&str; 2] = ["shadow", "eligible"];
/// The group of those that are over.
pub const RETIRED: &str = "retired";

pub(crate) fn artifact_change(made: &Made, group: &str, key: Digest, expected: u64) -> RecordChange {
    let mut to = body(group, Some(key), json!(made), made.created_at);
    // Gateways look for what serves, whoever's it is, by when it is due.
    let is_looked_for = group == PROMOTED || (made.is_hybrid() && UNPROVEN.contains(&group));
    to.due_at = is_looked_for.then_some(made.created_at);
    change(RecordKind::Artifact, made.id.to_string(), expected, to)
}

pub(crate) fn place_change(place: &Place, expected: u64) -> RecordChange {
    change(RecordKind::Learning, PLACE.to_owned(), expected, body("", None, json!(place), Timestamp::EPOCH))
}

pub(crate) fn attempt_change(attempt: &AttemptMade) -> RecordChange {
    let to = body(&attempt.pattern.to_string(), None, json!(attempt), attempt.at);
    change(RecordKind::Attempt, attempt_id(attempt), 0, to)
}

/// The id of an attempt; by time, then by pattern.
#[must_use]
pub fn attempt_id(attempt: &AttemptMade) -> String {
    format!("{:013}.{}.{:06}", attempt.at.as_millis(), attempt.pattern, attempt.number)
}

/// The id of a program's record.
#[must_use]
pub fn program_id(artifact: ArtifactId, version: u32) -> String {
    format!("{artifact}.{version:06}")
}

pub(crate) fn program_change(
    artifact: ArtifactId,
    name: &ProgramName,
    text: &str,
    at: Timestamp,
    expected: u64,
) -> RecordChange {
    let to = body(&artifact.to_string(), Some(name.digest), json!({ "text": text }), at);
    change(RecordKind::Program, program_id(artifact, name.version), expected, to)
}

/// The group of the programs that were made elsewhere.
pub(crate) const IMPORTED: &str = "imported";

/// The record of a program that was made elsewhere.
#[must_use]
pub fn imported_program(digest: Digest, text: &str, at: Timestamp) -> RecordChange {
    let to = body(IMPORTED, Some(digest), json!({ "text": text }), at);
    change(RecordKind::Program, format!("imported.{digest}"), 0, to)
}

/// The text of the program with this digest.
///
/// # Errors
/// The store is out of reach.
pub async fn program_text(store: &dyn TenantStore, digest: Digest) -> Result<Option<String>, StoreError> {
    let filter = RecordFilter { key: Some(digest), ..RecordFilter::of(RecordKind::Program) };
    let found = store.records(&filter, None, NonZeroU32::MIN).await?;
    Ok(found.first().and_then(|record| record.body.get("text")?.as_str().map(str::to_owned)))
}

/// The pattern of this kind of work.
pub(crate) async fn pattern_of(store: &dyn TenantStore, key: Digest) -> Result<Option<Record>, StoreError> {
    let filter = RecordFilter { key: Some(key), ..RecordFilter::of(RecordKind::Pattern) };
    Ok(store.records(&filter, None, NonZeroU32::MIN).await?.pop())
}

/// The pattern, by its id.
pub(crate) async fn pattern_by(store: &dyn TenantStore, id: PatternId) -> Result<Option<Record>, StoreError> {
    store.record(RecordKind::Pattern, &id.to_string()).await
}

/// What a record says.
///
/// # Errors
/// It says something else.
pub fn read<T: DeserializeOwned>(record: &Record) -> Result<T, StoreError> {
    T::deserialize(&record.body).map_err(StoreError::unavailable)
}

pub(crate) fn change(kind: RecordKind, id: String, expected: u64, to: RecordBody) -> RecordChange {
    RecordChange { kind, id, expected, to: Some(to) }
}

fn body(group: &str, key: Option<Digest>, body: Value, created_at: Timestamp) -> RecordBody {
    RecordBody { group: group.to_owned(), key, body, created_at, due_at: None }
}
