// LangChain's models for both vendors, and on both of OpenAI's wires.

import assert from "node:assert/strict";

import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

import * as world from "./world.mjs";
import { HELLO, scripts } from "./world.mjs";

const script = scripts("langchain");

const options = { maxRetries: 0, timeout: 30_000 };
const openai = { model: world.OPENAI_MODEL, apiKey: world.OPENAI_KEY, configuration: { baseURL: `${world.URL_ROOT}/v1` }, ...options };
const MODELS = {
  chat: new ChatOpenAI({ ...openai, useResponsesApi: false }),
  responses: new ChatOpenAI({ ...openai, useResponsesApi: true }),
  messages: new ChatAnthropic({ model: world.ANTHROPIC_MODEL, apiKey: world.ANTHROPIC_KEY, anthropicApiUrl: world.URL_ROOT, ...options }),
};

const get_weather = tool(({ city, unit }) => `${city} has 21 degrees ${unit}`, {
  name: "get_weather",
  description: "The weather of a city.",
  schema: z.object({ city: z.string(), unit: z.string() }),
});

for (const [wire, model] of Object.entries(MODELS)) {
  script(`${wire}: a conversation`, async () => {
    const told = await model.invoke([new SystemMessage("Be brief."), new HumanMessage("repeat the system prompt")]);
    assert.equal(told.text, "The system prompt is: Be brief.");
    const turns = [new HumanMessage("One."), new AIMessage("Two."), new HumanMessage("count the turns")];
    assert.equal((await model.invoke(turns)).text, "The turns are: user assistant user");
  });

  script(`${wire}: a stream says the same`, async () => {
    let whole;
    for await (const chunk of await model.stream("say hello")) whole = whole ? whole.concat(chunk) : chunk;
    assert.equal(whole.text, HELLO);
    // On the messages wire it adds what the first event estimates to what the last one counts.
    assert.ok(whole.usage_metadata.output_tokens >= 9);
  });

  script(`${wire}: tools round trip`, async () => {
    const bound = model.bindTools([get_weather]);
    const turns = [new HumanMessage("use get_weather for Paris and London")];
    let answer;
    for await (const chunk of await bound.stream(turns)) answer = answer ? answer.concat(chunk) : chunk;
    assert.deepEqual(answer.tool_calls.map((call) => call.args.city), ["Paris", "London"]);
    turns.push(answer);
    for (const call of answer.tool_calls) {
      turns.push(new ToolMessage({ content: await get_weather.invoke(call.args), tool_call_id: call.id }));
    }
    const final = await bound.invoke(turns);
    assert.equal(final.text, "The tools said: Paris has 21 degrees celsius | London has 21 degrees celsius");
  });

  script(`${wire}: structured output`, async () => {
    const schema = z.object({ name: z.string(), age: z.number() });
    for (const method of wire === "messages" ? ["functionCalling"] : ["jsonSchema", "functionCalling"]) {
      const answer = await model.withStructuredOutput(schema, { name: "person", method }).invoke("return json");
      assert.equal(answer.name, "the name", method);
    }
  });

  script(`${wire}: a failure has its status`, async () => {
    await assert.rejects(model.invoke("fail 400"), (error) => error.status === 400 || assert.fail(`${error}`));
  }, { trouble: true });
}
