import type { Deps } from '../../domain/deps.ts';
import { projectSegments } from '../../domain/git/import-path.ts';
import type { Admission } from '../../domain/rate-limits/request-counting.ts';
import { cloneRoot } from '../../domain/repository/clone-url.ts';
import { credentialOf } from '../../http/credentials.ts';
import type { RequestFacts } from '../../http/endpoint.ts';
import { noRoute } from '../../http/errors.ts';
import { type Reply, reply } from '../../http/reply.ts';
import { annotate } from '../../telemetry/correlation.ts';
import { escaped } from '../users/present.ts';
import { decodedSegments } from './path.ts';

/** Whether Go's tools ask which repository contains a package (`go help importpath`, "Remote import paths"). */
export const asksForImport = (method: string, query: URLSearchParams): boolean =>
  (method === 'GET' || method === 'HEAD') && query.get('go-get') === '1';

/** The page with the `go-import` tag. @throws 404 for a path that cannot be a project's */
export async function serveGoGet(
  pathname: string,
  facts: RequestFacts,
  deps: Deps,
  admission: Admission | undefined,
): Promise<Reply> {
  const segments = decodedSegments(pathname.replace(/^\/|\/$/g, ''));
  if (segments === undefined) throw noRoute();
  annotate({ route: '/:repository?go-get' });
  const credential = credentialOf(facts.headers);
  const origin = { address: facts.sourceIp, requestId: facts.requestId };
  const length = await projectSegments(deps, segments, { credential, origin, admission });
  await admission?.settle(credential);
  const path = segments.slice(0, length).join('/');
  const prefix = escaped(`${facts.baseUrl.replace(/^https?:\/\//, '')}/${path}`);
  const url = escaped(`${await cloneRoot(deps, facts.baseUrl)}/${path}.git`);
  return reply({
    type: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': "default-src 'none'", 'Cache-Control': 'no-cache' },
    body: `<!doctype html>
<html><head><meta name="go-import" content="${prefix} git ${url}"></head><body>go get ${prefix}</body></html>
`,
  });
}
