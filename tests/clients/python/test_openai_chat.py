"""OpenAI's own client on the chat completions wire."""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor

import openai
import pydantic
import pytest

import world
from world import HELLO, LONG, OPENAI_MODEL, behind, trouble, unique

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}},
            "required": ["city", "unit"],
            "additionalProperties": False,
        },
    },
}
TIME = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}


def user(text):
    return [{"role": "user", "content": text}]


def ask(client, text, **options):
    return client.chat.completions.create(model=OPENAI_MODEL, messages=user(text), **options)


def streamed(client, messages, **options):
    """The text, calls, finish reason and usage of a stream, put together as a careful caller does."""
    text, calls, finish, usage = "", {}, None, None
    options.setdefault("stream_options", {"include_usage": True})
    for chunk in client.chat.completions.create(model=OPENAI_MODEL, messages=messages, stream=True, **options):
        assert chunk.object == "chat.completion.chunk"
        if chunk.usage:
            assert usage is None and chunk.choices == [], "usage comes once, alone"
            usage = chunk.usage
        for choice in chunk.choices:
            assert finish is None, "nothing comes after the finish reason"
            finish = choice.finish_reason
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                if call.id:
                    assert call.index not in calls, "an id comes once"
                    calls[call.index] = {"id": call.id, "name": call.function.name, "arguments": ""}
                calls[call.index]["arguments"] += call.function.arguments or ""
    return text, [calls[index] for index in sorted(calls)], finish, usage


def said(answer):
    choice = answer.choices[0]
    return choice.message.role, choice.message.content, choice.message.tool_calls, choice.finish_reason


def test_chat(chat):
    answer = ask(chat, "say hello")
    assert answer.object == "chat.completion"
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].message.content == HELLO
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model.startswith(OPENAI_MODEL.split(":")[-1])
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (21, 9, 30)


@pytest.mark.parametrize("role", ["system", "developer"])
def test_system_prompt(chat, role):
    messages = [{"role": role, "content": "Be brief."}, *user("repeat the system prompt")]
    answer = chat.chat.completions.create(model=OPENAI_MODEL, messages=messages)
    assert answer.choices[0].message.content == "The system prompt is: Be brief."


def test_several_turns(chat):
    messages = [*user("One."), {"role": "assistant", "content": "Two."}, *user("count the turns")]
    answer = chat.chat.completions.create(model=OPENAI_MODEL, messages=messages)
    assert answer.choices[0].message.content == "The turns are: user assistant user"


def test_images(chat):
    content = [
        {"type": "text", "text": "look at the image"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{world.PNG}"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}},
    ]
    answer = chat.chat.completions.create(model=OPENAI_MODEL, messages=[{"role": "user", "content": content}])
    expected = f"I see a image/png of {world.PNG_BYTES} bytes and an image at https://example.com/cat.png"
    assert answer.choices[0].message.content == expected


def test_a_stream_says_the_same(chat):
    text, calls, finish, usage = streamed(chat, user("say hello"))
    assert (text, calls, finish) == (HELLO, [], "stop")
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (21, 9, 30)


def test_a_stream_has_usage_only_when_asked(chat):
    chunks = list(ask(chat, "say hello", stream=True))
    assert all(chunk.usage is None for chunk in chunks)
    assert all(len(chunk.choices) == 1 for chunk in chunks)
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"


def test_a_stream_comes_in_pieces_as_they_are_made(chat):
    begun = time.monotonic()
    arrivals = [time.monotonic() - begun for _ in ask(chat, "pause between frames", stream=True)]
    assert len(arrivals) >= 6
    assert arrivals[-1] - arrivals[0] > 0.2, "the pieces came all at once"


def test_frames_cut_anywhere(chat):
    assert streamed(chat, user("split oddly"))[0] == HELLO


def test_a_long_stream(chat):
    assert streamed(chat, user("count to 500"))[0] == " ".join(str(number) for number in range(1, 501))


@pytest.mark.parametrize("stream", [False, True])
def test_tools_round_trip(chat, stream):
    messages = user("use get_weather for Paris")
    if stream:
        text, calls, finish, _ = streamed(chat, messages, tools=[WEATHER])
        assert text == ""
    else:
        choice = chat.chat.completions.create(model=OPENAI_MODEL, messages=messages, tools=[WEATHER]).choices[0]
        assert choice.message.content is None
        finish = choice.finish_reason
        calls = [{"id": call.id, **call.function.model_dump()} for call in choice.message.tool_calls]
    assert finish == "tool_calls"
    assert [call["name"] for call in calls] == ["get_weather"]
    assert json.loads(calls[0]["arguments"]) == {"city": "Paris", "unit": "celsius"}
    function = {"name": "get_weather", "arguments": calls[0]["arguments"]}
    messages += [
        {"role": "assistant", "tool_calls": [{"id": calls[0]["id"], "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": calls[0]["id"], "content": "21 degrees"},
    ]
    if stream:
        assert streamed(chat, messages, tools=[WEATHER])[0] == "The tools said: 21 degrees"
    else:
        answer = chat.chat.completions.create(model=OPENAI_MODEL, messages=messages, tools=[WEATHER])
        assert answer.choices[0].message.content == "The tools said: 21 degrees"


@pytest.mark.parametrize("stream", [False, True])
def test_two_calls_at_once(chat, stream):
    messages = user("use get_weather for Paris and London")
    if stream:
        calls = streamed(chat, messages, tools=[TIME, WEATHER])[1]
    else:
        message = chat.chat.completions.create(model=OPENAI_MODEL, messages=messages, tools=[TIME, WEATHER]).choices[0].message
        calls = [{"id": call.id, **call.function.model_dump()} for call in message.tool_calls]
    assert [json.loads(call["arguments"])["city"] for call in calls] == ["Paris", "London"]
    assert calls[0]["id"] != calls[1]["id"]
    made = [{"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}} for c in calls]
    messages += [
        {"role": "assistant", "content": None, "tool_calls": made},
        {"role": "tool", "tool_call_id": calls[0]["id"], "content": "21"},
        {"role": "tool", "tool_call_id": calls[1]["id"], "content": "12"},
    ]
    assert streamed(chat, messages, tools=[WEATHER])[0] == "The tools said: 21 | 12"


def test_one_call_at_a_time(chat):
    answer = ask(chat, "use get_weather for Paris and London", tools=[WEATHER], parallel_tool_calls=False)
    assert len(answer.choices[0].message.tool_calls) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_words_before_a_call(chat, stream):
    if stream:
        text, calls, _, _ = streamed(chat, user("talk, then use get_weather for Rome"), tools=[WEATHER])
        assert (text, len(calls)) == ("Let me look. ", 1)
    else:
        message = ask(chat, "talk, then use get_weather for Rome", tools=[WEATHER]).choices[0].message
        assert (message.content, len(message.tool_calls)) == ("Let me look. ", 1)


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_without_arguments(chat, stream):
    if stream:
        arguments = streamed(chat, user("use get_time"), tools=[TIME])[1][0]["arguments"]
    else:
        arguments = ask(chat, "use get_time", tools=[TIME]).choices[0].message.tool_calls[0].function.arguments
    assert json.loads(arguments) == {}


def test_a_tool_that_is_forced(chat):
    choice = {"type": "function", "function": {"name": "get_time"}}
    answer = ask(chat, "say hello", tools=[WEATHER, TIME], tool_choice=choice)
    assert answer.choices[0].message.tool_calls[0].function.name == "get_time"
    answer = ask(chat, "say hello for Oslo", tools=[WEATHER], tool_choice="required")
    assert json.loads(answer.choices[0].message.tool_calls[0].function.arguments)["city"] == "Oslo"
    answer = ask(chat, "use get_weather for Paris", tools=[WEATHER], tool_choice="none")
    assert answer.choices[0].message.content == "I may not use tools."


class Person(pydantic.BaseModel):
    name: str
    age: int
    tags: list[str]


PERSON = Person(name="the name", age=36, tags=["the tags"])


def test_structured_output(chat):
    answer = chat.chat.completions.parse(model=OPENAI_MODEL, messages=user("return json"), response_format=Person)
    assert answer.choices[0].message.parsed == PERSON


def test_structured_output_streamed(chat):
    with chat.chat.completions.stream(
        model=OPENAI_MODEL, messages=user("return json"), response_format=Person
    ) as stream:
        for _ in stream:
            pass
        assert stream.get_final_completion().choices[0].message.parsed == PERSON


@behind("direct", "openai", "compat")
def test_reasoning_is_counted(chat):
    answer = ask(chat, "think first", reasoning_effort="low")
    assert answer.choices[0].message.content == "After thought: 42."
    assert answer.usage.completion_tokens_details.reasoning_tokens == 21


@behind("compat")
@pytest.mark.parametrize("stream", [False, True])
def test_thoughts_of_a_vendor_that_shows_them(chat, stream):
    if stream:
        chunks = ask(chat, "think first", reasoning_effort="low", stream=True)
        deltas = [chunk.choices[0].delta for chunk in chunks]
        thought = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    else:
        thought = ask(chat, "think first", reasoning_effort="low").choices[0].message.reasoning_content
    assert thought == world.THOUGHT


@behind("anthropic")
def test_reasoning_effort_makes_the_other_vendor_think(chat):
    answer = ask(chat, "think first", reasoning_effort="low", max_completion_tokens=8000)
    assert answer.choices[0].message.content == "After thought: 42."
    assert answer.usage.completion_tokens == 30


def test_reasoning_and_tools_together(chat):
    messages = user("think, then use get_weather for Paris")
    options = {"model": OPENAI_MODEL, "tools": [WEATHER], "reasoning_effort": "low", "max_completion_tokens": 8000}
    message = chat.chat.completions.create(messages=messages, **options).choices[0].message
    messages += [
        message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"}),
        {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "fine"},
    ]
    answer = chat.chat.completions.create(messages=messages, **options)
    assert answer.choices[0].message.content == "The tools said: fine"


def test_why_an_answer_ends(chat):
    answer = ask(chat, "write a lot", max_completion_tokens=16)
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == (LONG, "length")
    assert streamed(chat, user("write a lot"), max_tokens=16)[2] == "length"
    assert ask(chat, "do something bad").choices[0].finish_reason == "content_filter"
    assert ask(chat, "stop at END", stop="END").choices[0].message.content == "Until here "
    assert ask(chat, "stop at END", stop=["END"]).choices[0].finish_reason == "stop"


@pytest.mark.parametrize("stream", [False, True])
def test_tokens_from_the_vendors_cache_are_counted_once(chat, stream):
    usage = streamed(chat, user("use the prompt cache"))[3] if stream else ask(chat, "use the prompt cache").usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (120, 7, 127)
    assert usage.prompt_tokens_details.cached_tokens == 100


@behind("direct", "openai", "compat")
def test_embeddings(chat):
    both = chat.embeddings.create(model="text-embedding-3-small", input=["one", "two"])
    assert [len(one.embedding) for one in both.data] == [8, 8]
    numbers = chat.embeddings.create(model="text-embedding-3-small", input="one", encoding_format="float")
    assert numbers.data[0].embedding == both.data[0].embedding
    assert both.usage.total_tokens == 10


@behind("direct", "punk")
def test_models(chat):
    models = chat.models.list().data
    assert models and all(model.object == "model" for model in models)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, openai.BadRequestError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (422, openai.UnprocessableEntityError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (503, openai.InternalServerError),
        (529, openai.InternalServerError),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
@trouble
def test_failures_raise_their_own_exception(chat, status, kind, stream):
    with pytest.raises(kind) as caught:
        ask(chat, f"fail {status}", stream=stream)
    assert "failure" in caught.value.message
    if status == 429:
        assert caught.value.response.headers["retry-after"] == "30"


@behind("direct", "punk")
def test_a_wrong_key(chat):
    with pytest.raises(openai.AuthenticationError):
        ask(chat.with_options(api_key="pk_wrong"), "say hello")


def test_a_model_that_is_not_there(chat):
    with pytest.raises(openai.NotFoundError):
        chat.chat.completions.create(model=world.NO_MODEL, messages=user("say hello"))


@behind("direct", "punk")
def test_a_request_that_makes_no_sense(chat):
    with pytest.raises(openai.BadRequestError):
        chat.chat.completions.create(model=OPENAI_MODEL, messages=[{"role": "nobody", "content": "x"}])


@trouble
def test_a_failure_that_passes(chat):
    prompt = unique("fail 500 once, then say hello")
    client = chat if world.PUNK else chat.with_options(max_retries=1)
    assert ask(client, prompt).choices[0].message.content == HELLO
    assert len(world.seen(prompt)) == 2


@trouble
def test_a_stream_that_is_cut_is_no_answer(chat):
    with pytest.raises(world.BROKEN):
        streamed(chat, user("cut the stream"))


@trouble
def test_an_overload_midway(chat):
    text = ""
    with pytest.raises(openai.APIError):
        for chunk in ask(chat, "overloaded midway", stream=True):
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
    assert text and "This breaks in the middle".startswith(text)


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


def test_cancelling_a_task_reaches_the_upstream():
    async def cancelled(prompt):
        client = openai.AsyncOpenAI(base_url=f"{world.URL}/v1", api_key=world.OPENAI_KEY, max_retries=0)
        task = asyncio.create_task(ask(client, prompt))
        await world.arrival(prompt)
        given_up = time.time()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return given_up

    world.promptly_cancelled(lambda prompt: asyncio.run(cancelled(prompt)))


@behind("openai", "compat")
def test_what_punk_does_not_know_passes_untouched_and_in_order(chat):
    prompt = unique("say hello")
    extra = {"future_openai_b": {"z": 1, "a": [1.0, 1e3, None]}, "future_openai_a": "x"}
    messages = [{"role": "user", "content": prompt, "future_openai_note": True}]
    raw = chat.chat.completions.with_raw_response.create(model=OPENAI_MODEL, messages=messages, seed=7, extra_body=extra)
    assert raw.parse().choices[0].message.content == HELLO
    body = world.seen(prompt)[-1]["body"]
    sent = json.loads(raw.http_request.content)
    got = json.loads(body)
    got["model"] = sent["model"]
    assert json.dumps(got) == json.dumps(sent)
    # Also how the numbers were written.
    assert '"future_openai_b":{"z":1,"a":[1.0,1000.0,null]}' in body.replace(" ", "")


@behind("openai", "compat", "anthropic")
def test_the_callers_own_key_stays_here(chat):
    prompt = unique("say hello")
    ask(chat, prompt)
    (one,) = world.seen(prompt)
    assert world.OPENAI_KEY not in json.dumps(one)


@behind("punk")
def test_what_punk_says_of_the_run(chat):
    raw = chat.chat.completions.with_raw_response.create(model=OPENAI_MODEL, messages=user("say hello"))
    assert raw.headers["x-punk-run-id"].startswith("run_")
    assert raw.headers["x-punk-route"]
    with chat.chat.completions.with_streaming_response.create(
        model=OPENAI_MODEL, messages=user("say hello"), stream=True
    ) as streaming:
        assert streaming.headers["x-punk-run-id"].startswith("run_")
        assert streaming.headers["x-punk-route"]


@behind("openai", "compat", "anthropic", "mock")
def test_the_second_time_comes_from_the_cache(chat):
    prompt = unique("say hello")
    options = {"model": OPENAI_MODEL, "messages": user(prompt), "temperature": 0}
    first = chat.chat.completions.with_raw_response.create(**options)
    second = chat.chat.completions.with_raw_response.create(**options)
    assert first.headers["x-punk-route"] != "exact_cache"
    assert second.headers["x-punk-route"] == "exact_cache"
    assert first.headers["x-punk-run-id"] != second.headers["x-punk-run-id"]
    one, two = first.parse(), second.parse()
    assert said(one) == said(two)
    assert one.id != two.id
    text, _, finish, _ = streamed(chat, user(prompt), temperature=0)
    assert (text, finish) == (one.choices[0].message.content, one.choices[0].finish_reason)
    if world.UPSTREAM:
        assert len(world.seen(prompt)) == 1


@behind("openai", "compat", "anthropic")
def test_the_cache_replays_tool_calls(chat):
    prompt = unique("use get_weather for Paris and London")
    whole = ask(chat, prompt, tools=[WEATHER], temperature=0).choices[0].message.tool_calls
    calls = streamed(chat, user(prompt), tools=[WEATHER], temperature=0)[1]
    assert [call["arguments"] for call in calls] == [call.function.arguments for call in whole]
    assert len(world.seen(prompt)) == 1


@behind("openai", "compat", "anthropic")
def test_the_same_question_at_once_is_asked_once(chat):
    prompt = unique("pause between frames")
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: ask(chat, prompt, temperature=0, stream=False), range(8)))
    assert len({answer.choices[0].message.content for answer in answers}) == 1
    assert len(world.seen(prompt)) == 1
