//! What is learned, and what operators decide about it.

use ::identity::Permission;
use http::{Method, StatusCode};
use schema::{ArtifactId, PatternId};

use super::LEARNING;
use crate::endpoint::{Content, Endpoint};
use crate::{artifact, learning, pattern};

/// A program that always says the same.
const IMPORT: &str = r#"{"program":"{\"format\":\"punk.artifact/1\",\"model\":\"gpt-4o\",\"task\":\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\",\"style\":\"compact\",\"artifact\":{\"guard\":{\"longest\":200,\"kinds\":[],\"known\":[],\"most_unknown\":1.0},\"program\":{\"form\":\"constant\",\"value\":\"red\"}}}"}"#;

/// Totals may be off by a cent, and when it was written does not count.
const EQUIVALENCE: &str = r#"{"by":"json","tolerances":{"/total":0.01},"ignored":["/writtenAt"]}"#;

pub(super) fn learned() -> Vec<Endpoint> {
    let id = "The id of a pattern.";
    vec![
        Endpoint::new(LEARNING, Method::GET, "/api/v1/patterns", "listPatterns", pattern::list)
            .needs(Permission::LearningRead)
            .summary("List work that comes again and again, newest first")
            .query::<pattern::PatternQuery>()
            .answers::<pattern::PatternPage>("A page of patterns."),
        Endpoint::new(LEARNING, Method::GET, "/api/v1/patterns/{id}", "getPattern", pattern::show)
            .needs(Permission::LearningRead)
            .summary("Look at one pattern: what it comes to, what was tried, and what was made of it")
            .param::<PatternId>("id", id)
            .answers::<pattern::PatternDetail>("The pattern."),
        Endpoint::new(
            LEARNING,
            Method::POST,
            "/api/v1/patterns/{id}/retire",
            "retirePattern",
            pattern::retire,
        )
        .needs(Permission::LearningManage)
        .summary("Have a pattern ignored from now on; what was made of it serves no more")
        .param::<PatternId>("id", id)
        .answers::<pattern::ShownPattern>("It is ignored."),
        Endpoint::new(
            LEARNING,
            Method::PUT,
            "/api/v1/patterns/{id}/equivalence",
            "declareEquivalence",
            pattern::declare,
        )
        .needs(Permission::LearningManage)
        .summary("Declare when an answer of a pattern is the same as live's")
        .about("What was proven of another sameness has to be proven anew.")
        .param::<PatternId>("id", id)
        .takes::<pattern::Equivalence>(EQUIVALENCE)
        .answers::<pattern::ShownPattern>("It is compared like this from now on."),
        Endpoint::new(
            LEARNING,
            Method::POST,
            "/api/v1/patterns/{id}/synthesize",
            "synthesizePattern",
            pattern::synthesize,
        )
        .needs(Permission::LearningManage)
        .summary("Try to make an artifact of a pattern now")
        .about("The attempt is recorded whatever comes of it, with the compiler's own report.")
        .param::<PatternId>("id", id)
        .answers::<pattern::Synthesized>("What came of it."),
        Endpoint::new(LEARNING, Method::GET, "/api/v1/learning/attempts", "listAttempts", learning::attempts)
            .needs(Permission::LearningRead)
            .summary("List the attempts to make artifacts, newest first")
            .query::<learning::AttemptQuery>()
            .answers::<learning::AttemptPage>("A page of attempts.")
            .may_refuse(StatusCode::NOT_FOUND),
        Endpoint::new(LEARNING, Method::POST, "/api/v1/learning/tick", "learningTick", learning::tick)
            .needs(Permission::LearningManage)
            .summary("Learn from what is new now, instead of at the next tick")
            .answers::<learning::LearningReport>("What came of it."),
    ]
    .into_iter()
    .chain(artifacts())
    .collect()
}

fn artifacts() -> Vec<Endpoint> {
    let id = "The id of an artifact.";
    let decided = |path, name, summary, endpoint: fn(&'static str, &'static str) -> Endpoint| {
        endpoint(path, name)
            .needs(Permission::LearningManage)
            .summary(summary)
            .param::<ArtifactId>("id", id)
            .answers::<artifact::ShownArtifact>("Where it stands now.")
            .may_refuse(StatusCode::CONFLICT)
    };
    vec![
        Endpoint::new(LEARNING, Method::GET, "/api/v1/artifacts", "listArtifacts", artifact::list)
            .needs(Permission::LearningRead)
            .summary("List learned programs, newest first")
            .query::<artifact::ArtifactQuery>()
            .answers::<artifact::ArtifactPage>("A page of artifacts."),
        Endpoint::new(LEARNING, Method::GET, "/api/v1/artifacts/{id}", "getArtifact", artifact::show)
            .needs(Permission::LearningRead)
            .summary("Look at one artifact: its gates, its evidence, its pattern")
            .param::<ArtifactId>("id", id)
            .answers::<artifact::ArtifactDetail>("The artifact."),
        Endpoint::new(
            LEARNING,
            Method::GET,
            "/api/v1/artifacts/{id}/export",
            "exportArtifact",
            artifact::export,
        )
        .needs(Permission::LearningRead)
        .summary("Get an artifact as one signed file, with its proof")
        .about("`punk learn import` brings it to another tenant or installation, where it is proven anew.")
        .param::<ArtifactId>("id", id)
        .answers_with(StatusCode::OK, "The file.", Content::Object(&["program", "proof", "statement"]))
        .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(LEARNING, Method::POST, "/api/v1/artifacts/import", "importArtifact", artifact::import)
            .needs(Permission::LearningManage)
            .summary("Bring an artifact from elsewhere; it begins in the shadow")
            .takes::<artifact::NewImport>(IMPORT)
            .creates::<artifact::ShownArtifact>("The artifact, as it stands here."),
        Endpoint::new(
            LEARNING,
            Method::POST,
            "/api/v1/artifacts/{id}/replay",
            "replayArtifact",
            artifact::replay,
        )
        .needs(Permission::LearningManage)
        .summary("Have an artifact tried on recorded runs; nothing is done but compared")
        .about("A job does it; what came of it is `lastReplay` of the artifact, and on record.")
        .param::<ArtifactId>("id", id)
        .accepts::<artifact::ReplayWanted>("It will be.")
        .may_refuse(StatusCode::CONFLICT),
        decided(
            "/api/v1/artifacts/{id}/promote",
            "promoteArtifact",
            "Let an artifact serve, if every gate is passed",
            |path, name| Endpoint::new(LEARNING, Method::POST, path, name, artifact::promote),
        ),
        decided(
            "/api/v1/artifacts/{id}/rollback",
            "rollBackArtifact",
            "Take an artifact out of service; it has to be proven anew",
            |path, name| Endpoint::new(LEARNING, Method::POST, path, name, artifact::roll_back),
        ),
        decided(
            "/api/v1/artifacts/{id}/quarantine",
            "quarantineArtifact",
            "Take an artifact out of service and out of the proof, until it is released",
            |path, name| Endpoint::new(LEARNING, Method::POST, path, name, artifact::quarantine),
        ),
        decided(
            "/api/v1/artifacts/{id}/release",
            "releaseArtifact",
            "Say that the corrections of a quarantined artifact were looked at; its proof begins anew",
            |path, name| Endpoint::new(LEARNING, Method::POST, path, name, artifact::release),
        ),
    ]
}
