//! The reference of events as Markdown: every type that Punk records, and its fields.
//!
//! `tests/reference.rs` holds the table against the source: a type that is recorded and not here, or the other way round,
//! fails it.

use std::fmt::Write as _;

/// One type of events.
pub struct EventType {
    /// Its name.
    pub name: &'static str,
    about: &'static str,
    fields: &'static str,
}

/// Types that have something in common: a title, what holds for all of them, and they.
type Group = (&'static str, &'static str, &'static [EventType]);

const fn event(name: &'static str, about: &'static str, fields: &'static str) -> EventType {
    EventType { name, about, fields }
}

#[rustfmt::skip]
const GROUPS: &[Group] = &[
    ("A run", "The first and the last event of every run, whatever it is about.", &[
        event("run.started", "Somebody asked for something.", "`kind`, `app`, `agent`, `subject`, `keyId`, `gatewayMode`, `model`, `wire`, `stream`, `traceId`, `request`; `metadata` of a run that happens elsewhere"),
        event("run.finished", "What came of it.", "`status`, `route`, `explanation`, `answer`, `provider`, `costMicroUsd`, `savedMicroUsd`, `savedMs`, `latencyMs`, `inputTokens`, `outputTokens`, `cacheReadTokens`, `cacheWriteTokens`, `reasoningTokens`, `ghostRoute`, `ghostSavedMicroUsd`, `errorCode`, `error`, `cacheKey`, `cacheExpiresAt`, `cacheBytes`"),
    ]),
    ("Governing", "What was judged, and why.", &[
        event("policy.decided", "The governor judged an action.", "`action`, `verdict`, `policies`, `engine`, `facts`, `toolName`, `sideEffect`, `approvalId`"),
        event("tripwire.signalled", "Text that nobody vouches for gives orders to the model.", "`label`, `place` and what the signal says"),
        event("tripwire.tripped", "An action ran into a wire.", "`action`, `toolName`, `wire`"),
        event("memory.influenced", "Memory or context had a part in the run.", "`source`, `trustLane`, `contentHash`"),
    ]),
    ("The model", "Who was asked, and who answered.", &[
        event("model.attempted", "An upstream was asked, or passed over.", "`provider`, `model`, `outcome`, `fault`, `key`, `startedMs`, `tookMs`"),
        event("model.completed", "The call that counts.", "`provider`, `model`, `finishReason`, `usageEstimated`, `costMicroUsd`, and the tokens as in `run.finished`"),
    ]),
    ("What was learned", "Beside the record of the learner itself.", &[
        event("artifact.executed", "A learned program answered; whoever verifies executes it again.", "`artifact`, `artifactId`, `patternId`, `version`, `engine`"),
        event("artifact.asked", "A small model was asked for the fields that it leaves open, before live was. What the call used is the `model.completed` before it.", "`artifactId`, `patternId`, `version`, `small`, `fields`, `told` or why it is `unused`, `costMicroUsd`, `tookMs`"),
        event("artifact.compared", "It was compared with live in the place of answering.", "`artifact`, `artifactId`, `patternId`, `version`, `engine`, `agreed`"),
    ]),
    ("Tools and side effects", "What agents do, as far as they tell.", &[
        event("tool.called", "An agent called a tool. Types such as this one are the caller's own (`POST /api/v1/trace`).", "whatever the caller says"),
        event("side_effect.planned", "Something would be done to the world; the governor judges it.", "`sideEffect`, `toolName`, `level`, `payload`"),
        event("side_effect.executed", "It was done.", "`sideEffect`, `toolName`, `level`, `payload`"),
        event("side_effect.blocked", "It was refused.", "`sideEffect`"),
        event("side_effect.suppressed", "It was left out, in a replay.", "`sideEffect`"),
    ]),
    ("Afterwards", "What is said about a run that is over, in a leaf of its own.", &[
        event("feedback.recorded", "Somebody said whether an answer was good.", "`type`, `rating`, `correction`, `actor`"),
        event("conversation.described", "The title and the instructions of a conversation, from then on.", "`title`, `system`"),
    ]),
    ("Operating", "Changes of operators, each a run of the kind `audit`. All have `actor` and `target`.", &[
        event("audit.agent_changed", "How far an agent is trusted, and its tags.", "`trustTier`, `tags`, `reason`"),
        event("audit.approval_decided", "Somebody answered what the governor asked.", "the approval"),
        event("audit.approval_used", "What was approved was done.", "the approval"),
        event("audit.approval_expired", "Nobody answered, or nobody used it, in time.", "the approval"),
        event("audit.exception_made", "A policy does not hold for a while.", "`policy`, `rule`, `actions`, `agent`, `app`, `reason`, `expiresAt`"),
        event("audit.exception_revoked", "It holds again.", "as when it was made"),
        event("audit.budget_set", "A bound for what is spent.", "the budget"),
        event("audit.budget_ended", "It holds no more.", "the budget"),
        event("audit.policies_loaded", "The policies changed.", "`files`, `policies`"),
        event("audit.webhook_made", "Somebody is told of what happens.", "the webhook, without its secret"),
        event("audit.webhook_disabled", "They are told no more.", "the webhook"),
        event("audit.artifact_promoted", "A learned program may answer.", "the evidence it was decided on"),
        event("audit.artifact_rolled_back", "It was taken out of service.", "`reason`"),
        event("audit.artifact_quarantined", "It was taken out of service, and its proof ended.", "`reason`"),
        event("audit.artifact_released", "It may be proven again.", "`reason`"),
        event("audit.artifact_changed", "It stands elsewhere, by what was compared or corrected.", "`stage`, `reason`, `run`"),
        event("audit.artifact_replayed", "It was tried on recorded runs.", "`version`, `runs`, `answered`, `disagreed`, `known`"),
        event("audit.artifact_imported", "It came from elsewhere.", "`origin`, `digest`"),
        event("audit.small_model_set", "Another small model, or none, may be asked for what learned programs leave open; as the configuration says.", "`model`"),
        event("audit.pattern_retired", "A pattern is ignored from now on.", ""),
        event("audit.pattern_comparator_declared", "When answers of a pattern are the same was declared.", "the declaration"),
        event("audit.pattern_synthesis_requested", "Somebody wanted a pattern learned at once.", ""),
        event("audit.cache_invalidated", "Kept answers were taken out.", "`filter`, `removed`"),
        event("audit.conversation_begun", "A conversation was begun.", ""),
        event("audit.conversation_changed", "It has another title, other instructions or another model.", ""),
        event("audit.conversation_deleted", "It was deleted; its runs stay.", ""),
        event("audit.credential_added", "A secret was put into the vault.", "its name and kind"),
        event("audit.credential_rotated", "It has another value.", "its name and version"),
        event("audit.credential_removed", "It is gone.", "its name"),
        event("audit.key_created", "An API key was made.", "the key, without its token"),
        event("audit.key_revoked", "It was taken back.", ""),
        event("audit.tenant_created", "A tenant was made.", "`name`"),
        event("audit.settings_changed", "What holds for the tenant changed.", "the members that changed"),
        event("audit.organisation_renamed", "An organisation has another name.", "`name`"),
        event("audit.user_created", "A person was made.", "`role`"),
        event("audit.user_changed", "Something about a person changed.", "what changed"),
        event("audit.user_linked", "A person is known at a provider.", "`issuer`"),
        event("audit.password_changed", "A person has another password.", ""),
        event("audit.logged_in", "A person logged in.", "`session`"),
        event("audit.sessions_ended", "Sessions were ended.", "`sessions`, `why`"),
        event("audit.member_changed", "What somebody is in an organisation changed.", "`role`"),
        event("audit.invitation_created", "Somebody was invited.", "`role`"),
        event("audit.invitation_revoked", "The invitation was taken back.", ""),
        event("audit.service_account_created", "A machine has an account.", "`name`, its permissions"),
        event("audit.service_account_rotated", "It has another secret.", ""),
        event("audit.service_account_removed", "It has none any more.", ""),
        event("audit.token_revoked", "A token holds no more.", ""),
        event("audit.job_requeued", "Work that was given up is tried again.", "`kind`"),
        event("audit.subject_erased", "A person was forgotten.", "`subjectId`, `runs`, `reason`"),
        event("audit.range_sealed", "Events were kept long enough and given up; their heads stay.", "`runs`"),
    ]),
];

/// Every type.
pub fn all() -> impl Iterator<Item = &'static EventType> {
    GROUPS.iter().flat_map(|(.., types)| *types)
}

/// The page, as it is committed in `docs/reference/events.md`.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(
        "# Events\n\n\
         A run is a chain of events, and the ledger is nothing else. This is every type that Punk records by itself; callers add their own\n\
         with `POST /api/v1/trace`, but for those that begin with `run.`, `policy.`, `route.`, `model.`, `artifact.`, `audit.`, `cache.`,\n\
         `feedback.`, `memory.` and `side_effect.`.\n\n\
         `GET /api/v1/runs/{id}` shows the events of a run, `GET /api/v1/events` tells of them as they come. Every field is hashed on its own,\n\
         so that it can be withheld or erased while the chain still verifies: [the evidence packet](evidence-packet.md) has the format. What is\n\
         about a person is sealed under that person's key; secrets and personal data are placeholders.\n",
    );
    for (title, about, types) in GROUPS {
        let _ = write!(page, "\n## {title}\n\n{about}\n\n| type | | fields |\n|---|---|---|\n");
        for EventType { name, about, fields } in *types {
            let _ = writeln!(page, "| `{name}` | {about} | {fields} |");
        }
    }
    page
}
