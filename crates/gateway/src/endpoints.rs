//! Every path there is: one table, from which the router, the OpenAPI document and the reference are made.
//!
//! To add one: a line here; those of people and machines are in `endpoints/identity.rs`, those of what is learned in `endpoints/learning.rs`, those of
//! conversations in `endpoints/conversation.rs`. `tests/tenancy.rs` then asks for a way to make a foreign id if its path has one.

mod conversation;
mod identity;
mod learning;

use ::identity::Permission;
use axum::extract::DefaultBodyLimit;
use axum::{Router, middleware};
use http::{Method, StatusCode};
use schema::{ApiKeyId, ApprovalId, BudgetId, CredentialId, ExceptionId, JobId, RunId, WebhookId};

use crate::app::App;
use crate::endpoint::{Content, Endpoint, Tag};
use crate::{
    agent, approval, audit_trail, budget, cache_entry, call, credential, dashboard, docs, error, evidence,
    exception, feed, feedback, health, influence, ingest, job, key, models, openapi, origin, policy, run,
    savings, setting, subject, tenant, tool_cache, trace, webhook,
};

const GATEWAY: Tag = Tag {
    name: "Gateway",
    about: "Models, in the shapes that the vendors' own clients speak. Point their base URL here.",
};
const CONVERSATIONS: Tag = Tag {
    name: "Conversations",
    about: "Talk with a model, turn by turn. What was said is in the runs; a conversation says which.",
};
const RUNS: Tag = Tag { name: "Runs", about: "What happened, why, and what is said about it afterwards." };
const EVENTS: Tag = Tag { name: "Events", about: "What happens, as it happens." };
const USAGE: Tag = Tag { name: "Usage", about: "Who asked, what it cost, and what was saved." };
const OPERATE: Tag =
    Tag { name: "Operate", about: "Keys, tenants and settings. Every change is on record in the ledger." };
const GOVERN: Tag = Tag {
    name: "Govern",
    about: "What agents may do: policies, trust, approvals, exceptions, budgets, and what was decided.",
};
const CACHE: Tag = Tag { name: "Cache", about: "Answers and results that are used again." };
const LEARNING: Tag = Tag {
    name: "Learning",
    about: "Work that comes again and again, the programs that were learned from it, and the evidence for each.",
};
const PEOPLE: Tag =
    Tag { name: "People", about: "Who logs in, what they are in which organisation, and their sessions." };
const MACHINES: Tag = Tag {
    name: "Machines",
    about: "Accounts of machines, and short-lived tokens for them and for single runs.",
};
const JOBS: Tag = Tag { name: "Jobs", about: "Work in the background." };
const SUBJECTS: Tag = Tag { name: "Subjects", about: "The people that runs are about." };
const SERVER: Tag = Tag { name: "Server", about: "Whether the process is well, and what it can do." };

/// The tags in the order in which people read them.
pub(crate) const TAGS: &[Tag] = &[
    GATEWAY,
    CONVERSATIONS,
    RUNS,
    EVENTS,
    USAGE,
    GOVERN,
    CACHE,
    LEARNING,
    PEOPLE,
    MACHINES,
    OPERATE,
    JOBS,
    SUBJECTS,
    SERVER,
];

/// All of them, in the order of the document.
pub(crate) fn all() -> Vec<Endpoint> {
    [
        gateway(),
        conversation::conversations(),
        runs(),
        events(),
        usage(),
        govern(),
        cache(),
        learning::learned(),
        identity::login(),
        identity::elsewhere(),
        identity::people(),
        identity::machines(),
        operate(),
        jobs(),
        subjects(),
        server(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn router(app: &App) -> Router {
    let router = all().into_iter().fold(Router::new(), |router, endpoint| endpoint.join(router, app));
    router
        .fallback(error::no_such_path)
        .method_not_allowed_fallback(error::no_such_method)
        .layer(DefaultBodyLimit::max(app.max_body_bytes))
        .layer(middleware::from_fn_with_state(app.clone(), origin::check))
        .with_state(app.clone())
}

fn gateway() -> Vec<Endpoint> {
    vec![
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/chat/completions", "createChatCompletion", call::chat))
            .summary("Ask a model, as OpenAI's chat completions do")
            .takes_object(
                &["model", "messages"],
                r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Where is my parcel?"}]}"#,
            )
            .answers_with(StatusCode::OK, "The answer, in OpenAI's shape.", Content::ObjectOrStream(&["id", "choices"])),
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/responses", "createResponse", call::responses))
            .summary("Ask a model, as OpenAI's responses do")
            .takes_object(&["model", "input"], r#"{"model":"gpt-4o","input":"Where is my parcel?"}"#)
            .answers_with(StatusCode::OK, "The answer, in OpenAI's shape.", Content::ObjectOrStream(&["id", "output"])),
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/messages", "createMessage", call::messages))
            .summary("Ask a model, as Anthropic's messages do")
            .takes_object(
                &["model", "max_tokens", "messages"],
                r#"{"model":"claude-sonnet-4-5","max_tokens":300,"messages":[{"role":"user","content":"Where is my parcel?"}]}"#,
            )
            .answers_with(StatusCode::OK, "The answer, in Anthropic's shape.", Content::ObjectOrStream(&["id", "content"])),
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/messages/count_tokens", "countTokens", call::count::create))
            .summary("Count the tokens of a request, as Anthropic does")
            .takes_object(
                &["model", "messages"],
                r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Where is my parcel?"}]}"#,
            )
            .answers_with(StatusCode::OK, "The count.", Content::Object(&["input_tokens"])),
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/embeddings", "createEmbedding", call::embeddings::create))
            .summary("Turn texts into vectors, as OpenAI does")
            .takes_object(&["model", "input"], r#"{"model":"text-embedding-3-small","input":"Where is my parcel?"}"#)
            .answers_with(StatusCode::OK, "The vectors.", Content::Object(&["data", "usage"])),
        Endpoint::new(GATEWAY, Method::GET, "/v1/models", "listModels", models::list)
            .needs(Permission::GatewayCall)
            .summary("List the models that are served")
            .answers_with(StatusCode::OK, "The models.", Content::Object(&["data"])),
        Endpoint::new(GATEWAY, Method::GET, "/v1/models/{model}", "getModel", models::show)
            .needs(Permission::GatewayCall)
            .summary("Look at one model")
            .param::<String>("model", "The name of a model.")
            .answers_with(StatusCode::OK, "The model.", Content::Object(&["id"])),
    ]
}

/// An endpoint that asks a model: whatever the upstream answers may come of it.
fn asks(endpoint: Endpoint) -> Endpoint {
    let upstream = [
        StatusCode::NOT_FOUND,
        StatusCode::CONFLICT,
        StatusCode::UNPROCESSABLE_ENTITY,
        StatusCode::BAD_GATEWAY,
        StatusCode::GATEWAY_TIMEOUT,
    ];
    upstream.into_iter().fold(endpoint.needs(Permission::GatewayCall), Endpoint::may_refuse)
}

fn runs() -> Vec<Endpoint> {
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

fn events() -> Vec<Endpoint> {
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

fn cache() -> Vec<Endpoint> {
    vec![
        Endpoint::new(CACHE, Method::GET, "/api/v1/cache/stats", "getCacheStats", cache_entry::stats)
            .needs(Permission::CacheRead)
            .summary("How much is kept, and how often it served")
            .answers::<cache_entry::CacheReport>("A line for every kind."),
        Endpoint::new(CACHE, Method::DELETE, "/api/v1/cache", "invalidateCache", cache_entry::invalidate)
            .needs(Permission::CacheManage)
            .summary("Take out what is kept, on record")
            .about("Those entries are meant that fit every filter; without one, all.")
            .query::<cache_entry::InvalidateQuery>()
            .answers::<cache_entry::Removed>("How many were taken out."),
        Endpoint::new(CACHE, Method::POST, "/api/v1/tool-cache/check", "checkToolCache", tool_cache::check)
            .needs(Permission::ToolCacheRead)
            .summary("Ask whether a tool was called like this before")
            .takes::<tool_cache::ToolCall>(r#"{"toolName":"crm.lookup","args":{"id":7}}"#)
            .answers::<tool_cache::ToolHit>("What it gave then, if it was."),
        Endpoint::new(CACHE, Method::POST, "/api/v1/tool-cache/store", "storeToolResult", tool_cache::store)
            .needs(Permission::ToolCacheWrite)
            .summary("Keep what a tool gave")
            .about("For tools that change nothing. A result with what looks like a credential in it is not kept.")
            .takes::<tool_cache::NewToolResult>(
                r#"{"toolName":"crm.lookup","args":{"id":7},"result":{"name":"Ada"},"ttlSeconds":600}"#,
            )
            .answers::<tool_cache::ToolStored>("Whether it was kept."),
    ]
}

fn usage() -> Vec<Endpoint> {
    vec![
        Endpoint::new(USAGE, Method::GET, "/api/v1/savings", "getSavings", savings::show)
            .needs(Permission::UsageRead)
            .summary("What runs cost, and what the cheaper routes saved")
            .query::<savings::SavingsQuery>()
            .answers::<savings::SavingsSummary>("The sums of those days; of all, when none are named."),
    ]
}

fn govern() -> Vec<Endpoint> {
    vec![
        Endpoint::new(GOVERN, Method::GET, "/api/v1/policies", "listPolicies", policy::list)
            .needs(Permission::PolicyRead)
            .summary("What policies are in force, and what is wrong with those that are not")
            .answers::<policy::ShownPolicies>("The policies."),
        Endpoint::new(GOVERN, Method::POST, "/api/v1/policies/reload", "reloadPolicies", policy::reload)
            .needs(Permission::PolicyReload)
            .summary("Read the files of the policies now")
            .about("They are read by themselves within seconds of a change. What cannot be read leaves those in force that were.")
            .answers::<policy::ShownPolicies>("What is in force now.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(GOVERN, Method::POST, "/api/v1/policies/explain", "explainPolicies", policy::why)
            .needs(Permission::PolicyRead)
            .summary("Ask what the governor would say of an action, and why; nothing happens")
            .takes::<policy::Hypothesis>(r#"{"action":"write:email","agent":"support-bot","level":3}"#)
            .answers::<policy::Explained>("The verdict, and what each voice says."),
        Endpoint::new(GOVERN, Method::GET, "/api/v1/agents", "listAgents", agent::list)
            .needs(Permission::AgentRead)
            .summary("List the agents that have asked so far, by name, and how far each is trusted")
            .query::<agent::AgentQuery>()
            .answers::<agent::AgentPage>("A page of agents."),
        Endpoint::new(GOVERN, Method::GET, "/api/v1/agents/{name}", "getAgent", agent::show)
            .needs(Permission::AgentRead)
            .summary("Look at one agent")
            .param::<String>("name", "The name of an agent, as `x-punk-agent` has it.")
            .answers::<agent::AgentDetail>("The agent."),
        Endpoint::new(GOVERN, Method::PATCH, "/api/v1/agents/{name}", "changeAgent", agent::change)
            .needs(Permission::AgentManage)
            .summary("Say how far an agent is trusted and what it is tagged with, with a reason")
            .param::<String>("name", "The name of an agent, as `x-punk-agent` has it.")
            .takes::<agent::AgentPatch>(r#"{"trustTier":"trusted","tags":["batch"],"reason":"reviewed in May"}"#)
            .answers::<agent::AgentDetail>("The agent.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(GOVERN, Method::GET, "/api/v1/approvals", "listApprovals", approval::list)
            .needs(Permission::ApprovalRead)
            .summary("List what people are asked, newest first")
            .query::<approval::ApprovalQuery>()
            .answers::<approval::ApprovalPage>("A page of approvals."),
        Endpoint::new(GOVERN, Method::GET, "/api/v1/approvals/{id}", "getApproval", approval::show)
            .needs(Permission::ApprovalRead)
            .summary("Look at one question: what exactly would be done, and what was answered so far")
            .param::<ApprovalId>("id", "The id of an approval.")
            .answers::<approval::ApprovalDetail>("The approval."),
        Endpoint::new(GOVERN, Method::POST, "/api/v1/approvals/{id}/decide", "decideApproval", approval::decide)
            .needs(Permission::ApprovalDecide)
            .summary("Answer a question of the governor")
            .about(
                "It takes the key of the installation, or a key with the scope `approve`, which a person holds. Whoever asked \
                 cannot approve. An approval works once, for exactly what was asked.",
            )
            .param::<ApprovalId>("id", "The id of an approval.")
            .takes::<approval::NewVote>(r#"{"decision":"reject","reason":"not to this address"}"#)
            .answers::<approval::Voted>("The approval after the answer.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(GOVERN, Method::GET, "/api/v1/exceptions", "listExceptions", exception::list)
            .needs(Permission::ExceptionRead)
            .summary("List the exceptions from policies, newest first, those that have ended too")
            .query::<exception::ExceptionQuery>()
            .answers::<exception::ExceptionPage>("A page of exceptions."),
        Endpoint::new(GOVERN, Method::POST, "/api/v1/exceptions", "createException", exception::create)
            .needs(Permission::ExceptionManage)
            .summary("Let a policy not hold for somebody, for a while, for a reason")
            .about("It lifts what that policy says, and no budget, no quarantine and no other policy.")
            .takes::<exception::NewException>(
                r#"{"policy":"office","actions":["write:email"],"agent":"support-bot","reason":"launch day","hours":8}"#,
            )
            .creates::<exception::ShownException>("The exception."),
        Endpoint::new(GOVERN, Method::DELETE, "/api/v1/exceptions/{id}", "revokeException", exception::revoke)
            .needs(Permission::ExceptionManage)
            .summary("End an exception now")
            .param::<ExceptionId>("id", "The id of an exception.")
            .answers::<exception::ShownException>("It has ended.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(GOVERN, Method::GET, "/api/v1/budgets", "listBudgets", budget::list)
            .needs(Permission::BudgetRead)
            .summary("List the budgets that hold, and what is left of them")
            .query::<budget::BudgetQuery>()
            .answers::<budget::BudgetPage>("A page of budgets."),
        Endpoint::new(GOVERN, Method::POST, "/api/v1/budgets", "createBudget", budget::create)
            .needs(Permission::BudgetManage)
            .summary("Bound what may be spent on models")
            .takes::<budget::NewBudget>(r#"{"name":"support bot, a day","limitUsd":5,"per":"agent","only":"support-bot","window":"day"}"#)
            .creates::<budget::ShownBudget>("The budget."),
        Endpoint::new(GOVERN, Method::DELETE, "/api/v1/budgets/{id}", "endBudget", budget::end)
            .needs(Permission::BudgetManage)
            .summary("End a budget")
            .param::<BudgetId>("id", "The id of a budget.")
            .answers::<budget::ShownBudget>("It holds no more.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(GOVERN, Method::GET, "/api/v1/webhooks", "listWebhooks", webhook::list)
            .needs(Permission::WebhookRead)
            .summary("List who is told of what happens, newest first")
            .query::<webhook::WebhookQuery>()
            .answers::<webhook::WebhookPage>("A page of webhooks."),
        Endpoint::new(GOVERN, Method::POST, "/api/v1/webhooks", "createWebhook", webhook::create)
            .needs(Permission::WebhookManage)
            .summary("Have somebody told of what happens; the secret of the signature is shown once")
            .takes::<webhook::NewWebhook>(
                r#"{"name":"on call","url":"https://hooks.example.com/punk","events":["approval.created"]}"#,
            )
            .creates::<webhook::MadeWebhook>("The webhook and its secret."),
        Endpoint::new(GOVERN, Method::DELETE, "/api/v1/webhooks/{id}", "disableWebhook", webhook::disable)
            .needs(Permission::WebhookManage)
            .summary("Tell somebody nothing any more")
            .param::<WebhookId>("id", "The id of a webhook.")
            .answers::<webhook::ShownWebhook>("It is told nothing any more.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(GOVERN, Method::GET, "/api/v1/audit", "listAudit", audit_trail::list)
            .needs(Permission::AuditRead)
            .summary("List what operators changed and decided, newest first")
            .query::<audit_trail::AuditQuery>()
            .answers::<audit_trail::AuditPage>("A page of decisions."),
    ]
}

fn operate() -> Vec<Endpoint> {
    vec![
        Endpoint::new(OPERATE, Method::POST, "/api/v1/keys", "createKey", key::create)
            .needs(Permission::KeyManage)
            .summary("Make an API key; it is shown once")
            .takes::<key::NewKey>(r#"{"name":"support bot","app":"support","scopes":["gateway"]}"#)
            .creates::<key::MadeKey>("The key and its token.")
            .may_refuse(StatusCode::NOT_FOUND),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/keys", "listKeys", key::list)
            .needs(Permission::KeyRead)
            .summary("List API keys, newest first, those that were taken back too")
            .query::<key::KeyQuery>()
            .answers::<key::KeyPage>("A page of keys.")
            .may_refuse(StatusCode::NOT_FOUND),
        Endpoint::new(OPERATE, Method::DELETE, "/api/v1/keys/{id}", "revokeKey", key::revoke)
            .needs(Permission::KeyManage)
            .summary("Take an API key back; the next request with it is refused")
            .param::<ApiKeyId>("id", "The id of a key.")
            .query::<key::WhoseQuery>()
            .answers::<key::RevokedKey>("It is taken back."),
        Endpoint::new(OPERATE, Method::POST, "/api/v1/tenants", "createTenant", tenant::create)
            .needs(Permission::InstallationManage)
            .summary("Make a tenant")
            .takes::<tenant::NewTenant>(r#"{"name":"Acme"}"#)
            .creates::<tenant::MadeTenant>("The tenant."),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/tenants", "listTenants", tenant::list)
            .needs(Permission::InstallationManage)
            .summary("List tenants, oldest first")
            .query::<tenant::TenantQuery>()
            .answers::<tenant::TenantPage>("A page of tenants."),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/credentials", "listCredentials", credential::list)
            .needs(Permission::CredentialManage)
            .summary("List the secrets in the vault, newest first, without their values")
            .query::<credential::CredentialQuery>()
            .answers::<credential::CredentialPage>("A page of credentials."),
        Endpoint::new(OPERATE, Method::POST, "/api/v1/credentials", "createCredential", credential::create)
            .needs(Permission::CredentialManage)
            .summary("Keep a secret in the vault; nothing shows it again")
            .about("Settings say `cred:NAME` or the `reference` of the answer in its place.")
            .takes::<credential::NewCredential>(
                r#"{"name":"openai","kind":"provider","value":"the key as the vendor gave it"}"#,
            )
            .creates::<credential::ShownCredential>("The credential, without its value.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/credentials/{id}", "getCredential", credential::show)
            .needs(Permission::CredentialManage)
            .summary("Look at a secret in the vault, without its value")
            .param::<CredentialId>("id", "The id of a credential.")
            .answers::<credential::ShownCredential>("The credential, without its value."),
        Endpoint::new(
            OPERATE,
            Method::POST,
            "/api/v1/credentials/{id}/rotate",
            "rotateCredential",
            credential::rotate,
        )
        .needs(Permission::CredentialManage)
        .summary("Give a secret in the vault another value; the next use has it")
        .param::<CredentialId>("id", "The id of a credential.")
        .takes::<credential::NewValue>(r#"{"value":"the next key as the vendor gave it"}"#)
        .answers::<credential::ShownCredential>("The credential, without its value.")
        .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(
            OPERATE,
            Method::DELETE,
            "/api/v1/credentials/{id}",
            "removeCredential",
            credential::remove,
        )
        .needs(Permission::CredentialManage)
        .summary("Remove a secret from the vault")
        .about("Whoever refers to it is refused from the next use on.")
        .param::<CredentialId>("id", "The id of a credential.")
        .answers::<credential::ShownCredential>("It is gone.")
        .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/settings", "getSettings", setting::show)
            .needs(Permission::SettingRead)
            .summary("What holds for the tenant")
            .answers::<setting::ShownSettings>("All settings, those that nobody set with their defaults."),
        Endpoint::new(OPERATE, Method::PATCH, "/api/v1/settings", "changeSettings", setting::change)
            .needs(Permission::SettingManage)
            .summary("Change settings, by a JSON merge patch")
            .about("Members that are left out stay as they are; null puts one back to its default.")
            .takes::<setting::SettingsPatch>(r#"{"cache":{"exactTtlSeconds":3600}}"#)
            .answers::<setting::ShownSettings>("What holds now."),
    ]
}

fn jobs() -> Vec<Endpoint> {
    vec![
        Endpoint::new(JOBS, Method::GET, "/api/v1/jobs", "listJobs", job::list)
            .needs(Permission::JobRead)
            .summary("List jobs, newest first")
            .query::<job::JobQuery>()
            .answers::<job::JobPage>("A page of jobs."),
        Endpoint::new(JOBS, Method::POST, "/api/v1/jobs/{id}/requeue", "requeueJob", job::requeue)
            .needs(Permission::JobManage)
            .summary("Put back a job that was given up")
            .param::<JobId>("id", "The id of a job.")
            .answers::<job::Requeued>("It waits again."),
    ]
}

fn subjects() -> Vec<Endpoint> {
    vec![
        Endpoint::new(SUBJECTS, Method::DELETE, "/api/v1/subjects/{subject}", "eraseSubject", subject::erase)
            .needs(Permission::SubjectErase)
            .summary("Forget a person, on record")
            .about("What is about the person can never be read again; that it was forgotten is proven by a run of its own.")
            .param::<schema::Subject>("subject", "The name that requests carried in `x-punk-subject`.")
            .query::<subject::EraseQuery>()
            .answers::<subject::Erased>("They are forgotten."),
    ]
}

fn server() -> Vec<Endpoint> {
    vec![
        Endpoint::new(SERVER, Method::GET, "/", "getDashboard", dashboard::page)
            .summary("The dashboard, for people")
            .about("Its page and files say nothing about anybody; what it shows it asks for, as whoever looks at it.")
            .answers_with(StatusCode::OK, "A page.", Content::Other("text/html")),
        Endpoint::new(SERVER, Method::GET, "/assets/{*path}", "getAsset", dashboard::file)
            .summary("What the dashboard is made of")
            .param::<String>("path", "The path of a file of it.")
            .answers_with(
                StatusCode::OK,
                "A style sheet, a script, a picture.",
                Content::Others(&["text/css", "text/javascript", "image/svg+xml", "font/woff2"]),
            ),
        Endpoint::new(SERVER, Method::GET, "/health", "getHealth", health::show)
            .summary("Whether the process is there")
            .answers::<health::Health>("It is."),
        Endpoint::new(SERVER, Method::GET, "/ready", "getReady", health::ready)
            .summary("Whether a request would be recorded now")
            .answers::<health::Ready>("It would.")
            .may_refuse(StatusCode::SERVICE_UNAVAILABLE)
            .may_refuse(StatusCode::INSUFFICIENT_STORAGE)
            .may_refuse(StatusCode::INTERNAL_SERVER_ERROR),
        Endpoint::new(SERVER, Method::GET, "/metrics", "getMetrics", health::metrics)
            .summary("What was counted, for Prometheus")
            .answers_with(
                StatusCode::OK,
                "OpenMetrics text.",
                Content::Other("application/openmetrics-text"),
            ),
        Endpoint::new(SERVER, Method::GET, "/api/v1/openapi.json", "getOpenApi", openapi::show)
            .summary("This document")
            .answers_with(
                StatusCode::OK,
                "The OpenAPI 3.1 document.",
                Content::Object(&["openapi", "paths"]),
            ),
        Endpoint::new(SERVER, Method::GET, "/docs", "getDocs", docs::page)
            .summary("The documentation, for people")
            .answers_with(StatusCode::OK, "A page.", Content::Other("text/html")),
        Endpoint::new(SERVER, Method::GET, "/docs/{*path}", "getDocsPage", docs::file)
            .summary("A page of it; `/docs/api` is this document, for people")
            .param::<String>("path", "The path of a page, such as `how-to/policies`.")
            .answers_with(
                StatusCode::OK,
                "A page, a style sheet or a script.",
                Content::Others(&["text/html", "text/css", "text/javascript"]),
            ),
    ]
}
