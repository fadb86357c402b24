//! The event that most of a stream is made of: a few more words of one text, and nothing else.
//!
//! It is read without building the JSON it is written in. Whatever is not exactly that is left to the patient reader.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    index: u64,
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// Which block goes on, and how; `None` if there is more to it.
pub(super) fn read(data: &str) -> Option<(u64, Cow<'_, str>)> {
    let Event { kind, index, delta } = serde_json::from_str(data).ok()?;
    let plain = kind == "content_block_delta" && delta.kind == "text_delta" && !delta.text.is_empty();
    plain.then_some((index, delta.text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::messages::stream::Reader;
    use crate::sse::Event;

    #[test]
    fn an_event_as_anthropic_sends_it_is_read_the_quick_way() {
        let event = r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a\nb"}}"#;
        assert_eq!(super::read(event), Some((1, "a\nb".into())));
        assert_eq!(super::read(&event.replace("text_delta", "thinking_delta")), None);
    }

    const EVENTS: [&str; 14] = [
        r#"{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"b"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"one "}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"two "}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\"é\n"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"three "}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x","type":"y"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"ping"}"#,
    ];

    proptest! {
        #[test]
        fn the_quick_way_hears_what_the_patient_way_hears(
            events in prop::collection::vec(prop::sample::select(&EVENTS[..]), 0..30),
        ) {
            let (mut quick, mut patient) = (Reader::default(), Reader::default());
            let (mut heard, mut expected) = (Vec::new(), Vec::new());
            for data in events {
                let event = Event { name: None, data };
                let quickly = quick.read(&event, &mut heard).is_ok();
                let patiently = patient.read_patiently(&event, &mut expected).is_ok();
                prop_assert_eq!(quickly, patiently);
                prop_assert_eq!(&heard, &expected);
            }
        }
    }
}
