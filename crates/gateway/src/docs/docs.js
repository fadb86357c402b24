// Renders /api/v1/openapi.json for people. No library, nothing from elsewhere; text only ever becomes text.

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** An element with attributes and children; a string child is text. */
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value != null) element.setAttribute(key, value);
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

/** `code` in backquotes becomes code. */
function prose(text = '') {
  return text.split('`').map((part, i) => (i % 2 ? el('code', {}, part) : part));
}

const nameOf = (ref) => ref.split('/').pop();

/** What a schema says, in a few words, with links to the shapes it names. */
function kind(schema) {
  if (schema === true || schema == null) return ['any JSON'];
  if (schema.$ref) return [el('a', { href: `#schema-${nameOf(schema.$ref)}` }, nameOf(schema.$ref))];
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(' | ')];
  if ('const' in schema) return [JSON.stringify(schema.const)];
  const any = schema.anyOf ?? schema.oneOf;
  if (any) return any.flatMap((each, i) => (i ? [' | ', ...kind(each)] : kind(each)));
  const one = (type) => (type === 'array' ? ['[', ...kind(schema.items), ']'] : [schema.format ? `${type} (${schema.format})` : type]);
  return [schema.type ?? 'any JSON'].flat().flatMap((type, i) => (i ? [' | ', ...one(type)] : one(type)));
}

function field(name, schema, required, about) {
  const bounds = [];
  if (schema?.minimum != null) bounds.push(`≥ ${schema.minimum}`);
  if (schema?.maximum != null) bounds.push(`≤ ${schema.maximum}`);
  if (schema?.maxLength != null) bounds.push(`up to ${schema.maxLength} characters`);
  if (schema?.default != null) bounds.push(`default ${JSON.stringify(schema.default)}`);
  const shown = bounds.length ? ` · ${bounds.join(', ')}` : '';
  return el('div', {},
    el('dt', {}, el('code', {}, name), el('span', { class: 'kind' }, ...kind(schema), shown), required ? el('span', { class: 'must' }, 'required') : null),
    about ? el('dd', {}, ...prose(about)) : null);
}

function fields(schema) {
  const rows = Object.entries(schema.properties ?? {})
    .map(([name, each]) => field(name, each, schema.required?.includes(name), each.description));
  if (rows.length) return el('dl', { class: 'fields' }, rows);
  const members = schema.required ?? [];
  if (members.length) return el('dl', { class: 'fields' }, members.map((name) => field(name, true, true)));
  return el('p', { class: 'kind' }, ...kind(schema));
}

/** The shape itself, when a schema only names it. */
const resolve = (spec, schema) => (schema?.$ref ? spec.components.schemas[nameOf(schema.$ref)] : schema);

function curl(path, method, operation) {
  const lines = [`curl ${location.origin}${path.replaceAll(/\{(\w+)\}/g, '<$1>')}`];
  if (method !== 'get') lines[0] = lines[0].replace('curl', `curl -X ${method.toUpperCase()}`);
  if (!GUARDS[operation['x-punk-guard']]) lines.push('  -H "authorization: Bearer $PUNK_KEY"');
  const body = operation.requestBody?.content?.['application/json'];
  if (body) {
    lines.push('  -H "content-type: application/json"');
    lines.push(`  -d '${JSON.stringify(body.example ?? {}).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(' \\\n');
}

function sample(text) {
  const button = el('button', { type: 'button' }, 'Copy');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  return el('div', { class: 'sample' }, el('pre', { tabindex: '0' }, text), button);
}

const GUARDS = { public: 'everybody', anyone: 'everybody', person: 'whoever is logged in' };

function endpoint(spec, path, method, operation) {
  const id = operation.operationId;
  const guard = operation['x-punk-guard'];
  const left = el('div', { class: 'part' });
  const own = (operation.parameters ?? []).filter((parameter) => parameter.name);
  if (own.length) {
    left.append(el('h4', {}, 'Parameters'), el('dl', { class: 'fields' },
      own.map((each) => field(each.name, each.schema, each.required, each.description))));
  }
  const body = operation.requestBody?.content?.['application/json'];
  if (body) left.append(el('h4', {}, 'Body'), fields(resolve(spec, body.schema)));
  if (!left.children.length) left.append(el('h4', {}, 'Takes'), el('p', { class: 'kind' }, 'nothing'));
  const right = el('div', { class: 'part' }, el('h4', {}, 'Call'), sample(curl(path, method, operation)), el('h4', {}, 'Answers'));
  const refusals = [];
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) { refusals.push([status, response.description]); continue; }
    const [media, content] = Object.entries(response.content ?? {})[0] ?? [];
    const shape = media === 'application/json' ? kind(content.schema) : [media ?? ''];
    right.append(el('p', { class: 'good' }, el('b', {}, status), ' ', ...prose(response.description), ' ', el('span', { class: 'kind' }, ...shape)));
  }
  if (refusals.length) {
    right.append(el('ul', { class: 'codes', 'aria-label': 'Refusals' },
      refusals.map(([status, about]) => el('li', { title: about }, status))));
  }
  const scope = GUARDS[guard] ?? guard;
  return el('article', { class: 'endpoint', id, 'data-words': `${method} ${path} ${operation.summary} ${id}`.toLowerCase() },
    el('header', {},
      el('h3', {}, el('span', { class: `verb ${method}` }, method.toUpperCase()), el('a', { href: `#${id}` }, path),
        el('span', { class: guard.endsWith(':manage') ? 'guard manage' : 'guard' }, scope)),
      el('p', { class: 'what' }, operation.summary),
      operation.description ? el('p', { class: 'more' }, ...prose(operation.description)) : null),
    el('div', { class: 'parts' }, left, right));
}

function render(spec) {
  const main = document.getElementById('main');
  const contents = document.getElementById('contents');
  main.replaceChildren(el('section', { class: 'intro' },
    el('h1', {}, spec.info.summary), el('p', {}, ...prose(spec.info.description)),
    el('p', {}, 'Keys go into ', el('code', {}, 'Authorization: Bearer'), ' or ', el('code', {}, 'x-api-key'),
      '. A gateway without PUNK_API_KEY asks for none. Version ', spec.info.version, '.')));
  for (const tag of spec.tags) {
    const list = el('ul');
    const group = el('section', { class: 'group' }, el('h2', {}, tag.name), el('p', {}, ...prose(tag.description)));
    for (const [path, operations] of Object.entries(spec.paths)) {
      for (const method of METHODS) {
        const operation = operations[method];
        if (operation?.tags[0] !== tag.name) continue;
        group.append(endpoint(spec, path, method, operation));
        list.append(el('li', { 'data-for': operation.operationId }, el('a', { href: `#${operation.operationId}`, title: operation.summary },
          el('span', { class: `verb ${method}` }, method.toUpperCase()), el('span', { class: 'where' }, path.replace('/api/v1', '')))));
      }
    }
    if (!list.children.length) continue;
    main.append(group);
    contents.append(el('h2', {}, tag.name), list);
  }
  const shapes = el('section', { class: 'group', id: 'shapes' }, el('h2', {}, 'Shapes'), el('p', {}, 'What goes in and comes out, by name.'));
  for (const [name, schema] of Object.entries(spec.components.schemas)) {
    shapes.append(el('article', { class: 'schema', id: `schema-${name}` }, el('h3', {}, name),
      schema.description ? el('p', {}, ...prose(schema.description)) : null, fields(schema)));
  }
  main.append(shapes);
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

function filter(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const article of document.querySelectorAll('.endpoint')) {
    const hidden = !words.every((word) => article.dataset.words.includes(word));
    article.hidden = hidden;
    document.querySelector(`[data-for="${article.id}"]`).hidden = hidden;
  }
  for (const group of document.querySelectorAll('.group:not(#shapes)')) {
    group.hidden = !group.querySelector('.endpoint:not([hidden])');
  }
}

const input = document.getElementById('filter');
input.addEventListener('input', () => filter(input.value));
addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) { event.preventDefault(); input.focus(); }
  if (event.key === 'Escape' && document.activeElement === input) { input.value = ''; filter(''); input.blur(); }
});

try {
  const answer = await fetch('/api/v1/openapi.json');
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  render(await answer.json());
} catch (error) {
  document.getElementById('main').replaceChildren(el('p', { class: 'wait' }, `The document cannot be shown: ${error.message}`));
}
