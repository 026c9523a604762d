/**
 * Makes a Lambda function from endpoints, and the same as a plain `fetch` for an embedded server. Functions that serve
 * something else (Git's smart HTTP) use `rawFunction`, which has everything except the endpoints.
 */
import type { Writable } from 'node:stream';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { ulid } from 'ulid';
import { CallerGone } from '../domain/caller-gone.ts';
import { DomainError } from '../domain/errors.ts';
import { hookCallOf } from '../domain/hooks/recursion.ts';
import { LongRead } from '../domain/rate-limits/long-reads.ts';
import { requireWritable } from '../domain/settings/maintenance-mode.ts';
import { annotate, annotations, bound, correlated } from '../telemetry/correlation.ts';
import { log } from '../telemetry/log.ts';
import { type Counts, measure } from '../telemetry/metrics.ts';
import { credentialOf, jobCredentialOf } from './credentials.ts';
import { type Dialect, inDialect } from './dialect.ts';
import type { Endpoint, HttpDeps, Method, RequestFacts } from './endpoint.ts';
import { elsewhere, failureReply, internalError } from './errors.ts';
import {
  buffered,
  type RequestInfo,
  requestOf,
  responseWith,
  type StreamingRuntime,
  streamed,
} from './gateway.ts';
import { boundHeaders, preflight, setCommonHeaders, setCorsHeaders } from './headers.ts';
import { logFailure } from './log.ts';
import { Reply, type ReplyBody } from './reply.ts';
import { type Router, routerOf } from './router.ts';
import { serve } from './serve.ts';
import { shownBy, throttled } from './throttle.ts';

/** The properties of Lambda's context that are logged. */
interface Invocation {
  readonly functionName: string;
  readonly awsRequestId: string;
}

type GatewayHandler = (event: APIGatewayProxyEvent, context?: Invocation) => Promise<APIGatewayProxyResult>;
export type Fetch = (request: Request, info: RequestInfo) => Promise<Response>;

export interface HttpFunction {
  /** For the Lambda runtime: streams the response if `STREAM=1`, otherwise buffers it. */
  readonly handler: GatewayHandler;
  /** The same without a gateway. */
  readonly fetch: Fetch;
}

/** Serves requests without endpoints. Errors it throws are handled like those of an endpoint. */
export type Serve = (request: Request, facts: RequestFacts) => Promise<Response | Reply>;

export type Page<D> = (
  facts: RequestFacts,
  request: Request,
  deps: () => Promise<D>,
) => Reply | Promise<Reply>;

export interface ApiFunctionOptions<D extends HttpDeps> {
  readonly endpoints: readonly Endpoint<D>[];
  /** Called for each request: it keeps what it has made. */
  readonly deps: () => D | Promise<D>;
  /** Pages outside `/api/v4` by exact path, for `GET`; the key `POST /path` handles the form of a page. */
  readonly pages?: Readonly<Record<string, Page<D>>>;
  /** Maps an alias outside `/api/v4` to the path of an endpoint; both percent-encoded. */
  readonly alias?: (path: string) => string | undefined;
  readonly serviceName?: string;
}

export function apiFunction<D extends HttpDeps>(options: ApiFunctionOptions<D>): HttpFunction {
  let router: Router<D> | undefined;
  const deps = async () => options.deps();

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
        if (!read && settings !== undefined) await requireWritable({ settings });
        return page(facts, request, deps);
      }
      if (request.method === 'OPTIONS') {
        const methods = await router.methods(pathname);
        if (methods.length > 0) return preflight(request, methods);
      }
      const plain = withoutFormat(pathname);
      if (plain !== undefined && (await router.methods(pathname)).length === 0)
        throw elsewhere(`${facts.baseUrl}${plain}${search}`);
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

/**
 * A path of the API without its `.json`, which names the format of answers. The gateway has no resources for this form
 * of a path: it comes to the area above, which sends callers to the path itself.
 */
const withoutFormat = (path: string): string | undefined => /^(\/api\/v4\/.*[^/])\.json\/*$/.exec(path)?.[1];

/** Makes a function without endpoints, with the same request ids, headers, errors and adapters. */
export function rawFunction(
  respond: Serve,
  options: { serviceName?: string; area?: string; dialect?: Dialect | undefined } = {},
): HttpFunction {
  const serviceName = options.serviceName ?? process.env['SERVICE_NAME'] ?? 'Lemnos';
  let cold = true;
  const fetchIn =
    (context?: Invocation): Fetch =>
    (request, info) => {
      const requestId = info.requestId ?? ulid();
      const work = () => {
        annotate({
          area: process.env['AREA'] ?? options.area ?? context?.functionName,
          function_request_id: context?.awsRequestId,
          client_request_id: clientRequestId(request.headers),
          ...(cold ? { cold_start: true } : {}),
        });
        cold = false;
        const { signal } = info;
        if (!changesNothing(request)) return answerTo(request, info, requestId);
        const read = new LongRead(signal);
        return read.run(() => answerTo(request, info, requestId, read));
      };
      return correlated(requestId, work, hookCallOf(request.headers));
    };
  const answerTo = async (
    request: Request,
    info: RequestInfo,
    requestId: string,
    read?: LongRead,
  ): Promise<Response> => {
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
      const ofJob = jobCredentialOf(request.headers, Object.fromEntries(searchParams));
      const secrets = [...shown, ofJob].flatMap((credential) =>
        credential?.kind === 'token' ? [credential.token] : [],
      );
      logFailure(error, { ...facts, path: pathname }, secrets);
    };
    let answer: Response | Reply;
    try {
      answer = await respond(request, facts);
    } catch (error) {
      const failure = failureReply(error);
      // Log a 503 caused by a dependency; one caused by maintenance mode is intended.
      const inMaintenance = error instanceof DomainError && error.code === 'read-only';
      if (failure === undefined || (failure.status === 503 && !inMaintenance)) failed(error);
      answer = failure ?? internalError();
    }
    if (options.dialect !== undefined && answer instanceof Reply) answer = inDialect(options.dialect, answer);
    const { status } = answer;
    const ended = bound((ending: Ending) => logRequest(request.method, status, started, ending));
    const response = responseOf(answer, request.method, failed, {
      ended,
      over: async () => read?.end(),
    });
    // Lambda freezes the function when the response ends.
    if (response.body === null || !isStreamed(answer)) await read?.end();
    setCommonHeaders(response.headers, {
      requestId: facts.requestId,
      seconds: (performance.now() - started) / 1000,
    });
    setCorsHeaders(response.headers, request, serviceName);
    boundHeaders(response.headers);
    return response;
  };

  // Libraries define this global too, without the streaming functions.
  const runtime = (globalThis as { awslambda?: Partial<StreamingRuntime> }).awslambda;
  const answer = async (
    event: APIGatewayProxyEvent,
    context?: Invocation,
    signal?: AbortSignal,
  ): Promise<Response> => {
    let converted: ReturnType<typeof requestOf>;
    try {
      converted = requestOf(event);
    } catch (error) {
      // A method or path that is invalid in a `Request`.
      logFailure(error, {
        requestId: String(event.requestContext?.requestId),
        method: String(event.httpMethod),
        path: String(event.path),
      });
      return Response.json({ error: 'the request cannot be parsed' }, { status: 400 });
    }
    return fetchIn(context)(converted.request, { ...converted.info, ...(signal && { signal }) });
  };
  const fetch = fetchIn();
  if (process.env['STREAM'] !== '1' || !streams(runtime)) {
    return { handler: async (event, context) => buffered(await answer(event, context)), fetch };
  }
  const handler = runtime.streamifyResponse(async (event, stream, context) => {
    const signal = goneWhenClosed(stream);
    const response = await answer(event, context, signal);
    if (signal.aborted) await response.body?.cancel();
    else await streamed(response, stream, runtime);
  });
  return { handler: handler as unknown as GatewayHandler, fetch };
}

interface Ending {
  /** Bytes sent of a streamed body. */
  readonly bytes?: number;
  /** The stream was aborted by an error or by the client, after the status had been sent. */
  readonly broken?: true;
}

/** Logs the one line of a request when its response has ended. The path may contain secrets, the route does not. */
function logRequest(method: string, status: number, started: number, ending: Ending): void {
  const ms = Math.round(performance.now() - started);
  const facts = annotations();
  const failed = status >= 500 && facts['maintenanceMode'] === undefined;
  const counts: Counts = failed ? { ServerErrors: 1 } : status === 429 ? { RateLimited: 1 } : {};
  log('info', 'request', { ...facts, method, status, ms, ...ending, ...counts });
  const { area, route } = facts;
  if (area === undefined) return;
  // Unknown routes and methods count for the area only: clients could send any number of them.
  const servedMethod = method === 'HEAD' ? 'GET' : method;
  const dimension =
    route === undefined || !METHODS.has(servedMethod) ? undefined : { endpoint: `${servedMethod} ${route}` };
  measure(String(area), dimension, ms, counts);
}

/** Reads, and fetches of Git. */
const changesNothing = ({ method, url }: Request): boolean =>
  method === 'GET' ||
  method === 'HEAD' ||
  (method === 'POST' && /\/git-upload-pack$/.test(new URL(url).pathname));

/** A signal that is aborted when the response's stream closes before it has ended. */
export function goneWhenClosed(stream: Writable): AbortSignal {
  const gone = new AbortController();
  stream.once('close', () => {
    if (!stream.writableFinished) gone.abort(new CallerGone());
  });
  return gone.signal;
}

const METHODS: ReadonlySet<string> = new Set<Method>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

const streams = (runtime: Partial<StreamingRuntime> | undefined): runtime is StreamingRuntime =>
  runtime?.streamifyResponse !== undefined;

/** The caller's name for the request, if it is safe to log. It is never the request's id: callers may repeat others' ids. */
function clientRequestId(headers: Headers): string | undefined {
  const given = headers.get('x-request-id') ?? '';
  return /^[\w.:@-]{1,128}$/.test(given) ? given : undefined;
}

const BODILESS = new Set([204, 205, 304]);

/** Told once of the end of a response. */
interface Ends {
  ended(ending: Ending): void;
  /** After {@link ended}, for a streamed body, when nothing of it is being made any more. */
  over(): Promise<void>;
}

function responseOf(
  answer: Response | Reply,
  method: string,
  failed: (error: unknown) => void,
  ends: Ends,
): Response {
  const { status, body } = answer;
  const headers = new Headers(answer.headers as HeadersInit);
  if (method === 'HEAD' || BODILESS.has(status)) {
    // The body is not sent: its source has to be closed.
    discard(body);
    ends.ended({});
    return new Response(null, { status, headers });
  }
  if (!isStreamed(answer)) {
    ends.ended({});
    if (body === null) return new Response(null, { status, headers });
    return responseWith(body as string | Uint8Array, { status, headers });
  }
  return new Response(pulled((body as StreamedBody)[Symbol.asyncIterator](), failed, ends), {
    status,
    headers,
  });
}

type StreamedBody = Exclude<ReplyBody, null | string | Uint8Array>;

const isStreamed = ({ body }: Response | Reply): boolean =>
  body !== null && typeof body !== 'string' && !(body instanceof Uint8Array);

function discard(body: ReplyBody): void {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return;
  const end = body instanceof ReadableStream ? body.cancel() : body[Symbol.asyncIterator]().return?.();
  end?.catch(() => {});
}

/** A stream that reads the source on demand, and closes it when the client disconnects. */
function pulled(
  source: AsyncIterator<Uint8Array>,
  failed: (error: unknown) => void,
  { ended, over }: Ends,
): ReadableStream {
  let cancelled = false;
  let bytes = 0;
  // The source still runs in the context of the request, whichever context reads the stream.
  const next = bound(() => source.next());
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await next();
          if (done) {
            ended({ bytes });
            await over();
            controller.close();
            return;
          }
          bytes += value.length;
          controller.enqueue(value);
        } catch (error) {
          // The status is already sent: log the error and abort. Errors after the client has disconnected are expected
          // and not logged.
          if (!cancelled) {
            if (!(error instanceof CallerGone)) failed(error);
            ended({ bytes, broken: true });
            await over();
          }
          throw error;
        }
      },
      async cancel() {
        cancelled = true;
        ended({ bytes, broken: true });
        try {
          await source.return?.();
        } finally {
          await over();
        }
      },
    },
    { highWaterMark: 0 },
  );
}
