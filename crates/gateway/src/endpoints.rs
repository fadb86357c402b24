//! Every path there is: one table, from which the router, the OpenAPI document and the reference are made.
//!
//! To add one: a line in the file of what it is about, in the folder `endpoints/`. `tests/tenancy.rs` then asks for a way to make a foreign
//! id if its path has one.

mod conversation;
mod govern;
mod identity;
mod learning;
mod models;
mod operate;
mod runs;
mod server;

use axum::extract::DefaultBodyLimit;
use axum::{Router, middleware};

use crate::app::App;
use crate::endpoint::{Endpoint, Tag};
use crate::{error, origin};

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
        models::gateway(),
        conversation::conversations(),
        runs::runs(),
        runs::events(),
        runs::usage(),
        govern::govern(),
        operate::cache(),
        learning::learned(),
        identity::login(),
        identity::elsewhere(),
        identity::people(),
        identity::machines(),
        operate::operate(),
        operate::jobs(),
        operate::subjects(),
        server::server(),
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
