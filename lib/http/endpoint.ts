/**
 * The declaration of an endpoint. Routing, validation, authentication, authorization, scopes, pagination,
 * conditional requests and the OpenAPI document are all made from this one value.
 */
import type * as z from 'zod';
import type { Prefetch } from '../domain/access/prefetch.ts';
import type { GroupAccess, ProjectAccess } from '../domain/access/types.ts';
import type { AdmissionPort } from '../domain/rate-limits/request-counting.ts';
import type { Settings } from '../domain/settings/current.ts';
import type { TokenScope } from '../records/tokens.ts';
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
import type { KeysetPage, OffsetPage, Page } from './pagination.ts';
import type { Reply } from './reply.ts';

/** What every endpoint needs; functions supply more, see `endpointFor`. */
export interface HttpDeps {
  readonly access: AccessPort;
  /** Counts requests; without it they are as many as they like. */
  readonly admissions?: AdmissionPort;
  /** Say whether anything may be changed; without them it may. */
  readonly settings?: Pick<Settings, 'current'>;
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A schema that yields an object of parameters, made with `params()`. */
export type Schema<T> = z.ZodType<T>;

export type Paginate = 'offset' | 'offset+keyset' | 'keyset';

/** How the next page is named in a keyset list's `Link`. */
export interface KeysetRule {
  /** `id`: `id_after` or, descending, `id_before`; otherwise the parameter's own name. */
  readonly marker: 'id' | 'page_token' | 'cursor';
  /** The values of `order_by` that keyset pagination knows; any when not given. */
  readonly orderBy?: readonly string[];
}

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

/** Path parameters: text, unless the declaration's `params` schema says otherwise. */
export type PathParams<Path extends string, P> = Readonly<Omit<Record<Names<Path>, string>, keyof P> & P>;

/** The facts of the request a handler may need. */
export interface RequestFacts {
  /** Public base URL without a trailing slash: scheme, host and, where there is one, stage. */
  readonly baseUrl: string;
  readonly requestId: string;
  readonly sourceIp: string;
  readonly method: string;
  readonly headers: Headers;
}

export type PageOf<G> = G extends 'offset'
  ? OffsetPage
  : G extends 'keyset'
    ? KeysetPage
    : G extends 'offset+keyset'
      ? OffsetPage | KeysetPage
      : undefined;

export interface BaseContext {
  readonly request: RequestFacts;
  /**
   * For deletes: when the caller sent `If-Unmodified-Since` and `changed` is later, nothing may be deleted.
   * @throws DomainError `precondition-failed`
   */
  unmodifiedSince(changed: Date | string): void;
}

export interface Context<Path extends string, A extends AccessRule, P, Q, B, G> extends BaseContext {
  readonly actor: ActorUnder<A>;
  readonly project: A extends ProjectRule ? ProjectAccess : undefined;
  readonly group: A extends GroupRule ? GroupAccess : undefined;
  readonly params: PathParams<Path, P>;
  readonly query: Q;
  readonly body: B;
  readonly page: PageOf<G>;
}

/** What a handler returns: a list when it paginates, else any JSON value; or a `Reply`. */
export type Result<G> = Reply | (G extends Paginate ? Page<unknown> : unknown);

export interface Returns {
  /** 200, or 201 for POST, when not given. */
  readonly status?: number;
  readonly body?: () => z.ZodType;
  readonly description?: string;
  /** Another success, which the handler answers with a `Reply` of its own. */
  readonly or?: { readonly status: number; readonly body: () => z.ZodType; readonly description: string };
  /** The content type where it is not JSON. */
  readonly type?: string;
  /** The names of headers the answer carries beside the common ones. */
  readonly headers?: readonly string[];
}

interface Described {
  readonly method: Method;
  /** The endpoint area; a tag of the OpenAPI document. */
  readonly area: string;
  readonly summary: string;
  readonly description?: string;
  /** Scopes beside `api` (and, for reads, `read_api`) that a token may have instead. */
  readonly scopes?: readonly TokenScope[];
  /** Gives a new token for the one it is called with: one that was replaced before ends what took its place. */
  readonly rotates?: true;
  /** Goes on while the instance is in maintenance mode, although it changes something. */
  readonly inMaintenance?: true;
  readonly keyset?: KeysetRule;
  /** What a list's rows are called where an answer names them: `Project`. */
  readonly noun?: string;
  readonly returns?: Returns;
  readonly errors?: readonly { readonly status: number; readonly description: string }[];
  /** Most bytes of a request body; 413 above it. */
  readonly bodyLimit?: number;
  /** Where it is not the REST interface's: the same for all endpoints of a function. */
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
  /** Below `/api/v4`, or from the root where it begins with `/api/`; `:name` is one segment, `word.:name` what follows the dot, a last `*name` the
   * rest of the path. */
  readonly path: Path;
  readonly access: A;
  readonly params?: () => Schema<P>;
  readonly query?: () => Schema<Q>;
  readonly body?: () => Schema<B>;
  readonly paginate?: G;
  /**
   * For endpoints about a project: what to prefetch of the repository. It is read while access is checked, one round
   * trip earlier than the handler could.
   */
  readonly prefetch?: (input: PrefetchInput<Path, P, Q, B>) => Prefetch;
  readonly handle: (context: Context<Path, A, P, Q, B, G>, deps: D) => Result<G> | Promise<Result<G>>;
}

/** An endpoint with its types folded away: what the router, the server and the document work with. */
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
  /** Called with what the declaration's types promise; only `serve` does. */
  readonly handle: (context: AnyContext, deps: D) => unknown;
}

/** What the caller gave. */
export type PrefetchInput<Path extends string, P, Q, B> = Pick<
  Context<Path, AccessRule, P, Q, B, undefined>,
  'params' | 'query' | 'body'
> &
  AskedPage;

type AnyInput = Pick<AnyContext, 'params' | 'query' | 'body'> & AskedPage;

/** Of a list; absent too where what was asked for is refused. */
interface AskedPage {
  readonly page: OffsetPage | KeysetPage | undefined;
}

export interface AnyContext extends BaseContext {
  readonly actor: unknown;
  readonly project: ProjectAccess | undefined;
  readonly group: GroupAccess | undefined;
  readonly params: object;
  readonly query: object;
  readonly body: object;
  readonly page: OffsetPage | KeysetPage | undefined;
}

/** `endpoint` for functions whose dependencies are `D`: `export const endpoint = endpointFor<Deps>();` */
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
    return {
      ...declaration,
      scopes: scopesFor(declaration.method, declaration.scopes),
      params: once(declaration.params),
      query: once(declaration.query),
      body: once(declaration.body),
      paginate: declaration.paginate,
      prefetch: declaration.prefetch as Endpoint<D>['prefetch'],
      returns: declaration.returns ?? {},
      errors: declaration.errors ?? [],
      handle: (context, deps) => declaration.handle(context as Context<Path, A, P, Q, B, G>, deps),
    };
  };
}

/** `endpoint` for those that need nothing but access. */
export const endpoint = endpointFor<HttpDeps>();

/** Schemas are built at the first request that needs them: building all at import costs a cold start. */
function once<T>(make: (() => T) | undefined): (() => T) | undefined {
  if (make === undefined) return undefined;
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
