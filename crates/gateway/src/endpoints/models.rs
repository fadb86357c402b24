//! Models, in the shapes that vendors' clients speak.

use ::identity::Permission;
use http::{Method, StatusCode};

use super::GATEWAY;
use crate::endpoint::{Content, Endpoint};
use crate::{call, models};

pub(super) fn gateway() -> Vec<Endpoint> {
    vec![
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/chat/completions", "createChatCompletion", call::chat))
            .summary("Ask a model, as OpenAI's chat completions do")
            .takes_object(
                &["model", "messages"],
                r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Where is my parcel?"}]}"#,
            )
            .answers_with(StatusCode::OK, "The answer, in OpenAI's shape.", Content::ObjectOrStream(&["id", "choices"])),
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/responses", "createResponse", call::responses))
            .summary("Ask a model, as OpenAI's responses do")
            .takes_object(&["model", "input"], r#"{"model":"gpt-4o","input":"Where is my parcel?"}"#)
            .answers_with(StatusCode::OK, "The answer, in OpenAI's shape.", Content::ObjectOrStream(&["id", "output"])),
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/messages", "createMessage", call::messages))
            .summary("Ask a model, as Anthropic's messages do")
            .takes_object(
                &["model", "max_tokens", "messages"],
                r#"{"model":"claude-sonnet-4-5","max_tokens":300,"messages":[{"role":"user","content":"Where is my parcel?"}]}"#,
            )
            .answers_with(StatusCode::OK, "The answer, in Anthropic's shape.", Content::ObjectOrStream(&["id", "content"])),
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/messages/count_tokens", "countTokens", call::count::create))
            .summary("Count the tokens of a request, as Anthropic does")
            .takes_object(
                &["model", "messages"],
                r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Where is my parcel?"}]}"#,
            )
            .answers_with(StatusCode::OK, "The count.", Content::Object(&["input_tokens"])),
        asks(Endpoint::new(GATEWAY, Method::POST, "/v1/embeddings", "createEmbedding", call::embeddings::create))
            .summary("Turn texts into vectors, as OpenAI does")
            .takes_object(&["model", "input"], r#"{"model":"text-embedding-3-small","input":"Where is my parcel?"}"#)
            .answers_with(StatusCode::OK, "The vectors.", Content::Object(&["data", "usage"])),
        Endpoint::new(GATEWAY, Method::GET, "/v1/models", "listModels", models::list)
            .needs(Permission::GatewayCall)
            .summary("List the models that are served")
            .answers_with(StatusCode::OK, "The models.", Content::Object(&["data"])),
        Endpoint::new(GATEWAY, Method::GET, "/v1/models/{model}", "getModel", models::show)
            .needs(Permission::GatewayCall)
            .summary("Look at one model")
            .param::<String>("model", "The name of a model.")
            .answers_with(StatusCode::OK, "The model.", Content::Object(&["id"])),
    ]
}

/// An endpoint that asks a model: whatever the upstream answers may come of it.
fn asks(endpoint: Endpoint) -> Endpoint {
    let upstream = [
        StatusCode::NOT_FOUND,
        StatusCode::CONFLICT,
        StatusCode::UNPROCESSABLE_ENTITY,
        StatusCode::BAD_GATEWAY,
        StatusCode::GATEWAY_TIMEOUT,
    ];
    upstream.into_iter().fold(endpoint.needs(Permission::GatewayCall), Endpoint::may_refuse)
}
