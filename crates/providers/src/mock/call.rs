//! Tools: whether one is to be called, which, and with what.

use wire::{Request, Role, Tool, ToolCall, ToolChoice};

use super::facts::{Kind, facts};
use super::prompt::Prompt;
use super::text::stems;
use super::{fill, hash, may_call};

/// The calls that the request leads to; none when it is to be answered in words.
pub(super) fn calls(request: &Request, prompt: &Prompt<'_>) -> Vec<ToolCall> {
    let forced = matches!(request.tool_choice, Some(ToolChoice::Required | ToolChoice::Tool(_)));
    let turn = request.messages.last().is_some_and(|message| message.role == Role::User);
    if !may_call(request)
        || !turn
        || (!forced && (!prompt.results.is_empty() || prompt.asked.trim().is_empty()))
    {
        return Vec::new();
    }
    let tools: Vec<&Tool> = match &request.tool_choice {
        Some(ToolChoice::Tool(name)) => request.tools.iter().filter(|tool| tool.name == *name).collect(),
        _ => request.tools.iter().collect(),
    };
    let several = request.parallel_tool_calls != Some(false);
    let mut wanted = if several { separate(&tools, &prompt.asked) } else { Vec::new() };
    if wanted.len() < 2 {
        wanted = one(&tools, &prompt.asked, forced).into_iter().collect();
    }
    let calls = wanted.into_iter().enumerate().map(|(place, (tool, arguments))| {
        let seed = format!("{}\n{}\n{place}\n{arguments}", prompt.asked, tool.name);
        ToolCall { id: format!("call_{:016x}", hash(seed.as_bytes())), name: tool.name.clone(), arguments }
    });
    calls.collect()
}

/// One call, of the tool that fits best.
fn one<'t>(tools: &[&'t Tool], asked: &str, forced: bool) -> Option<(&'t Tool, String)> {
    let (tool, _) = best(tools, asked).filter(|(_, fit)| forced || *fit >= ENOUGH).or_else(|| {
        let first = *tools.first().filter(|_| forced)?;
        Some((first, 0.0))
    })?;
    Some((tool, fill::arguments(tool.parameters.as_ref(), asked).0.to_string()))
}

/// Calls that the text asks for one by one: a clause each, or a name each of a list.
fn separate<'t>(tools: &[&'t Tool], asked: &str) -> Vec<(&'t Tool, String)> {
    let complete = |text: &str| {
        let (tool, _) = best(tools, text).filter(|(_, fit)| *fit >= ENOUGH)?;
        let (arguments, all) = fill::arguments(tool.parameters.as_ref(), text);
        all.then(|| (tool, arguments.to_string()))
    };
    let clauses: Option<Vec<_>> = clauses(asked).into_iter().map(complete).collect();
    let clauses = clauses.unwrap_or_default();
    let mut distinct = clauses.clone();
    distinct.dedup_by(|a, b| a.0.name == b.0.name && a.1 == b.1);
    if distinct.len() >= 2 && distinct.len() == clauses.len() {
        return clauses;
    }
    let listed: Option<Vec<_>> = listed(asked).iter().map(|text| complete(text)).collect();
    let listed = listed.unwrap_or_default();
    let differ = listed.windows(2).all(|pair| pair[0].1 != pair[1].1);
    if differ { listed } else { Vec::new() }
}

/// The parts of a text that may each ask for something.
fn clauses(text: &str) -> Vec<&str> {
    let sentences = super::text::sentences(text);
    let parts = sentences.into_iter().flat_map(|sentence| sentence.split("; "));
    let parts = parts.flat_map(|part| part.split(" and then ")).flat_map(|part| part.split(", and "));
    let parts: Vec<&str> =
        parts.flat_map(|part| part.split(" and ")).map(str::trim).filter(|part| !part.is_empty()).collect();
    if (2..=8).contains(&parts.len()) { parts } else { Vec::new() }
}

/// The text with one of its listed names at a time: "the weather in Paris and Rome" is about Paris, and about Rome.
fn listed(text: &str) -> Vec<String> {
    let facts = facts(text);
    let names: Vec<_> = facts.iter().filter(|fact| matches!(fact.kind, Kind::Name | Kind::Quoted)).collect();
    let mut run: Vec<_> = names.first().into_iter().copied().collect();
    for pair in names.windows(2) {
        let between = text.get(pair[0].end..pair[1].start).map(str::trim);
        if matches!(between, Some("," | "and" | ", and" | "&")) {
            run.push(pair[1]);
        } else if run.len() >= 2 {
            break;
        } else {
            run = vec![pair[1]];
        }
    }
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return Vec::new() };
    if !(2..=8).contains(&run.len()) {
        return Vec::new();
    }
    run.iter()
        .map(|name| format!("{}{}{}", &text[..first.start], &text[name.start..name.end], &text[last.end..]))
        .collect()
}

/// How well a tool has to fit to be called unasked: a word of its name, or several of its description.
const ENOUGH: f64 = 1.0;

/// The tool that fits a text best, and how well; of equals the first.
fn best<'t>(tools: &[&'t Tool], text: &str) -> Option<(&'t Tool, f64)> {
    let said = stems(text);
    let mut best: Option<(&Tool, f64)> = None;
    for tool in tools {
        let hits = |words: &[String]| words.iter().filter(|word| said.contains(word)).count() as f64;
        let name = stems(&tool.name);
        let about = stems(tool.description.as_deref().unwrap_or_default());
        let parameters = tool.parameters.as_ref().and_then(|schema| schema.get("properties")?.as_object());
        let parameters: Vec<String> = parameters
            .into_iter()
            .flatten()
            .flat_map(|(name, schema)| {
                let choices = schema.get("enum").and_then(|choices| choices.as_array()).into_iter().flatten();
                let choices = choices.filter_map(|choice| choice.as_str()).flat_map(stems);
                stems(name).into_iter().chain(choices).collect::<Vec<_>>()
            })
            .collect();
        let share =
            |words: &[String]| if words.is_empty() { 0.0 } else { hits(words) / (words.len() as f64).sqrt() };
        let fit = 1.5 * share(&name) + share(&about) + 0.3 * share(&parameters);
        if best.is_none_or(|(_, known)| fit > known + 1e-9) {
            best = Some((tool, fit));
        }
    }
    best
}
