/**
 * The page at `/api/docs`: reads the OpenAPI document and lets one try it. Everything it needs is in it; its policy
 * lets it talk to its own origin only. The token typed into it stays in the page.
 */
import { createHash } from 'node:crypto';
import { type Reply, reply } from './reply.ts';

/** `documentUrl` is relative to the page, so that a stage before both does not matter. */
export function docsPage(options: { title: string; documentUrl?: string; note?: string }): Reply {
  const title = escaped(options.title);
  const note = options.note === undefined ? '' : `<p class="muted">${escaped(options.note)}</p>\n`;
  const documentUrl = escaped(options.documentUrl ?? 'v4/openapi.json');
  const body = `<!doctype html>
<html lang="en" data-document="${documentUrl}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head>
<body><header><h1>${title}</h1>
<label>Token <input id="token" type="password" autocomplete="off" placeholder="PRIVATE-TOKEN"></label>
<label>Find <input id="find" type="search" placeholder="path or words"></label></header>
${note}<main id="areas"><p>Loading…</p></main><script>${SCRIPT}</script></body></html>
`;
  return reply({
    body,
    type: 'text/html; charset=utf-8',
    headers: {
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    },
  });
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const STYLE = `
:root{color-scheme:light dark;font:15px/1.45 system-ui,sans-serif}
body{margin:0 auto;max-width:64rem;padding:0 1rem 4rem}
header{display:flex;flex-wrap:wrap;gap:1rem;align-items:baseline;position:sticky;top:0;background:Canvas;padding:.5rem 0;border-bottom:1px solid GrayText}
h1{font-size:1.3rem;margin:0;flex:1}h2{font-size:1.1rem;margin:1.5rem 0 .3rem}
details{border:1px solid color-mix(in srgb,GrayText 40%,Canvas);border-radius:4px;margin:.25rem 0;padding:.25rem .6rem}
summary{cursor:pointer}summary code{font-weight:600}.method{display:inline-block;min-width:4.5rem;font-weight:700}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0}
td input,td textarea{width:100%;box-sizing:border-box;font:inherit}
pre{overflow:auto;max-height:30rem;background:color-mix(in srgb,GrayText 12%,Canvas);padding:.5rem;white-space:pre-wrap;overflow-wrap:anywhere}
.required::after{content:" *";color:#c00}.muted{color:GrayText}button{font:inherit;padding:.2rem 1rem}
`;

const SCRIPT = `
'use strict';
const el = (tag, text, attributes) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  return node;
};
const typeOf = (schema) => {
  if (schema.$ref) return schema.$ref.split('/').pop();
  const type = [].concat(schema.type || 'any').join(' or ');
  const items = schema.items ? ' of ' + typeOf(schema.items) : '';
  const values = schema.enum ? ': ' + schema.enum.join(', ') : '';
  const fallback = schema.default === undefined ? '' : ' (default ' + JSON.stringify(schema.default) + ')';
  return type + (schema.format ? ' ' + schema.format : '') + items + values + fallback;
};
const fieldsOf = (operation) => {
  const fields = operation.parameters.map((p) => ({ ...p, where: p.in }));
  const content = operation.requestBody && operation.requestBody.content;
  if (!content) return fields;
  const schema = Object.values(content)[0].schema;
  for (const [name, one] of Object.entries(schema.properties || {})) {
    fields.push({ name, where: 'body', required: (schema.required || []).includes(name), schema: one, description: one.description });
  }
  return fields;
};
const inputFor = (field) => {
  if (field.schema.format === 'binary') return el('input', undefined, { type: 'file' });
  if (field.schema.type === 'object' || field.schema.type === 'array') {
    return el('textarea', undefined, { rows: '2', placeholder: 'JSON' });
  }
  return el('input', undefined, { type: 'text' });
};
const send = async (base, path, method, operation, inputs, out) => {
  let url = path;
  const query = [];
  const body = {};
  let files = false;
  for (const { field, input } of inputs) {
    const file = input.files && input.files[0];
    if (!file && input.value === '') continue;
    if (field.where === 'path') url = url.replace('{' + field.name + '}', encodeURIComponent(input.value));
    else {
      let value = file || input.value;
      if (input.tagName === 'TEXTAREA') {
        try { value = JSON.parse(input.value); } catch { out.textContent = field.name + ' is not JSON'; return; }
      }
      if (file) files = true;
      if (field.where === 'body') body[field.name] = value;
      else for (const one of [].concat(value)) {
        if (typeof one === 'object') for (const [key, v] of Object.entries(one)) query.push([field.name + '[' + key + ']', v]);
        else query.push([field.name, one]);
      }
    }
  }
  const headers = {};
  const token = document.getElementById('token').value;
  if (token) headers['PRIVATE-TOKEN'] = token;
  let payload;
  if (files) {
    payload = new FormData();
    for (const [name, value] of Object.entries(body)) payload.append(name, value);
  } else if (operation.requestBody) {
    payload = JSON.stringify(body);
    headers['Content-Type'] = 'application/json';
  }
  const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  out.textContent = '…';
  try {
    const answer = await fetch(base + url + (search ? '?' + search : ''), { method, headers, body: payload, credentials: 'omit' });
    const text = await answer.text();
    let shown = text.slice(0, 200000);
    try { shown = JSON.stringify(JSON.parse(text), null, 2).slice(0, 200000); } catch {}
    const lines = [...answer.headers].map((pair) => pair.join(': '));
    out.textContent = answer.status + ' ' + answer.statusText + '\\n' + lines.join('\\n') + '\\n\\n' + shown;
  } catch (error) { out.textContent = String(error); }
};
const render = (base, path, method, operation) => {
  const details = el('details');
  const summary = details.appendChild(el('summary'));
  summary.append(el('span', method, { class: 'method' }), el('code', path), ' ', el('span', operation.summary, { class: 'muted' }));
  details.dataset.text = (method + ' ' + path + ' ' + operation.summary).toLowerCase();
  details.addEventListener('toggle', () => {
    if (!details.open || details.children.length > 1) return;
    if (operation.description) details.append(el('p', operation.description));
    const scopes = [...new Set(operation.security.flatMap((one) => Object.values(one).flat()))];
    const anonymous = operation.security.some((one) => Object.keys(one).length === 0);
    details.append(el('p', 'Token with one of the scopes: ' + scopes.join(', ') + (anonymous ? '; or none where that is public' : ''), { class: 'muted' }));
    const table = details.appendChild(el('table'));
    const inputs = fieldsOf(operation).map((field) => {
      const row = table.appendChild(el('tr'));
      row.append(el('td', field.name, field.required ? { class: 'required' } : {}), el('td', field.where, { class: 'muted' }), el('td', typeOf(field.schema) + (field.description ? ' — ' + field.description : '')));
      const input = inputFor(field);
      row.appendChild(el('td')).append(input);
      return { field, input };
    });
    const answers = details.appendChild(el('ul'));
    for (const [status, one] of Object.entries(operation.responses)) answers.append(el('li', status + ' ' + one.description));
    const button = details.appendChild(el('button', 'Send ' + method));
    const out = details.appendChild(el('pre'));
    button.addEventListener('click', () => send(base, path, method, operation, inputs, out));
  });
  return details;
};
const start = async () => {
  const areas = document.getElementById('areas');
  const url = new URL(document.documentElement.dataset.document, location.href);
  const specification = await (await fetch(url, { credentials: 'omit' })).json();
  const base = new URL('.', url).href.replace(/\\/$/, '');
  areas.textContent = '';
  for (const { name } of specification.tags) {
    const section = areas.appendChild(el('section'));
    section.append(el('h2', name));
    for (const [path, methods] of Object.entries(specification.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation.tags.includes(name)) section.append(render(base, path, method.toUpperCase(), operation));
      }
    }
  }
  document.getElementById('find').addEventListener('input', (event) => {
    const words = event.target.value.toLowerCase().split(/\\s+/);
    for (const one of areas.querySelectorAll('details')) one.hidden = !words.every((word) => one.dataset.text.includes(word));
    for (const section of areas.querySelectorAll('section')) section.hidden = !section.querySelector('details:not([hidden])');
  });
};
start().catch((error) => { document.getElementById('areas').textContent = String(error); });
`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const POLICY = [
  "default-src 'none'",
  "connect-src 'self'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
