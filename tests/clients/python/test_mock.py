"""The clients against Punk's own mock, which needs no upstream and decides by itself what it says."""

import json

import anthropic
import openai
import pytest

import test_anthropic
import test_openai_chat
import test_openai_responses
from test_openai_chat import Person
from world import ANTHROPIC_MODEL, OPENAI_MODEL, behind

pytestmark = behind("mock")

WEATHER = test_openai_chat.WEATHER


def test_chat_and_its_stream(chat):
    whole = test_openai_chat.ask(chat, "Tell me of the sea.")
    text, calls, finish, usage = test_openai_chat.streamed(chat, test_openai_chat.user("Tell me of the sea."))
    assert text == whole.choices[0].message.content != ""
    assert (calls, finish) == ([], "stop")
    assert usage.model_dump(exclude_none=True) == whole.usage.model_dump(exclude_none=True)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens > 0


def test_responses_and_their_stream(chat):
    whole = test_openai_responses.ask(chat, "Tell me of the sea.")
    events = test_openai_responses.streamed(chat, "Tell me of the sea.")
    assert test_openai_responses.text_of(events) == whole.output_text != ""
    assert events[-1].response.usage == whole.usage


def test_messages_and_their_stream(claude):
    whole = test_anthropic.ask(claude, "Tell me of the sea.")
    streamed = test_anthropic.streamed(claude, "Tell me of the sea.")
    assert test_anthropic.text_of(streamed) == test_anthropic.text_of(whole) != ""
    assert (streamed.stop_reason, streamed.usage.output_tokens) == (whole.stop_reason, whole.usage.output_tokens)
    test_anthropic.events_of(claude, "Tell me of the sea.")


@pytest.mark.parametrize("stream", [False, True])
def test_tools_on_the_chat_wire(chat, stream):
    messages = test_openai_chat.user("What is the weather in Paris in celsius?")
    options = {"tools": [WEATHER], "tool_choice": "required"}
    if stream:
        calls = test_openai_chat.streamed(chat, messages, **options)[1]
    else:
        made = chat.chat.completions.create(model=OPENAI_MODEL, messages=messages, **options).choices[0].message.tool_calls
        calls = [{"id": call.id, **call.function.model_dump()} for call in made]
    assert {"city", "unit"} == set(json.loads(calls[0]["arguments"]))
    function = {"name": "get_weather", "arguments": calls[0]["arguments"]}
    messages += [
        {"role": "assistant", "tool_calls": [{"id": calls[0]["id"], "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": calls[0]["id"], "content": "21 degrees and sunny"},
    ]
    text, calls, finish, _ = test_openai_chat.streamed(chat, messages, tools=[WEATHER])
    assert text and (calls, finish) == ([], "stop")


@pytest.mark.parametrize("stream", [False, True])
def test_tools_on_the_messages_wire(claude, stream):
    turns = test_anthropic.user("What is the weather in Paris in celsius?")
    options = {"tools": [test_anthropic.WEATHER], "tool_choice": {"type": "tool", "name": "get_weather"}}
    message = test_anthropic.either(claude, stream, turns, **options)
    (call,) = test_anthropic.calls_of(message)
    assert message.stop_reason == "tool_use"
    assert set(call.input) == {"city", "unit"}
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "21 degrees and sunny"}
    turns += [{"role": "assistant", "content": message.content}, {"role": "user", "content": [result]}]
    assert test_anthropic.text_of(test_anthropic.either(claude, stream, turns, tools=[test_anthropic.WEATHER]))


def test_structured_output_on_every_wire(chat, claude):
    prompt = "Ada is 36 years old."
    answer = chat.chat.completions.parse(
        model=OPENAI_MODEL, messages=test_openai_chat.user(prompt), response_format=Person
    )
    assert isinstance(answer.choices[0].message.parsed, Person)
    assert isinstance(chat.responses.parse(model=OPENAI_MODEL, input=prompt, text_format=Person).output_parsed, Person)
    message = claude.messages.parse(
        model=ANTHROPIC_MODEL, max_tokens=1000, messages=test_anthropic.user(prompt), output_format=Person
    )
    assert isinstance(message.parsed_output, Person)


def test_an_answer_that_is_too_long(chat, claude):
    long = "Repeat these words: one two three four five six seven eight nine ten eleven twelve"
    assert test_openai_chat.ask(chat, long, max_completion_tokens=3).choices[0].finish_reason == "length"
    assert test_anthropic.ask(claude, long, max_tokens=3).stop_reason == "max_tokens"


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "BadRequestError"),
        (403, "PermissionDeniedError"),
        (404, "NotFoundError"),
        (429, "RateLimitError"),
        (500, "InternalServerError"),
        (529, "InternalServerError"),
    ],
)
def test_failures_raise_their_own_exception(chat, claude, status, name):
    model = f"mock-error-{status}"
    with pytest.raises(getattr(openai, name)):
        chat.chat.completions.create(model=model, messages=test_openai_chat.user("x"))
    with pytest.raises(getattr(openai, name)):
        chat.responses.create(model=model, input="x")
    with pytest.raises(getattr(anthropic, name)):
        test_anthropic.ask(claude, "x", model=model)


def test_embeddings(chat):
    packed = chat.embeddings.create(model="mock-embedding", input=["one", "two"])
    plain = chat.embeddings.create(model="mock-embedding", input="one", encoding_format="float")
    assert packed.data[0].embedding == pytest.approx(plain.data[0].embedding)
    assert packed.data[0].embedding != packed.data[1].embedding
