//! The reference of errors as Markdown: every code there is, with its status and what to do.
//!
//! `tests/reference.rs` holds the table against the code that answers: a code that is in one and not in the other, or that
//! answers with another status, fails it.

use std::fmt::Write as _;

/// One code.
pub struct Code {
    /// What programs branch on.
    pub code: &'static str,
    /// The status it comes with.
    pub status: &'static str,
    about: &'static str,
    advice: &'static str,
}

/// Codes that have something in common: a title, what holds for all of them, and they.
type Group = (&'static str, &'static str, &'static [Code]);

const fn code(code: &'static str, status: &'static str, about: &'static str, advice: &'static str) -> Code {
    Code { code, status, about, advice }
}

#[rustfmt::skip]
const GROUPS: &[Group] = &[
    ("Who asks", "Nothing was done: who you are, or what you may, was not enough.", &[
        code("punk_unauthorised", "401", "No key, no session, or none that is known.", "Send `Authorization: Bearer <key>` or `x-api-key: <key>`."),
        code("punk_key_revoked", "401", "The key was taken back.", "Ask an admin of the tenant for a new one."),
        code("punk_key_expired", "401", "The key has ended by itself.", "Ask an admin of the tenant for a new one."),
        code("punk_token_refused", "401", "A token does not hold, for whatever reason.", "Get a new one with `POST /api/v1/auth/token`."),
        code("punk_client_refused", "401", "The id or the secret of a service account is not right.", "Send both as the account was made with, or rotate its secret."),
        code("punk_not_logged_in", "401", "It is about whoever is logged in, and nobody is.", "Log in with `POST /api/v1/auth/login`."),
        code("punk_session_ended", "401", "The session is over.", "Log in again."),
        code("punk_login_refused", "401", "The address or the password is not right.", "Check both; an operator can set another password."),
        code("punk_too_many_logins", "503", "As many passwords are being compared as may be.", "Try again in a second."),
        code("punk_scope_missing", "403", "The key lacks a scope.", "Use a key with the scope that the message names."),
        code("punk_permission_missing", "403", "The role lacks a permission.", "Ask an admin; [roles and permissions](permissions.md) has the table."),
        code("punk_admin_required", "403", "No scope opens this.", "Use an admin key, or that of the installation."),
        code("punk_grant_refused", "403", "Somebody would give away more than they have.", "Ask somebody who may do it themselves."),
        code("punk_not_a_member", "403", "The person is not in the organisation in which they act.", "Choose one of your own with `POST /api/v1/auth/organisation`."),
        code("punk_out_of_reach", "403", "The token is for one run, and this is not about it.", "Use a key for everything else."),
        code("punk_csrf", "403", "A change with a cookie does not come from a page of this gateway.", "Send `csrfToken` in `x-punk-csrf`; programs use a key."),
        code("punk_invitation_refused", "403", "The invitation does not hold, or is for somebody else.", "Ask whoever invited you for another."),
        code("punk_provider_refused", "403", "Whoever people log in at did not vouch for this person.", "Begin again with `GET /api/v1/auth/oidc/login`."),
        code("punk_foreign_host", "403", "An open gateway answers only to names of its own machine.", "Call it as `localhost`, or set `server.base_url` or `PUNK_API_KEY`."),
        code("punk_foreign_origin", "403", "A web page of another origin may not call.", "Add the origin to `server.cors_origins`."),
    ]),
    ("What is asked", "It cannot be understood as it is. `param` names the place; nothing was recorded.", &[
        code("punk_invalid_request", "400", "A field is missing, unknown, or not what it should be.", "The message says what is expected."),
        code("punk_invalid_header", "400", "A header is not right.", "Leave it out, or send what the message says."),
        code("punk_invalid_body", "400, 413", "The body is not one JSON object, or is too long.", "Send one, no longer than `server.max_body_bytes`."),
        code("punk_request_late", "408", "The request took too long to arrive.", "Send it faster, or raise `limits.body_seconds`."),
        code("punk_url_too_long", "414", "Path and query are too long.", "Send what is long in the body."),
        code("punk_no_such_path", "404", "There is nothing at this path.", "[The API reference](api.md) lists the paths."),
        code("punk_no_such_method", "405", "The path does not take this method.", "`allow` lists those it takes."),
        code("punk_not_found", "404", "There is no such thing, or it is another tenant's.", "The hint says where to find those there are."),
        code("punk_model_unavailable", "404", "Nobody serves this model.", "`GET /v1/models` lists those that are known."),
    ]),
    ("What the governor says", "A run of its own records it; `runId`, `verdict` and, if people are asked, `approvalId` are in the error.", &[
        code("punk_policy_denied", "403", "A policy, a guard or a quarantine does not allow it.", "`POST /api/v1/policies/explain` says why."),
        code("punk_approval_required", "403", "People are asked first.", "When `approvalId` is approved, send the same again; it works once."),
        code("punk_budget_exhausted", "403", "There is not enough left in a budget, or the price is not known.", "`GET /api/v1/budgets` shows what is left."),
        code("punk_approval_unfit", "409", "The approval that was named does not allow this.", "Leave out `x-punk-approval` to be asked about anew."),
        code("punk_vote_refused", "403, 409", "An answer to a question does not count.", "`GET /api/v1/approvals/{id}` shows who is asked."),
        code("punk_policies_refused", "409", "The files of the policies cannot be read; those in force stay.", "`punk policy check` names the place."),
        code("punk_gate_not_satisfied", "409", "What was learned does not stand where it would have to.", "`GET /api/v1/artifacts/{id}` shows the gates."),
    ]),
    ("What is there already", "Somebody else was first, or it is too late.", &[
        code("punk_changed_meanwhile", "409", "Somebody else changed it at the same moment.", "Look at it again, then send it again."),
        code("punk_taken", "409", "There is one already.", "Change the one that is there."),
        code("punk_name_taken", "409", "Another has this name.", "Choose another, or change the one that has it."),
        code("punk_too_many", "409", "No tenant may have more of these.", "Remove what is not used any more."),
        code("punk_last_owner", "409", "An organisation would be without an owner.", "Make somebody else an owner first."),
        code("punk_run_not_finished", "409", "A run that goes on has nothing to prove yet.", "Ask again when it has ended."),
        code("punk_run_busy", "409", "The run is being written by others.", "Send it again."),
        code("punk_run_sealed", "410", "The events of the run were kept long enough and given up.", "A packet that was fetched before still verifies."),
    ]),
    ("How much", "Wait as long as `retry-after` says.", &[
        code("punk_rate_limited", "429", "Too many requests, wrong keys or attempts to log in, in a minute.", "The `limits` section of the configuration, and the key's own number, set the limit."),
        code("punk_too_many_readers", "429", "As many feeds are open as there is room for.", "Close some, or try later."),
        code("punk_overloaded", "503", "As much is in progress as there is room for.", "`limits.concurrent_requests` and `limits.body_bytes_in_progress` say how much that is."),
        code("punk_connections_full", "503", "As many connections are open as may be.", "`limits.connections` says how many."),
        code("punk_leaving", "503", "The process has been asked to stop.", "Send it to another node, or again."),
    ]),
    ("Who else was needed", "Nobody did anything in your name that is not on record.", &[
        code("punk_ledger_unavailable", "503", "The run could not be recorded, so it is not answered.", "The log of the server has the cause: most often the disk is full."),
        code("punk_store_unavailable", "503", "The store cannot be read or written now.", "The log of the server has the cause."),
        code("punk_store_damaged", "500", "What the store holds is not what was written.", "Stop it, and restore a backup with `punk restore`."),
        code("punk_disk_full", "507", "There is no room left to record anything.", "Make room; no restart is needed."),
        code("punk_meters_unavailable", "503", "Budgets and limits cannot be counted now.", "See whether Redis answers (`punk doctor`)."),
        code("punk_not_kept", "504", "No kept answer fits, and the caller wants no other.", "Leave out `cache-control: only-if-cached`."),
        code("punk_upstream_error", "the upstream's own", "The upstream answered with an error of its own, which is passed on.", "The message is the upstream's."),
        code("punk_upstream_unavailable", "502, 503", "No upstream could be asked, or all are left alone for a moment.", "The events of the run say why; configure a fallback."),
        code("punk_upstream_keyless", "502", "The key of an upstream is not to be had from the vault.", "See `punk vault list`."),
        code("punk_upstream_timeout", "504", "The upstream took too long.", "The time-outs of an upstream can be set in its table."),
        code("punk_upstream_unreachable", "502", "The upstream cannot be reached.", "The log of the server has the cause."),
        code("punk_upstream_broken", "502", "What the upstream answered is none of its wire.", "Check that it speaks the wire it is configured with."),
        code("punk_upstream_cut", "in a stream", "The upstream stopped in the middle.", "What came is on record; send it again."),
        code("punk_upstream_gave_up", "in a stream", "The upstream said in the middle that it gives up.", "Its own words are in the stream."),
    ]),
];

/// Every code.
pub fn all() -> impl Iterator<Item = &'static Code> {
    GROUPS.iter().flat_map(|(.., codes)| *codes)
}

/// The page, as it is committed in `docs/reference/errors.md`.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(
        "# Errors\n\n\
         Every refusal has one shape: a code to branch on, a message for people, and a hint that says what to do.\n\n\
         ```json\n\
         {\"error\":{\"code\":\"punk_policy_denied\",\"message\":\"policy does not allow this\",\"hint\":\"…\",\"runId\":\"run_…\",\"verdict\":{…}}}\n\
         ```\n\n\
         On `/v1` the same members are inside the vendor's own shape, with its `type`. Codes are a promise; messages and hints get better.\n\
         How upstreams fail, and what is tried again, is in [what happens when something goes wrong](faults.md).\n",
    );
    for (title, about, codes) in GROUPS {
        let _ =
            write!(page, "\n## {title}\n\n{about}\n\n| code | status | | what to do |\n|---|---|---|---|\n");
        for Code { code, status, about, advice } in *codes {
            let _ = writeln!(page, "| `{code}` | {status} | {about} | {advice} |");
        }
    }
    page
}
