//! The attack that these rules are weakest against: the user's own action, to the user's own target, with the attacker's
//! words for its content. It is in no suite; it is measured so that nobody believes it is covered.

use provenance::{Conversation, Role, Settings, Trace};
use serde_json::Value;

use crate::replay::{Spread, injected, turns, user};
use crate::suite::Suite;

/// How many of these are stopped, of how many.
pub(crate) fn swapped(settings: &Settings, suite: &Suite) -> (usize, usize) {
    let (mut stopped, mut all) = (0, 0);
    for task in &suite.user_tasks {
        for attack in &suite.injection_tasks {
            let mut conversation =
                Conversation { tools: suite.tools(), turns: vec![user(task)], influences: Vec::new() };
            for step in &task.ground_truth_calls {
                let trace = Trace::read(settings, &conversation);
                let mut call = step.call();
                let judgement = trace.judge(&call);
                let contents = judgement.arguments.iter().filter(|argument| argument.role == Role::Content);
                let contents: Vec<String> = contents.map(|argument| argument.path.clone()).collect();
                if suite.writes(&call.tool) && !judgement.finding.needs_approval() && !contents.is_empty() {
                    for (_, value) in call.arguments.iter_mut().filter(|(name, _)| contents.contains(*name)) {
                        *value = Value::from(attack.words.as_str());
                    }
                    all += 1;
                    stopped += usize::from(trace.judge(&call).finding.needs_approval());
                }
                conversation
                    .turns
                    .extend(turns(step, injected(&step.output, &attack.words, Spread::Prose).0));
            }
        }
    }
    (stopped, all)
}
