import { type Reply, reply } from '../../http/reply.ts';

/** A page behind a mailed link: nothing but a heading and what is in `main`, which is HTML. */
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
      // The address of the page is the secret.
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    },
  });
}
