//! `[mcp]`: the MCP server process.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "mcp",
    doc: "The MCP server process, a client of a gateway.",
    keys: &[
        Key::new(
            "mcp.gateway_url",
            "PUNK_GATEWAY_URL",
            Kind::Url(&["http", "https"]),
            "Gateway that the MCP server talks to.",
        )
        .or("http://localhost:4100")
        .reserved("the MCP server"),
        Key::new(
            "mcp.api_key",
            "PUNK_MCP_API_KEY",
            Kind::Token,
            "Key that the MCP server presents to the gateway.",
        )
        .secret()
        .reserved("the MCP server"),
    ],
};
