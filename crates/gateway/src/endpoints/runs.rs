//! What happened, as it happens, and what it came to.

use ::identity::Permission;
use http::{Method, StatusCode};
use schema::RunId;

use super::{EVENTS, RUNS, USAGE};
use crate::endpoint::{Content, Endpoint};
use crate::{evidence, feed, feedback, influence, ingest, run, savings, trace};

pub(super) fn runs() -> Vec<Endpoint> {
    let id = "The id of a run, as `x-punk-run-id` names it.";
    vec![
        Endpoint::new(RUNS, Method::GET, "/api/v1/runs", "listRuns", run::list)
            .needs(Permission::RunRead)
            .summary("List runs, newest first")
            .query::<run::RunQuery>()
            .answers::<run::RunPage>("A page of runs."),
        Endpoint::new(RUNS, Method::POST, "/api/v1/runs", "createRun", run::create)
            .needs(Permission::RunWrite)
            .summary("Begin a run whose model calls happen elsewhere")
            .takes::<run::NewRun>(r#"{"model":"gpt-4o","metadata":{"ticket":"T-17"}}"#)
            .creates::<ingest::Begun>("The run has begun."),
        Endpoint::new(RUNS, Method::GET, "/api/v1/runs/{id}", "getRun", run::show)
            .needs(Permission::RunRead)
            .summary("Look at one run: its route explanation, its events, its side effects")
            .param::<RunId>("id", id)
            .answers::<run::RunDetail>("The run.")
            .may_refuse(StatusCode::GONE),
        Endpoint::new(RUNS, Method::GET, "/api/v1/runs/{id}/evidence-packet", "getEvidencePacket", evidence::show)
            .needs(Permission::RunRead)
            .summary("Get the proof of a run, to be verified elsewhere")
            .about("`punk verify` checks it offline. Its format is in docs/reference/evidence-packet.md.")
            .param::<RunId>("id", id)
            .answers_with(StatusCode::OK, "The packet, in its canonical bytes.", Content::Object(&["events", "leaves"]))
            .may_refuse(StatusCode::CONFLICT)
            .may_refuse(StatusCode::GONE),
        Endpoint::new(RUNS, Method::GET, "/api/v1/runs/{id}/replay-bundle", "getReplayBundle", evidence::bundle)
            .needs(Permission::RunRead)
            .summary("Get a run as artifacts are tried on it: its input and what live answered; null if nothing is learned from it")
            .param::<RunId>("id", id)
            .answers_with(StatusCode::OK, "The bundle.", Content::Object(&["bundle"]))
            .may_refuse(StatusCode::GONE),
        Endpoint::new(RUNS, Method::POST, "/api/v1/runs/{id}/feedback", "createFeedback", feedback::create)
            .needs(Permission::RunWrite)
            .summary("Say whether an answer was good, and what it should have been")
            .param::<RunId>("id", id)
            .takes::<feedback::NewFeedback>(r#"{"type":"rating","rating":-1,"correction":"The parcel is in Berlin."}"#)
            .creates::<influence::Noted>("It is recorded.")
            .may_refuse(StatusCode::CONFLICT)
            .may_refuse(StatusCode::GONE),
        Endpoint::new(RUNS, Method::POST, "/api/v1/runs/{id}/memory", "createMemoryInfluence", influence::create)
            .needs(Permission::RunWrite)
            .summary("Say which memory or context had a part in a run")
            .param::<RunId>("id", id)
            .takes::<influence::NewInfluence>(r#"{"source":"web:example.com","trustLane":"untrusted"}"#)
            .creates::<influence::Noted>("It is recorded.")
            .may_refuse(StatusCode::CONFLICT)
            .may_refuse(StatusCode::GONE),
        Endpoint::new(RUNS, Method::POST, "/api/v1/trace", "createTraceEvent", trace::create)
            .needs(Permission::RunWrite)
            .summary("Add an event to a run")
            .takes::<trace::NewTrace>(
                r#"{"runId":"run_01k9zv3c8s7e5h2m4n6p8r0t2v","type":"tool.called","payload":{"name":"lookup","args":{"id":7}}}"#,
            )
            .creates::<trace::Traced>("It is recorded.")
            .may_refuse(StatusCode::NOT_FOUND)
            .may_refuse(StatusCode::CONFLICT)
            .may_refuse(StatusCode::GONE),
        Endpoint::new(RUNS, Method::POST, "/api/v1/ingest/prompt", "ingestPrompt", ingest::prompt)
            .needs(Permission::RunWrite)
            .summary("Record a prompt that was answered elsewhere, as a completed run")
            .takes::<ingest::NewPrompt>(r#"{"source":"claude-code","prompt":"Fix the build","sessionId":"s-1"}"#)
            .creates::<ingest::Begun>("The run that records it."),
    ]
}

pub(super) fn events() -> Vec<Endpoint> {
    vec![
        Endpoint::new(EVENTS, Method::GET, "/api/v1/events", "streamEvents", feed::stream)
            .needs(Permission::RunRead)
            .summary("Read along, as server-sent events")
            .about(
                "The data of a message is a `TraceEvent`. An event is told when its run is finished, or at once when it is said \
                 about a finished run; what a run that still goes on has recorded is told when it ends. Come back with the id of \
                 the last message in `Last-Event-ID`, as browsers do, and nothing is lost or told twice, whichever node answers. \
                 Without it the feed begins now.",
            )
            .query::<feed::FeedQuery>()
            .answers_with(StatusCode::OK, "Messages without end; a comment every 15 seconds.", Content::Stream),
    ]
}

pub(super) fn usage() -> Vec<Endpoint> {
    vec![
        Endpoint::new(USAGE, Method::GET, "/api/v1/savings", "getSavings", savings::show)
            .needs(Permission::UsageRead)
            .summary("What runs cost, and what the cheaper routes saved")
            .query::<savings::SavingsQuery>()
            .answers::<savings::SavingsSummary>("The sums of those days; of all, when none are named."),
    ]
}
