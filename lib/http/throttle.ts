/** Rate limits of the settings: how a request is classified, and the response above a limit. */
import type { Admission } from '../domain/rate-limits/request-counting.ts';
import type { RequestKind, ThrottledRequest } from '../domain/rate-limits/throttles.ts';
import { credentialOf } from './credentials.ts';
import type { HttpDeps, RequestFacts } from './endpoint.ts';
import type { Reply } from './reply.ts';

/** Serves a request that is counted for rate limits. */
export type Respond = (
  request: Request,
  facts: RequestFacts,
  admission: Admission | undefined,
) => Promise<Response | Reply>;

/**
 * Counts every request once: during authentication or, if it fails before that, afterwards. Requests that are answered
 * without authentication (CORS preflights, redirects of pushes) are not counted.
 */
export function throttled(deps: () => HttpDeps | Promise<HttpDeps>, respond: Respond) {
  return async (request: Request, facts: RequestFacts): Promise<Response | Reply> => {
    const { admissions } = await deps();
    const admission = admissions?.begin(askedOf(request), facts.sourceIp);
    try {
      return await respond(request, facts, admission);
    } catch (error) {
      await admission?.settle(shownBy(request));
      throw error;
    }
  };
}

/** The credential of a request, without reading its body. */
export function shownBy(request: Request) {
  const { searchParams } = new URL(request.url);
  return credentialOf(request.headers, Object.fromEntries(searchParams));
}

const FILES = /^\/api\/v\d+\/projects\/[^/]+\/repository\/files\/./;
const PACKAGES = /^\/api\/v\d+\/(?:projects\/[^/]+\/|groups\/[^/]+\/-\/)?packages\/[A-Za-z]+/;
const ONE_GROUP = /^\/api\/v\d+\/groups\/[^/]+\/?$/;
const LFS = /\.git\/(?:info\/lfs|gitlab-lfs)\//;
const FALSE = /^(?:false|f|0|off|no|n)$/i;

/** Classifies a request. */
export function askedOf({ url, method }: Pick<Request, 'url' | 'method'>): ThrottledRequest {
  const { pathname: path, searchParams } = new URL(url);
  return { kind: kindOf(path, searchParams), method, path };
}

function kindOf(path: string, query: URLSearchParams): RequestKind {
  if (!path.startsWith('/api')) return LFS.test(path) ? 'git_lfs' : 'web';
  if (FILES.test(path)) return 'files_api';
  if (PACKAGES.test(path)) return 'packages_api';
  // A group with its projects, which are included by default.
  if (ONE_GROUP.test(path) && !FALSE.test(query.get('with_projects')?.trim() ?? '')) return 'deprecated_api';
  return 'api';
}
