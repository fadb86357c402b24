//! Gateway: the HTTP shell. Formats in, formats out, and the process wired together; what happens in between is
//! decided elsewhere.
//!
//! A model call walks the whole way once, in `call/`: who asks was settled at the gate (`gate.rs`, `identity.rs`), the
//! `wire` crate reads it, the governor and the routes are asked, a provider or a kept answer answers, and the last byte
//! leaves when the run is on the disk.
//!
//! Start at [`Door`]; `endpoints.rs` lists every path, `error.rs` is the one place where a failure becomes a status.
//!
//! - A refused input creates nothing: validation comes before any record.
//! - Acknowledged means committed: the answer leaves after the store has the run.
//! - Nothing secret is recorded: placeholders stand for it before anything is hashed (`discretion/`).

mod agent;
mod app;
mod append;
mod approval;
mod artifact;
mod asset;
mod audit;
mod audit_trail;
mod budget;
mod cache_entry;
mod call;
mod clock;
mod connection;
mod conversation;
mod credential;
mod dashboard;
mod discretion;
mod docs;
mod endpoint;
mod endpoints;
mod error;
mod evidence;
mod exception;
mod feed;
mod feedback;
mod gate;
mod governor;
mod health;
mod identity;
mod influence;
mod ingest;
mod job;
mod key;
mod learning;
mod limits;
mod machines;
mod models;
mod openapi;
mod origin;
mod page;
mod pattern;
mod people;
mod policy;
mod proxies;
mod record;
pub mod reference;
mod remembered;
mod room;
mod run;
mod savings;
mod serve;
mod setting;
mod side_effect;
mod store_watch;
mod strict;
mod subject;
mod tenant;
mod tenant_rules;
mod text;
mod tool_cache;
mod trace;
mod webhook;

pub use app::{Installation, StartError};
pub use connection::Bounds;
pub use governor::RemoteGovernor;
pub use limits::Rates;
pub use machines::{Federation, FederationError, Network};
pub use models::Models;
pub use openapi::document as openapi;
pub use origin::Web;
pub use people::{
    Account, Admin, BootstrapError, By, ChangeError, Directory, Email, Login, Membership, NewPassword,
    NewPerson, OidcProvider, PAGE, SessionRules, Versioned, bootstrap,
};
pub use proxies::{Forwarded, Proxies};
pub use room::Capacity;
pub use serve::{Access, Door, Drain, ServeError, Server, Socket};
