//! How a set of detectors is put together.

use std::collections::HashSet;
use std::sync::Arc;

use crypto::SecretString;

use crate::canary::Canaries;
use crate::custom::{CustomError, Pattern};
use crate::detector::{Class, Detector, Trigger};
use crate::detectors::{Detectors, Job};
use crate::dictionary::Phrase;
use crate::known::{self, Spelling};
use crate::secret::{PASSWORD_WORDS, PREFIXES};
use crate::words::{Edges, Word, Words};
use crate::{encoded, rules};

/// A set of detectors that is being put together.
#[derive(Default)]
pub struct Builder {
    classes: Option<HashSet<Class>>,
    /// How many patterns and dictionaries there are: each has a number of its own.
    custom: u16,
    phrases: Vec<Phrase>,
    patterns: Vec<Pattern>,
    canaries: Vec<(u16, String)>,
    known: Vec<Spelling>,
}

impl Builder {
    /// Which of the built-in classes are looked for. All of them, if this is not called.
    #[must_use]
    pub fn classes(mut self, classes: impl IntoIterator<Item = Class>) -> Self {
        self.classes = Some(classes.into_iter().collect());
        self
    }

    /// Looks for what `regex` matches. See [`CustomError`] for what is refused; a match is at most [`crate::MAX_CUSTOM`] bytes long.
    pub fn custom(mut self, name: &str, regex: &str) -> Result<Self, CustomError> {
        self.patterns.push(Pattern::new(name, regex, Class::Custom(self.custom))?);
        self.custom += 1;
        Ok(self)
    }

    /// Looks for a string that was planted, in any case, spread out, encoded, or back to front. At least eight letters and digits make one
    /// that no other text is mistaken for.
    #[must_use]
    pub fn canary(mut self, index: u16, value: &str) -> Self {
        self.canaries.push((index, value.to_owned()));
        self
    }

    /// Looks for these words and phrases: whole, in any case, with any whitespace between the words.
    #[must_use]
    pub fn dictionary(mut self, name: &str, words: impl IntoIterator<Item = String>) -> Self {
        let class = Class::Custom(self.custom);
        self.custom += 1;
        let rule: Arc<str> = name.into();
        self.phrases.extend(words.into_iter().filter_map(|word| Phrase::new(&word, class, &rule)));
        self
    }

    /// Looks for these values, plain and encoded.
    #[must_use]
    pub fn known(mut self, values: impl IntoIterator<Item = SecretString>) -> Self {
        self.known.extend(values.into_iter().flat_map(|value| known::spellings(value.expose())));
        self
    }

    /// The finished set.
    pub fn build(self) -> Result<Detectors, BuildError> {
        let wanted = |class: Class| self.classes.as_ref().is_none_or(|classes| classes.contains(&class));
        let detectors: Vec<Detector> =
            rules::built_in().filter(|detector| wanted(detector.class)).copied().collect();
        let mut words = Vec::new();
        let mut digits = Vec::new();
        let mut bytes = Box::new([const { Vec::new() }; 256]);
        for (index, detector) in detectors.iter().enumerate() {
            let job = Job::Detector(index as u16);
            let mut add = |texts: &[&str], edges| {
                words.extend(texts.iter().map(|text| Word { text: text.as_bytes().to_vec(), edges, job }));
            };
            match detector.trigger {
                Trigger::Byte(byte) => bytes[usize::from(byte)].push(job),
                Trigger::Digits(may_be) => digits.push((job, may_be)),
                Trigger::Word(texts) => add(texts, Edges::Word),
                Trigger::Prefix(texts) => add(texts, Edges::Prefix),
            }
        }
        let secrets = wanted(Class::Secret);
        if secrets {
            words.extend(PREFIXES.iter().enumerate().map(|(number, prefix)| Word {
                text: prefix.text.as_bytes().to_vec(),
                edges: prefix.edges(),
                job: Job::Prefix(number as u16),
            }));
            words.extend(PASSWORD_WORDS.iter().map(|(text, edges)| Word {
                text: text.as_bytes().to_vec(),
                edges: *edges,
                job: Job::Password,
            }));
        }
        for (number, spelling) in self.known.iter().enumerate() {
            let text = spelling.beginning().to_vec();
            words.push(Word { text, edges: Edges::Anywhere, job: Job::Known(number as u32) });
        }
        for (number, phrase) in self.phrases.iter().enumerate() {
            let job = Job::Phrase(number as u32);
            words.extend(phrase.beginnings().into_iter().map(|text| Word {
                text,
                edges: Edges::Beginning,
                job,
            }));
        }
        encoded::BEGINNINGS.iter().for_each(|byte| bytes[usize::from(*byte)].push(Job::Escaped));
        let words = Words::new(words).map_err(|_| BuildError)?;
        Ok(Detectors {
            words,
            known: self.known,
            phrases: self.phrases,
            patterns: self.patterns,
            canaries: Canaries::new(&self.canaries),
            detectors,
            digits,
            bytes,
            secrets,
        })
    }
}

/// The words that are looked for are too many for one automaton.
#[derive(Debug, thiserror::Error)]
#[error("too many words and values to look for; name fewer")]
pub struct BuildError;
