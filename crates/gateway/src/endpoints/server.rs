//! Whether the process is well, and what it shows to people.

use http::{Method, StatusCode};

use super::SERVER;
use crate::endpoint::{Content, Endpoint};
use crate::{dashboard, docs, health, openapi};

pub(super) fn server() -> Vec<Endpoint> {
    vec![
        Endpoint::new(SERVER, Method::GET, "/", "getDashboard", dashboard::page)
            .summary("The dashboard, for people")
            .about("Its page and files say nothing about anybody; what it shows it asks for, as whoever looks at it.")
            .answers_with(StatusCode::OK, "A page.", Content::Other("text/html")),
        Endpoint::new(SERVER, Method::GET, "/assets/{*path}", "getAsset", dashboard::file)
            .summary("What the dashboard is made of")
            .param::<String>("path", "The path of a file of it.")
            .answers_with(
                StatusCode::OK,
                "A style sheet, a script, a picture.",
                Content::Others(&["text/css", "text/javascript", "image/svg+xml", "font/woff2"]),
            ),
        Endpoint::new(SERVER, Method::GET, "/health", "getHealth", health::show)
            .summary("Whether the process is there")
            .answers::<health::Health>("It is."),
        Endpoint::new(SERVER, Method::GET, "/ready", "getReady", health::ready)
            .summary("Whether a request would be recorded now")
            .answers::<health::Ready>("It would.")
            .may_refuse(StatusCode::SERVICE_UNAVAILABLE)
            .may_refuse(StatusCode::INSUFFICIENT_STORAGE)
            .may_refuse(StatusCode::INTERNAL_SERVER_ERROR),
        Endpoint::new(SERVER, Method::GET, "/metrics", "getMetrics", health::metrics)
            .summary("What was counted, for Prometheus")
            .answers_with(
                StatusCode::OK,
                "OpenMetrics text.",
                Content::Other("application/openmetrics-text"),
            ),
        Endpoint::new(SERVER, Method::GET, "/api/v1/openapi.json", "getOpenApi", openapi::show)
            .summary("This document")
            .answers_with(
                StatusCode::OK,
                "The OpenAPI 3.1 document.",
                Content::Object(&["openapi", "paths"]),
            ),
        Endpoint::new(SERVER, Method::GET, "/docs", "getDocs", docs::page)
            .summary("The documentation, for people")
            .answers_with(StatusCode::OK, "A page.", Content::Other("text/html")),
        Endpoint::new(SERVER, Method::GET, "/docs/{*path}", "getDocsPage", docs::file)
            .summary("A page of it; `/docs/api` is this document, for people")
            .param::<String>("path", "The path of a page, such as `how-to/policies`.")
            .answers_with(
                StatusCode::OK,
                "A page, a style sheet or a script.",
                Content::Others(&["text/html", "text/css", "text/javascript"]),
            ),
    ]
}
