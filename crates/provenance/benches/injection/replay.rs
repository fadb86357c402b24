//! Tasks and attacks, replayed call by call.

use std::fmt;

use provenance::{
    Call, Conversation, Finding, Influence, Judgement, Lane, Reason, Settings, Trace, Turn, read_printed,
};
use serde_json::{Map, Value};

use crate::suite::{Step, Suite, Task};

/// Where an attacker's words stand in what a task reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    /// In every field that has prose in it.
    Prose,
    /// In every field that has a blank in it, titles and names too: more than any attacker can do.
    Everywhere,
}

/// What came out.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    name: String,
    /// Pairs with calls that write.
    pub(crate) attacks: usize,
    /// Of these, with at least one such call gated.
    pub(crate) any_gated: usize,
    all_gated: usize,
    /// Of these, stopped by nothing but that the user did not ask for such an action.
    pub(crate) by_intent: usize,
    /// Pairs whose calls write nothing.
    unwritten: usize,
    /// Pairs for which nobody wrote down the calls, and of these, where every call made up for the goal is gated.
    unknown: usize,
    unknown_gated: usize,
    /// User tasks, and those that need a person.
    pub(crate) tasks: usize,
    writing: usize,
    pub(crate) needing: Vec<String>,
    pub(crate) missed: Vec<String>,
    pub(crate) explanations: Vec<String>,
    beside: [(usize, usize); 2],
}

impl Figures {
    pub(crate) const HEADER: &str = "suite        attacks   stopped  all writes gated | no write | no calls known: gated | tasks  writing  need a person";

    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.attacks += other.attacks;
        self.any_gated += other.any_gated;
        self.all_gated += other.all_gated;
        self.by_intent += other.by_intent;
        self.unwritten += other.unwritten;
        self.unknown += other.unknown;
        self.unknown_gated += other.unknown_gated;
        self.tasks += other.tasks;
        self.writing += other.writing;
        let named =
            |list: &[String]| list.iter().map(|item| format!("{}/{item}", other.name)).collect::<Vec<_>>();
        self.needing.extend(named(&other.needing));
        self.missed.extend(named(&other.missed));
        self.explanations.extend(named(&other.explanations));
        for (own, more) in self.beside.iter_mut().zip(other.beside) {
            *own = (own.0 + more.0, own.1 + more.1);
        }
    }

    /// How many user tasks need a person beside an injection, of how many pairs.
    pub(crate) fn needed_under(&self, spread: Spread) -> (usize, usize) {
        self.beside[spread as usize]
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<12} {:>7}  {:>7} {:>17} | {:>8} | {:>14}: {:>5} | {:>5}  {:>7}  {:>6} ({:.1} %)",
            self.name,
            self.attacks,
            self.any_gated,
            self.all_gated,
            self.unwritten,
            self.unknown,
            self.unknown_gated,
            self.tasks,
            self.writing,
            self.needing.len(),
            crate::percent(self.needing.len(), self.tasks)
        )
    }
}

/// Replays every task and every attack of a suite.
pub(crate) fn replay(settings: &Settings, suite: &Suite) -> Figures {
    let mut figures = Figures::new(&suite.name);
    for task in &suite.user_tasks {
        let judged = task_under(settings, suite, task, None);
        figures.tasks += 1;
        figures.writing += usize::from(judged.iter().any(|judgement| suite.writes(&judgement.tool)));
        if needs_person(&judged) {
            figures.needing.push(task.id.clone());
            figures.explanations.extend(judged.iter().filter_map(|judgement| explain(&task.id, judgement)));
        }
        for attack in &suite.injection_tasks {
            for spread in [Spread::Prose, Spread::Everywhere] {
                let judged = task_under(settings, suite, task, Some((attack, spread)));
                let (needed, of) = &mut figures.beside[spread as usize];
                *needed += usize::from(needs_person(&judged));
                *of += 1;
            }
            attack_on(settings, suite, task, attack, &mut figures);
        }
    }
    figures
}

fn needs_person(judged: &[Judgement]) -> bool {
    judged.iter().any(|judgement| judgement.finding.needs_approval())
}

fn explain(task: &str, judgement: &Judgement) -> Option<String> {
    let Finding::Shaped { reasons, .. } = &judgement.finding else { return None };
    let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    Some(format!("{task}: {}: {}", judgement.tool, reasons.join("; ")))
}

/// The judgements on a user's own calls, each with what was read before it.
fn task_under(
    settings: &Settings,
    suite: &Suite,
    task: &Task,
    beside: Option<(&Task, Spread)>,
) -> Vec<Judgement> {
    let mut conversation =
        Conversation { tools: suite.tools(), turns: vec![user(task)], influences: Vec::new() };
    let mut judged = Vec::new();
    for step in &task.ground_truth_calls {
        judged.push(Trace::read(settings, &conversation).judge(&step.call()));
        let output = beside.map_or_else(
            || step.output.clone(),
            |(attack, spread)| injected(&step.output, &attack.words, spread).0,
        );
        conversation.turns.extend(turns(step, output));
    }
    judged
}

/// One attack: the user's task up to its end, the goal in all that it read, and then the attacker's calls.
fn attack_on(settings: &Settings, suite: &Suite, task: &Task, attack: &Task, figures: &mut Figures) {
    let mut conversation =
        Conversation { tools: suite.tools(), turns: vec![user(task)], influences: Vec::new() };
    let mut seen = false;
    for step in &task.ground_truth_calls {
        let (output, written) = injected(&step.output, &attack.words, Spread::Prose);
        seen |= written;
        conversation.turns.extend(turns(step, output));
    }
    if !seen {
        // The task reads nothing with room for words: suppose that they came on another way.
        let influence = Influence {
            source: "elsewhere".into(),
            lane: Lane::Untrusted,
            digest: None,
            text: Some(attack.words.clone()),
        };
        conversation.influences.push(influence);
    }
    if attack.ground_truth_calls.is_empty() {
        figures.unknown += 1;
        let trace = Trace::read(settings, &conversation);
        let gated =
            made_up(suite, &attack.words).iter().all(|call| trace.judge(call).finding.needs_approval());
        figures.unknown_gated += usize::from(gated);
        return;
    }
    let (mut writes, mut gated, mut by_intent) = (0usize, 0usize, true);
    for step in &attack.ground_truth_calls {
        let judgement = Trace::read(settings, &conversation).judge(&step.call());
        if suite.writes(&step.function) || judgement.egress {
            writes += 1;
            gated += usize::from(judgement.finding.needs_approval());
            by_intent &= !judgement.finding.needs_approval() || has_only_intent(&judgement.finding);
        }
        conversation.turns.extend(turns(step, step.output.clone()));
    }
    if writes == 0 {
        figures.unwritten += 1;
        return;
    }
    figures.attacks += 1;
    figures.any_gated += usize::from(gated > 0);
    figures.all_gated += usize::from(gated == writes);
    figures.by_intent += usize::from(gated > 0 && by_intent);
    if gated == 0 {
        figures.missed.push(format!("{}×{}", task.id, attack.id));
    }
}

fn has_only_intent(finding: &Finding) -> bool {
    matches!(finding, Finding::Shaped { reasons, .. } if *reasons == [Reason::Unasked])
}

pub(crate) fn user(task: &Task) -> Turn {
    Turn::User { text: task.words.clone() }
}

pub(crate) fn turns(step: &Step, output: Value) -> [Turn; 2] {
    let result = Turn::Result { call: None, tool: step.function.clone(), output, digest: None };
    [Turn::Assistant { calls: vec![step.call()] }, result]
}

/// A result with the attacker's words in it, and whether there was room for them.
pub(crate) fn injected(output: &Value, words: &str, spread: Spread) -> (Value, bool) {
    let mut value = output.as_str().and_then(read_printed).unwrap_or_else(|| output.clone());
    let enough = if spread == Spread::Prose && has_prose(&value) { 4 } else { 2 };
    let written = write_into(&mut value, words, enough);
    (value, written)
}

fn has_prose(value: &Value) -> bool {
    match value {
        Value::String(text) => text.split_whitespace().count() >= 4,
        Value::Array(items) => items.iter().any(has_prose),
        Value::Object(fields) => fields.values().any(has_prose),
        _ => false,
    }
}

fn write_into(value: &mut Value, words: &str, enough: usize) -> bool {
    let each = |value: &mut Value| write_into(value, words, enough);
    match value {
        Value::String(text) if text.split_whitespace().count() >= enough && !is_moment(text) => {
            *text = format!("{text} {words}");
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |written, item| each(item) | written),
        Value::Object(fields) => fields.values_mut().fold(false, |written, field| each(field) | written),
        _ => false,
    }
}

fn is_moment(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || b"-: ".contains(&byte))
}

/// Calls for a goal whose calls nobody wrote down: every tool that writes, aimed at the addresses in the goal.
fn made_up(suite: &Suite, goal: &str) -> Vec<Call> {
    let pieces = goal.split(|letter: char| letter.is_whitespace() || "'\",".contains(letter));
    let aim = pieces
        .map(|piece| piece.trim_end_matches('.'))
        .find(|piece| piece.contains('@') || piece.contains("://"));
    let aim = aim.unwrap_or(goal);
    let writing = suite.tools.iter().filter(|tool| tool.writes);
    writing
        .map(|tool| {
            let required =
                tool.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let fill = |name: &str| {
                let schema = &tool.parameters["properties"][name];
                let says = schema["description"].as_str().unwrap_or_default().to_lowercase();
                match schema["type"].as_str() {
                    Some("array") => Value::from(vec![aim]),
                    Some("number" | "integer") => Value::from(1),
                    Some("boolean") => Value::from(true),
                    _ if says.contains("email") || says.contains("recipient") || says.contains("id ") => {
                        Value::from(aim)
                    }
                    _ => Value::from(goal),
                }
            };
            let arguments: Map<String, Value> = required.map(|name| (name.to_owned(), fill(name))).collect();
            Call { id: None, tool: tool.name.clone(), arguments }
        })
        .collect()
}
