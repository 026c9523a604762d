import { type Reply, reply } from '../../http/reply.ts';

/** A page that a mailed link opens: a heading and `main`, which is HTML. */
export function formPage(title: string, status: number, main: string): Reply {
  const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title></head><body><h1>${title}</h1>
${main}
</body></html>
`;
  return reply({
    status,
    body,
    type: 'text/html; charset=utf-8',
    headers: {
      'Content-Security-Policy':
        "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      // The URL of the page contains a secret token.
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    },
  });
}
