"""Anthropic's own client."""

import asyncio
import json
import time

import anthropic
import pytest

import world
from test_openai_chat import PERSON, Person
from world import ANTHROPIC_MODEL, HELLO, LONG, behind, trouble, unique

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
        "required": ["city", "unit"],
    },
}
TIME = {"name": "get_time", "input_schema": {"type": "object", "properties": {}}}


def user(text):
    return [{"role": "user", "content": text}]


def ask(client, text, **options):
    messages = user(text) if isinstance(text, str) else text
    return client.messages.create(**{"model": ANTHROPIC_MODEL, "max_tokens": 1000, "messages": messages, **options})


def events_of(client, text, **options):
    """The raw events of a stream, after the rules that all of them keep."""
    events = list(ask(client, text, stream=True, **options))
    kinds = [event.type for event in events if event.type != "ping"]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    index, inside = -1, False
    for event in events:
        if event.type == "content_block_start":
            assert not inside and event.index == index + 1, "blocks come one after the other"
            index, inside = event.index, True
        elif event.type == "content_block_delta":
            assert inside and event.index == index, "a delta is of the open block"
        elif event.type == "content_block_stop":
            assert inside and event.index == index
            inside = False
    assert not inside
    return events


def streamed(client, text, **options):
    """The final message as the client itself puts it together."""
    messages = user(text) if isinstance(text, str) else text
    options = {"model": ANTHROPIC_MODEL, "max_tokens": 1000, "messages": messages, **options}
    with client.messages.stream(**options) as stream:
        return stream.get_final_message()


def either(client, stream, text, **options):
    return streamed(client, text, **options) if stream else ask(client, text, **options)


def calls_of(message):
    return [block for block in message.content if block.type == "tool_use"]


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


both = pytest.mark.parametrize("stream", [False, True])


@both
def test_a_message(claude, stream):
    message = either(claude, stream, "say hello")
    assert (message.type, message.role, text_of(message)) == ("message", "assistant", HELLO)
    assert (message.stop_reason, message.stop_sequence) == ("end_turn", None)
    assert (message.usage.input_tokens, message.usage.output_tokens) == (21, 9)


@both
def test_system_prompt(claude, stream):
    assert text_of(either(claude, stream, "repeat the system prompt", system="Be brief.")) == (
        "The system prompt is: Be brief."
    )
    blocks = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    assert text_of(either(claude, stream, "repeat the system prompt", system=blocks)) == (
        "The system prompt is: Be brief."
    )


def test_several_turns(claude):
    turns = [*user("One."), {"role": "assistant", "content": [{"type": "text", "text": "Two."}]}, *user("count the turns")]
    assert text_of(ask(claude, turns)) == "The turns are: user assistant user"


def test_images(claude):
    content = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": world.PNG}},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/cat.png"}},
        {"type": "text", "text": "look at the image"},
    ]
    assert text_of(ask(claude, [{"role": "user", "content": content}])) == (
        f"I see a image/png of {world.PNG_BYTES} bytes and an image at https://example.com/cat.png"
    )


def test_the_events_of_a_stream(claude):
    events = events_of(claude, "say hello")
    text = "".join(event.delta.text for event in events if event.type == "content_block_delta")
    assert text == HELLO
    assert events[0].message.content == [] and events[0].message.stop_reason is None


def test_frames_cut_anywhere(claude):
    assert text_of(streamed(claude, "split oddly")) == HELLO


@both
def test_tools_round_trip(claude, stream):
    turns = user("use get_weather for Paris and London")
    message = either(claude, stream, turns, tools=[WEATHER, TIME])
    calls = calls_of(message)
    assert message.stop_reason == "tool_use"
    assert [call.input for call in calls] == [
        {"city": "Paris", "unit": "celsius"},
        {"city": "London", "unit": "celsius"},
    ]
    assert calls[0].id != calls[1].id
    turns += [
        {"role": "assistant", "content": message.content},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": calls[0].id, "content": "21"},
                {"type": "tool_result", "tool_use_id": calls[1].id, "content": [{"type": "text", "text": "12"}]},
                {"type": "text", "text": "Go on."},
            ],
        },
    ]
    turns_without_words = [*turns[:-1], {"role": "user", "content": turns[-1]["content"][:2]}]
    assert text_of(either(claude, stream, turns_without_words, tools=[WEATHER])) == "The tools said: 21 | 12"
    assert text_of(either(claude, stream, turns, tools=[WEATHER]))


def test_the_events_of_two_calls(claude):
    events = events_of(claude, "use get_weather for Paris and London", tools=[WEATHER])
    for index, city in enumerate(["Paris", "London"]):
        deltas = [e.delta for e in events if e.type == "content_block_delta" and e.index == index]
        assert json.loads("".join(delta.partial_json for delta in deltas))["city"] == city


def test_one_call_at_a_time(claude):
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    message = ask(claude, "use get_weather for Paris and London", tools=[WEATHER], tool_choice=choice)
    assert len(calls_of(message)) == 1


@both
def test_words_before_a_call(claude, stream):
    message = either(claude, stream, "talk, then use get_weather for Rome", tools=[WEATHER])
    assert [block.type for block in message.content] == ["text", "tool_use"]


@both
def test_a_call_without_arguments(claude, stream):
    assert calls_of(either(claude, stream, "use get_time", tools=[TIME]))[0].input == {}


def test_a_tool_that_is_forced(claude):
    message = ask(claude, "say hello", tools=[WEATHER, TIME], tool_choice={"type": "tool", "name": "get_time"})
    assert calls_of(message)[0].name == "get_time"
    message = ask(claude, "say hello for Oslo", tools=[WEATHER], tool_choice={"type": "any"})
    assert calls_of(message)[0].input["city"] == "Oslo"
    message = ask(claude, "use get_weather for Paris", tools=[WEATHER], tool_choice={"type": "none"})
    assert text_of(message) == "I may not use tools."


def test_a_tool_that_failed(claude):
    turns = user("use get_weather for Paris")
    call = calls_of(ask(claude, turns, tools=[WEATHER]))[0]
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "no network", "is_error": True}
    turns += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    assert "no network" in text_of(ask(claude, turns, tools=[WEATHER]))


def test_structured_output(claude):
    message = claude.messages.parse(
        model=ANTHROPIC_MODEL, max_tokens=1000, messages=user("return json"), output_format=Person
    )
    assert message.parsed_output == PERSON


@both
@behind("direct", "anthropic", "compat")
def test_thinking(claude, stream):
    thinking = {"type": "enabled", "budget_tokens": 1024}
    message = either(claude, stream, "think first", thinking=thinking, max_tokens=4000)
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.content[0].thinking == world.THOUGHT
    assert text_of(message) == "After thought: 42."
    if world.BEHIND != "compat":
        assert message.content[0].signature


@both
def test_thinking_and_tools_together(claude, stream):
    turns = user("think, then use get_weather for Paris")
    options = {"tools": [WEATHER], "thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 4000}
    message = either(claude, stream, turns, **options)
    result = {"type": "tool_result", "tool_use_id": calls_of(message)[0].id, "content": "fine"}
    turns += [{"role": "assistant", "content": message.content}, {"role": "user", "content": [result]}]
    assert text_of(either(claude, stream, turns, **options)) == "The tools said: fine"


@both
def test_why_an_answer_ends(claude, stream):
    message = either(claude, stream, "write a lot", max_tokens=16)
    assert (text_of(message), message.stop_reason) == (LONG, "max_tokens")
    assert either(claude, stream, "do something bad").stop_reason == "refusal"
    message = either(claude, stream, "stop at END", stop_sequences=["END"])
    assert text_of(message) == "Until here "
    # The other vendors do not say whether a stop sequence ended it.
    expected = [("stop_sequence", "END")] if world.BEHIND in ("direct", "anthropic") else [("end_turn", None), ("stop_sequence", "END")]
    assert (message.stop_reason, message.stop_sequence) in expected


@both
def test_tokens_from_the_vendors_cache_are_counted_once(claude, stream):
    usage = either(claude, stream, "use the prompt cache").usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (20, 100, 7)


@behind("direct", "punk")
def test_counting_tokens(claude):
    few = claude.messages.count_tokens(model=ANTHROPIC_MODEL, messages=user("one"))
    many = claude.messages.count_tokens(model=ANTHROPIC_MODEL, messages=user("one " * 200), system="s", tools=[WEATHER])
    assert 0 < few.input_tokens < many.input_tokens


@behind("direct", "punk")
def test_models(claude):
    models = claude.models.list().data
    assert models and all(model.type == "model" for model in models)


@both
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, anthropic.BadRequestError),
        (403, anthropic.PermissionDeniedError),
        (404, anthropic.NotFoundError),
        (429, anthropic.RateLimitError),
        (500, anthropic.InternalServerError),
        (529, anthropic.InternalServerError),
    ],
)
@trouble
def test_failures_raise_their_own_exception(claude, status, kind, stream):
    with pytest.raises(kind) as caught:
        ask(claude, f"fail {status}", stream=stream)
    body = caught.value.body
    assert body["type"] == "error" and body["error"]["type"].endswith("_error")
    if status == 429:
        assert caught.value.response.headers["retry-after"] == "30"
    if status == 529:
        assert caught.value.status_code in (503, 529)


@behind("direct", "punk")
def test_a_wrong_key(claude):
    with pytest.raises(anthropic.AuthenticationError):
        ask(claude.with_options(api_key="pk_wrong"), "say hello")


def test_a_model_that_is_not_there(claude):
    with pytest.raises(anthropic.NotFoundError):
        ask(claude, "say hello", model=world.NO_MODEL)


@behind("direct", "punk")
def test_a_request_that_makes_no_sense(claude):
    with pytest.raises(anthropic.BadRequestError):
        ask(claude, [{"role": "nobody", "content": "x"}])


@trouble
def test_a_failure_that_passes(claude):
    prompt = unique("fail 529 once, then say hello")
    client = claude if world.PUNK else claude.with_options(max_retries=1)
    assert text_of(ask(client, prompt)) == HELLO
    assert len(world.seen(prompt)) == 2


@trouble
def test_a_stream_that_is_cut_is_no_answer(claude):
    with pytest.raises(world.BROKEN):
        for _ in ask(claude, "cut the stream", stream=True):
            pass


@trouble
def test_an_overload_midway(claude):
    text = ""
    with pytest.raises(anthropic.APIError):
        for event in ask(claude, "overloaded midway", stream=True):
            if event.type == "content_block_delta":
                text += event.delta.text
    assert "This breaks in the middle".startswith(text)


@both
def test_a_time_out_raises_and_ends_the_call(claude, stream):
    prompt = unique("be silent")
    with pytest.raises(anthropic.APITimeoutError):
        ask(claude.with_options(timeout=0.5), prompt, stream=stream)
    world.cancelled(prompt)


def test_closing_a_stream_reaches_the_upstream(claude):
    def attempt(prompt):
        stream = ask(claude, prompt, stream=True)
        next(iter(stream))
        given_up = time.time()
        stream.close()
        return given_up

    world.promptly_cancelled(attempt)


def test_cancelling_a_task_reaches_the_upstream():
    async def cancelled(prompt):
        client = anthropic.AsyncAnthropic(base_url=world.URL, api_key=world.ANTHROPIC_KEY, max_retries=0)
        task = asyncio.create_task(ask(client, prompt))
        await world.arrival(prompt)
        given_up = time.time()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return given_up

    world.promptly_cancelled(lambda prompt: asyncio.run(cancelled(prompt)))


@behind("anthropic")
def test_what_punk_does_not_know_passes_untouched_and_in_order(claude):
    prompt = unique("say hello")
    extra = {"future_anthropic_b": {"z": 1, "a": [1.0, None]}, "future_anthropic_a": "x"}
    content = [{"type": "text", "text": prompt, "cache_control": {"type": "ephemeral"}, "future_anthropic_note": True}]
    raw = claude.messages.with_raw_response.create(
        model=ANTHROPIC_MODEL,
        max_tokens=10,
        messages=[{"role": "user", "content": content}],
        extra_body=extra,
        extra_headers={"anthropic-beta": "future-2030-01-01"},
    )
    (one,) = world.seen(prompt)
    sent, got = json.loads(raw.http_request.content), json.loads(one["body"])
    got["model"] = sent["model"]
    assert json.dumps(got) == json.dumps(sent)
    assert one["headers"]["anthropic-beta"] == "future-2030-01-01"


@behind("openai", "compat", "anthropic")
def test_the_callers_own_key_stays_here(claude):
    prompt = unique("say hello")
    ask(claude, prompt)
    (one,) = world.seen(prompt)
    assert world.ANTHROPIC_KEY not in json.dumps(one)


@behind("punk")
def test_what_punk_says_of_the_run(claude):
    raw = claude.messages.with_raw_response.create(model=ANTHROPIC_MODEL, max_tokens=10, messages=user("say hello"))
    assert raw.headers["x-punk-run-id"].startswith("run_")
    assert raw.headers["x-punk-route"]


@behind("punk")
def test_the_second_time_comes_from_the_cache(claude):
    prompt = unique("say hello")
    # The client has no word for it any more, and the wire has.
    cold = {"extra_body": {"temperature": 0}}
    options = {"model": ANTHROPIC_MODEL, "max_tokens": 100, "messages": user(prompt), **cold}
    first = claude.messages.with_raw_response.create(**options)
    second = claude.messages.with_raw_response.create(**options)
    assert first.headers["x-punk-route"] != "exact_cache"
    assert second.headers["x-punk-route"] == "exact_cache"
    one, two = first.parse(), second.parse()
    assert (text_of(one), one.stop_reason) == (text_of(two), two.stop_reason)
    assert one.id != two.id
    assert text_of(streamed(claude, prompt, max_tokens=100, **cold)) == text_of(one)
    events_of(claude, prompt, max_tokens=100, **cold)
    if world.UPSTREAM:
        assert len(world.seen(prompt)) == 1
