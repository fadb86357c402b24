//! Addresses that are as good as keys: with a password in them, or of a hook that anybody may call.

use crate::detector::{Class, Detector, LOOK_AHEAD, Sight, Trigger, View};
use crate::scan::word_start;

/// `scheme://user:password@host`.
pub(crate) const DETECTOR: Detector = Detector {
    rule: "address-with-password",
    class: Class::ConnectionString,
    trigger: Trigger::Byte(b'@'),
    look,
};

/// Hooks into which anybody who knows the address can write.
pub(crate) const WEBHOOK: Detector = Detector {
    rule: "webhook",
    class: Class::Secret,
    trigger: Trigger::Word(&[
        "hooks.slack.com",
        "webhook.office.com",
        "discord.com",
        "discordapp.com",
        "api.telegram.org",
        "hooks.zapier.com",
        "chat.googleapis.com",
    ]),
    look: webhook,
};

fn look(view: View<'_>) -> Sight {
    let start = word_start(view.text, view.at);
    let word = &view.text[start..view.at];
    let Some(scheme_end) = memchr::memmem::rfind(word, b"://") else { return Sight::Nothing };
    let scheme = word[..scheme_end]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
        .count();
    let user = &word[scheme_end + 3..];
    let Some(colon) = user.iter().position(|byte| *byte == b':') else { return Sight::Nothing };
    let password = &user[colon + 1..];
    // `https://host:8080/path@version`
    let digits = password.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_port = password.get(digits).is_some_and(|next| matches!(next, b'/' | b'?'));
    if scheme < 2 || password.is_empty() || is_port || user[..colon].contains(&b'/') || is_template(password)
    {
        return Sight::Nothing;
    }
    let end = view.at + view.text[view.at..].iter().take_while(|byte| in_address(**byte)).count();
    if end == view.text.len() && !view.ended && end - view.at < LOOK_AHEAD {
        return Sight::Wait;
    }
    Sight::Found {
        range: start + scheme_end - scheme..end,
        class: Class::ConnectionString,
        rule: "address-with-password",
    }
}

fn webhook(view: View<'_>) -> Sight {
    let end = view.at + view.text[view.at..].iter().take_while(|byte| in_address(**byte)).count();
    if end == view.text.len() && !view.ended && end - view.at < LOOK_AHEAD {
        return Sight::Wait;
    }
    let address = &view.text[view.at..end];
    let path = address.iter().position(|byte| *byte == b'/').map_or(&[][..], |slash| &address[slash..]);
    let hook = [
        &b"/services/"[..],
        b"/workflows/",
        b"/triggers/",
        b"/webhookb2/",
        b"/api/webhooks/",
        b"/bot",
        b"/hooks/",
        b"/v1/spaces/",
    ]
    .iter()
    .any(|part| path.starts_with(part));
    if !hook || path.len() < 30 || path.iter().filter(|byte| byte.is_ascii_digit()).count() < 2 {
        return Sight::Nothing;
    }
    let start = word_start(view.text, view.at);
    let scheme = memchr::memmem::rfind(&view.text[start..view.at], b"http").map_or(view.at, |at| start + at);
    Sight::Found { range: scheme..end, class: Class::Secret, rule: "webhook" }
}

/// What an address can go on with.
fn in_address(byte: u8) -> bool {
    !byte.is_ascii_whitespace()
        && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b')' | b']' | b'}' | b'|')
}

/// What is filled in later: nobody's password looks like this.
pub(crate) fn is_template(value: &[u8]) -> bool {
    let placeholder = |byte: &u8| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_');
    let begins = |beginnings: &[&[u8]]| beginnings.iter().any(|beginning| value.starts_with(beginning));
    value.iter().all(placeholder)
        || begins(&[b"$", b"{", b"<", b"[", b"%s", b"%(", b"%{", b"***"])
        || value.contains(&0xE2)
        || is_request(value)
}

/// `your-key-here`, and what else asks the reader for a value.
fn is_request(value: &[u8]) -> bool {
    let mut folded = [0; 64];
    let Some(folded) = folded.get_mut(..value.len()) else { return false };
    folded.copy_from_slice(value);
    folded.make_ascii_lowercase();
    folded.starts_with(b"changeme")
        || folded.starts_with(b"change-me")
        || folded.starts_with(b"change_me")
        || [&b"your"[..], b"my", b"insert", b"put"].iter().any(|word| {
            let rest = folded.strip_prefix(*word);
            rest.is_some_and(|rest| {
                matches!(rest, [b'-' | b'_', ..])
                    && (*word == b"your" || rest.ends_with(b"here"))
                    && !rest.iter().any(u8::is_ascii_digit)
            })
        })
}

/// What documentation writes in place of a password.
pub(crate) fn is_stand_in(value: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "token",
        "user",
        "username",
        "changeme",
        "example",
        "none",
        "null",
        "true",
        "false",
        "undefined",
        "string",
        "required",
        "optional",
        "empty",
        "redacted",
        "masked",
        "hidden",
        "unknown",
        "test",
        "value",
        "yourpassword",
        "your_password",
        "your-password",
        "mypassword",
        "my_password",
    ];
    is_template(value) || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}
