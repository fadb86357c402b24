"""LangChain's models for both vendors, and on both of OpenAI's wires."""

import json

import anthropic
import openai
import pydantic
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

import world
from world import ANTHROPIC_MODEL, HELLO, OPENAI_MODEL, behind, trouble, unique


@tool
def get_weather(city: str, unit: str) -> str:
    """The weather of a city."""
    return f"{city} has 21 degrees {unit}"


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


def over_chat(**options):
    return ChatOpenAI(
        model=OPENAI_MODEL, base_url=f"{world.URL}/v1", api_key=world.OPENAI_KEY, max_retries=0, timeout=30, **options
    )


def over_responses(**options):
    return over_chat(use_responses_api=True, **options)


def over_messages(**options):
    return ChatAnthropic(
        model=ANTHROPIC_MODEL, base_url=world.URL, api_key=world.ANTHROPIC_KEY, max_retries=0, timeout=30, **options
    )


every_wire = pytest.mark.parametrize("model", [over_chat, over_responses, over_messages], ids=lambda make: make.__name__)


@every_wire
def test_a_conversation(model):
    answer = model().invoke([SystemMessage("Be brief."), HumanMessage("repeat the system prompt")])
    assert answer.text == "The system prompt is: Be brief."
    turns = [HumanMessage("One."), AIMessage("Two."), HumanMessage("count the turns")]
    answer = model().invoke(turns)
    assert answer.text == "The turns are: user assistant user"
    assert answer.usage_metadata["total_tokens"] == 32


@every_wire
def test_a_stream_says_the_same(model):
    chunks = list(model(**({} if model is over_messages else {"stream_usage": True})).stream("say hello"))
    assert "".join(chunk.text for chunk in chunks) == HELLO
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert (whole.usage_metadata["input_tokens"], whole.usage_metadata["output_tokens"]) == (21, 9)


@every_wire
@pytest.mark.parametrize("stream", [False, True])
def test_tools_round_trip(model, stream):
    bound = model().bind_tools([get_weather])
    turns = [HumanMessage("use get_weather for Paris and London")]

    def ask():
        if not stream:
            return bound.invoke(turns)
        whole = None
        for chunk in bound.stream(turns):
            whole = chunk if whole is None else whole + chunk
        return whole

    answer = ask()
    assert [call["args"]["city"] for call in answer.tool_calls] == ["Paris", "London"]
    turns.append(answer)
    for call in answer.tool_calls:
        turns.append(ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"]))
    final = ask()
    assert final.text == "The tools said: Paris has 21 degrees celsius | London has 21 degrees celsius"


@every_wire
@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_structured_output(model, method):
    structured = model().with_structured_output(Person, method=method)
    assert structured.invoke("return json") == Person(name="the name", age=36)


@every_wire
def test_images(model):
    content = [
        {"type": "text", "text": "look at the image"},
        {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": world.PNG},
    ]
    answer = model().invoke([HumanMessage(content)])
    assert answer.text == f"I see a image/png of {world.PNG_BYTES} bytes"


@trouble
def test_failures_raise_the_clients_exceptions():
    with pytest.raises(openai.RateLimitError):
        over_chat().invoke("fail 429")
    with pytest.raises(openai.InternalServerError):
        over_responses().invoke("fail 500")
    with pytest.raises(anthropic.BadRequestError):
        over_messages().invoke("fail 400")


@behind("direct", "anthropic")
def test_thinking_and_tools_together():
    model = over_messages(thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=4000).bind_tools([get_weather])
    turns = [HumanMessage("think, then use get_weather for Paris")]
    answer = model.invoke(turns)
    assert answer.content[0]["type"] == "thinking"
    turns += [answer, ToolMessage("fine", tool_call_id=answer.tool_calls[0]["id"])]
    assert model.invoke(turns).text == "The tools said: fine"


@behind("direct", "openai", "compat")
def test_embeddings():
    embeddings = OpenAIEmbeddings(
        model="text-embedding-3-small",
        base_url=f"{world.URL}/v1",
        api_key=world.OPENAI_KEY,
        check_embedding_ctx_length=False,
    )
    assert len(embeddings.embed_query("one")) == 8


@behind("openai", "compat", "anthropic")
@every_wire
def test_the_callers_own_key_stays_here(model):
    prompt = unique("say hello")
    model().invoke(prompt)
    (one,) = world.seen(prompt)
    assert world.OPENAI_KEY not in json.dumps(one)
