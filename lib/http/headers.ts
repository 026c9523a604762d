/** Headers that every answer carries, and the rules that keep them within what a gateway passes on. */

/** API Gateway passes at most 10,240 bytes of headers together; the rest is left for its own. */
const HEADER_BUDGET = 9216;
/** A single value longer than this is cut or left out. */
const VALUE_LIMIT = 4096;

const EXPOSED = [
  'ETag',
  'Link',
  'X-Next-Page',
  'X-Page',
  'X-Per-Page',
  'X-Prev-Page',
  'X-Request-Id',
  'X-Runtime',
  'X-Total',
  'X-Total-Pages',
];

const FILE_FACTS = [
  'Blob-Id',
  'Commit-Id',
  'Content-Sha256',
  'Encoding',
  'Execute-Filemode',
  'File-Name',
  'File-Path',
  'Last-Commit-Id',
  'Ref',
  'Size',
];

/**
 * Facts under the service's own name and under the one existing clients read: `Blob-Id` of the service `Lemnos`
 * becomes `X-Lemnos-Blob-Id` and `X-Gitlab-Blob-Id`. Values are percent-encoded where a header cannot hold them.
 */
export function brandHeaders(
  serviceName: string,
  facts: Readonly<Record<string, string | number | boolean>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(facts)) {
    const text = headerText(String(value));
    headers[`X-${serviceName}-${name}`] = text;
    headers[`X-Gitlab-${name}`] = text;
  }
  return headers;
}

/** Visible ASCII as it is; everything else, and `%`, as the percent-encoded UTF-8 of it. */
export function headerText(text: string): string {
  if (/^[\x20-\x24\x26-\x7e]*$/.test(text) && text === text.trim()) return text;
  return text.toWellFormed().replace(/[^\x21-\x24\x26-\x7e]/gu, (character) => encodeURIComponent(character));
}

/** What every answer carries. `seconds` is how long the request took. */
export function setCommonHeaders(headers: Headers, facts: { requestId: string; seconds: number }): void {
  headers.set('X-Request-Id', facts.requestId);
  headers.set('X-Runtime', facts.seconds.toFixed(6));
  headers.set('X-Content-Type-Options', 'nosniff');
  if (!headers.has('X-Frame-Options')) headers.set('X-Frame-Options', 'SAMEORIGIN');
  if (!/\borigin\b/i.test(headers.get('Vary') ?? '')) headers.append('Vary', 'Origin');
}

/** Lets scripts of any origin read answers: tokens, not cookies, prove who asks. */
export function setCorsHeaders(headers: Headers, request: { headers: Headers }, serviceName: string): void {
  if (!request.headers.has('origin')) return;
  headers.set('Access-Control-Allow-Origin', '*');
  const facts = FILE_FACTS.flatMap((name) => [`X-${serviceName}-${name}`, `X-Gitlab-${name}`]);
  headers.set('Access-Control-Expose-Headers', [...EXPOSED, ...facts].join(', '));
}

/** The answer to a preflight; `methods` are those of the path that is asked about. */
export function preflight(request: { headers: Headers }, methods: readonly string[]): Response {
  const asked = request.headers.get('access-control-request-headers') ?? '';
  const allowed = /^[\w\-, ]{1,1024}$/.test(asked)
    ? asked
    : 'Authorization, Content-Type, PRIVATE-TOKEN, Sudo';
  return new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': methods.join(', '),
      'Access-Control-Allow-Headers': allowed,
      'Access-Control-Max-Age': '7200',
      Allow: methods.join(', '),
    },
  });
}

/**
 * Keeps the headers under what the gateway passes on; above it, the gateway would answer 500 for everything.
 * A long fact (`X-*`) is cut, which its reader can tell from the body; a long `Link` is left out, because half a
 * URL is a wrong one: the page numbers beside it still say where to go. If all are too long together, the longest
 * go first.
 */
export function boundHeaders(headers: Headers): void {
  for (const [name, value] of [...headers]) {
    if (value.length <= VALUE_LIMIT) continue;
    if (name.startsWith('x-')) headers.set(name, value.slice(0, VALUE_LIMIT).replace(/%[0-9A-F]?$/i, ''));
    else headers.delete(name);
  }
  const size = () => [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
  while (size() > HEADER_BUDGET) {
    const [longest] = [...headers].sort((a, b) => b[1].length - a[1].length);
    headers.delete(longest![0]);
  }
}
