//! Leave to act. What takes an [`EffectPermit`] cannot act on anything unjudged, and a replay cannot act at all.

use schema::{Effect, Verdict};

use crate::rule::Action;

/// Held by the process wiring of the live path and by nobody else; replays and shadows never get one.
#[derive(Debug)]
pub struct LiveAuthority(());

impl LiveAuthority {
    /// Takes the authority of the live path. Called once, where the process is wired together.
    #[must_use]
    pub fn of_the_live_path() -> Self {
        Self(())
    }
}

/// Leave to perform one action. Built from an allow and the live path's authority.
#[derive(Debug)]
pub struct EffectPermit {
    action: Action,
}

impl EffectPermit {
    /// The permit, if the verdict allows the action.
    #[must_use]
    pub fn new(verdict: &Verdict, action: &Action, _authority: &LiveAuthority) -> Option<Self> {
        match verdict.effect {
            Effect::Allow => Some(Self { action: action.clone() }),
            Effect::Ask | Effect::Deny => None,
        }
    }

    /// What may be done.
    #[must_use]
    pub fn action(&self) -> &Action {
        &self.action
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_allow_gives_leave() {
        let authority = LiveAuthority::of_the_live_path();
        for (effect, leave) in [(Effect::Allow, true), (Effect::Ask, false), (Effect::Deny, false)] {
            let verdict = Verdict { effect, policy: "p".into(), rule: None };
            assert_eq!(
                EffectPermit::new(&verdict, &Action::model_chat(), &authority).is_some(),
                leave,
                "{effect:?}"
            );
        }
    }
}
