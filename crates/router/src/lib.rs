//! Router: the ordered ways to answer a request, the choice between them, and the explanation of it.
//!
//! A route is one small file that implements [`Route`]: asked about a [`Question`], it offers a [`Plan`] or says why not. It
//! only answers; whoever walks the routes ([`Walk`]) performs the plan, and says so when that did not work. What every
//! route said on the way is the explanation: no code writes one by hand, so it cannot lie.
//!
//! Start at [`Walk`]; `route.rs` is what a route is, [`routes`] the order they are asked in.
//!
//! - Optimisation fails open: a route that cannot read what it needs passes, with that as its reason.
//! - A route that has nothing at all for a tenant is not worth a word: it says [`Offer::Nothing`].
//! - The live route comes last and always offers.
//! - A key that only observes is answered live; what would have answered is kept as the ghost.
//!
//! To add a route: a file, its line in [`routes`], and, if it answers in a new way, a variant of [`Plan`].

mod answers;
mod artifact;
mod exact;
mod hybrid;
mod live;
mod route;
mod walk;

use std::sync::Arc;

use apprentice::Shelf;

pub use artifact::Artifacts;
pub use exact::ExactCache;
pub use hybrid::Hybrids;
pub use live::Live;
pub use route::{Estimate, Kept, Offer, Plan, Question, Recalled, Route};
pub use walk::Walk;

/// Every route, in the order they are asked: the cheapest proven one first.
#[must_use]
pub fn routes(shelf: Arc<Shelf>) -> Vec<Box<dyn Route>> {
    let artifacts = Artifacts(Arc::clone(&shelf));
    vec![Box::new(ExactCache::default()), Box::new(artifacts), Box::new(Hybrids(shelf)), Box::new(Live)]
}
