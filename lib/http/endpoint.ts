/**
 * The declaration of an endpoint. Routing, validation, authentication, authorization, scopes, pagination, conditional
 * requests and the OpenAPI document are all derived from this one value.
 */

import type * as z from 'zod';
import type { Prefetch } from '../domain/access/prefetch.ts';
import type { DeployTokenAccess, GroupAccess, ProjectAccess } from '../domain/access/types.ts';
import { once } from '../domain/once.ts';
import type { AdmissionPort } from '../domain/rate-limits/request-counting.ts';
import type { Settings } from '../domain/settings/current.ts';
import type { DeployTokenRecord, TokenScope } from '../records/tokens.ts';
import {
  type AccessPort,
  type AccessRule,
  type ActorUnder,
  aboutSubject,
  type GroupRule,
  type ProjectRule,
  scopesFor,
} from './access.ts';
import type { Dialect } from './dialect.ts';
import type { KeysetPage, OffsetPage, Page, Paginate, Paginated } from './pagination.ts';
import type { Reply } from './reply.ts';
import type { PageEnds } from './walk.ts';

/** The dependencies of every endpoint; functions add their own, see `endpointFor`. */
export interface HttpDeps {
  readonly access: AccessPort;
  /** Counts requests for rate limits; without it there are none. */
  readonly admissions?: AdmissionPort;
  /** Tell whether the instance is in maintenance mode; without them it never is. */
  readonly settings?: Pick<Settings, 'current'>;
  /** Where pages ended that callers read last; without them nothing is known of a page but its number. */
  readonly pageEnds?: PageEnds;
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A schema whose output is an object of parameters, made with `params()`. */
export type Schema<T> = z.ZodType<T>;

type Empty = Record<never, never>;

type Names<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? Name<Segment> | Names<Rest>
  : Name<Path>;
type Name<Segment extends string> = Segment extends `:${infer N}`
  ? N
  : Segment extends `*${infer N}`
    ? N
    : Segment extends `${string}.:${infer N}`
      ? N
      : never;

/** Path parameters: strings, unless the declaration's `params` schema says otherwise. */
type PathParams<Path extends string, P> = Readonly<Omit<Record<Names<Path>, string>, keyof P> & P>;

/** Properties of the request for handlers. */
export interface RequestFacts {
  /** Public base URL without a trailing slash: scheme, host and stage, if there is one. */
  readonly baseUrl: string;
  readonly requestId: string;
  readonly sourceIp: string;
  readonly method: string;
  readonly headers: Headers;
}

type PageOf<G> = G extends 'offset'
  ? OffsetPage
  : G extends 'keyset'
    ? KeysetPage
    : G extends 'offset+keyset'
      ? OffsetPage | KeysetPage
      : undefined;

interface BaseContext {
  readonly request: RequestFacts;
  /** The deploy token that grants what is asked for, where the endpoint takes one. */
  readonly deployToken?: DeployTokenRecord | undefined;
  /** The body of an endpoint that declares `content`; else nothing. Reading throws `too-large` above `bodyLimit`. */
  readonly content: AsyncIterable<Uint8Array>;
  /**
   * For deletes: checks the time of the last change against `If-Unmodified-Since`, if the caller sent it.
   * @throws DomainError `precondition-failed` when `changed` is later
   */
  unmodifiedSince(changed: Date | string): void;
}

interface Context<Path extends string, A extends AccessRule, P, Q, B, G> extends BaseContext {
  readonly actor: ActorUnder<A>;
  readonly project: A extends ProjectRule ? ProjectAccess : undefined;
  readonly group: A extends GroupRule ? GroupAccess : undefined;
  readonly params: PathParams<Path, P>;
  readonly query: Q;
  readonly body: B;
  readonly page: PageOf<G>;
}

/** What a handler returns: a page if it paginates, otherwise any JSON value; or a `Reply`. */
type Result<G> = Reply | (G extends Paginate ? Page<unknown> : unknown);

interface Returns {
  /** Default: 201 for POST, otherwise 200. */
  readonly status?: number;
  readonly body?: () => z.ZodType;
  readonly description?: string;
  /** Another successful response, which the handler returns as a `Reply`. */
  readonly or?: { readonly status: number; readonly body: () => z.ZodType; readonly description: string };
  /** Description of a 302 that the handler may return instead. */
  readonly redirect?: string;
  /** The content type, if it is not JSON. */
  readonly type?: string;
  /** Names of response headers in addition to the common ones. */
  readonly headers?: readonly string[];
}

interface Described extends Omit<Paginated, 'paginate'> {
  readonly method: Method;
  /** The endpoint area; a tag of the OpenAPI document. */
  readonly area: string;
  readonly summary: string;
  readonly description?: string;
  /** Scopes that are sufficient too, in addition to `api` (and `read_api` for reads). */
  readonly scopes?: readonly TokenScope[];
  /** The token of a running job is a credential too, in `JOB-TOKEN` or `job_token`: it acts for the job's user. */
  readonly jobTokens?: true;
  /**
   * A deploy token with one of these scopes is a credential too, in `Deploy-Token` or as the password of HTTP Basic. The
   * handler gets it as `deployToken`, and an anonymous actor.
   */
  readonly deployAccess?: DeployTokenAccess;
  /** Rotates the token it is called with. A call with a token that was already rotated revokes its successors. */
  readonly rotates?: true;
  /** A write that is allowed while the instance is in maintenance mode. */
  readonly inMaintenance?: true;
  readonly returns?: Returns;
  readonly errors?: readonly { readonly status: number; readonly description: string }[];
  /** Maximum size of the request body in bytes; 413 above it. */
  readonly bodyLimit?: number;
  /** What the body is, if it is no parameters: the handler reads it piece by piece. */
  readonly content?: string;
  /** Set if it is not the REST API's; the same for all endpoints of a function. */
  readonly dialect?: Dialect;
}

export interface Declaration<
  D,
  Path extends string,
  A extends AccessRule,
  P extends object,
  Q extends object,
  B extends object,
  G extends Paginate | undefined,
> extends Described {
  /**
   * Path below `/api/v4`, or from the root if it starts with `/api/`. `:name` is one segment, `word.:name` the part after
   * the dot, `*name` at the end the rest of the path, and within it any number of segments.
   */
  readonly path: Path;
  readonly access: A;
  readonly params?: () => Schema<P>;
  readonly query?: () => Schema<Q>;
  readonly body?: () => Schema<B>;
  readonly paginate?: G;
  /**
   * For endpoints about a project: what to prefetch of the repository. It is read in parallel with the access check, one
   * round trip earlier than the handler could.
   */
  readonly prefetch?: (input: PrefetchInput<Path, P, Q, B>) => Prefetch;
  readonly handle: (context: Context<Path, A, P, Q, B, G>, deps: D) => Result<G> | Promise<Result<G>>;
}

/** An endpoint with its type parameters erased, for the router, the server and the OpenAPI document. */
export interface Endpoint<D> extends Described {
  readonly path: string;
  readonly access: AccessRule;
  readonly scopes: readonly TokenScope[];
  readonly params: (() => Schema<object>) | undefined;
  readonly query: (() => Schema<object>) | undefined;
  readonly body: (() => Schema<object>) | undefined;
  readonly paginate: Paginate | undefined;
  readonly prefetch: ((input: AnyInput) => Prefetch) | undefined;
  readonly returns: Returns;
  readonly errors: readonly { readonly status: number; readonly description: string }[];
  /** Only `serve` calls it, with a context of the type that the declaration states. */
  readonly handle: (context: AnyContext, deps: D) => unknown;
}

/** The validated parameters, for prefetching. */
type PrefetchInput<Path extends string, P, Q, B> = Pick<
  Context<Path, AccessRule, P, Q, B, undefined>,
  'params' | 'query' | 'body'
> &
  RequestedPage;

type AnyInput = Pick<AnyContext, 'params' | 'query' | 'body'> & RequestedPage;

/** The requested page of a list; undefined also if the request for it is invalid. */
interface RequestedPage {
  readonly page: OffsetPage | KeysetPage | undefined;
}

interface AnyContext extends BaseContext {
  readonly actor: unknown;
  readonly project: ProjectAccess | undefined;
  readonly group: GroupAccess | undefined;
  readonly params: object;
  readonly query: object;
  readonly body: object;
  readonly page: OffsetPage | KeysetPage | undefined;
}

/** Makes `endpoint` for functions with the dependencies `D`: `export const endpoint = endpointFor<Deps>();` */
export function endpointFor<D extends HttpDeps>() {
  return function endpoint<
    const Path extends string,
    A extends AccessRule,
    P extends object = Empty,
    Q extends object = Empty,
    B extends object = Empty,
    G extends Paginate | undefined = undefined,
  >(declaration: Declaration<D, Path, A, P, Q, B, G>): Endpoint<D> {
    if (declaration.paginate !== undefined && declaration.paginate !== 'offset' && !declaration.keyset) {
      throw new TypeError(
        `${declaration.method} ${declaration.path} paginates by keyset and names no marker`,
      );
    }
    if (aboutSubject(declaration.access) && !/\/:id(\/|$)/.test(declaration.path)) {
      throw new TypeError(
        `${declaration.method} ${declaration.path} is about a ${declaration.access.kind} and has no :id`,
      );
    }
    // A schema is built at the first request that needs it: building all at import would slow down cold starts.
    return {
      ...declaration,
      scopes: scopesFor(declaration.method, declaration.scopes),
      params: declaration.params && once(declaration.params),
      query: declaration.query && once(declaration.query),
      body: declaration.body && once(declaration.body),
      paginate: declaration.paginate,
      prefetch: declaration.prefetch as Endpoint<D>['prefetch'],
      returns: declaration.returns ?? {},
      errors: declaration.errors ?? [],
      handle: (context, deps) => declaration.handle(context as Context<Path, A, P, Q, B, G>, deps),
    };
  };
}

/** `endpoint` for endpoints without dependencies of their own. */
export const endpoint = endpointFor<HttpDeps>();
