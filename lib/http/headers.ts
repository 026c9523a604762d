/** Headers that every response has, and the limits that keep them within those of the gateway. */

/** API Gateway allows 10,240 bytes of headers in total; the rest is reserved for its own. */
const HEADER_BUDGET = 9216;
/** A longer value is truncated or omitted. */
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
 * Headers under the service's own name and under the one that existing clients read: `Blob-Id` of the service `Lemnos`
 * becomes `X-Lemnos-Blob-Id` and `X-Gitlab-Blob-Id`. Values that are invalid in a header are percent-encoded.
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

/** Leaves visible ASCII unchanged; percent-encodes everything else, and `%`, as UTF-8. */
function headerText(text: string): string {
  if (/^[\x20-\x24\x26-\x7e]*$/.test(text) && text === text.trim()) return text;
  return text.toWellFormed().replace(/[^\x21-\x24\x26-\x7e]/gu, (character) => encodeURIComponent(character));
}

/** Sets the headers of every response. `facts.seconds` is the duration of the request. */
export function setCommonHeaders(headers: Headers, facts: { requestId: string; seconds: number }): void {
  headers.set('X-Request-Id', facts.requestId);
  headers.set('X-Runtime', facts.seconds.toFixed(6));
  headers.set('X-Content-Type-Options', 'nosniff');
  if (!headers.has('X-Frame-Options')) headers.set('X-Frame-Options', 'SAMEORIGIN');
  if (!/\borigin\b/i.test(headers.get('Vary') ?? '')) headers.append('Vary', 'Origin');
}

/** Allows scripts of any origin to read responses: callers authenticate with tokens, not cookies. */
export function setCorsHeaders(headers: Headers, request: { headers: Headers }, serviceName: string): void {
  if (!request.headers.has('origin')) return;
  headers.set('Access-Control-Allow-Origin', '*');
  const facts = FILE_FACTS.flatMap((name) => [`X-${serviceName}-${name}`, `X-Gitlab-${name}`]);
  headers.set('Access-Control-Expose-Headers', [...EXPOSED, ...facts].join(', '));
}

/** The response to a CORS preflight request; `methods` are those of the requested path. */
export function preflight(request: { headers: Headers }, methods: readonly string[]): Response {
  const requestedHeaders = request.headers.get('access-control-request-headers') ?? '';
  const allowed = /^[\w\-, ]{1,1024}$/.test(requestedHeaders)
    ? requestedHeaders
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
 * Keeps the headers within the gateway's limit, above which the gateway answers 500. A long `X-*` value is truncated: the
 * body has it in full. A long `Link` is omitted, since a truncated URL is wrong; the page number headers remain. If the
 * headers are too long in total, the longest are removed.
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
