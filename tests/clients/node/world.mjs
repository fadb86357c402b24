// Where the clients of this run point, what stands behind, and what the stand-in upstream saw.
//
// The same scripts run against the stand-in itself ("direct") and through Punk with each kind of upstream behind it; the
// environment says which. A script that holds for some of them only says so with `behind`.

import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

const env = (name) => process.env[name] ?? assert.fail(`${name} is not set`);

export const URL_ROOT = env("CLIENTS_URL");
export const UPSTREAM = process.env.CLIENTS_UPSTREAM ?? "";
export const BEHIND = env("CLIENTS_BEHIND");
export const OPENAI_KEY = env("CLIENTS_OPENAI_KEY");
export const ANTHROPIC_KEY = env("CLIENTS_ANTHROPIC_KEY");
export const OPENAI_MODEL = env("CLIENTS_OPENAI_MODEL");
export const ANTHROPIC_MODEL = env("CLIENTS_ANTHROPIC_MODEL");
export const PUNK = BEHIND !== "direct";

export const HELLO = 'Hello from upstream: grüß dich, 你好 👋 "quoted" \\ done.';
export const THOUGHT = "First I weigh the question. Then I decide.";
export const LONG = "This goes on and on and on and on until the limit";
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const SAW_PNG = `I see a image/png of ${Buffer.from(PNG, "base64").length} bytes`;

const SCRIPTED = ["direct", "openai", "compat", "anthropic"];
/** With Punk in between, whatever stands behind it. */
export const ANY_PUNK = ["openai", "compat", "anthropic", "mock"];

/**
 * The scripts of one client. A script runs where one of `behind` stands behind the address: by default, where the
 * stand-in does, which does as it is told.
 */
export const scripts =
  (client) =>
  (name, run, { behind = SCRIPTED, trouble = false } = {}) => {
    if (!behind.includes(BEHIND)) return;
    test(`${client}, ${name}`, { timeout: 30_000 }, async () => {
      await run();
      if (trouble && PUNK) await recover();
    });
  };

/**
 * Some answers that are good. Punk leaves an upstream alone that fails again and again, as it should; these keep that
 * from the scripts that follow one that makes the upstream fail.
 */
async function recover() {
  const body = JSON.stringify({ model: OPENAI_MODEL, messages: [{ role: "user", content: "say hello" }] });
  const headers = { authorization: `Bearer ${OPENAI_KEY}`, "content-type": "application/json" };
  for (let times = 0; times < 6; times += 1) {
    const answer = await fetch(`${URL_ROOT}/v1/chat/completions`, { method: "POST", headers, body });
    assert.equal(answer.status, 200, await answer.text());
  }
}

let number = 0;

/** The prompt with a tail that no other script has, for scripts that look for their own traces. */
export function unique(prompt) {
  number += 1;
  return `${prompt} (take ${number} of ${process.pid} at ${Date.now()})`;
}

async function asked(path) {
  return (await fetch(UPSTREAM + path)).json();
}

/** The requests with `text` in their body that reached the upstream, oldest first. */
export async function seen(text) {
  return (await asked("/_seen")).filter((one) => one.body.includes(text));
}

/** Waits until a request with `text` has reached the upstream. */
export async function arrival(text) {
  for (let tries = 0; !(await seen(text)).length; tries += 1) {
    assert.ok(tries < 1000, `${text} never reached the upstream`);
    await sleep(10);
  }
}

/** When the upstream noticed that the call with `text` was given up. Waits for it. */
export async function cancelled(text) {
  for (let tries = 0; tries < 500; tries += 1) {
    const found = (await asked("/_cancelled")).find((one) => one.body.includes(text));
    if (found) return found.at;
    await sleep(20);
  }
  return assert.fail(`the upstream never noticed the end of ${text}`);
}

/**
 * Holds that the upstream learns within 100 ms of a call that was given up. `attempt(prompt)` starts a call, gives it up
 * and returns when it did. The best of three counts: a busy machine may be late once, and a gateway that waits for
 * something is late every time.
 */
export async function promptlyCancelled(attempt) {
  const delays = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const prompt = unique("be slow");
    const givenUp = await attempt(prompt);
    delays.push((await cancelled(prompt)) - givenUp);
    if (delays.at(-1) < 100) return;
  }
  assert.fail(`the upstream learned of it after ${delays} ms`);
}
