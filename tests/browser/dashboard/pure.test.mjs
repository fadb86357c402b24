// What the dashboard computes without a browser: how things are written, and what a search means.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, duration, percent, quantile, sentence, shortId, usd } from "../../../dashboard/format.js";
import { fits, readSearch, writeSearch } from "../../../dashboard/store/run-search.js";

test("money keeps the digits that matter, and what nobody knows is not zero", () => {
  assert.deepEqual([0, 0.000103, 0.00123, 0.0447, 0.5, 12.345, 1234.5, null].map(usd), ["$0", "$0.000103", "$0.00123", "$0.0447", "$0.500", "$12.35", "$1,235", "–"]);
});

test("times are written as people say them", () => {
  assert.deepEqual([0, 999, 1500, 61_000, 7_200_000].map(duration), ["0 ms", "999 ms", "1.50 s", "1 min 1 s", "2.0 h"]);
  const now = Date.parse("2026-11-17T10:00:00Z");
  assert.deepEqual(["2026-11-17T09:59:58Z", "2026-11-17T09:58:00Z", "2026-11-18T10:00:00Z"].map((at) => ago(at, now)), ["now", "2 min ago", "in 1 d"]);
  assert.deepEqual([0.036, 0.5, null].map(percent), ["3.6 %", "50 %", "–"]);
});

test("an id is recognised by its kind and its end", () => {
  assert.equal(shortId("run_01m7mfbx9af16vvhv4bmjgr35b"), "run_…bmjgr35b");
  assert.equal(shortId("short"), "short");
});

test("a quantile of nothing is nothing", () => {
  assert.equal(quantile([], 0.5), null);
  assert.equal(quantile([1, 2, 3, 4], 0.5), 3);
});

test("a search is filters, words, or one run", () => {
  assert.deepEqual(readSearch('agent:triage "app:the desk" refund please'), { filters: { agent: "triage", app: "the desk" }, text: "refund please", run: null });
  assert.deepEqual(readSearch("run_01m7mfbx9af16vvhv4bmjgr35b").run, "run_01m7mfbx9af16vvhv4bmjgr35b");
  assert.deepEqual(readSearch("nobody:knows agent:"), { filters: {}, text: "nobody:knows agent:", run: null });
  const written = writeSearch({ agent: "triage", app: "the desk", route: "live" }, "refund");
  assert.deepEqual(readSearch(written), { filters: { app: "the desk", agent: "triage" }, text: "refund", run: null });
});

test("a run of the feed is in a list exactly if it fits the filters", () => {
  const run = { route: "live", agent: "triage", keyId: "key_1", startedAt: "2026-11-17T10:00:00.000Z" };
  assert.ok(fits(run, { route: "live", key: "key_1", since: "2026-11-17T10:00:00.000Z" }));
  assert.ok(!fits(run, { until: "2026-11-17T10:00:00.000Z" }));
  assert.ok(!fits(run, { agent: "other" }));
});

test("what the gateway says is read as a sentence, and names stay as they are", () => {
  assert.deepEqual(["there is nothing at this path", "metadata.key is too long", "Use another.", ""].map(sentence), ["There is nothing at this path.", "metadata.key is too long.", "Use another.", ""]);
});
