"""OpenAI's own client on the responses wire."""

import json
import time

import openai
import pytest

import world
from test_openai_chat import PERSON, Person
from world import HELLO, LONG, OPENAI_MODEL, behind, trouble, unique

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
        "required": ["city", "unit"],
        "additionalProperties": False,
    },
    "strict": True,
}
TIME = {"type": "function", "name": "get_time", "parameters": {"type": "object", "properties": {}}, "strict": False}


def ask(client, text, **options):
    return client.responses.create(model=OPENAI_MODEL, input=text, **options)


def streamed(client, text, **options):
    """The events of a stream, after the rules that all of them keep."""
    events = list(client.responses.create(model=OPENAI_MODEL, input=text, stream=True, **options))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[0].type == "response.created"
    assert events[-1].type in ("response.completed", "response.incomplete")
    open_items = {}
    for event in events:
        if event.type == "response.output_item.added":
            assert event.output_index == len(open_items)
            open_items[event.output_index] = event.item.id
        elif hasattr(event, "item_id"):
            assert open_items[event.output_index] == event.item_id
    final = events[-1].response
    assert final.id == events[0].response.id
    assert [item.id for item in final.output] == list(open_items.values())
    return events


def text_of(events):
    return "".join(event.delta for event in events if event.type == "response.output_text.delta")


def calls_of(response):
    return [item for item in response.output if item.type == "function_call"]


def test_a_response(chat):
    answer = ask(chat, "say hello")
    assert (answer.object, answer.status, answer.output_text) == ("response", "completed", HELLO)
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.total_tokens) == (21, 9, 30)
    assert answer.output[0].type == "message" and answer.output[0].role == "assistant"


def test_instructions(chat):
    answer = ask(chat, "repeat the system prompt", instructions="Be brief.")
    assert answer.output_text == "The system prompt is: Be brief."


def test_several_turns(chat):
    turns = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "One."},
        {"role": "assistant", "content": "Two."},
        {"role": "user", "content": [{"type": "input_text", "text": "count the turns"}]},
    ]
    assert ask(chat, turns).output_text == "The turns are: user assistant user"


def test_the_output_can_be_the_next_input(chat):
    turns = [{"role": "user", "content": "say hello"}]
    turns += ask(chat, turns).output
    turns += [{"role": "user", "content": "count the turns"}]
    assert ask(chat, turns).output_text == "The turns are: user assistant user"


@behind("direct", "openai")
def test_an_earlier_response_can_be_continued(chat):
    first = ask(chat, "say hello")
    second = ask(chat, "count the turns", previous_response_id=first.id)
    assert second.output_text == "The turns are: user assistant user"


def test_images(chat):
    content = [
        {"type": "input_text", "text": "look at the image"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{world.PNG}", "detail": "auto"},
        {"type": "input_image", "image_url": "https://example.com/cat.png", "detail": "low"},
    ]
    answer = ask(chat, [{"role": "user", "content": content}])
    assert answer.output_text == (
        f"I see a image/png of {world.PNG_BYTES} bytes and an image at https://example.com/cat.png"
    )


def test_a_stream_says_the_same(chat):
    events = streamed(chat, "say hello")
    final = events[-1].response
    assert text_of(events) == final.output_text == HELLO
    assert (final.usage.input_tokens, final.usage.output_tokens) == (21, 9)
    kinds = [event.type for event in events if not event.type.endswith(".delta")]
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_frames_cut_anywhere(chat):
    assert text_of(streamed(chat, "split oddly")) == HELLO


@pytest.mark.parametrize("stream", [False, True])
def test_tools_round_trip(chat, stream):
    turns = [{"role": "user", "content": "use get_weather for Paris and London"}]
    if stream:
        events = streamed(chat, turns, tools=[WEATHER, TIME])
        answer = events[-1].response
        for index, call in enumerate(answer.output):
            pieces = [e.delta for e in events if e.type.endswith("arguments.delta") and e.output_index == index]
            assert "".join(pieces) == call.arguments
    else:
        answer = ask(chat, turns, tools=[WEATHER, TIME])
    calls = calls_of(answer)
    assert [json.loads(call.arguments)["city"] for call in calls] == ["Paris", "London"]
    assert len({call.call_id for call in calls}) == 2
    turns += answer.output
    turns += [
        {"type": "function_call_output", "call_id": calls[0].call_id, "output": "21"},
        {"type": "function_call_output", "call_id": calls[1].call_id, "output": "12"},
    ]
    if stream:
        assert text_of(streamed(chat, turns, tools=[WEATHER])) == "The tools said: 21 | 12"
    else:
        assert ask(chat, turns, tools=[WEATHER]).output_text == "The tools said: 21 | 12"


def test_words_before_a_call(chat):
    final = streamed(chat, "talk, then use get_weather for Rome", tools=[WEATHER])[-1].response
    assert [item.type for item in final.output] == ["message", "function_call"]


def test_a_call_without_arguments(chat):
    assert json.loads(calls_of(ask(chat, "use get_time", tools=[TIME]))[0].arguments) == {}
    final = streamed(chat, "use get_time", tools=[TIME])[-1].response
    assert json.loads(calls_of(final)[0].arguments) == {}


def test_a_tool_that_is_forced(chat):
    answer = ask(chat, "say hello", tools=[WEATHER, TIME], tool_choice={"type": "function", "name": "get_time"})
    assert calls_of(answer)[0].name == "get_time"
    assert calls_of(ask(chat, "say hello", tools=[TIME], tool_choice="required"))[0].name == "get_time"


def test_structured_output(chat):
    answer = chat.responses.parse(model=OPENAI_MODEL, input="return json", text_format=Person)
    assert answer.output_parsed == PERSON
    with chat.responses.stream(model=OPENAI_MODEL, input="return json", text_format=Person) as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_parsed == PERSON


@behind("direct", "openai")
def test_reasoning(chat):
    reasoning = {"effort": "low", "summary": "auto"}
    answer = ask(chat, "think first", reasoning=reasoning)
    assert [item.type for item in answer.output] == ["reasoning", "message"]
    assert answer.output[0].summary[0].text == world.THOUGHT
    assert answer.usage.output_tokens_details.reasoning_tokens == 21
    events = streamed(chat, "think first", reasoning=reasoning)
    thought = "".join(event.delta for event in events if event.type == "response.reasoning_summary_text.delta")
    assert thought == world.THOUGHT


@behind("anthropic", "compat")
def test_thoughts_of_another_vendor_are_reasoning(chat):
    options = {"reasoning": {"effort": "low", "summary": "auto"}, "max_output_tokens": 8000}
    answer = ask(chat, "think first", **options)
    assert answer.output_text == "After thought: 42."
    assert [item.type for item in answer.output] == ["reasoning", "message"]
    assert answer.output[0].summary[0].text == world.THOUGHT
    streamed(chat, "think first", **options)


def test_reasoning_and_tools_together(chat):
    turns = [{"role": "user", "content": "think, then use get_weather for Paris"}]
    options = {
        "tools": [WEATHER],
        "reasoning": {"effort": "low", "summary": "auto"},
        "max_output_tokens": 8000,
        "include": ["reasoning.encrypted_content"],
        "store": False,
    }
    answer = ask(chat, turns, **options)
    turns += answer.output
    turns += [{"type": "function_call_output", "call_id": calls_of(answer)[0].call_id, "output": "fine"}]
    assert ask(chat, turns, **options).output_text == "The tools said: fine"


def test_why_an_answer_ends(chat):
    answer = ask(chat, "write a lot", max_output_tokens=16)
    assert (answer.output_text, answer.status, answer.incomplete_details.reason) == (
        LONG,
        "incomplete",
        "max_output_tokens",
    )
    assert streamed(chat, "write a lot", max_output_tokens=16)[-1].type == "response.incomplete"


@pytest.mark.parametrize("stream", [False, True])
def test_tokens_from_the_vendors_cache_are_counted_once(chat, stream):
    answer = streamed(chat, "use the prompt cache")[-1].response if stream else ask(chat, "use the prompt cache")
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.total_tokens) == (120, 7, 127)
    assert answer.usage.input_tokens_details.cached_tokens == 100


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, openai.BadRequestError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (529, openai.InternalServerError),
    ],
)
@trouble
def test_failures_raise_their_own_exception(chat, status, kind, stream):
    with pytest.raises(kind) as caught:
        ask(chat, f"fail {status}", stream=stream)
    if status == 429:
        assert caught.value.response.headers["retry-after"] == "30"


@behind("direct", "punk")
def test_a_wrong_key(chat):
    with pytest.raises(openai.AuthenticationError):
        ask(chat.with_options(api_key="pk_wrong"), "say hello")


@pytest.mark.parametrize("trouble", ["cut the stream", "overloaded midway"])
@trouble
def test_a_stream_that_breaks_is_no_answer(chat, trouble):
    events = []
    try:
        for event in ask(chat, trouble, stream=True):
            events.append(event)
    except world.BROKEN:
        return
    # This wire has events that say so, and not every client raises for them.
    assert events[-1].type in ("response.failed", "error")


@pytest.mark.parametrize("stream", [False, True])
def test_a_time_out_raises_and_ends_the_call(chat, stream):
    prompt = unique("be silent")
    with pytest.raises(openai.APITimeoutError):
        ask(chat.with_options(timeout=0.5), prompt, stream=stream)
    world.cancelled(prompt)


def test_closing_a_stream_reaches_the_upstream(chat):
    def attempt(prompt):
        stream = ask(chat, prompt, stream=True)
        next(stream)
        given_up = time.time()
        stream.close()
        return given_up

    world.promptly_cancelled(attempt)


@behind("openai")
def test_what_punk_does_not_know_passes_untouched_and_in_order(chat):
    prompt = unique("say hello")
    extra = {"future_openai_b": {"z": 1, "a": [1.0, None]}, "future_openai_a": "x"}
    raw = chat.responses.with_raw_response.create(model=OPENAI_MODEL, input=prompt, extra_body=extra)
    (one,) = world.seen(prompt)
    assert one["path"].endswith("/v1/responses")
    sent, got = json.loads(raw.http_request.content), json.loads(one["body"])
    got["model"] = sent["model"]
    assert json.dumps(got) == json.dumps(sent)


@behind("punk")
def test_what_punk_says_of_the_run(chat):
    raw = chat.responses.with_raw_response.create(model=OPENAI_MODEL, input="say hello")
    assert raw.headers["x-punk-run-id"].startswith("run_")
    assert raw.headers["x-punk-route"]


@behind("punk")
def test_the_second_time_comes_from_the_cache(chat):
    prompt = unique("say hello")
    options = {"model": OPENAI_MODEL, "input": prompt, "temperature": 0, "store": False}
    first = chat.responses.with_raw_response.create(**options)
    second = chat.responses.with_raw_response.create(**options)
    assert second.headers["x-punk-route"] == "exact_cache"
    one, two = first.parse(), second.parse()
    assert one.output_text == two.output_text
    assert one.id != two.id
    assert text_of(streamed(chat, prompt, temperature=0, store=False)) == one.output_text
