//! Tools as both of OpenAI's wires list them: functions, and tools that only the vendor has.

use serde_json::Value;

use crate::at::At;
use crate::request::{Refused, Request, Tool, ToolChoice};

/// Reads `tools` and `tool_choice`. The wires word a function and a choice each in their own way; a tool or a choice that
/// only the vendor knows stays as it was sent.
pub(crate) fn read(
    at: &At<'_>,
    request: &mut Request,
    kinds: &str,
    read_tool: impl Fn(&At<'_>, &mut Vec<String>) -> Result<Tool, Refused>,
    read_choice: impl Fn(&At<'_>) -> Result<Option<ToolChoice>, Refused>,
) -> Result<(), Refused> {
    let mut foreign = Vec::new();
    if let Some(tools) = at.get("tools") {
        for tool in tools.items()? {
            tool.object()?;
            match tool.need("type", kinds)?.text()? {
                "function" => request.tools.push(read_tool(&tool, &mut request.left_out)?),
                _ => foreign.push(tool.value.clone()),
            }
        }
    }
    if let Some(choice) = at.get("tool_choice") {
        match read_choice(&choice)? {
            Some(ToolChoice::Tool(name)) if !request.tools.iter().any(|tool| tool.name == name) => {
                return Err(choice.refused(&format!("names `{name}`, which is not in `tools`")));
            }
            Some(known) => request.tool_choice = Some(known),
            None => {
                request.extra.insert("tool_choice".to_owned(), choice.value.clone());
            }
        }
    }
    if !foreign.is_empty() {
        request.extra.insert("tools".to_owned(), Value::Array(foreign));
    }
    Ok(())
}
