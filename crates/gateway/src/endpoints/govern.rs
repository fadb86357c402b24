//! What agents may do, and what was decided.

use ::identity::Permission;
use http::{Method, StatusCode};
use schema::{ApprovalId, BudgetId, ExceptionId, WebhookId};

use super::GOVERN;
use crate::endpoint::Endpoint;
use crate::{agent, approval, audit_trail, budget, exception, policy, webhook};

pub(super) fn govern() -> Vec<Endpoint> {
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
