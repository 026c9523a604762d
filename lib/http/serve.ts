/** Serves one request with one endpoint: credential, parameters, access, handler, response. */

import type { Prefetch } from '../domain/access/prefetch.ts';
import type { DeployTokenUse, RequestContext } from '../domain/access/types.ts';
import type { Credential, Origin } from '../domain/actor.ts';
import { DomainError, forbidden, resourceNotFound, unauthorized } from '../domain/errors.ts';
import { once } from '../domain/once.ts';
import { type Admission, whileCounted } from '../domain/rate-limits/request-counting.ts';
import { requireWritable } from '../domain/settings/maintenance-mode.ts';
import { aboutSubject, mayBeAnonymous, type OtherAccess } from './access.ts';
import { beginBody, type Parameters, piecesOf, UNREAD_BODY } from './body.ts';
import { matches, REVALIDATE, requireUnmodifiedSince, weakEtag } from './conditional.ts';
import { credentialOf, deployCredentialOf, jobCredentialOf, sudoOf } from './credentials.ts';
import { requireMediaType } from './dialect.ts';
import type { Endpoint, HttpDeps, RequestFacts, Schema } from './endpoint.ts';
import { badParameters, HttpFailure, noRoute } from './errors.ts';
import { parseForm } from './form.ts';
import {
  type KeysetPage,
  type OffsetPage,
  type Page,
  pageBeyond,
  pageHeaders,
  pageRequest,
  paginationParameters,
  supports,
} from './pagination.ts';
import { problemsOf } from './params.ts';
import { isLarge, json, Reply } from './reply.ts';
import { type Walk, walk } from './walk.ts';

export interface Incoming {
  readonly request: Request;
  readonly facts: RequestFacts;
  /** Counts the request for rate limits. */
  readonly admission?: Admission | undefined;
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** As sent, percent-encoded. */
  readonly path: string;
  /** The query string without `?`. */
  readonly search: string;
}

/** Undefined instead of an HTTP failure: errors of access take precedence over invalid pagination. */
function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof HttpFailure) return undefined;
    throw error;
  }
}

const none = () => undefined;

/** Characters of a caller's program that are looked at. */
const MAX_USER_AGENT = 512;

/** @throws the errors of rules and handlers, which `failureReply` turns into responses */
export async function serve<D extends HttpDeps>(
  endpoint: Endpoint<D>,
  incoming: Incoming,
  deps: D,
): Promise<Reply> {
  const { facts, admission } = incoming;
  const query = parseForm(incoming.search);
  if (endpoint.dialect !== undefined) requireMediaType(endpoint.dialect, incoming.request);
  const body =
    endpoint.content === undefined ? await beginBody(incoming.request, endpoint.bodyLimit) : UNREAD_BODY;
  const { sourceIp: address, requestId, baseUrl } = facts;
  const userAgent = facts.headers.get('User-Agent')?.trim().slice(0, MAX_USER_AGENT);
  const origin = { address, requestId, baseUrl, ...(userAgent ? { userAgent } : {}) };
  const openFor = (
    given: Parameters,
    failure?: HttpFailure,
    prefetchOf: () => Prefetch | undefined = none,
  ) =>
    endpoint.access.kind === 'other'
      ? openOther(endpoint.access, deps, incoming, origin, failure)
      : open(
          endpoint,
          deps,
          {
            ...identityOf(endpoint, facts.headers, given),
            origin,
            admission,
            params: incoming.params,
          },
          failure,
          prefetchOf,
        );

  // Access to a large body's endpoint is decided before the body is read. A credential in the body does not count then.
  let early: HandlerAccess | undefined;
  if (body.isLarge) {
    const { noRoute, failure } = readInput(endpoint, incoming.params, query);
    if (failure !== undefined && noRoute) throw failure;
    early = await openFor(query);
  }
  const given: Parameters = Object.assign(Object.create(null) as Parameters, query, await body.parameters());
  const input = readInput(endpoint, incoming.params, given);
  if (input.failure !== undefined && (input.noRoute || early !== undefined)) throw input.failure;
  const params = { ...incoming.params, ...input.params };
  const { paginate } = endpoint;
  const pageOf = once(() =>
    paginate === undefined
      ? undefined
      : pageRequest({ ...endpoint, paginate }, input.pagination, input.query),
  );
  const walked = walkOf(endpoint, deps, incoming, given, input.query, unlessRefused(pageOf));
  const opened: HandlerAccess =
    early ??
    (await openFor(given, input.failure, () =>
      endpoint.prefetch?.({
        params,
        query: input.query,
        body: input.body,
        page: unlessRefused(pageOf),
      }),
    ));

  // Authentication has already loaded the settings.
  if (isWrite(endpoint) && deps.settings !== undefined) await requireWritable({ settings: deps.settings });
  const asked = (await walked?.page()) ?? pageOf();
  let end: string | undefined;
  const page =
    asked?.kind === 'offset' && endpoint.keyset?.rows
      ? { ...asked, ended: (at: string) => (end = at) }
      : asked;
  const result = await endpoint.handle(
    {
      actor: opened.actor,
      deployToken: opened.deployToken,
      project: opened.project,
      group: opened.group,
      params,
      query: input.query,
      body: input.body,
      page,
      request: facts,
      content: piecesOf(incoming.request, endpoint.bodyLimit),
      unmodifiedSince: (changed) => requireUnmodifiedSince(facts.headers, changed),
    },
    deps,
  );
  await walked?.done();
  if (result instanceof Reply) return conditional(result, facts);
  const status = endpoint.returns.status ?? (endpoint.method === 'POST' ? 201 : 200);
  if (page === undefined)
    return status === 204 ? new Reply(204, {}, null) : answered(result ?? null, status, {}, facts);
  const found = result as Page<unknown>;
  // What reads a list of rows may have a marker for other callers, which is none here.
  const answer = endpoint.keyset?.rows ? { ...found, next: end } : found;
  const [shown, list] = page.kind === 'offset' ? pageBeyond(endpoint, page, answer) : [page, answer];
  const effective = { ...appliedDefaults(input, given), ...given, ...incoming.params };
  const headers = pageHeaders(shown, list, endpoint.keyset, facts.baseUrl + incoming.path, effective);
  return answered(list.items, status, headers, facts);
}

/** The walk that an offset page is a step of, where its number alone says which it is. */
function walkOf<D extends HttpDeps>(
  endpoint: Endpoint<D>,
  { pageEnds }: D,
  { facts, path, admission }: Incoming,
  given: Parameters,
  query: Input['query'],
  page: OffsetPage | KeysetPage | undefined,
): Walk | undefined {
  const { keyset: rule } = endpoint;
  if (pageEnds === undefined || page?.kind !== 'offset' || page.after !== undefined) return undefined;
  if (rule?.links === undefined || !supports(rule, query)) return undefined;
  const { credential, sudo } = identityOf(endpoint, facts.headers, given);
  // The end of the last page is read beside what admits the caller, and not for one who is refused.
  if (credential.kind === 'none' && admission?.isFull(admission.stranger)) return undefined;
  return walk(pageEnds, page, rule, { credential, sudo, address: facts.sourceIp, path, given });
}

/** Who the caller claims to be. */
function identityOf<D>(endpoint: Endpoint<D>, headers: Headers, given: Parameters) {
  const { access, jobTokens, deployAccess } = endpoint;
  if (access.kind === 'anyone' && access.unread)
    return { credential: { kind: 'none' } as const, sudo: undefined };
  const deploy = deployAccess && deployCredentialOf(headers);
  if (deploy !== undefined)
    return {
      credential: deploy,
      sudo: undefined,
      deploy: { ...deployAccess!, writes: isWrite(endpoint) },
    };
  return {
    credential: (jobTokens && jobCredentialOf(headers, given)) ?? credentialOf(headers, given),
    sudo: sudoOf(headers, given),
  };
}

interface Input {
  readonly params: object;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: object;
  readonly pagination: Readonly<Record<string, unknown>>;
  readonly failure: HttpFailure | undefined;
  readonly noRoute: boolean;
}

/** Applies all schemas to the parameters, and reports all problems together. */
function readInput<D>(
  endpoint: Endpoint<D>,
  path: Readonly<Record<string, string>>,
  given: Parameters,
): Input {
  const texts: string[] = [];
  let unknownRoute = false;
  const apply = (schema: Schema<object> | undefined, values: object): Record<string, unknown> => {
    if (schema === undefined) return {};
    const result = schema.safeParse(values);
    if (result.success) return result.data as Record<string, unknown>;
    const problems = problemsOf(result.error);
    texts.push(...problems.texts);
    unknownRoute ||= problems.noRoute;
    return {};
  };
  const params = apply(endpoint.params?.(), path);
  const query = apply(endpoint.query?.(), given);
  const body = apply(endpoint.body?.(), given);
  const pagination = apply(
    endpoint.paginate === undefined ? undefined : paginationParameters(endpoint.paginate, endpoint.keyset),
    given,
  );
  const failure = unknownRoute
    ? noRoute()
    : texts.length > 0
      ? badParameters([...new Set(texts)])
      : undefined;
  return { params, query, body, pagination, failure, noRoute: unknownRoute };
}

/**
 * Authenticates and authorizes the request. Errors have an order that callers can rely on: an invalid credential before
 * invalid parameters, those before anything about the project or group, and missing scopes before whether it exists.
 */
async function open<D extends HttpDeps>(
  endpoint: Endpoint<D>,
  deps: D,
  {
    credential,
    sudo,
    deploy,
    origin,
    admission,
    params: path,
  }: {
    readonly credential: Credential;
    readonly sudo: string | undefined;
    readonly deploy?: DeployTokenUse;
    readonly origin: Origin;
    readonly admission: Admission | undefined;
    readonly params: Readonly<Record<string, string>>;
  },
  failure: HttpFailure | undefined,
  prefetchOf: () => Prefetch | undefined,
): Promise<RequestContext> {
  const { access } = endpoint;
  const allowsAnonymous = mayBeAnonymous(access);
  if (credential.kind === 'none' && !allowsAnonymous) throw unauthorized();
  const requester = {
    credential,
    origin,
    ...(admission && { admission }),
    ...(sudo === undefined ? {} : { sudo }),
    ...(deploy && { deploy }),
    ...(endpoint.rotates && { rotates: true as const }),
  };
  const openWithoutSubject = async () => {
    const opened = await deps.access.open(requester);
    if (opened.deployToken !== undefined) return opened;
    if (opened.actor.kind === 'anonymous' && !allowsAnonymous) throw unauthorized();
    requireScope(endpoint, opened);
    if (access.kind === 'administrator' && !(opened.actor.kind === 'user' && opened.actor.user.admin)) {
      throw forbidden();
    }
    return opened;
  };
  if (failure !== undefined) {
    if (credential.kind !== 'none') await openWithoutSubject();
    throw failure;
  }
  if (!aboutSubject(access)) return openWithoutSubject();
  const id = path['id'] ?? '';
  // Ids are sequential; a number beyond the safe range cannot exist.
  if (/^\d+$/.test(id) && !Number.isSafeInteger(Number(id))) {
    await openWithoutSubject();
    throw resourceNotFound(access);
  }
  let opened: RequestContext;
  try {
    const prefetch = prefetchOf();
    opened = await deps.access.open({ ...requester, [access.kind]: id, ...(prefetch && { prefetch }) });
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not-found' && credential.kind !== 'none')
      await openWithoutSubject();
    throw error;
  }
  if (opened.deployToken !== undefined) return opened;
  if (opened.actor.kind === 'anonymous' && !allowsAnonymous) throw unauthorized();
  requireScope(endpoint, opened);
  deps.access.authorize(opened, access);
  return opened;
}

/** The actor and, if the endpoint is about one, the project or group, for the handler. */
type HandlerAccess = Omit<RequestContext, 'actor'> & { readonly actor: unknown };

/** As `open`: an invalid credential is reported before invalid parameters. */
async function openOther<D>(
  access: OtherAccess,
  deps: D,
  { facts, params, admission }: Incoming,
  origin: Origin,
  failure: HttpFailure | undefined,
): Promise<HandlerAccess> {
  const shown = { credential: credentialOf(facts.headers), params, origin, baseUrl: facts.baseUrl };
  const actor = await whileCounted(admission, admission?.stranger, () => access.opens(shown, deps));
  if (failure !== undefined) throw failure;
  return { actor };
}

const isWrite = <D>({ method, inMaintenance }: Endpoint<D>): boolean =>
  method !== 'GET' && method !== 'HEAD' && inMaintenance !== true;

function requireScope<D>(endpoint: Endpoint<D>, { actor }: RequestContext): void {
  if (actor.kind !== 'user' || endpoint.scopes.some((scope) => actor.scopes.has(scope))) return;
  throw new DomainError('insufficient-scope', endpoint.scopes.join(' '));
}

/** The defaults of parameters that were not sent. */
function appliedDefaults(input: Input, given: Parameters): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries({ ...input.query, ...input.pagination }).filter(([name]) => !(name in given)),
  );
}

/** The answer with a JSON value. */
async function answered(
  value: unknown,
  status: number,
  headers: Readonly<Record<string, string>>,
  facts: RequestFacts,
): Promise<Reply> {
  const answer = isLarge(value)
    ? await (await import('./large.ts')).largeJson(value, { status, headers, tagged: isRead(facts) })
    : json(value, { status, headers });
  return conditional(answer, facts);
}

const isRead = ({ method }: RequestFacts): boolean => method === 'GET' || method === 'HEAD';

/** Adds an `ETag` to JSON responses with status 200; answers 304 if the caller already has it. */
function conditional(answer: Reply, facts: RequestFacts): Reply {
  const type = answer.headers['Content-Type'];
  if (!isRead(facts) || answer.status !== 200 || type !== 'application/json') return answer;
  const etag =
    answer.headers['ETag'] ?? (typeof answer.body === 'string' ? weakEtag(answer.body) : undefined);
  if (etag === undefined) return answer;
  const headers: Record<string, string> = { ETag: etag, 'Cache-Control': REVALIDATE, ...answer.headers };
  if (!matches(facts.headers, etag)) return new Reply(200, headers, answer.body);
  const { 'Content-Type': _, ...rest } = headers;
  return new Reply(304, rest, null);
}
