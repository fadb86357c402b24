// The engine punk.policy/1 against decisions that the governor made: tests/vectors/decisions.jsonl.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { replay } from './policy.mjs';

const lines = readFileSync(new URL('../vectors/decisions.jsonl', import.meta.url), 'utf8').trimEnd().split('\n');
const decisions = lines.map((line) => JSON.parse(line));

test('every decision is re-derived, and what cannot be read is refused', () => {
  const seen = { verdict: 0, unreadable: 0, notChecked: 0 };
  decisions.forEach(({ policies, facts, action, verdict }, i) => {
    const again = replay('punk.policy/1', policies, facts, action);
    seen[Object.keys(again)[0]]++;
    if (again.notChecked) assert.match(policies, /"cedar":\[/, `line ${i + 1}`);
    else assert.deepEqual(again.verdict ?? null, verdict, `line ${i + 1}: ${again.unreadable ?? 'another verdict'}`);
  });
  assert.ok(seen.verdict >= 280 && seen.unreadable >= 70 && seen.notChecked >= 15, JSON.stringify(seen));
});

test('the decisions show every voice', () => {
  const named = new Set(decisions.map(({ verdict }) => verdict?.policy.split(':')[0]));
  for (const voice of ['built-in', 'p0', 'budget', 'remote', 'quarantine', 'tripwire', 'exception', 'approval', 'house.cedar']) {
    assert.ok(named.has(voice), voice);
  }
});

test('another engine, and an action that is no text, cannot be replayed', () => {
  const { policies, facts, action } = decisions[0];
  assert.ok(replay('punk.policy/2', policies, facts, action).unreadable);
  assert.ok(replay('punk.policy/1', policies, facts, 7).unreadable);
});
