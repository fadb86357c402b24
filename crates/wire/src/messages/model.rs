//! Which generation of Claude takes what.
//!
//! The wire is the same for all of them, but what earlier ones need later ones refuse: thinking was told in tokens up to
//! 4.6 and is told in words from 4.6 on, and from 4.7 on nothing may be said of how words are chosen. Other vendors who
//! speak this wire know its earlier form.

use crate::request::Effort;

/// What a model takes, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Model {
    /// The version, for a Claude; one without numbers in its name is new.
    generation: Option<(u32, u32)>,
    /// Whether it can be told not to think.
    may_rest: bool,
}

impl Model {
    /// Knows a model by its name, whatever cloud puts around it.
    pub(crate) fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let Some((_, rest)) = name.split_once("claude") else {
            return Self { generation: None, may_rest: true };
        };
        // A date has eight digits and is no version.
        let number = |word: &str| (word.len() <= 2).then(|| word.parse::<u32>().ok()).flatten();
        let mut words =
            rest.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let major = words.by_ref().find_map(number);
        let minor = words.next().and_then(number);
        let generation = major.map_or((u32::MAX, 0), |major| (major, minor.unwrap_or(0)));
        let always_thinks = rest.contains("fable") || rest.contains("mythos");
        Self { generation: Some(generation), may_rest: generation <= (5, 0) && !always_thinks }
    }

    fn from(self, generation: (u32, u32)) -> bool {
        self.generation.is_some_and(|known| known >= generation)
    }

    /// Whether thinking is told in words.
    pub(crate) fn thinks_by_effort(self) -> bool {
        self.from((4, 6))
    }

    /// Whether thinking may be told in tokens.
    pub(crate) fn thinks_by_budget(self) -> bool {
        !self.from((4, 7))
    }

    /// Whether it thinks when nothing is said about it.
    pub(crate) fn thinks_unasked(self) -> bool {
        self.from((5, 0))
    }

    /// Whether it can be told not to think.
    pub(crate) fn may_rest(self) -> bool {
        self.may_rest
    }

    /// Whether it may be told how to choose its words.
    pub(crate) fn takes_sampling(self) -> bool {
        !self.from((4, 7))
    }

    /// Whether it takes a temperature or a `top_p`, but not both.
    pub(crate) fn takes_one_of_temperature_and_top_p(self) -> bool {
        self.from((4, 1))
    }

    /// The vendor's word for how much to think.
    pub(crate) fn effort(self, effort: Effort) -> &'static str {
        match effort {
            Effort::None | Effort::Minimal | Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Xhigh if self.from((4, 7)) => "xhigh",
            Effort::Xhigh => "high",
            Effort::Max => "max",
        }
    }
}

/// How much to think, in tokens. [`crate::Reasoning::in_words`] is the way back.
pub(crate) fn budget(effort: Effort) -> u64 {
    match effort {
        Effort::None => 0,
        Effort::Minimal => 1024,
        Effort::Low => 2048,
        Effort::Medium => 8192,
        Effort::High => 20_480,
        Effort::Xhigh | Effort::Max => 24_576,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Reasoning;

    #[test]
    fn a_generation_is_found_in_the_name_whatever_cloud_puts_around_it() {
        for (name, generation) in [
            ("claude-3-7-sonnet-20250219", Some((3, 7))),
            ("claude-3-5-haiku-latest", Some((3, 5))),
            ("claude-sonnet-4-20250514", Some((4, 0))),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", Some((4, 5))),
            ("anthropic/claude-opus-4.6", Some((4, 6))),
            ("claude-opus-4-7@20260416", Some((4, 7))),
            ("claude-sonnet-5", Some((5, 0))),
            ("claude-mythos-preview", Some((u32::MAX, 0))),
            ("glm-4.6", None),
        ] {
            assert_eq!(Model::of(name).generation, generation, "{name}");
        }
    }

    #[test]
    fn later_generations_refuse_what_earlier_ones_need() {
        let told = |name| {
            let model = Model::of(name);
            (model.thinks_by_budget(), model.thinks_by_effort(), model.takes_sampling(), model.may_rest())
        };
        assert_eq!(told("claude-haiku-4-5"), (true, false, true, true));
        assert_eq!(told("claude-sonnet-4-6"), (true, true, true, true));
        assert_eq!(told("claude-opus-4-7"), (false, true, false, true));
        assert_eq!(told("claude-opus-5-5"), (false, true, false, false));
        assert_eq!(told("claude-fable-5"), (false, true, false, false));
        assert_eq!(told("some-other-model"), (true, false, true, true));
    }

    #[test]
    fn words_and_tokens_for_thinking_agree() {
        for effort in [Effort::Low, Effort::Medium, Effort::High] {
            let told = Reasoning { effort: None, budget_tokens: Some(budget(effort)), summary: None };
            assert_eq!(told.in_words(), Some(effort));
        }
    }
}
