// The policy engine punk.rules/1 (§6.1).

import { hasShape, isString, parseJson } from './canonical.mjs';

const isEffect = (value) => value === 'allow' || value === 'deny';
const isListOf = (test) => (value) => Array.isArray(value) && value.every(test);
const isRule = (value) => hasShape(value,
  { effect: isEffect, actions: isListOf(isString) },
  { requiresApproval: (flag) => typeof flag === 'boolean' });

/** The policy, or null if the text is not one. */
export function readPolicy(text) {
  let policy;
  try { policy = parseJson(text, { unique: true }); } catch { return null; }
  const required = { name: isString, version: isString, rules: isListOf(isRule), defaultEffect: isEffect };
  return hasShape(policy, required, { description: isString }) ? policy : null;
}

/** Whether a pattern names an action. */
export function matches(pattern, action) {
  if (pattern === '*' || pattern === action) return true;
  const [wanted, given] = [pattern.split(':'), action.split(':')];
  return wanted.length === 2 && given.length === 2 && wanted.every((half, i) => half === '*' || half === given[i]);
}

/** The verdict on an action: the first rule with a matching pattern decides. */
export function decide(policy, action) {
  const index = policy.rules.findIndex((rule) => rule.actions.some((pattern) => matches(pattern, action)));
  if (index < 0) return { effect: policy.defaultEffect, policy: policy.name, rule: null };
  const { effect, requiresApproval } = policy.rules[index];
  return { effect: effect === 'allow' && requiresApproval ? 'approval_required' : effect, policy: policy.name, rule: index };
}
