//! `[providers]`: the models behind Punk.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "providers",
    doc: "The models behind Punk.",
    keys: &[
        Key::new(
            "providers.default",
            "PUNK_PROVIDER",
            Kind::Choice(&["mock", "openai", "anthropic", "openrouter"]),
            "Provider for models that name none; `mock` forces offline: no other provider is called.",
        )
        .or_inferred("from the keys that are set, `mock` without any"),
        Key::new("providers.openai.api_key", "OPENAI_API_KEY", Kind::Token, "Key for the OpenAI API.")
            .secret_or_reference(),
        Key::new(
            "providers.openai.base_url",
            "OPENAI_BASE_URL",
            Kind::Url(&["http", "https"]),
            "OpenAI or any compatible endpoint.",
        )
        .or("https://api.openai.com/v1"),
        Key::new(
            "providers.anthropic.api_key",
            "ANTHROPIC_API_KEY",
            Kind::Token,
            "Key for the Anthropic API.",
        )
        .secret_or_reference(),
        Key::new(
            "providers.anthropic.base_url",
            "ANTHROPIC_BASE_URL",
            Kind::Url(&["http", "https"]),
            "Anthropic or a compatible endpoint.",
        )
        .or("https://api.anthropic.com"),
        Key::new("providers.openrouter.api_key", "OPENROUTER_API_KEY", Kind::Token, "Key for OpenRouter.")
            .secret_or_reference(),
        Key::new(
            "providers.openrouter.base_url",
            "OPENROUTER_BASE_URL",
            Kind::Url(&["http", "https"]),
            "OpenRouter endpoint, with or without `/v1`.",
        )
        .or("https://openrouter.ai/api"),
        Key::new(
            "providers.openrouter.site_url",
            "OPENROUTER_SITE_URL",
            Kind::Url(&["http", "https"]),
            "Address that OpenRouter attributes calls to.",
        )
        .or_same_as("server.base_url"),
        Key::new(
            "providers.openrouter.app_name",
            "OPENROUTER_APP_NAME",
            Kind::Text,
            "Name that OpenRouter attributes calls to.",
        )
        .or("Punk Chorus"),
        Key::new(
            "providers.mock.pace",
            "PUNK_MOCK_PACE",
            Kind::Choice(&["realistic", "instant"]),
            "How the built-in mock streams: with the pauses of a model, or without any.",
        )
        .or("realistic"),
    ],
};
