// Tests of the verifier, with packets built here: own keys, events, Merkle tree, notes and statement.
// The builder shares no code with the verifier; its canonical JSON is plain JSON.stringify over sorted keys.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { canonical, isRun, isTime, parseJson } from './canonical.mjs';
import { verify, verifyChain } from './verify.mjs';

// ---- the builder

const TENANT = 'ten_01j0000000000000000000000a';
const RUN = 'run_01j0000000000000000000000b';
const ORIGIN = `log.example/${TENANT}`;
const AT = '2026-01-02T03:04:05.678Z';
const SALT = '0123456789abcdef0123456789abcdef';

const H = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const hex = (text) => H(text).toString('hex');

function json(value) {
  const sorted = (x) => {
    if (Array.isArray(x)) return x.map(sorted);
    if (x === null || typeof x !== 'object') return x;
    return Object.fromEntries(Object.keys(x).sort().map((key) => [key, sorted(x[key])]));
  };
  return JSON.stringify(sorted(value));
}

function makeKey(name, type) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x, 'base64url');
  const id = H(name, '\n', Buffer.of(type), raw).subarray(0, 4);
  const vkey = `${name}+${id.toString('hex')}+${Buffer.concat([Buffer.of(type), raw]).toString('base64')}`;
  return { name, id, vkey, privateKey };
}

const line = (key, bytes) => `— ${key.name} ${Buffer.concat([key.id, bytes]).toString('base64')}\n`;
const logLine = (key, text) => line(key, sign(null, Buffer.from(text), key.privateKey));

function witnessLine(key, text, seconds = 1767323045n) {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(seconds);
  return line(key, Buffer.concat([time, sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), key.privateKey)]));
}

const LOG = makeKey(ORIGIN, 1);
const STRANGER = makeKey(ORIGIN, 1);
const W1 = makeKey('w1.example', 4);
const W2 = makeKey('w2.example', 4);
const W3 = makeKey('w3.example', 4);
const TRUST = `# test\nlog ${LOG.vkey} https://log.example/\n\nquorum none\n`;
const WITNESSED = `log ${LOG.vkey}\nwitness a ${W1.vkey}\nwitness b\t${W2.vkey} https://b/\nwitness c ${W3.vkey}\n`
  + 'group two 2 a b c\nquorum two\n';

const POLICY = JSON.stringify({
  name: 'house', version: '1', description: 'of the house', defaultEffect: 'deny',
  rules: [
    { effect: 'deny', actions: ['delete:*'] },
    { effect: 'allow', actions: ['pay:invoice', '*:refund'], requiresApproval: true },
    { effect: 'allow', actions: ['read:*', 'a:b:c'] },
  ],
}, null, 2);

const withheld = (name, value) => ({ withheld: hex(json([SALT, name, value])) });
const fields = (values) => Object.fromEntries(Object.entries(values)
  .map(([name, value]) => [name, value?.withheld ? value : { salt: SALT, value }]));
const event = (type, values = {}) => ({ type, payload: fields(values) });
const decided = (action, effect, rule, more = {}) => event('policy.decided', {
  engine: 'punk.rules/1', policies: [hex(POLICY)], facts: {}, action, verdict: { effect, policy: 'house', rule }, ...more,
});
const finished = (more = {}) => event('run.finished', {
  status: 'ok', route: 'model', explanation: 'because', costMicroUsd: 30, savedMicroUsd: 0, inputTokens: 7, outputTokens: 5,
  latencyMs: 12.5, ...more,
});
const completed = (costMicroUsd, inputTokens, outputTokens) => event('model.completed', { costMicroUsd, inputTokens, outputTokens });

const started = () => event('run.started', { kind: 'chat', app: 'shop', subject: 'é🦀' });
const standard = () => [
  started(),
  decided('read:book', 'allow', 2),
  completed(10, 3, 2),
  completed(20, 4, 3),
  event('side_effect.planned', { sideEffect: 's1', toolName: 'mail', level: 2, payload: { to: 'x' } }),
  event('side_effect.executed', { sideEffect: 's1' }),
  event('audit.viewed', { by: 'ann', note: withheld('note', 'secret') }),
  finished(),
];

function chain(events, run = RUN) {
  let prev = '0'.repeat(64);
  return events.map(({ type, payload, at = AT }, i) => {
    const digests = Object.fromEntries(Object.entries(payload)
      .map(([name, field]) => [name, field.withheld ?? hex(json([field.salt, name, field.value]))]));
    const head = { at, payload_digest: hex(json(digests)), prev, run, seq: i + 1, tenant: TENANT, type };
    prev = hex(json(head));
    return { at, hash: prev, payload, seq: i + 1, type };
  });
}

// RFC 6962, straight from its recursive definition
const half = (n) => { let k = 1; while (k * 2 < n) k *= 2; return k; };
const root = (hashes) => hashes.length === 1 ? hashes[0]
  : H('\x01', root(hashes.slice(0, half(hashes.length))), root(hashes.slice(half(hashes.length))));
function auditPath(i, hashes) {
  if (hashes.length === 1) return [];
  const k = half(hashes.length);
  return i < k ? [...auditPath(i, hashes.slice(0, k)), root(hashes.slice(k))]
    : [...auditPath(i - k, hashes.slice(k)), root(hashes.slice(0, k))];
}

const rowField = (e, name) => {
  const field = e?.payload[name];
  return field === undefined ? null : 'withheld' in field ? field : field.value;
};

function rows(events) {
  const pick = (e, names) => Object.fromEntries(names.split(' ').map((name) => [name, rowField(e, name)]));
  const end = events.find((e) => e.type === 'run.finished');
  return {
    run: {
      id: RUN, tenant: TENANT, startedAt: events[0].at, finishedAt: end?.at ?? null,
      ...pick(events[0], 'kind app agent subject gatewayMode model'),
      ...pick(end, 'status route explanation costMicroUsd savedMicroUsd inputTokens outputTokens latencyMs'),
    },
    sideEffects: events.filter((e) => e.type === 'side_effect.planned').map((e) => {
      const settled = events.find((other) => /^side_effect\.(executed|suppressed|blocked)$/.test(other.type)
        && rowField(other, 'sideEffect') === rowField(e, 'sideEffect'));
      return {
        id: rowField(e, 'sideEffect'), ...pick(e, 'toolName level payload'), plannedAt: e.at,
        status: settled?.type.split('.')[1] ?? 'planned', settledAt: settled?.at ?? null,
      };
    }),
    audit: events.filter((e) => e.type.startsWith('audit.')).map((e) => ({
      seq: e.seq, at: e.at, type: e.type,
      payload: Object.fromEntries(Object.keys(e.payload).map((name) => [name, rowField(e, name)])),
    })),
  };
}

/** Builds a packet (an object). The options are places where a test bends one thing and signs the rest honestly. */
function build({
  events = standard(), leafSeqs, indexes, treeSize = 7, policies = { [hex(POLICY)]: POLICY }, artifacts = {}, origin = ORIGIN,
  signatures = (text) => logLine(LOG, text), statementText = (text) => text, statementLine = (text) => logLine(LOG, text),
  sizeText = (size) => String(size), indexText = (index) => String(index),
} = {}) {
  const list = chain(events);
  const seqs = leafSeqs ?? [list.length];
  const places = indexes ?? seqs.map((_, i) => 2 + 3 * i);
  const heads = seqs.map((seq) => list[seq - 1].hash);
  const hashes = Array.from({ length: treeSize }, (_, i) => H('\0', `other ${i}`));
  places.forEach((place, i) => { hashes[place] = H('\0', json({ head: heads[i], run: RUN, seq: seqs[i] })); });
  const rootText = root(hashes).toString('base64');
  const text = `${origin}\n${sizeText(treeSize)}\n${rootText}\n`;
  const checkpoint = `${text}\n${signatures(text)}`;
  const leaves = seqs.map((seq, i) => {
    const path = auditPath(places[i], hashes).map((hash) => `${hash.toString('base64')}\n`).join('');
    return { head: heads[i], proof: `c2sp.org/tlog-proof@v1\nindex ${indexText(places[i])}\n${path}\n${checkpoint}`, seq };
  });
  const statement = statementText([
    'punk evidence statement v1', origin, `run ${RUN}`, `tree ${treeSize} ${rootText}`, `events ${list.length}`,
    ...leaves.map((leaf, i) => `leaf ${places[i]} ${leaf.seq} ${leaf.head}`),
    ...Object.keys(policies).sort().map((digest) => `policy ${digest}`),
    ...Object.keys(artifacts).sort().map((digest) => `artifact ${digest}`), '',
  ].join('\n'));
  return {
    artifacts, events: list, format: 'punk.evidence/1', leaves, policies, statement: `${statement}\n${statementLine(statement)}`,
    tenant: TENANT, ...rows(list),
  };
}

const check = (packet, trust = TRUST) => {
  const result = verify(typeof packet === 'string' ? Buffer.from(packet) : Buffer.isBuffer(packet) ? packet : Buffer.from(json(packet)), trust);
  return result.valid ? 'valid' : result.code;
};
const is = (expected, packet, trust) => assert.equal(check(packet, trust), expected);
/** A standard packet, honest but for one edit after it was built. */
const edited = (edit, options) => { const packet = build(options); edit(packet); return packet; };
const replaceIn = (text, from, to) => { assert.ok(text.includes(from), `no ${from}`); return text.replace(from, to); };

// ---- valid packets

test('valid packets', () => {
  assert.deepEqual(verify(Buffer.from(json(build())), TRUST), { valid: true, notChecked: [] });
  is('valid', build({ leafSeqs: [3, 8] }));
  is('valid', build({ leafSeqs: [1, 3, 8], indexes: [0, 1, 6] }));
  is('valid', build({ events: [started(), finished({ costMicroUsd: 0, inputTokens: 0, outputTokens: 0 })], policies: {} }));
  is('valid', build({ events: [...standard(), event('feedback.given', { __proto__x: 1 }), event('audit.')] }));
  for (let size = 1; size <= 20; size++) {
    for (let index = 0; index < size; index++) is('valid', build({ treeSize: size, indexes: [index] }));
  }
});

test('withheld fields keep the packet valid and are reported', () => {
  const events = standard();
  events[1].payload.facts = withheld('facts', {});
  events[2].payload.costMicroUsd = withheld('costMicroUsd', 10);
  events[7].payload.costMicroUsd = withheld('costMicroUsd', 999);
  const result = verify(Buffer.from(json(build({ events }))), TRUST);
  assert.deepEqual(result, { valid: true, notChecked: ['verdict of event 2', 'sum of costMicroUsd'] });
  const open = build();
  open.events[0].payload.app = withheld('app', 'shop');
  open.run.app = withheld('app', 'shop');
  is('valid', open);
  open.run.app = 'shop';
  is('run-row', open);
});

// ---- bytes

test('bytes', () => {
  const good = json(build());
  is('not-canonical', `${good}\n`);
  is('not-canonical', ` ${good}`);
  is('not-json', `\ufeff${good}`);
  is('not-json', '');
  is('not-json', `${good}x`);
  is('not-json', `${good.slice(0, -1)},}`);
  is('not-json', Buffer.concat([Buffer.from(good.slice(0, 40)), Buffer.of(0xed, 0xa0, 0x80), Buffer.from(good.slice(40))]));
  is('not-json', Buffer.of(0x22, 0xff, 0x22));
  is('not-canonical', replaceIn(good, '"artifacts":{}', '"artifacts":{},"artifacts":{}'));
  is('not-json', '{"a":1e400,"a":1}');
  is('not-json', '{"a":"\\ud800","a":1}');
  is('not-json', '["\\ud800"]');
  is('not-json', '{"\\udc00":1}');
  is('not-json', '["\\udc00\\ud800"]');
  is('not-json', '[1e400]');
  is('not-json', `[${'9'.repeat(400)}]`);
  for (const text of ['01', '+1', '.5', '1.', '1e', '-', 'NaN', 'Infinity', "'a'", '"\u0001"', '"\\x"', '"\\u12g4"', '[1,]', '[,1]', '{"a"}',
    '{a:1}', '[1 2]', 'truefalse', '"a', '"a\\"', '\u00a0[]', '[]\0', 'tru', '{"a":1,}', '[', '{', '"\\', 'nul']) is('not-json', text);
  for (const text of ['[-0]', '[1.0]', '[9007199254740993]', '[9007199254740992]', '[-9007199254740992]', '[1e20]', '[100000000000000000000]',
    '[1e21]', '[1E2]', '[1e-400]', '["\\u0041"]', '["\\/"]', '["\\ud83e\\udd80"]', '{"b":1,"a":2}', '{"\ufb33":1,"🦀":2}', '[ ]']) {
    is('not-canonical', text);
  }
  for (const text of ['[1e+21]', '[9007199254740991]', '[-9007199254740991]', '[]', '"a"', 'null', '1', '[{"🦀":2,"\ufb33":1}]',
    '["\\u0001\\b\\n\u007f\u2028🦀"]', '[0.000001,1e-7,5e-324,1.7976931348623157e+308]']) is('wrong-shape', text);
  is('wrong-shape', `${'['.repeat(100)}${']'.repeat(100)}`);
  is('not-json', `${'['.repeat(101)}${']'.repeat(101)}`);
  is('not-json', '['.repeat(1e6));
  is('not-json', '{"a":'.repeat(101) + '1' + '}'.repeat(101));
  is('unknown-format', '{"a":'.repeat(100) + '1' + '}'.repeat(100));
});

test('canonical JSON of RFC 8785', () => {
  const numbers = [[0, '0'], [-0, '0'], [1e21, '1e+21'], [1e-7, '1e-7'], [0.000001, '0.000001'], [333333333.33333329, '333333333.3333333'],
    [4.50, '4.5'], [2e-3, '0.002'], [1e-27, '1e-27'], [5e-324, '5e-324'], [-5e-324, '-5e-324'], [2 ** 53 - 1, '9007199254740991'],
    [9.999999999999997e22, '9.999999999999997e+22'], [0.1 + 0.2, '0.30000000000000004'], [-0.0000033333333333333333, '-0.0000033333333333333333']];
  for (const [value, text] of numbers) assert.equal(canonical(value), text);
  for (const value of [2 ** 53, -(2 ** 53), 1e20, 999999999999999900000]) assert.throws(() => canonical(value), RangeError);
  const text = '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7,"10":8,"2":9}';
  assert.equal(canonical(parseJson(text)), '{"\\r":2,"1":4,"10":8,"2":9,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
  assert.equal(canonical(parseJson('{"__proto__":{"x":1},"a":[true,false,null]}')), '{"__proto__":{"x":1},"a":[true,false,null]}');
});

test('__proto__ is a name like any other', () => {
  const events = standard();
  const odd = JSON.parse(`{"__proto__":{"salt":"${SALT}","value":{"__proto__":1}},"constructor":{"salt":"${SALT}","value":2}}`);
  events[6].payload = odd;
  is('valid', build({ events }));
  is('audit-row', edited((p) => { p.audit[0].payload = {}; }, { events }));
  const good = json(build());
  is('wrong-shape', replaceIn(good, '{"artifacts"', '{"__proto__":null,"artifacts"'));
  is('wrong-shape', replaceIn(good, '"salt":"', '"__proto__":1,"salt":"'));
  is('wrong-shape', replaceIn(good, '"artifacts":{}', '"artifacts":{"__proto__":""}'));
  is('unknown-format', '{"__proto__":{"format":"punk.evidence/1"}}');
});

test('grammars', () => {
  for (const time of ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z', '2024-02-29T00:00:00.000Z']) assert.ok(isTime(time), time);
  for (const time of ['1969-12-31T23:59:59.999Z', '2023-02-29T00:00:00.000Z', '2024-01-01T24:00:00.000Z', '2016-12-31T23:59:60.000Z',
    '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.000+00:00', '2024-00-01T00:00:00.000Z', '+02024-01-01T00:00:00.000Z', 7]) assert.ok(!isTime(time), String(time));
  assert.ok(isRun('run_7zzzzzzzzzzzzzzzzzzzzzzzzz'));
  for (const id of ['run_8zzzzzzzzzzzzzzzzzzzzzzzzz', 'run_0izzzzzzzzzzzzzzzzzzzzzzzz', 'run_0lzzzzzzzzzzzzzzzzzzzzzzzz', 'run_0ozzzzzzzzzzzzzzzzzzzzzzzz',
    'run_0uzzzzzzzzzzzzzzzzzzzzzzzz', `${RUN}\n`, RUN.toUpperCase(), TENANT]) assert.ok(!isRun(id), id);
});

// ---- format and shape

test('format and shape', () => {
  is('unknown-format', edited((p) => { p.format = 'punk.evidence/2'; }));
  is('unknown-format', edited((p) => { delete p.format; p.tenant = 1; }));
  is('unknown-format', '{}');
  const edits = [
    (p) => { delete p.audit; }, (p) => { p.more = 1; }, (p) => { p.events = []; }, (p) => { p.leaves = []; }, (p) => { p.run = []; },
    (p) => { p.run = null; }, (p) => { delete p.run.id; }, (p) => { p.run.id = TENANT; }, (p) => { p.tenant = RUN; }, (p) => { p.audit = {}; },
    (p) => { p.sideEffects = null; }, (p) => { p.statement = 1; }, (p) => { p.policies = []; }, (p) => { p.policies = { x: 'y' }; },
    (p) => { p.policies = { [hex('a')]: 1 }; }, (p) => { p.artifacts = { [hex('a').toUpperCase()]: '' }; },
    (p) => { p.events[0].more = 1; }, (p) => { delete p.events[0].at; }, (p) => { p.events[0].type = ''; }, (p) => { p.events[0].seq = 1.5; },
    (p) => { p.events[0].seq = -1; }, (p) => { p.events[0].seq = '1'; }, (p) => { p.events[0].payload = []; }, (p) => { p.events[0].hash = 'ab'; },
    (p) => { p.events[0].payload[''] = { salt: SALT, value: 1 }; }, (p) => { p.events[0].payload.x = { salt: SALT }; },
    (p) => { p.events[0].payload.x = { salt: SALT, value: 1, withheld: hex('') }; }, (p) => { p.events[0].payload.x = {}; },
    (p) => { p.events[0].payload.x = { salt: SALT.slice(1), value: 1 }; }, (p) => { p.events[0].payload.x = { withheld: null }; },
    (p) => { p.leaves[0].more = 1; }, (p) => { p.leaves[0].seq = 1e21; }, (p) => { p.leaves[0].proof = null; }, (p) => { p.leaves = [null]; },
  ];
  for (const edit of edits) is('wrong-shape', edited(edit));
});

// ---- chain, life, leaves

test('chain', () => {
  is('event-order', edited((p) => { p.events[0].seq = 0; }));
  is('event-order', edited((p) => { p.events.splice(1, 1); }));
  is('event-hash', edited((p) => { p.events[1].at = '2026-01-02T03:04:05.679Z'; }));
  is('event-hash', edited((p) => { p.events[0].payload.kind.value = 'x'; }));
  is('event-hash', edited((p) => { p.events[0].payload.new = { salt: SALT, value: 1 }; }));
  is('event-hash', edited((p) => { p.run.id = RUN.replace(/b$/, 'c'); }));
  is('event-hash', edited((p) => { p.tenant = TENANT.replace(/a$/, 'c'); }));
  const bytes = (events) => Buffer.from(json(events));
  const { events } = build();
  assert.equal(verifyChain(bytes(events), TENANT, RUN).valid, true);
  assert.equal(verifyChain(bytes(events.slice(0, 3)), TENANT, RUN).valid, true);
  assert.equal(verifyChain(bytes(events.slice(1)), TENANT, RUN).code, 'event-order');
  assert.equal(verifyChain(bytes(events), TENANT, RUN.replace(/b$/, 'c')).code, 'event-hash');
  assert.equal(verifyChain(bytes({}), TENANT, RUN).code, 'wrong-shape');
  assert.equal(verifyChain(Buffer.from('['), TENANT, RUN).code, 'not-json');
});

test('life', () => {
  is('incomplete', build({ events: standard().slice(0, -1) }));
  is('incomplete', build({ events: [event('x'), ...standard()] }));
  is('lifecycle', build({ events: [...standard(), finished()] }));
  is('lifecycle', build({ events: [...standard(), started()] }));
});

test('leaves', () => {
  is('leaf-order', edited((p) => { p.leaves.reverse(); }, { leafSeqs: [3, 8] }));
  is('leaf-order', edited((p) => { p.leaves.push(p.leaves[0]); }));
  is('leaf-head', edited((p) => { p.leaves[0].head = hex(''); }));
  is('leaf-head', edited((p) => { p.leaves[0].seq = 9; }));
  is('leaf-head', edited((p) => { p.leaves[0].seq = 0; }));
  is('uncovered', build({ leafSeqs: [3, 7] }));
});

// ---- proofs

test('proof texts have one spelling', () => {
  const spellings = [
    (t) => t.slice(0, -1), (t) => `${t}\n`, (t) => `${t} `, (t) => `\n${t}`, (t) => t.replaceAll('\n', '\r\n'), () => '',
    (t) => t.replace('@v1', '@v2'), (t) => t.replace('index 2', 'index 02'), (t) => t.replace('index 2', 'index +2'), (t) => t.replace('index 2\n', ''),
    (t) => t.replace('index 2', 'index  2'), (t) => t.replace('index 2', 'extra aGk=\nindex 2'), (t) => t.replace('=\n', '\n'),
    (t) => t.replace(/(.)=\n/, (_, c) => `${String.fromCharCode(c.charCodeAt(0) + 1)}=\n`), (t) => t.replace('=\n', '= \n'),
    (t) => t.replace('\n7\n', '\n07\n'), (t) => t.replace('\n7\n', '\n0\n'), (t) => t.replace('\n7\n', '\n9007199254740992\n'), (t) => t.replace('\n7\n', '\n7\nmore\n'),
    (t) => t.replace('\n7\n', '\n7\n\n'), (t) => t.replace('— ', '- '), (t) => t.replace('— ', '—  '), (t) => t.replace('— ', '—\t'), (t) => t.replace('log.ex', 'log\u0001ex'),
    (t) => t.replaceAll('log.ex', 'log+ex'), (t) => t.replaceAll('log.ex', 'log\u0085ex'), (t) => t.replaceAll('log.ex', 'log\u2003ex'), (t) => t.replaceAll('log.ex', 'log ex'),
    (t) => t.replace(/— .*\n$/, ''), (t) => t.replace(/(— .*\n)$/, '$1$1'), (t) => t.replace(/ \S+\n$/, ' AAAA\n'),
    (t) => t.replace(ORIGIN, ''),
  ];
  const { proof } = build().leaves[0];
  spellings.forEach((spell, i) => {
    assert.notEqual(spell(proof), proof, `spelling ${i} changes nothing`);
    assert.equal(check(edited((p) => { p.leaves[0].proof = spell(proof); })), 'proof-text', `spelling ${i}`);
  });
});

test('order of signature lines', () => {
  const keys = [W1, W2].map((key) => (text) => witnessLine(key, text));
  const log = (text) => logLine(LOG, text);
  const lines = (...makers) => ({ signatures: (text) => makers.map((make) => make(text)).join('') });
  is('valid', build(lines(log, ...keys)), WITNESSED);
  is('proof-text', build(lines(keys[0], log, keys[1])), WITNESSED);
  is('proof-text', build(lines(log, keys[1], keys[0])), WITNESSED);
  is('proof-text', build(lines(log, keys[0], keys[0])), WITNESSED);
  // by UTF-8 bytes U+FB33 comes before the crab, by UTF-16 code units after it
  const [low, high] = [makeKey('\ufb33', 4), makeKey('🦀', 4)];
  const trust = `log ${LOG.vkey}\nwitness a ${low.vkey}\nwitness b ${high.vkey}\ngroup g all a b\nquorum g`;
  is('valid', build(lines(log, (t) => witnessLine(low, t), (t) => witnessLine(high, t))), trust);
  is('proof-text', build(lines(log, (t) => witnessLine(high, t), (t) => witnessLine(low, t))), trust);
  // U+FEFF is no white space for Unicode, though it is for \s
  const zero = makeKey('a\ufeffb', 4);
  is('valid', build(lines(log, (t) => witnessLine(zero, t))), `log ${LOG.vkey}\nwitness a ${zero.vkey}\nquorum a`);
  const many = Array.from({ length: 16 }, (_, i) => makeKey(`m${String(i).padStart(2, '0')}`, 4));
  const all = `log ${LOG.vkey}\n${many.map((key, i) => `witness n${i} ${key.vkey}\n`).join('')}quorum n3`;
  is('valid', build(lines(log, ...many.slice(0, 15).map((key) => (t) => witnessLine(key, t)))), all);
  is('proof-text', build(lines(log, ...many.map((key) => (t) => witnessLine(key, t)))), all);
});

test('keys and signatures of the checkpoint', () => {
  const other = TENANT.replace(/a$/, 'c');
  is('wrong-origin', build({ origin: `log.example/${other}` }));
  is('wrong-origin', build({ origin: `log.example.${TENANT}` }));
  is('unknown-key', build({ signatures: (t) => logLine(STRANGER, t) }));
  is('unknown-key', build(), `log ${makeKey('elsewhere', 1).vkey}\nquorum none`);
  is('unknown-key', build({ signatures: (t) => logLine(LOG, t) + witnessLine(W1, t) }));
  const foreign = makeKey(`other.example/${TENANT}`, 1); // a log key, but of another origin
  is('unknown-key', build({ signatures: (t) => logLine(LOG, t) + logLine(foreign, t) }), `${TRUST}log ${foreign.vkey}`);
  is('bad-signature', build({ signatures: (t) => logLine(LOG, `${t}x`) }));
  is('bad-signature', build({ signatures: (t) => line(LOG, Buffer.alloc(63)) }));
  is('bad-signature', build({ signatures: (t) => logLine(LOG, t) + logLine(W1, t) }), WITNESSED);
  is('bad-signature', build({ signatures: (t) => logLine(LOG, t) + witnessLine(W1, t, 1n << 63n) }), WITNESSED);
  is('quorum', build({ signatures: (t) => logLine(LOG, t) + witnessLine(W1, t, (1n << 63n) - 1n) }), WITNESSED);
  is('unsigned', build({ signatures: (t) => witnessLine(W1, t) + witnessLine(W2, t) }), WITNESSED);
  const rotated = makeKey(ORIGIN, 1);
  const both = `${TRUST}log ${rotated.vkey}\n`;
  is('valid', build({ signatures: (t) => logLine(rotated, t) }), both);
  is('valid', build({ signatures: (t) => [LOG, rotated].sort((a, b) => Buffer.compare(a.id, b.id)).map((key) => logLine(key, t)).join('') }), both);
});

test('witness quorum', () => {
  const by = (...keys) => build({ signatures: (t) => logLine(LOG, t) + keys.map((key) => witnessLine(key, t)).join('') });
  is('valid', by(W1, W3), WITNESSED);
  is('valid', by(W1, W2, W3), WITNESSED);
  is('quorum', by(W2), WITNESSED);
  is('quorum', by(), WITNESSED);
  const nested = `log ${LOG.vkey}\nwitness a ${W1.vkey}\nwitness b ${W2.vkey}\nwitness c ${W3.vkey}\ngroup x any a b\ngroup y all x c\nquorum y`;
  is('valid', by(W2, W3), nested);
  is('quorum', by(W1, W2), nested);
  is('valid', by(W1), WITNESSED.replace('quorum two', 'quorum none'));
});

test('inclusion', () => {
  is('inclusion', edited((p) => { p.leaves[0].proof = replaceIn(p.leaves[0].proof, 'index 2', 'index 3'); }));
  is('inclusion', build({ indexText: () => '7' }));
  is('proof-text', build({ indexText: () => '9'.repeat(40) }));
  is('inclusion', build({ sizeText: () => '9007199254740991' }));
  is('inclusion', edited((p) => { p.leaves[0].proof = p.leaves[0].proof.replace(/(index 2\n)[^\n]+\n/, '$1'); }));
  is('inclusion', edited((p) => { p.leaves[0].proof = p.leaves[0].proof.replace(/(\n[^\n]+)\n\n/, '$1$1\n\n'); }));
  is('inclusion', edited((p) => { p.leaves[0].proof = p.leaves[0].proof.replace('index 0\n', `index 0\n${H('').toString('base64')}\n`); }, { treeSize: 1, indexes: [0] }));
  is('leaf-order', build({ leafSeqs: [3, 8], indexes: [5, 2] }));
  is('checkpoint-differs', edited((p) => { p.leaves[1].proof = build({ leafSeqs: [3, 8], treeSize: 8 }).leaves[1].proof; }, { leafSeqs: [3, 8] }));
});

// ---- statement

test('statement', () => {
  for (const spell of [(t) => t.slice(0, -1), (t) => `${t}\n`, (t) => t.replace('\n\n', '\n'), (t) => t.replace('run ', 'run\t'), () => '',
    (t) => `${t}${logLine(STRANGER, '')}`, (t) => t.replace(/— .*\n$/, '')]) {
    is('statement-text', edited((p) => { p.statement = spell(p.statement); }));
  }
  is('statement-differs', build({ statementText: (t) => t.replace('v1', 'v2') }));
  is('statement-differs', build({ statementText: (t) => t.replace('events 8', 'events 08') }));
  is('statement-differs', build({ statementText: (t) => `${t}\n` }));
  is('statement-differs', edited((p) => { p.leaves.shift(); }, { leafSeqs: [3, 8] }));
  is('statement-differs', edited((p) => { delete p.policies[hex(POLICY)]; }));
  is('statement-differs', edited((p) => { p.statement = p.leaves[0].proof.slice(p.leaves[0].proof.indexOf(ORIGIN)); }));
  is('unknown-key', build({ statementLine: (t) => logLine(STRANGER, t) }));
  is('unknown-key', build({ statementLine: (t) => logLine(W1, t) }), WITNESSED.replace('quorum two', 'quorum none'));
  is('bad-signature', build({ statementLine: (t) => logLine(LOG, `${t}x`) }));
});

// ---- rows

test('rows', () => {
  is('run-row', edited((p) => { p.run.status = 'failed'; }));
  is('run-row', edited((p) => { p.run.more = null; }));
  is('run-row', edited((p) => { delete p.run.agent; }));
  is('run-row', edited((p) => { p.run.tenant = RUN; }));
  is('side-effect-row', edited((p) => { p.sideEffects = []; }));
  is('side-effect-row', edited((p) => { p.sideEffects[0].status = 'planned'; }));
  is('side-effect-row', edited((p) => { p.sideEffects[0] = null; }));
  is('audit-row', edited((p) => { p.audit[0].payload.by = 'bob'; }));
  is('audit-row', edited((p) => { p.audit.push(1); }));
  const plan = (sideEffect) => event('side_effect.planned', { sideEffect });
  const settle = (word, sideEffect) => event(`side_effect.${word}`, { sideEffect });
  const between = (...events) => build({ events: [started(), ...events, finished({ costMicroUsd: 0, inputTokens: 0, outputTokens: 0 })], policies: {} });
  is('valid', between(plan('a'), plan('b'), settle('blocked', 'b'), settle('suppressed', 'a'), plan('c'), event('side_effect.other')));
  is('side-effect-row', between(plan('a'), plan('a')));
  is('side-effect-row', between(plan('a'), settle('executed', 'a'), settle('blocked', 'a')));
  is('side-effect-row', between(settle('executed', 'a'), plan('a')));
  is('side-effect-row', between(settle('executed', 'a')));
  is('side-effect-row', between(plan(withheld('sideEffect', 'a'))));
  is('side-effect-row', between(plan(7)));
  is('side-effect-row', between(event('side_effect.planned')));
});

// ---- policies, artifacts, costs

const withDecision = (decision, more) => build({ events: [started(), decision, finished({ costMicroUsd: 0, inputTokens: 0, outputTokens: 0 })], ...more });

test('policies', () => {
  const digest = hex(POLICY);
  is('policy-bytes', withDecision(decided('x', 'deny', null), { policies: { [digest]: `${POLICY} ` } }));
  for (const name of ['engine', 'policies', 'facts', 'action', 'verdict']) {
    const decision = decided('x', 'deny', null);
    delete decision.payload[name];
    is('policy-event', withDecision(decision));
  }
  is('policy-event', withDecision(decided('x', 'deny', null, { engine: 1 })));
  is('policy-event', withDecision(decided('x', 'deny', null, { engine: withheld('engine', 'x') })));
  is('policy-event', withDecision(decided('x', 'deny', null, { policies: ['x'] })));
  is('policy-event', withDecision(decided('x', 'deny', null, { policies: withheld('policies', []) })));
  is('policy-missing', withDecision(decided('x', 'deny', null), { policies: {} }));
  is('policy-extra', withDecision(event('x')));
  is('verdict', withDecision(decided('x', 'deny', null, { engine: 'punk.rules/2' })));
  is('valid', withDecision(decided('x', 'deny', null, { engine: 'punk.rules/2', facts: withheld('facts', 1) })));
  is('verdict', withDecision(decided('x', 'deny', null, { policies: [] })));
  is('verdict', withDecision(decided('x', 'deny', null, { policies: [digest, digest] })));
  is('verdict', withDecision(decided(7, 'deny', null)));
  is('verdict', withDecision(decided('x', 'allow', null)));
  is('verdict', withDecision(decided('x', 'deny', null, { verdict: { effect: 'deny', policy: 'house', rule: null, more: 1 } })));
  const verdicts = [['delete:all', 'deny', 0], ['pay:invoice', 'approval_required', 1], ['x:refund', 'approval_required', 1], ['read:', 'allow', 2],
    ['read:a:b', 'deny', null], ['a:b:c', 'allow', 2], ['read', 'deny', null], ['', 'deny', null]];
  for (const verdict of verdicts) is('valid', withDecision(decided(...verdict)));
});

test('policy texts', () => {
  const policy = { name: 'house', version: '1', rules: [{ effect: 'allow', actions: ['*'] }], defaultEffect: 'deny' };
  const using = (text) => withDecision(decided('a:b:c', 'allow', 0, { policies: [hex(text)] }), { policies: { [hex(text)]: text } });
  const good = JSON.stringify(policy);
  is('valid', using(good));
  is('valid', using(`\n ${good}\r\n`));
  for (const text of [`\ufeff${good}`, '', '[]', 'null', good.replace('"name"', '"name":"x","name"'), JSON.stringify({ ...policy, more: 1 }),
    JSON.stringify({ ...policy, name: 1 }), JSON.stringify({ ...policy, version: undefined }), JSON.stringify({ ...policy, defaultEffect: 'ask' }),
    JSON.stringify({ ...policy, description: null }), JSON.stringify({ ...policy, rules: {} }), good.replace('"name"', '"__proto__":{},"name"'),
    JSON.stringify({ ...policy, rules: [...policy.rules, { effect: 'allow', actions: [1] }] }),
    JSON.stringify({ ...policy, rules: [...policy.rules, { effect: 'allow', actions: [], requiresApproval: null }] }),
    JSON.stringify({ ...policy, rules: [...policy.rules, { effect: 'allow', actions: [], more: 1 }] })]) is('verdict', using(text));
});

test('verdicts of punk.policy/1', () => {
  const facts = {
    tenant: TENANT, app: 'desk', agent: 'ada', key: null, trustTier: 'verified', trustScoreMilli: 500, tags: [], gatewayMode: 'enforce', model: null, tool: null,
    level: 1, costMicroUsd: null, hour: 12, weekday: 'mon', labels: [], meters: [], shaped: null, remote: null, exceptions: [], approvals: [],
  };
  const policy = { name: 'house', version: '1', rules: [{ effect: 'allow', actions: ['read:*'] }], defaultEffect: 'deny' };
  const using = (set, effect, rule, more = {}) => {
    const text = JSON.stringify(set);
    const event = decided('read:crm', effect, rule, { engine: 'punk.policy/1', policies: [hex(text)], facts, ...more });
    return withDecision(event, { policies: { [hex(text)]: text } });
  };
  is('valid', using({ policies: [policy] }, 'allow', 0));
  is('verdict', using({ policies: [policy] }, 'deny', null));
  is('verdict', using({ policies: [policy] }, 'allow', 0, { facts: { ...facts, level: 9 } }));
  is('verdict', using({ policies: [policy] }, 'allow', 0, { action: 'read' }));
  is('verdict', using({ policies: [policy], cedar: [] }, 'allow', 0));
  const cedar = [{ name: 'x.cedar', text: 'permit (principal, action, resource);' }];
  const result = verify(Buffer.from(json(using({ policies: [policy], cedar }, 'deny', null))), TRUST);
  assert.equal(result.valid, true);
  assert.match(result.notChecked.join(), /^verdict of event \d+$/);
  is('verdict', using({ policies: [policy, policy], cedar }, 'deny', null));
});

test('artifacts', () => {
  const text = 'artifact';
  const executed = (values) => event('artifact.executed', values);
  const using = (values, artifacts = { [hex(text)]: text }) => withDecision(executed(values), { artifacts, policies: {} });
  is('artifact-bytes', using({ engine: 'e', artifact: hex(text) }, { [hex(text)]: 'x' }));
  is('artifact-event', using({ artifact: hex(text) }));
  is('artifact-event', using({ engine: 'e', artifact: 'x' }));
  is('artifact-missing', using({ engine: 'e', artifact: hex('other') }));
  is('artifact-replay', using({ engine: 'e', artifact: hex(text) }));
  is('artifact-extra', withDecision(event('x'), { artifacts: { [hex(text)]: text }, policies: {} }));
  is('artifact-extra', using({ engine: 'e', artifact: withheld('artifact', hex(text)) }));
});

test('a learned answer is checked but for its execution, which is told', () => {
  const program = (more = {}) => json({
    format: 'punk.artifact/1', model: 'm', task: hex('task'), style: 'compact',
    artifact: { guard: {}, program: { form: 'constant', value: 'red' } }, ...more,
  });
  const asked = { wire: 'chat', model: 'm', request: {} };
  const using = (text, { engine = 'punk.artifact/1', begun = asked, ended = { answer: 'red' } } = {}) => {
    const executed = event('artifact.executed', { engine, artifact: hex(text) });
    const end = { costMicroUsd: 0, inputTokens: 0, outputTokens: 0, ...ended };
    return build({ events: [event('run.started', begun), executed, finished(end)], policies: {}, artifacts: { [hex(text)]: text } });
  };
  const notChecked = (packet) => {
    const result = verify(Buffer.from(json(packet)), TRUST);
    assert.equal(result.valid, true, result.detail);
    return result.notChecked.join();
  };
  assert.equal(notChecked(using(program())), 'answer of event 2: artifact not executed again here');
  assert.equal(notChecked(using(program({ style: 'calls' }))), 'answer of event 2: artifact not executed again here');
  const template = { base: hex('base'), pieces: [{ word: 'hello' }] };
  assert.equal(notChecked(using(program({ template }))), 'answer of event 2: artifact not executed again here');
  is('artifact-replay', using(program({ template: { pieces: [] } })));
  is('artifact-replay', using(program(), { engine: 'punk.artifact/2' }));
  is('artifact-replay', using(program({ format: 'punk.artifact/2' })));
  is('artifact-replay', using(program({ style: 'loud' })));
  is('artifact-replay', using(program({ more: 1 })));
  is('artifact-replay', using('program'));
  is('artifact-replay', using(program(), { begun: { wire: 'chat', model: 'm' } }));
  is('artifact-replay', using(program(), { ended: {} }));
  const forgotten = event('artifact.executed', { engine: 'punk.artifact/1', artifact: withheld('artifact', hex('text')) });
  const end = finished({ costMicroUsd: 0, inputTokens: 0, outputTokens: 0 });
  const without = build({ events: [started(), forgotten, end], policies: {} });
  assert.equal(notChecked(without), 'answer of event 2: which artifact gave it is withheld');
});

test('costs', () => {
  const using = (parts, end) => build({ events: [started(), ...parts, finished(end)], policies: {} });
  const end = (costMicroUsd) => ({ costMicroUsd, inputTokens: 0, outputTokens: 0 });
  const part = (cost) => completed(cost, 0, 0);
  is('valid', using([part(1), part(2)], end(3)));
  is('costs', using([part(1), part(2)], end(4)));
  is('costs', using([part(1), part(2)], end(null)));
  is('valid', using([part(1), part(null)], end(null)));
  is('costs', using([part(1), part(null)], end(1)));
  is('costs', using([part(1.5), part(1.5)], end(3)));
  is('costs', using([part('1')], end(1)));
  is('costs', using([event('model.completed', { inputTokens: 0, outputTokens: 0 })], end(0)));
  is('costs', using([], { costMicroUsd: 0, inputTokens: 1, outputTokens: 0 }));
  is('costs', using([part(2 ** 53 - 1), part(2 ** 53 - 1)], end(2 ** 53 - 1)));
  is('valid', using([part(withheld('costMicroUsd', 1)), event('model.completed', { inputTokens: 0, outputTokens: 0 })], end(9)));
});

// ---- trust file, robustness, command line

test('trust files', () => {
  const witnesses = `witness a ${W1.vkey}\nwitness b ${W2.vkey}\n`;
  const log = `log ${LOG.vkey}\n`;
  const refused = [
    '', log, `${log}quorum none\nquorum none\n`, `${log}quorum a\n`, `${log}${log}quorum none`, `${witnesses}witness c ${W1.vkey}\nquorum none`,
    `${witnesses}witness a ${W3.vkey}\nquorum none`, `${witnesses}group g 0 a\nquorum g`, `${witnesses}group g 3 a b\nquorum g`, `${witnesses}group g 01 a\nquorum g`,
    `${witnesses}group g all\nquorum none`, `${witnesses}group g any a a\nquorum g`, `${witnesses}group g any a b\nquorum a`, `${witnesses}group g any g\nquorum g`,
    `quorum a\n${witnesses}`, `log ${W1.vkey}\nquorum none`, `witness a ${LOG.vkey}\nquorum none`, `${log.trim()} u v\nquorum none`, 'quorum none none', 'other\nquorum none',
    `${log}quorum none\r\n`, `log ${LOG.vkey.toUpperCase()}\nquorum none`, `log ${LOG.vkey.replace(/\+[0-9a-f]{8}/, '+00000000')}\nquorum none`,
    `log ${LOG.vkey}=\nquorum none`, '\ufeffquorum none', 'log a+b\nquorum none',
  ];
  for (const trust of refused) assert.equal(verify(Buffer.from('x'), trust).code, 'trust-file', JSON.stringify(trust));
  is('valid', build(), ` \t\n\tlog\t${LOG.vkey} \n# x\nquorum   none`);
});

test('no mutation of a byte is valid, and none makes the verifier fail', () => {
  const good = Buffer.from(json(build({ leafSeqs: [3, 8], signatures: (t) => logLine(LOG, t) + witnessLine(W1, t) + witnessLine(W2, t) })));
  assert.equal(check(good, WITNESSED), 'valid');
  for (let at = 0; at < good.length; at++) {
    const bytes = Buffer.from(good);
    bytes[at] ^= at % 2 ? 1 : 0x20;
    const code = check(bytes, WITNESSED);
    assert.ok(code !== 'valid' && code !== 'verifier-error', `byte ${at}: ${code}`);
  }
});

test('no value replaced by another makes the verifier fail', () => {
  function* places(value) {
    if (value === null || typeof value !== 'object') return;
    for (const key of Object.keys(value)) {
      yield [value, key];
      yield* places(value[key]);
    }
  }
  const packet = build();
  for (const [holder, key] of places(packet)) {
    const old = holder[key];
    for (const odd of [null, true, 0, -1.5, '', '\n\n', [], [null], {}, { withheld: hex('') }, { salt: SALT, value: null }]) {
      holder[key] = odd;
      const code = check(packet);
      assert.ok(code !== 'verifier-error' && (code !== 'valid' || json(old) === json(odd)), `${key}: ${code}`);
    }
    holder[key] = old;
  }
  is('valid', packet);
  for (const input of [null, undefined, 7, 'text', {}]) assert.equal(verify(input, TRUST).valid, false);
});

test('command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verifier-'));
  const script = fileURLToPath(new URL('verify.mjs', import.meta.url));
  const file = (name, content) => { writeFileSync(join(folder, name), content); return join(folder, name); };
  const run = (...args) => { const { status, stdout } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' }); return [status, stdout]; };
  const packet = file('packet.json', json(build()));
  const trust = file('trust.txt', TRUST);
  assert.deepEqual(run(packet, trust), [0, 'valid\n']);
  assert.deepEqual(run(file('broken.json', '{}'), trust), [1, 'broken unknown-format: format is not punk.evidence/1\n']);
  assert.equal(run(packet, file('bad.txt', 'x'))[0], 2);
  assert.equal(run(packet)[0], 2);
  assert.equal(run(packet, join(folder, 'absent'))[0], 2);
  const vector = (name, text, expect) => `${JSON.stringify({ name, packet: Buffer.from(text).toString('base64'), trust: TRUST, expect })}\n`;
  const right = vector('one', json(build()), 'valid') + vector('two\u2028', '{', 'not-json');
  assert.equal(execFileSync(process.execPath, [script, '--batch', file('right.jsonl', right)], { encoding: 'utf8' }), '2 vectors, 0 disagree\n');
  const [status, stdout] = run('--batch', file('wrong.jsonl', right + vector('three', '{}', 'valid')));
  assert.equal(status, 1);
  assert.match(stdout, /^three: expected valid, got unknown-format.*\n3 vectors, 1 disagree\n$/);
  assert.deepEqual(run('--batch', file('empty.jsonl', '')), [1, '0 vectors, 0 disagree\n']);
});
