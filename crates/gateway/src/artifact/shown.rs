//! An artifact as it is shown over REST: where it stands, and the evidence for it.

use apprentice::{Made, Occasion, ReplayReport, read};
use schema::{ArtifactId, Digest, MicroUsd, PatternId, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Record;

use crate::error::{ApiError, unread};

/// Where an artifact stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum ArtifactState {
    Shadow,
    Eligible,
    Promoted,
    Quarantined,
    Retired,
}

/// A learned program.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Artifact {
    pub(super) id: ArtifactId,
    pattern_id: PatternId,
    pub(super) state: ArtifactState,
    /// What it is: `classifier`, `program`, `hybrid` (a program that leaves fields open), `tagger` (of pieces of the input), `plan`
    /// (of tool calls), or `imported`.
    r#type: String,
    /// The fields that it leaves open: with any, it tells a part of each answer, and a small model the rest.
    open_fields: Vec<String>,
    /// The small model that it is proven with; null where nothing is left open, or nobody may be asked.
    small_model: Option<String>,
    /// Its version, from 1; a new one is made when enough is new.
    pub(super) version: u32,
    /// The highest level of side effects of what its answers call, 0 to 4; above 0 an operator has to promote it.
    side_effect_level: u8,
    /// The share of its answers that surely agree with live's, by what was compared; 0 to 1.
    confidence: f64,
    /// What has to hold before it is promoted, one by one.
    gates: Vec<Gate>,
    /// Comparisons beside live, before anything is served.
    shadow: Comparisons,
    /// Comparisons in the place of serving, since it was promoted.
    audit: Comparisons,
    /// Recorded runs it was tried on when it was made.
    replay: Comparisons,
    /// What came of the last replay that somebody asked for; null if nobody did.
    last_replay: Option<Replayed>,
    /// The share of what it could answer that it serves; the rest is audited.
    served_share: f64,
    /// How many requests it answered.
    served_runs: u64,
    /// What that saved.
    saved_usd: MicroUsd,
    /// The program that serves, or would; null while it is only compared.
    program: Option<Program>,
    /// The versions whose programs are kept, oldest first: the one in force and every one that has served. What they were made
    /// of, and what was proven when they were.
    versions: Vec<Version>,
    /// Answers that somebody corrected.
    corrections: Vec<Correction>,
    /// What became of it, oldest first.
    changes: Vec<Change>,
    created_at: Timestamp,
}

/// One condition of promotion.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PromotionGateStatus")]
struct Gate {
    name: String,
    passed: bool,
    /// What was found.
    reason: String,
}

/// How often something was compared.
#[derive(Debug, Serialize, JsonSchema)]
struct Comparisons {
    compared: u64,
    disagreed: u64,
}

/// A program, by its text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactProgram")]
struct Program {
    version: u32,
    /// SHA-256 of the text, as events name it.
    #[schemars(with = "String")]
    digest: Digest,
    bytes: u64,
}

/// An answer that somebody corrected.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactCorrection")]
struct Correction {
    run_id: RunId,
    at: Timestamp,
    /// The version that had answered.
    version: u32,
}

/// A change of where it stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactChange")]
struct Change {
    at: Timestamp,
    state: ArtifactState,
    /// Why.
    reason: String,
    /// The run that was the reason.
    run_id: RunId,
}

/// One comparison with live.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactEvaluation")]
pub(crate) struct Evaluation {
    /// The run that was compared.
    run_id: RunId,
    at: Timestamp,
    /// On which occasion: `shadow`, `audit`, or `feedback` when somebody did not like what was served.
    kind: &'static str,
    version: u32,
    /// Whether both said the same.
    agreed: bool,
}

/// A version whose program is kept.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactVersion")]
struct Version {
    #[serde(flatten)]
    program: Program,
    /// When it was made.
    at: Timestamp,
    /// The run with which it was made: it knows nothing that came later in the log.
    made_with_run_id: RunId,
    /// How many live answers the pattern had taught until then.
    samples: u64,
    /// What the proof had counted until then.
    proof: Comparisons,
    /// How many requests it answered.
    served_runs: u64,
}

/// What came of trying an artifact on recorded runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtifactReplay")]
struct Replayed {
    /// The run that records it.
    run_id: RunId,
    at: Timestamp,
    /// The version that was tried.
    version: u32,
    /// Recorded runs of the pattern.
    runs: u64,
    /// Those that the artifact answers; in the fields that it tells, if it leaves any open.
    answered: u64,
    /// Those that it answers otherwise than live did.
    disagreed: u64,
    /// Comparisons that were known from before.
    known: u64,
}

/// An artifact as it is shown.
pub(crate) fn shown(record: &Record) -> Result<Artifact, ApiError> {
    let made: Made = read(record).map_err(unread)?;
    let gates = made.gates().0.into_iter();
    let (proof, audited) = (made.course.proof().tally, made.course.audited());
    let (answered, right) = made.replayed;
    Ok(Artifact {
        id: made.id,
        pattern_id: made.pattern,
        state: state(&record.group)?,
        confidence: made.confidence(),
        gates: gates.map(|gate| Gate { name: gate.name, passed: gate.passed, reason: gate.reason }).collect(),
        shadow: Comparisons { compared: proof.compared, disagreed: proof.disagreed },
        audit: Comparisons { compared: audited.compared, disagreed: audited.disagreed },
        replay: Comparisons { compared: answered, disagreed: answered.saturating_sub(right) },
        served_share: made.course.served_share(),
        served_runs: made.served,
        saved_usd: MicroUsd(i64::try_from(made.saved_micro_usd).unwrap_or(i64::MAX)),
        program: made.program.map(Program::from),
        versions: made.versions.iter().map(Version::from).collect(),
        last_replay: made.last_replay.map(Replayed::from),
        side_effect_level: made.course.side_effects(),
        corrections: made
            .corrections
            .iter()
            .map(|one| Correction { run_id: one.run, at: one.at, version: one.version })
            .collect(),
        changes: made
            .changes
            .iter()
            .map(|one| {
                let stage = json!(one.stage);
                let state = state(stage.as_str().unwrap_or_default())?;
                Ok(Change { at: one.at, state, reason: one.reason.clone(), run_id: one.run })
            })
            .collect::<Result<_, ApiError>>()?,
        created_at: made.created_at,
        r#type: made.kind,
        open_fields: made.open,
        small_model: made.asks,
        version: made.version,
    })
}

/// The last comparisons, newest first.
pub(crate) fn evaluations(made: &Made) -> Vec<Evaluation> {
    let shown = |one: &apprentice::Evaluation| Evaluation {
        run_id: one.run,
        at: one.at,
        kind: match one.kind {
            Occasion::Shadow => "shadow",
            Occasion::Audit => "audit",
            Occasion::Feedback => "feedback",
        },
        version: one.version,
        agreed: one.agreed,
    };
    made.evaluations.iter().rev().map(shown).collect()
}

impl From<apprentice::ProgramName> for Program {
    fn from(name: apprentice::ProgramName) -> Self {
        Self { version: name.version, digest: name.digest, bytes: name.bytes }
    }
}

impl From<&apprentice::Version> for Version {
    fn from(version: &apprentice::Version) -> Self {
        let apprentice::Version { program, at, run, samples, proof, served } = *version;
        let proof = Comparisons { compared: proof.compared, disagreed: proof.disagreed };
        let program = Program::from(program);
        Self { program, at, made_with_run_id: run, samples, proof, served_runs: served }
    }
}

impl From<apprentice::Replay> for Replayed {
    fn from(replay: apprentice::Replay) -> Self {
        let apprentice::Replay { run, at, version, report } = replay;
        let ReplayReport { runs, answered, disagreed, known } = report;
        Self { run_id: run, at, version, runs, answered, disagreed, known }
    }
}

fn state(name: &str) -> Result<ArtifactState, ApiError> {
    serde_json::from_value(json!(name)).map_err(unread)
}

pub(super) fn name(state: ArtifactState) -> String {
    json!(state).as_str().unwrap_or_default().to_owned()
}
