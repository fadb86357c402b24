//! The desk: the studies that a page of news is about, and how each piece of news is folded into its own. Nothing here waits.

use std::collections::{BTreeMap, HashMap};

use schema::{ArtifactId, Digest, PatternId, RunId, Timestamp};

use crate::executable::Executable;
use crate::news::{Lesson, News, Order};
use crate::stored::{Loaded, Mine, Place};
use crate::study::{Outcome, Study};
use crate::template;

/// Patterns that a tenant may have.
const MOST_PATTERNS: u64 = 10_000;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    pub(crate) lessons: u64,
    pub(crate) discovered: u64,
}

/// The studies that a page of news is about.
pub(crate) struct Desk {
    pub(crate) studies: BTreeMap<PatternId, Loaded>,
    pub(crate) by_key: HashMap<Digest, PatternId>,
    pub(crate) by_artifact: HashMap<ArtifactId, PatternId>,
    /// Programs that were made elsewhere, each with what its work is known by here.
    pub(crate) imports: HashMap<Digest, (Digest, Executable)>,
    /// What is mined of requests without instructions, by what they have in common beside their words.
    pub(crate) mines: BTreeMap<Digest, Mine>,
    pub(crate) choice: u64,
    pub(crate) place: Place,
    pub(crate) out: Outcome,
    pub(crate) counted: Counted,
}

impl Desk {
    /// One without studies, for news from this place of the log on.
    pub(crate) fn new(choice: u64, place: Place, mines: BTreeMap<Digest, Mine>) -> Self {
        Self {
            studies: BTreeMap::new(),
            by_key: HashMap::new(),
            by_artifact: HashMap::new(),
            imports: HashMap::new(),
            mines,
            choice,
            place,
            out: Outcome::default(),
            counted: Counted::default(),
        }
    }

    pub(crate) fn put(&mut self, loaded: Loaded) {
        let id = loaded.study.id;
        self.by_key.insert(loaded.study.key, id);
        self.by_artifact.extend(loaded.study.artifact.as_ref().map(|made| (made.id, id)));
        self.studies.insert(id, loaded);
    }

    fn study(&mut self, key: Digest) -> Option<&mut Loaded> {
        self.loaded(*self.by_key.get(&key)?)
    }

    /// A study that is here, which knows who may be asked.
    fn loaded(&mut self, id: PatternId) -> Option<&mut Loaded> {
        let loaded = self.studies.get_mut(&id)?;
        loaded.study.may_ask(self.place.small.as_ref());
        Some(loaded)
    }

    /// The study of what an artifact answered, or else of a kind of work.
    fn study_of(&mut self, task: Option<Digest>, artifact: Option<ArtifactId>) -> Option<&mut Loaded> {
        let by_artifact = artifact.and_then(|id| self.by_artifact.get(&id));
        let id = *by_artifact.or_else(|| self.by_key.get(&task?))?;
        self.loaded(id)
    }

    /// What is mined of the requests under `base` is here.
    pub(crate) fn has_mine(&self, base: Digest) -> bool {
        self.mines.contains_key(&base)
    }

    /// Takes in a program that was made elsewhere. Says what its work is known by here.
    pub(crate) fn import(&mut self, digest: Digest, executable: Executable) -> Digest {
        let skeleton = executable.template.as_ref();
        let mine = skeleton.and_then(|skeleton| Some((skeleton, self.mines.get_mut(&skeleton.base)?)));
        let key = mine.map_or(executable.task, |(skeleton, mine)| {
            mine.is_changed = true;
            template::adopt(&mut mine.templates, skeleton, executable.task)
        });
        self.imports.insert(digest, (key, executable));
        key
    }

    /// Makes a lesson of a request without instructions, if its template says what kind of work it is.
    pub(crate) fn mined(&mut self, news: News) -> News {
        let News::Loose(told) = news else { return news };
        let Some(mine) = self.mines.get_mut(&told.0.base) else { return News::Loose(told) };
        let (mined, is_changed) = template::mine(&mut mine.templates, &told.0);
        mine.is_changed |= is_changed;
        let Some(mined) = mined else { return News::Loose(told) };
        let (task, template) = (mined.task, Some((mined.skeleton, mined.fitted)));
        News::Lesson(Box::new(Lesson { task, template, ..told.1 }))
    }

    /// Folds one piece of news.
    pub(crate) fn take(&mut self, news: &News) {
        let mut out = std::mem::take(&mut self.out);
        out.version = false;
        let choice = self.choice;
        let before: HashMap<PatternId, &'static str> =
            self.studies.iter().map(|(id, loaded)| (*id, loaded.tutor.kind())).collect();
        let touched = match news {
            News::Lesson(lesson) => {
                if !self.by_key.contains_key(&lesson.task.key) && self.place.patterns < MOST_PATTERNS {
                    self.place.patterns += 1;
                    self.counted.discovered += 1;
                    self.put(Loaded::new(Study::begin(lesson)).of(self.place.epoch));
                }
                self.counted.lessons += 1;
                self.study(lesson.task.key).map(|loaded| {
                    loaded.study.lesson(&mut loaded.tutor, lesson, choice, &mut out);
                    loaded.pending.push(lesson.run);
                    loaded.study.id
                })
            }
            // It became a lesson, or its template is too new.
            News::Loose(_) => None,
            News::Served(served) => self.study_of(served.task, Some(served.artifact)).map(|loaded| {
                loaded.study.served(&mut loaded.tutor, served, choice);
                loaded.pending.push(served.run);
                loaded.study.id
            }),
            News::Corrected { run, at, task, by } => self.study_of(*task, by.map(|by| by.0)).map(|loaded| {
                loaded.study.corrected(*run, *at, *by, &mut out);
                loaded.study.id
            }),
            News::Disliked { run, at, input, by } => self.study_of(None, Some(by.0)).map(|loaded| {
                loaded.study.disliked((*run, *at), *by, input, &mut out);
                loaded.study.id
            }),
            News::Replayed { artifact, replay } => {
                let id = self.by_artifact.get(artifact).copied();
                id.and_then(|id| self.studies.get_mut(&id)).map(|loaded| {
                    if let Some(made) = loaded.study.artifact.as_mut().filter(|made| made.id == *artifact) {
                        made.last_replay = Some(*replay);
                    }
                    loaded.study.id
                })
            }
            News::Ordered { run, at, order, actor } => self.ordered(order, (*run, *at), actor, &mut out),
        };
        if let Some(loaded) = touched.and_then(|id| self.studies.get_mut(&id)) {
            loaded.is_changed = true;
            // Whatever changes the learner otherwise than by a lesson has to be kept with it.
            let kind = before.get(&loaded.study.id).copied().unwrap_or("none");
            loaded.is_grown |=
                out.version || kind != loaded.tutor.kind() || matches!(news, News::Ordered { .. });
            self.by_artifact.extend(loaded.study.artifact.as_ref().map(|made| (made.id, loaded.study.id)));
        }
        self.out = out;
    }

    fn ordered(
        &mut self,
        order: &Order,
        place: (RunId, Timestamp),
        actor: &str,
        out: &mut Outcome,
    ) -> Option<PatternId> {
        let id = match order {
            Order::Retire(id) | Order::Synthesize(id) | Order::Compare(id, _) => *id,
            Order::Promote(id) | Order::RollBack(id) | Order::Quarantine(id) | Order::Release(id) => {
                *self.by_artifact.get(id)?
            }
            Order::Import(digest) => return self.imported(*digest, place, actor, out),
            Order::Ask(model) => {
                self.place.small.clone_from(model);
                return None;
            }
        };
        let loaded = self.loaded(id)?;
        loaded.study.ordered(&mut loaded.tutor, order, place, actor, out);
        Some(id)
    }

    fn imported(
        &mut self,
        digest: Digest,
        place: (RunId, Timestamp),
        actor: &str,
        out: &mut Outcome,
    ) -> Option<PatternId> {
        let (key, executable) = self.imports.get(&digest)?.clone();
        if !self.by_key.contains_key(&key) {
            self.place.patterns += 1;
            self.put(Loaded::new(Study::of_elsewhere(key, &executable, place.1)).of(self.place.epoch));
        }
        let loaded = self.study(key)?;
        loaded.study.imported(&mut loaded.tutor, executable, place, actor, out);
        Some(loaded.study.id)
    }
}
