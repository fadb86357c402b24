//! Leave to act. What takes an [`EffectPermit`] cannot act on anything unjudged, and a replay cannot act at all.

use schema::{Effect, GatewayMode, Verdict};

use crate::action::Action;

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

    /// The permit that a key which only observes has whatever the verdict: to ask a model, as the caller would have done
    /// without us. Nothing else is done on the strength of it: observing is no way around a policy.
    #[must_use]
    pub fn observing(mode: GatewayMode, action: &Action, _authority: &LiveAuthority) -> Option<Self> {
        let asks = action.as_str().starts_with("model:");
        (mode == GatewayMode::Observe && asks).then(|| Self { action: action.clone() })
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
    fn observing_gives_leave_to_ask_a_model_and_to_nothing_else() {
        let authority = LiveAuthority::of_the_live_path();
        let may = |mode, action: &str| {
            EffectPermit::observing(mode, &action.parse().unwrap(), &authority).is_some()
        };
        assert!(may(GatewayMode::Observe, "model:chat"));
        assert!(!may(GatewayMode::Enforce, "model:chat"));
        assert!(!may(GatewayMode::Observe, "write:web"));
    }

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
