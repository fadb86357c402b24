// Policy replay (§6): which engine it is, and the engine punk.policy/1 (§6.2).
//
// Written from the page alone. There is no Cedar engine here: a verdict in which Cedar policies had a say is not checked.

import { hasShape, isInteger, isString, isTenant, parseJson } from './canonical.mjs';
import { decide as decideByRules, matches, readPolicy } from './rules.mjs';

/** `{verdict}`, or `{unreadable: why}`, or `{notChecked: true}`. */
export function replay(engine, text, facts, action) {
  if (engine !== 'punk.rules/1' && engine !== 'punk.policy/1') return { unreadable: 'unknown engine' };
  if (!isString(action)) return { unreadable: 'the action is not a string' };
  const policies = engine === 'punk.rules/1' ? readPolicy(text) : readSet(text);
  if (policies === null) return { unreadable: 'the policy cannot be read' };
  if (engine === 'punk.rules/1') return { verdict: decideByRules(policies, action) };
  if (!isFacts(facts)) return { unreadable: 'the facts cannot be read' };
  if (!/^[^:*]+:[^:*]+$/.test(action)) return { unreadable: 'the action is none' };
  return policies.cedar === undefined ? { verdict: decide(policies.policies, facts, action) } : { notChecked: true };
}

// ---- shapes

/** Numbers keep their spelling: 1 and 1.0 are not the same in a policy text. */
class Spelt {
  constructor(value, token) {
    this.value = value;
    this.token = token;
  }
}

const isOneOf = (...words) => (value) => words.includes(value);
const isListOf = (test) => (value) => Array.isArray(value) && value.every(test);
const isSomeOf = (test) => (value) => isListOf(test)(value) && value.length > 0;
const isNullOr = (test) => (value) => value === null || test(value);
const isTrue = (value) => value === true;
const isBoolean = (value) => typeof value === 'boolean';
const isIntegerUpTo = (most) => (value) => isInteger(value) && value <= most;
const isName = (value) => isString(value) && value !== '' && [...value].length <= 120 && !/\p{Cc}/u.test(value);
const hasMember = (value) => Object.keys(value).length > 0;

// ---- policies

const isEffect = isOneOf('allow', 'deny');
const isTier = isOneOf('unverified', 'verified', 'trusted', 'privileged');
const isDay = isOneOf('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun');
const isPer = isOneOf('tenant', 'app', 'agent', 'key', 'subject', 'run');
const isWindow = isOneOf('minute', 'hour', 'day', 'month', 'total');
const isCount = (least, most) => (value) => value instanceof Spelt && /^(0|[1-9][0-9]*)$/.test(value.token)
  && value.value >= least && value.value <= most;
const isPattern = (value) => isString(value) && (value === '*' || /^(\*|[^:*]+):(\*|[^:*]+)$/.test(value));

/** A comparison with at most `digits` digits after the point, in its one spelling. */
const isComparison = (digits) => (value) => {
  const part = isString(value) && /^(?:<|<=|>|>=|==) (?:0|[1-9][0-9]{0,8})(?:\.([0-9]*[1-9]))?$/.exec(value);
  return Boolean(part) && (part[1] ?? '').length <= digits;
};

function isHours(value) {
  const part = isString(value) && /^(0|[1-9][0-9]?)-(0|[1-9][0-9]?)$/.exec(value);
  if (!part) return false;
  const [from, to] = [Number(part[1]), Number(part[2])];
  return from < 24 && to <= 24 && from !== to;
}

/** Whole micro-dollars above zero, and nothing between them. */
function isDollars(value) {
  if (!(value instanceof Spelt)) return false;
  const micros = Math.round(value.value * 1e6);
  return micros > 0 && micros < 2 ** 53 && micros / 1e6 === value.value;
}

const isTerms = (value) => hasShape(value,
  { needed: isCount(1, 20), expiresMinutes: isCount(1, 43_200) }, { roles: isSomeOf(isString) });
const isBudget = (value) => hasShape(value, { limitUsd: isDollars, per: isPer, window: isWindow }, { soft: isTrue });
const isRate = (value) => hasShape(value, { limit: isCount(1, 2 ** 32 - 1), per: isPer, window: isWindow });
const isWhen = (value) => hasShape(value, {}, {
  costUsd: isComparison(6),
  sideEffectLevel: isComparison(0),
  trustScore: isComparison(3),
  model: isSomeOf(isString),
  tool: isSomeOf(isString),
  app: isSomeOf(isString),
  hour: isHours,
  weekday: isSomeOf(isDay),
  tags: isSomeOf(isString),
  labels: isSomeOf(isString),
}) && hasMember(value);

function isRule(value) {
  const optional = { effect: isEffect, requiresApproval: isTrue, approval: isTerms, when: isWhen, budget: isBudget, rate: isRate };
  if (!hasShape(value, { actions: isSomeOf(isPattern) }, optional)) return false;
  const kinds = ['effect', 'budget', 'rate'].filter((kind) => kind in value);
  return kinds.length === 1 && (!asks(value) || value.effect === 'allow');
}

const isWhom = (value) => hasShape(value, {},
  { agentIds: isSomeOf(isString), tags: isSomeOf(isString), trustTiers: isSomeOf(isTier) }) && hasMember(value);
const isPolicy = (value) => hasShape(value,
  { name: isName, version: isName, rules: isListOf(isRule), defaultEffect: isEffect },
  { description: (text) => isString(text) && text !== '', appliesTo: isWhom });
const isCedarFile = (value) => hasShape(value, { name: isName, text: isString });

/** The set, or null if the text is not one in its one spelling. */
function readSet(text) {
  let set;
  try { set = parseJson(text, { unique: true, spelt: (value, token) => new Spelt(value, token) }); } catch { return null; }
  if (!hasShape(set, { policies: isListOf(isPolicy) }, { cedar: isSomeOf(isCedarFile) })) return null;
  const names = [...set.policies, ...(set.cedar ?? [])].map(({ name }) => name);
  const taken = names.some((name) => name === 'built-in' || name.includes(':'));
  return taken || new Set(names).size < names.length ? null : set;
}

// ---- facts

const isId = (prefix) => (value) => isString(value) && new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`).test(value);
const isLevel = isIntegerUpTo(4);
const isPlace = isNullOr(isIntegerUpTo(2 ** 32 - 1));
const isMeter = (value) => hasShape(value,
  { policy: isString, rule: isPlace, limit: isInteger, used: isInteger, amount: isNullOr(isInteger), hard: isBoolean });
const isException = (value) => hasShape(value, { id: isString, policy: isString, rule: isPlace, actions: isListOf(isString) });

const isFacts = (value) => hasShape(value, {
  tenant: isTenant,
  app: isString,
  agent: isString,
  key: isNullOr(isId('key')),
  trustTier: isTier,
  trustScoreMilli: isIntegerUpTo(1000),
  tags: isListOf(isString),
  gatewayMode: isOneOf('observe', 'enforce'),
  model: isNullOr(isString),
  tool: isNullOr(isString),
  level: isLevel,
  costMicroUsd: isNullOr(Number.isSafeInteger),
  hour: isIntegerUpTo(23),
  weekday: isDay,
  labels: isListOf(isString),
  meters: isListOf(isMeter),
  shaped: isNullOr((shaped) => hasShape(shaped, { threshold: isLevel, by: isListOf(isString) })),
  remote: isNullOr((remote) => hasShape(remote, { effect: isOneOf('allow', 'approval_required', 'deny'), policy: isString })),
  exceptions: isListOf(isException),
  approvals: isListOf((approval) => hasShape(approval, { id: isId('apr'), policy: isString, rule: isPlace })),
}, { barred: isListOf(isString) });

// ---- whom a policy is for

/** The policies that name somebody most exactly, in the order in which they are asked. */
function policiesFor(policies, { agent, tags, trustTier }) {
  const listing = (list, wanted) => policies.filter(({ appliesTo }) => appliesTo?.[list]?.includes(wanted));
  const named = [
    () => listing('agentIds', agent),
    () => [...new Set(tags.flatMap((tag) => listing('tags', tag)))],
    () => listing('trustTiers', trustTier),
    () => policies.filter(({ appliesTo }) => appliesTo === undefined),
  ];
  for (const policiesOf of named) {
    const found = policiesOf();
    if (found.length > 0) return found;
  }
  return [];
}

// ---- conditions

function globMatches(glob, text) {
  const parts = glob.split('*');
  if (parts.length === 1) return glob === text;
  const [first, last] = [parts.shift(), parts.pop()];
  if (!text.startsWith(first)) return false;
  let rest = text.slice(first.length);
  for (const part of parts) {
    const at = rest.indexOf(part);
    if (at < 0) return false;
    rest = rest.slice(at + part.length);
  }
  return rest.endsWith(last);
}

/** Compares with a number that is counted in units of the `digits`-th digit after the point. */
function compares(comparison, digits, number) {
  const [sign, wanted] = comparison.split(' ');
  const [whole, part = ''] = wanted.split('.');
  const units = Number(whole + part.padEnd(digits, '0'));
  return { '<': number < units, '<=': number <= units, '>': number > units, '>=': number >= units, '==': number === units }[sign];
}

function isWithin(hours, hour) {
  const [from, to] = hours.split('-').map(Number);
  return from < to ? hour >= from && hour < to : hour >= from || hour < to;
}

/** Whether a rule covers what it names. What is not known counts for rules that hold something back. */
function holds(rule, facts) {
  const anyOf = (globs, text) => globs.some((glob) => globMatches(glob, text));
  const unlessUnknown = (value, answer) => (value === null ? null : answer(value));
  const ask = {
    app: (globs) => anyOf(globs, facts.app),
    hour: (hours) => isWithin(hours, facts.hour),
    weekday: (days) => days.includes(facts.weekday),
    tags: (tags) => tags.some((tag) => facts.tags.includes(tag)),
    labels: (labels) => labels.some((label) => facts.labels.includes(label)),
    sideEffectLevel: (comparison) => compares(comparison, 0, facts.level),
    trustScore: (comparison) => compares(comparison, 3, facts.trustScoreMilli),
    costUsd: (comparison) => unlessUnknown(facts.costMicroUsd, (cost) => compares(comparison, 6, cost)),
    model: (globs) => unlessUnknown(facts.model, (model) => anyOf(globs, model)),
    tool: (globs) => unlessUnknown(facts.tool, (tool) => anyOf(globs, tool)),
  };
  const answers = Object.entries(rule.when ?? {}).map(([name, condition]) => ask[name](condition));
  if (answers.includes(false)) return false;
  return !answers.includes(null) || rule.effect !== 'allow' || asks(rule);
}

// ---- the verdict

function asks(rule) {
  return 'requiresApproval' in rule || 'approval' in rule;
}

// BigInt, because a sum of two large numbers could round down to the limit.
const isShort = ({ amount, limit, used }) => amount === null || BigInt(used) + BigInt(amount) > BigInt(limit);

function* opinions(policies, facts, action) {
  if (facts.barred?.length > 0) yield { effect: 'deny', policy: facts.barred[0], rule: null };
  const asked = policiesFor(policies, facts);
  for (const { name, rules, defaultEffect } of asked) {
    const covering = rules.map((rule, index) => ({ rule, index }))
      .filter(({ rule }) => rule.actions.some((pattern) => matches(pattern, action)) && holds(rule, facts));
    const decides = covering.find(({ rule }) => 'effect' in rule);
    const effect = decides === undefined ? defaultEffect : asks(decides.rule) ? 'approval_required' : decides.rule.effect;
    yield lifted({ effect, policy: name, rule: decides?.index ?? null }, facts, action, { exceptions: true });
    for (const { rule: { budget, rate }, index } of covering) {
      if (budget === undefined && rate === undefined) continue;
      const limit = budget === undefined ? rate.limit.value : Math.round(budget.limitUsd.value * 1e6);
      const meter = facts.meters.find((known) => known.policy === name && known.rule === index);
      const exceeded = meter === undefined || meter.limit !== limit || isShort(meter);
      if (exceeded && !budget?.soft) yield { effect: 'deny', policy: name, rule: index };
    }
  }
  if (asked.length === 0) yield { effect: 'allow', policy: 'built-in', rule: null };
  for (const meter of facts.meters) {
    if (meter.rule === null && meter.hard && isShort(meter)) yield { effect: 'deny', policy: meter.policy, rule: null };
  }
  if (facts.remote !== null) yield { effect: facts.remote.effect, policy: `remote:${facts.remote.policy}`, rule: null };
  if (facts.shaped !== null && facts.level >= facts.shaped.threshold) {
    yield lifted({ effect: 'approval_required', policy: 'quarantine:memory', rule: null }, facts, action, { exceptions: false });
  }
}

/** An opinion after what people have said. */
function lifted(opinion, { approvals, exceptions }, action, may) {
  if (opinion.effect === 'allow') return opinion;
  const excepted = may.exceptions && exceptions.find((exception) => exception.policy === opinion.policy
    && (exception.rule === null || exception.rule === opinion.rule)
    && exception.actions.some((pattern) => matches(pattern, action)));
  if (excepted) return { effect: 'allow', policy: `exception:${excepted.id}`, rule: null };
  if (opinion.effect !== 'approval_required') return opinion;
  const granted = approvals.find(({ policy, rule }) => policy === opinion.policy && rule === opinion.rule);
  return granted ? { effect: 'allow', policy: `approval:${granted.id}`, rule: null } : opinion;
}

const STRICTNESS = ['allow', 'approval_required', 'deny'];

/** The strictest opinion; of equals, the first. */
function decide(policies, facts, action) {
  let strictest = null;
  for (const opinion of opinions(policies, facts, action)) {
    if (strictest === null || STRICTNESS.indexOf(opinion.effect) > STRICTNESS.indexOf(strictest.effect)) strictest = opinion;
  }
  return strictest;
}
