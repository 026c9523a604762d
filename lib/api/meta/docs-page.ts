/**
 * The page at `/api/docs`: the OpenAPI document in a viewer that searches it and sends requests. Its policy lets it load
 * and call nothing but its own origin, and runs only the scripts named here. A token typed into it stays in the page.
 */
import { randomBytes } from 'node:crypto';
import { noRoute } from '../../http/errors.ts';
import { type Reply, reply } from '../../http/reply.ts';
import { type ViewerNames, viewerContent, viewerNames } from './viewer/files.ts';

/** Where the viewer's files are, by name. */
const VIEWER_PATH = '/api/docs/';

/** `note` is Markdown, shown below the title. All URLs are relative, so that the stage of a gateway does not matter. */
export async function docsPage(options: { title: string; note: string }): Promise<Reply> {
  const nonce = randomBytes(18).toString('base64');
  return reply({
    body: html({ ...options, nonce, files: await viewerNames() }),
    type: 'text/html; charset=utf-8',
    headers: {
      'Content-Security-Policy': policy(nonce),
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    },
  });
}

/** A file of the viewer. Its name changes with its content, so a browser never asks for it twice. */
export async function viewerFile({ url }: Pick<Request, 'url'>): Promise<Reply> {
  const name = new URL(url).pathname.slice(VIEWER_PATH.length);
  const content = await viewerContent(name);
  if (content === undefined) throw noRoute();
  return reply({
    body: content,
    type: name.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/plain; charset=utf-8',
    // Kept in this form only, which every browser reads: whole, the viewer is too much for a buffered answer.
    headers: { 'Content-Encoding': 'gzip', 'Cache-Control': 'public, max-age=31536000, immutable' },
  });
}

function html(page: { title: string; note: string; nonce: string; files: ViewerNames }): string {
  const { viewer, start, license } = page.files;
  return `<!doctype html>
<html lang="en" data-document="v4/openapi.json" data-note="${escaped(page.note)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta property="csp-nonce" content="${page.nonce}">
<title>${escaped(page.title)}</title>
<link rel="icon" href="data:,">
<link rel="license" href="docs/${license}">
</head>
<body>
<p id="state">Loading…</p>
<div id="viewer"></div>
<noscript>This page needs JavaScript. The endpoints are described in <a href="v4/openapi.json">openapi.json</a>.</noscript>
<script nonce="${page.nonce}" src="docs/${viewer}"></script>
<script nonce="${page.nonce}" src="docs/${start}" type="module"></script>
</body>
</html>
`;
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const policy = (nonce: string) =>
  [
    "default-src 'none'",
    "connect-src 'self'",
    `script-src 'nonce-${nonce}'`,
    // The viewer writes `style` attributes and elements of its own.
    "style-src 'unsafe-inline'",
    // Icons, and images that a request was answered with.
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
