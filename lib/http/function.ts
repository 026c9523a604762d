/**
 * A Lambda function made of endpoints, and the same as a plain `fetch` for a server of one's own. What a function
 * serves that is no endpoint (Git's smart HTTP) shares all of it but the endpoints.
 */
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { ulid } from 'ulid';
import { DomainError } from '../domain/errors.ts';
import { demandWritable } from '../domain/settings/maintenance-mode.ts';
import { annotate, annotations, bound, correlated } from '../telemetry/correlation.ts';
import { log } from '../telemetry/log.ts';
import { type Counts, measure } from '../telemetry/metrics.ts';
import { credentialOf } from './credentials.ts';
import { type Dialect, inDialect } from './dialect.ts';
import type { Endpoint, HttpDeps, Method, RequestFacts } from './endpoint.ts';
import { failureReply, internalError } from './errors.ts';
import {
  buffered,
  isForbiddenMethod,
  type RequestInfo,
  requestOf,
  type StreamingRuntime,
  streamed,
} from './gateway.ts';
import { boundHeaders, preflight, setCommonHeaders, setCorsHeaders } from './headers.ts';
import { logFailure } from './log.ts';
import { Reply, type ReplyBody } from './reply.ts';
import { type Router, routerOf } from './router.ts';
import { serve } from './serve.ts';
import { shownBy, throttled } from './throttle.ts';

/** What is known of the call of the function: Lambda's context, as far as it is written down. */
export interface Invocation {
  readonly functionName: string;
  readonly awsRequestId: string;
}

export type GatewayHandler = (
  event: APIGatewayProxyEvent,
  context?: Invocation,
) => Promise<APIGatewayProxyResult>;
export type Fetch = (request: Request, info: RequestInfo) => Promise<Response>;

export interface HttpFunction {
  /** For the Lambda runtime: streams where `STREAM=1`, else answers whole. */
  readonly handler: GatewayHandler;
  /** The same without a gateway. */
  readonly fetch: Fetch;
}

/** What serves requests in place of endpoints. Failures it throws are answered as an endpoint's are. */
export type Serve = (request: Request, facts: RequestFacts) => Promise<Response | Reply>;

export type Page<D> = (
  facts: RequestFacts,
  request: Request,
  deps: () => Promise<D>,
) => Reply | Promise<Reply>;

export interface ApiFunctionOptions<D extends HttpDeps> {
  readonly endpoints: readonly Endpoint<D>[];
  /** Made once, at the first request. */
  readonly deps: () => D | Promise<D>;
  /** Pages outside `/api/v4`, by exact path, read with `GET`; `POST /path` takes what a page's form sends. */
  readonly pages?: Readonly<Record<string, Page<D>>>;
  /** The path of an endpoint that also answers at another, outside `/api/v4`; both percent-encoded. */
  readonly alias?: (path: string) => string | undefined;
  readonly serviceName?: string;
}

export function apiFunction<D extends HttpDeps>(options: ApiFunctionOptions<D>): HttpFunction {
  let router: Router<D> | undefined;
  let made: Promise<D> | undefined;
  // A failure to make them is not kept: the next request tries again.
  const deps = () =>
    (made ??= Promise.resolve()
      .then(options.deps)
      .catch((error: unknown) => {
        made = undefined;
        throw error;
      }));

  return rawFunction(
    throttled(deps, async (request, facts, admission) => {
      router ??= routerOf(options.endpoints);
      const { pathname: asked, search } = new URL(request.url);
      const pathname = options.alias?.(asked) ?? asked;
      const read = request.method === 'GET' || request.method === 'HEAD';
      const page = options.pages?.[read ? pathname : `${request.method} ${pathname}`];
      if (page !== undefined) {
        annotate({ route: pathname });
        await admission?.settle(shownBy(request));
        const { settings } = await deps();
        if (!read && settings !== undefined) await demandWritable({ settings });
        return page(facts, request, deps);
      }
      if (request.method === 'OPTIONS') {
        const methods = await router.methods(pathname);
        if (methods.length > 0) return preflight(request, methods);
      }
      const { endpoint, params } = await router.match(request.method, pathname);
      annotate({ route: endpoint.path });
      return serve(
        endpoint,
        { request, facts, admission, params, path: pathname, search: search.slice(1) },
        await deps(),
      );
    }),
    {
      ...(options.serviceName === undefined ? {} : { serviceName: options.serviceName }),
      dialect: options.endpoints[0]?.dialect,
    },
  );
}

/** A function that is not made of endpoints, with the same ids, headers, errors and adapters. */
export function rawFunction(
  respond: Serve,
  options: { serviceName?: string; area?: string; dialect?: Dialect | undefined } = {},
): HttpFunction {
  const serviceName = options.serviceName ?? process.env['SERVICE_NAME'] ?? 'Lemnos';
  let cold = true;
  const fetchIn =
    (context?: Invocation): Fetch =>
    (request, info) => {
      const requestId = info.requestId ?? requestIdOf(request.headers);
      return correlated(requestId, () => {
        annotate({
          area: process.env['AREA'] ?? options.area ?? context?.functionName,
          function_request_id: context?.awsRequestId,
          ...(cold ? { cold_start: true } : {}),
        });
        cold = false;
        return answerTo(request, info, requestId);
      });
    };
  const answerTo = async (request: Request, info: RequestInfo, requestId: string): Promise<Response> => {
    const started = performance.now();
    const facts: RequestFacts = {
      baseUrl: info.baseUrl,
      requestId,
      sourceIp: info.sourceIp,
      method: request.method,
      headers: request.headers,
    };
    const failed = (error: unknown) => {
      const { pathname, searchParams } = new URL(request.url);
      const shown = [
        credentialOf(request.headers),
        credentialOf(new Headers(), Object.fromEntries(searchParams)),
      ];
      const secrets = shown.flatMap((credential) => (credential.kind === 'token' ? [credential.token] : []));
      logFailure(error, { ...facts, path: pathname }, secrets);
    };
    let answer: Response | Reply;
    try {
      answer = await respond(request, facts);
    } catch (error) {
      const failure = failureReply(error);
      // A service out of reach is not the caller's doing: somebody has to hear of it, if it was not an administrator's.
      const asked = error instanceof DomainError && error.code === 'read-only';
      if (failure === undefined || (failure.status === 503 && !asked)) failed(error);
      answer = failure ?? internalError();
    }
    if (options.dialect !== undefined && answer instanceof Reply) answer = inDialect(options.dialect, answer);
    const { status } = answer;
    const ended = bound((how: Ending) => logRequest(request.method, status, started, how));
    const response = responseOf(answer, request.method, failed, ended);
    setCommonHeaders(response.headers, {
      requestId: facts.requestId,
      seconds: (performance.now() - started) / 1000,
    });
    setCorsHeaders(response.headers, request, serviceName);
    boundHeaders(response.headers);
    return response;
  };

  // Libraries make the global too, without what streams.
  const runtime = (globalThis as { awslambda?: Partial<StreamingRuntime> }).awslambda;
  const answer = async (event: APIGatewayProxyEvent, context?: Invocation): Promise<Response> => {
    if (isForbiddenMethod(event.httpMethod))
      return Response.json({ error: '405 Not Allowed' }, { status: 405 });
    let converted: ReturnType<typeof requestOf>;
    try {
      converted = requestOf(event);
    } catch (error) {
      // A method or a path that no request can have.
      logFailure(error, {
        requestId: String(event.requestContext?.requestId),
        method: String(event.httpMethod),
        path: String(event.path),
      });
      return Response.json({ error: 'the request cannot be read' }, { status: 400 });
    }
    return fetchIn(context)(converted.request, converted.info);
  };
  const fetch = fetchIn();
  if (process.env['STREAM'] !== '1' || !streams(runtime)) {
    return { handler: async (event, context) => buffered(await answer(event, context)), fetch };
  }
  const handler = runtime.streamifyResponse(async (event, stream, context) =>
    streamed(await answer(event, context), stream, runtime),
  );
  return { handler: handler as unknown as GatewayHandler, fetch };
}

interface Ending {
  /** Of a body that was sent piece by piece. */
  readonly bytes?: number;
  /** It broke off, on our side or the reader's, with its status long sent. */
  readonly broken?: true;
}

/** The one line of a request, when the last of its answer is out. Its path may name secrets; its route does not. */
function logRequest(method: string, status: number, started: number, how: Ending): void {
  const ms = Math.round(performance.now() - started);
  const facts = annotations();
  const failed = status >= 500 && facts['maintenanceMode'] === undefined;
  const counts: Counts = failed ? { ServerErrors: 1 } : status === 429 ? { RateLimited: 1 } : {};
  log('info', 'request', { ...facts, method, status, ms, ...how, ...counts });
  const { area, route } = facts;
  if (area === undefined) return;
  // What no endpoint serves is told by area alone: somebody could think of any number of paths, and methods.
  const asked = method === 'HEAD' ? 'GET' : method;
  const piece = route === undefined || !METHODS.has(asked) ? undefined : { endpoint: `${asked} ${route}` };
  measure(String(area), piece, ms, counts);
}

const METHODS: ReadonlySet<string> = new Set<Method>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

const streams = (runtime: Partial<StreamingRuntime> | undefined): runtime is StreamingRuntime =>
  runtime?.streamifyResponse !== undefined;

/** The caller's own id, if it is one that can be written down anywhere; else a new one. */
function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id') ?? '';
  return /^[\w.:@-]{1,128}$/.test(given) ? given : ulid();
}

const BODILESS = new Set([204, 205, 304]);

function responseOf(
  answer: Response | Reply,
  method: string,
  failed: (error: unknown) => void,
  ended: (how: Ending) => void,
): Response {
  const { status, body } = answer;
  const headers = new Headers(answer.headers as HeadersInit);
  if (method === 'HEAD' || BODILESS.has(status)) {
    // Nobody reads it: what feeds it must hear so.
    discard(body);
    ended({});
    return new Response(null, { status, headers });
  }
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) {
    ended({});
    return new Response(body as BodyInit | null, { status, headers });
  }
  return new Response(pulled(body[Symbol.asyncIterator](), failed, ended), { status, headers });
}

function discard(body: ReplyBody): void {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return;
  const end = body instanceof ReadableStream ? body.cancel() : body[Symbol.asyncIterator]().return?.();
  end?.catch(() => {});
}

/** A stream that takes a piece when one is asked for, and closes the source when its reader leaves. */
function pulled(
  source: AsyncIterator<Uint8Array>,
  failed: (error: unknown) => void,
  ended: (how: Ending) => void,
): ReadableStream {
  let left = false;
  let bytes = 0;
  // What feeds the stream still works for the request, whoever reads it.
  const next = bound(() => source.next());
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await next();
          if (done) {
            ended({ bytes });
            controller.close();
            return;
          }
          bytes += value.length;
          controller.enqueue(value);
        } catch (error) {
          // The status is out: what is left is to write it down and break off. A piece that comes after the reader
          // has left fails too, and is nobody's loss.
          if (!left) {
            failed(error);
            ended({ bytes, broken: true });
          }
          throw error;
        }
      },
      async cancel() {
        left = true;
        ended({ bytes, broken: true });
        await source.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
