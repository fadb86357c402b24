//! `punk exceptions`: where a policy does not hold, for whom, until when and why.

use egress::Method;
use schema::Timestamp;
use serde_json::{Value, json};

use crate::answer::{Answer, columns};
use crate::args::{AddExceptionArgs, Common, ExceptionsCommand};
use crate::failure::Failure;
use crate::gateway_client::{Gateway, rule, text};
use crate::{clock, runtime, settings};

const PATH: &str = "/api/v1/exceptions";

pub(crate) fn run(common: &Common, command: &ExceptionsCommand) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    runtime::block_on(async {
        match command {
            ExceptionsCommand::List { gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                Ok(listed(gateway.all(PATH, "exceptions", "before").await?, clock::wall()))
            }
            ExceptionsCommand::Add(args) => {
                let gateway = Gateway::new(&settings, &args.gateway)?;
                let made = gateway.ask(Method::Post, PATH, Some(&wanted(args))).await?;
                let exception = &made["exception"];
                let told =
                    format!("{} holds until {}\n", text(&exception["id"]), text(&exception["expiresAt"]));
                Ok(Answer::success(told, made))
            }
            ExceptionsCommand::End { id, gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                let ended = gateway.ask(Method::Delete, &format!("{PATH}/{id}"), None).await?;
                Ok(Answer::success(format!("{id} has ended\n"), ended))
            }
        }
    })
}

fn wanted(args: &AddExceptionArgs) -> Value {
    json!({
        "policy": args.policy, "rule": args.rule, "actions": args.actions, "agent": args.agent, "app": args.app,
        "reason": args.reason, "hours": args.hours,
    })
}

fn listed(page: Value, now: Timestamp) -> Answer {
    let exceptions: Vec<Value> = page["exceptions"].as_array().cloned().unwrap_or_default();
    if exceptions.is_empty() {
        return Answer::success("nothing\n", page);
    }
    let head = ["ID", "STATUS", "LIFTS", "ACTIONS", "FOR", "EXPIRES", "MADE BY", "REASON"].map(str::to_owned);
    let rows = exceptions.iter().map(|exception| {
        let actions: Vec<String> = exception["actions"].as_array().into_iter().flatten().map(text).collect();
        [
            text(&exception["id"]),
            status(exception, now).to_owned(),
            rule(exception),
            actions.join(", "),
            whom(exception),
            text(&exception["expiresAt"]),
            text(&exception["createdBy"]),
            text(&exception["reason"]),
        ]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    Answer::success(columns(&rows), page)
}

fn status(exception: &Value, now: Timestamp) -> &'static str {
    let expires = exception["expiresAt"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
    if !exception["revokedAt"].is_null() {
        "ended"
    } else if expires.is_some_and(|expires| expires <= now) {
        "expired"
    } else {
        "holds"
    }
}

fn whom(exception: &Value) -> String {
    let named = ["agent", "app"].into_iter().filter(|member| !exception[*member].is_null());
    let named: Vec<String> = named.map(|member| format!("{member} {}", text(&exception[member]))).collect();
    if named.is_empty() { "everybody".to_owned() } else { named.join(", ") }
}
