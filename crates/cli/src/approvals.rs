//! `punk approvals`: what the governor asks people, and what they answer. It goes through the gateway's own interface, with the
//! key of whoever answers: who may not answer there may not answer here.

use egress::Method;
use serde_json::{Value, json};

use crate::answer::{Answer, columns};
use crate::args::{ApprovalsCommand, Common, Status};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::gateway_client::{Gateway, rule, text};
use crate::{runtime, settings};

pub(crate) fn run(common: &Common, command: &ApprovalsCommand) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    runtime::block_on(async {
        match command {
            ApprovalsCommand::List(args) => {
                let path = match status(args.status) {
                    Some(status) => format!("/api/v1/approvals?status={status}"),
                    None => "/api/v1/approvals".to_owned(),
                };
                let gateway = Gateway::new(&settings, &args.gateway)?;
                Ok(listed(gateway.all(&path, "approvals", "before").await?))
            }
            ApprovalsCommand::Show(args) => {
                let gateway = Gateway::new(&settings, &args.gateway)?;
                let shown = gateway.ask(Method::Get, &format!("/api/v1/approvals/{}", args.id), None).await?;
                Ok(detailed(shown))
            }
            ApprovalsCommand::Approve(args) | ApprovalsCommand::Reject(args) => {
                let rejects = matches!(command, ApprovalsCommand::Reject(_));
                let decision = if rejects { "reject" } else { "approve" };
                if rejects && args.reason.is_none() {
                    return Err(Failure::new(Exit::Usage, "punk_no_reason", "a rejection wants a reason")
                        .hint("say why with --reason"));
                }
                let mut body = json!({ "decision": decision });
                if let Some(reason) = &args.reason {
                    body["reason"] = json!(reason);
                }
                let gateway = Gateway::new(&settings, &args.gateway)?;
                let path = format!("/api/v1/approvals/{}/decide", args.id);
                let decided = gateway.ask(Method::Post, &path, Some(&body)).await?;
                let status = text(&decided["approval"]["status"]);
                Ok(Answer::success(format!("{} is {status}\n", args.id), decided))
            }
        }
    })
}

fn status(status: Status) -> Option<&'static str> {
    match status {
        Status::Pending => Some("pending"),
        Status::Approved => Some("approved"),
        Status::Rejected => Some("rejected"),
        Status::Expired => Some("expired"),
        Status::Used => Some("used"),
        Status::All => None,
    }
}

fn listed(page: Value) -> Answer {
    let approvals: Vec<Value> = page["approvals"].as_array().cloned().unwrap_or_default();
    if approvals.is_empty() {
        return Answer::success("nothing\n", page);
    }
    let head = ["ID", "STATUS", "ACTION", "AGENT", "ASKED BY", "ANSWERS", "EXPIRES"].map(str::to_owned);
    let rows = approvals.iter().map(|approval| {
        let votes = approval["votes"].as_array().map_or(0, Vec::len);
        let tool = approval["tool"].as_str().map_or_else(String::new, |tool| format!(" ({tool})"));
        [
            text(&approval["id"]),
            text(&approval["status"]),
            format!("{}{tool}", text(&approval["action"])),
            text(&approval["agent"]),
            rule(approval),
            format!("{votes}/{}", approval["needed"]),
            text(&approval["expiresAt"]),
        ]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    Answer::success(columns(&rows), page)
}

fn detailed(shown: Value) -> Answer {
    let approval = &shown["approval"];
    let mut rows: Vec<[String; 2]> = [
        ("approval", "id"),
        ("status", "status"),
        ("action", "action"),
        ("tool", "tool"),
        ("agent", "agent"),
        ("app", "app"),
        ("run", "runId"),
        ("asked at", "requestedAt"),
        ("expires", "expiresAt"),
        ("payload hash", "payloadHash"),
    ]
    .into_iter()
    .filter(|(_, member)| !approval[*member].is_null())
    .map(|(name, member)| [name.to_owned(), text(&approval[member])])
    .collect();
    rows.push(["asked by".to_owned(), rule(approval)]);
    rows.push(["people".to_owned(), format!("{} needed", approval["needed"])]);
    for vote in approval["votes"].as_array().into_iter().flatten() {
        let why = vote["reason"].as_str().map_or_else(String::new, |reason| format!(": {reason}"));
        rows.push([
            "answer".to_owned(),
            format!("{} by {}{why}", text(&vote["decision"]), text(&vote["by"])),
        ]);
    }
    let payload = format!("{:#}", shown["payload"]);
    Answer::success(format!("{}\nwhat would be done:\n{payload}\n", columns(&rows)), shown)
}
