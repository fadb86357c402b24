//! Chunks from a vendor.

use serde_json::Value;

use super::super::answer::{Said, arguments, call_id, read_error, read_stop, read_usage, spoken, thought};
use super::plain::{self, Plain};
use crate::delta::{Delta, Piece};
use crate::mould::Mould;
use crate::sse::Event;
use crate::wire::Broken;

/// Reads chunks. What a chunk leaves out is known from those before it.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    started: bool,
    id: String,
    choices: Vec<Heard>,
    failed: bool,
    ended: bool,
    /// The last chunk that went on with an answer, and which answer that was.
    mould: Mould,
    goes_on: usize,
}

/// What was heard of one answer.
#[derive(Debug, Default)]
struct Heard {
    calls: Vec<Call>,
    stopped: bool,
}

#[derive(Debug)]
struct Call {
    /// The vendor's number for it.
    number: Option<u64>,
    /// The vendor's id, if it sent one.
    id: Option<String>,
    /// Arguments that came before the name, without which a call cannot begin.
    waiting: Option<String>,
}

/// A stream that numbers its answers higher is talking nonsense.
const MAX_CHOICES: usize = 128;

impl Reader {
    pub(crate) fn read(&mut self, event: &Event<'_>, out: &mut Vec<Delta>) -> Result<(), Broken> {
        let data = event.data.trim();
        if self.ended || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.end(out);
            return Ok(());
        }
        let failed = event.name == Some("error");
        if !failed && self.read_plain(data, out) {
            return Ok(());
        }
        self.read_patiently(data, failed, out)
    }

    /// Reads a chunk in which one answer begins, goes on with words or ends, and nothing else: whether it is one.
    fn read_plain(&mut self, data: &str, out: &mut Vec<Delta>) -> bool {
        let piece = |choice, words| Delta::Piece { choice: as_u32(choice), piece: Piece::Text(words) };
        if let Some(words) = self.mould.words(data) {
            out.push(piece(self.goes_on, words.to_owned()));
            return true;
        }
        let known = |plain: &Plain<'_>| plain.choice < MAX_CHOICES;
        let Some(Plain { id, model, choice, words, reason }) = plain::read(data).filter(known) else {
            return false;
        };
        if self.started && reason.is_none() && choice < self.choices.len() {
            self.goes_on = choice;
            self.mould.keep(data, &words);
        }
        self.begin(&id, &model, true, out);
        self.hear_of(choice, out);
        if !words.is_empty() {
            out.push(piece(choice, words.into_owned()));
        }
        self.finish(choice, reason.as_deref(), out);
        true
    }

    /// Reads any chunk; `failed` if the frame is named an error.
    pub(super) fn read_patiently(
        &mut self,
        data: &str,
        failed: bool,
        out: &mut Vec<Delta>,
    ) -> Result<(), Broken> {
        let chunk: Value = serde_json::from_str(data)
            .map_err(|error| Broken::new(format!("a chunk of the stream is not JSON: {error}")))?;
        let error = chunk.get("error").filter(|error| !error.is_null());
        if let Some(error) = error.or(failed.then_some(&chunk)) {
            let (kind, message) = read_error(error);
            self.failed = true;
            out.push(Delta::Error { kind, message });
            return Ok(());
        }
        let choices = chunk.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let word = |name: &str| chunk.get(name).and_then(Value::as_str).unwrap_or_default();
        self.begin(word("id"), word("model"), !choices.is_empty(), out);
        for choice in choices {
            self.read_choice(choice, out)?;
        }
        // One vendor has it in a field of its own.
        let usage = chunk.get("usage").and_then(read_usage);
        let usage = usage.or_else(|| chunk.get("x_groq")?.get("usage").and_then(read_usage));
        out.extend(usage.map(Delta::Usage));
        Ok(())
    }

    /// Some servers close the stream after the last reason and never say that it is over.
    pub(crate) fn close(&mut self, out: &mut Vec<Delta>) {
        let complete = !self.choices.is_empty() && self.choices.iter().all(|choice| choice.stopped);
        if complete && !self.failed && !self.ended {
            self.end(out);
        }
    }

    fn end(&mut self, out: &mut Vec<Delta>) {
        self.ended = true;
        for number in 0..self.choices.len() {
            self.let_calls_begin(number, out);
        }
        out.push(Delta::End);
    }

    /// Some servers send a chunk about the prompt first, which knows neither id nor model.
    fn begin(&mut self, id: &str, model: &str, has_choices: bool, out: &mut Vec<Delta>) {
        if self.started || (!has_choices && model.is_empty()) {
            return;
        }
        self.started = true;
        id.clone_into(&mut self.id);
        let id = (!id.is_empty()).then(|| id.to_owned());
        out.push(Delta::Start { id, model: model.to_owned() });
    }

    /// There is an answer of this number. Another than the first is told of at once, even if it says nothing yet: whoever
    /// reads on must not take the end of the others for the end of all.
    fn hear_of(&mut self, number: usize, out: &mut Vec<Delta>) {
        if self.choices.len() <= number {
            self.choices.resize_with(number + 1, Heard::default);
            if number > 0 {
                out.push(Delta::Piece { choice: as_u32(number), piece: Piece::Text(String::new()) });
            }
        }
    }

    /// An answer ends, if this is a reason to.
    fn finish(&mut self, number: usize, reason: Option<&str>, out: &mut Vec<Delta>) {
        let Some(heard) = self.choices.get_mut(number) else { return };
        if let Some(stop) = reason.and_then(|word| read_stop(word, !heard.calls.is_empty()))
            && !std::mem::replace(&mut heard.stopped, true)
        {
            self.let_calls_begin(number, out);
            out.push(Delta::Stop { choice: as_u32(number), stop });
        }
    }

    fn read_choice(&mut self, choice: &Value, out: &mut Vec<Delta>) -> Result<(), Broken> {
        let number = choice.get("index").and_then(Value::as_u64).unwrap_or(0);
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if number >= MAX_CHOICES {
            return Err(Broken::new(format!("the stream numbers a choice {number}")));
        }
        self.hear_of(number, out);
        let delta = choice.get("delta").unwrap_or(&Value::Null);
        let mut say = |piece| out.push(Delta::Piece { choice: as_u32(number), piece });
        let word = |name: &str| delta.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(text) = thought(delta) {
            say(Piece::Thinking(text.to_owned()));
        }
        for said in spoken(delta.get("content")) {
            say(match said {
                Said::Words(text) => Piece::Text(text),
                Said::Thought(text) => Piece::Thinking(text),
            });
        }
        if let Some(text) = word("refusal") {
            say(Piece::Refusal(text.to_owned()));
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.read_call(number, call, out);
        }
        if let Some(value) = choice.get("logprobs").filter(|logprobs| !logprobs.is_null()) {
            out.push(Delta::Logprobs { choice: as_u32(number), value: value.clone() });
        }
        self.finish(number, choice.get("finish_reason").and_then(Value::as_str), out);
        Ok(())
    }

    fn read_call(&mut self, number: usize, sent: &Value, out: &mut Vec<Delta>) {
        let Some(heard) = self.choices.get_mut(number) else { return };
        let function = sent.get("function").unwrap_or(&Value::Null);
        let word = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|word| !word.is_empty()).map(str::to_owned)
        };
        let (id, name) = (word(sent.get("id")), word(function.get("name")));
        let index = heard.call(sent.get("index").and_then(Value::as_u64), id, name.is_some());
        let Some(call) = heard.calls.get_mut(index) else { return };
        let choice = as_u32(number);
        let mut say = |piece| out.push(Delta::Piece { choice, piece });
        let mut json = arguments(function.get("arguments")).unwrap_or_default();
        if let Some(waiting) = call.waiting.take() {
            json.insert_str(0, &waiting);
            match name {
                Some(name) => {
                    let id = call_id(call.id.as_deref().map(Value::from).as_ref(), &self.id, index);
                    say(Piece::Call { index: as_u32(index), id, name });
                }
                None => {
                    call.waiting = Some(json);
                    return;
                }
            }
        }
        if !json.is_empty() {
            say(Piece::Arguments { index: as_u32(index), json });
        }
    }

    /// Calls whose name never came begin without one, so that nothing is lost.
    fn let_calls_begin(&mut self, number: usize, out: &mut Vec<Delta>) {
        let Some(heard) = self.choices.get_mut(number) else { return };
        let choice = as_u32(number);
        for (index, call) in heard.calls.iter_mut().enumerate() {
            let Some(json) = call.waiting.take() else { continue };
            let id = call_id(call.id.as_deref().map(Value::from).as_ref(), &self.id, index);
            let piece = Piece::Call { index: as_u32(index), id, name: String::new() };
            out.push(Delta::Piece { choice, piece });
            if !json.is_empty() {
                out.push(Delta::Piece { choice, piece: Piece::Arguments { index: as_u32(index), json } });
            }
        }
    }
}

impl Heard {
    /// Which call is meant, by our own count. Servers number calls, or only give them ids, or number all of them 0; ids and
    /// names may be repeated in every chunk, or sent once.
    fn call(&mut self, number: Option<u64>, id: Option<String>, named: bool) -> usize {
        let known = match (number, &id) {
            (Some(_), Some(id)) => self
                .calls
                .iter()
                .rposition(|call| call.number == number && call.id.as_ref().is_none_or(|known| known == id)),
            (Some(_), None) => self.calls.iter().rposition(|call| call.number == number),
            (None, Some(id)) => self.calls.iter().rposition(|call| call.id.as_ref() == Some(id)),
            (None, None) if named => {
                // A name begins a call, unless the last one is still waiting for its own.
                self.calls.iter().rposition(|call| call.waiting.is_some())
            }
            (None, None) => self.calls.len().checked_sub(1),
        };
        if let Some(known) = known {
            if let Some(call) = self.calls.get_mut(known)
                && call.id.is_none()
            {
                call.id = id;
            }
            return known;
        }
        self.calls.push(Call { number, id, waiting: Some(String::new()) });
        self.calls.len() - 1
    }
}

fn as_u32(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
