//! Egress: the only way out to the network.
//!
//! Webhooks, audit sinks, remote policies and whatever else is told by somebody where to go sends its requests with a
//! [`Client`]. It goes to public places, unless an operator's [`Reach`] says more, and it cannot be talked into going
//! elsewhere: not by the spelling of an address, by a name that leads inside, by one that leads somewhere else a moment
//! later, or by a redirect.
//!
//! Deliberately absent: proxies from the environment, cookies, compression, HTTP/2, connections that are kept, redirects of
//! anything but a reading request, and bodies that are read piece by piece. Each would be one more thing that decides
//! where a request goes, or how much comes back.
//!
//! Start at [`Reach`] in `guard.rs`, which is pure and holds all judgements; `address.rs`, `name.rs` and `port.rs` are its
//! lists. `resolve.rs` makes names into pinned addresses, `connect.rs` connects to those, `client.rs` goes from hop to hop.
//!
//! - Nothing is connected to but an address that was judged, on this hop, for this request
//!   (`no_evasion_reaches_the_listener`).
//! - A name is looked up once a hop, and all of its addresses must be fine.
//! - Metadata services of clouds are refused whatever an operator allows.
//! - What a redirect leads to is shown none of the caller's headers but three, is not less encrypted, and is not further
//!   inside.
//! - Every wait ends, and every answer is bounded.
//! - No message, no `Debug` and no error holds more of an address than scheme, host and port.
//!
//! To add a range of addresses: a line in `address.rs`. To add a trick: a line in `tests/evasions.txt`, which every build
//! plays against a listener that must stay alone.

mod address;
mod client;
mod connect;
mod error;
mod exchange;
mod guard;
mod name;
mod origin;
mod port;
mod refusal;
mod request;
mod resolve;
mod scripted;
mod trust;

pub use address::Kind;
pub use client::Client;
pub use connect::{Dial, Tcp};
pub use error::EgressError;
pub use guard::Reach;
pub use origin::{Host, Origin, Place, PlaceError, Scheme};
pub use refusal::Refusal;
pub use request::{Answer, HeaderRefused, Limits, Method, Redirects, Request, Wanted};
pub use resolve::{Resolver, System};
pub use scripted::Scripted;
pub use trust::{Trust, TrustError};
