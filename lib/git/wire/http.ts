/**
 * Git's smart HTTP endpoints of a repository (gitprotocol-http): `GET info/refs?service=...`,
 * `POST git-upload-pack`, `POST git-receive-pack`. The caller checks access before.
 */
import { advertise, type Service } from './advertise.ts';
import { protocolVersion } from './capabilities.ts';
import { ClientBody } from './client-body.ts';
import { WireError } from './error.ts';
import { PktReader, pkt } from './pkt-line.ts';
import type { PushOutcome, ReceivePackOptions } from './receive-pack.ts';
import type { Repository } from './repository.ts';
import { type Body, decodedBody } from './request-body.ts';
import { offersOf, type UploadPackOptions, uploadPack } from './upload-pack.ts';

export interface SmartHttpRequest {
  readonly method: string;
  /** What follows the repository in the URL's path, decoded: `info/refs`, `git-upload-pack`, ... */
  readonly path: string;
  readonly query: { get(name: string): string | null };
  readonly headers: { get(name: string): string | null };
  /** The raw body, compressed or not. It is read to its end, up to a limit, before the answer ends. */
  readonly body: Body;
}

export interface SmartHttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  /** The result of a push. Resolves whether the body is read or not; never rejects. */
  readonly push?: Promise<PushOutcome>;
}

export interface SmartHttpOptions extends UploadPackOptions, ReceivePackOptions {
  /** Bytes of a decompressed fetch request, which has wants and haves only. */
  readonly maxFetchRequest?: number;
}

/** About 600,000 wants and haves. */
const MAX_FETCH_REQUEST = 32 * 1024 * 1024;

/** @throws errors of the ports before the answer starts; errors of the client are answered */
export async function smartHttp(
  request: SmartHttpRequest,
  repository: Repository,
  options: SmartHttpOptions,
): Promise<SmartHttpResponse> {
  const { path } = request;
  if (path === 'info/refs') return infoRefs(request, repository, options);
  if (path === 'git-upload-pack' || path === 'git-receive-pack')
    return service(request, path, repository, options);
  if (path === 'HEAD' || path.startsWith('objects/')) return dumbProtocol();
  return text(404, 'Not Found');
}

async function infoRefs(
  request: SmartHttpRequest,
  repository: Repository,
  options: SmartHttpOptions,
): Promise<SmartHttpResponse> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed('GET, HEAD');
  const name = request.query.get('service');
  if (name === null) return dumbProtocol();
  if (name !== 'git-upload-pack' && name !== 'git-receive-pack') return text(403, 'Unsupported service');
  const version = protocolVersion(request.headers.get('git-protocol') ?? undefined);
  const shown = name === 'git-receive-pack' ? options.pushable : options.visible;
  const body = await advertise(repository, name, version, { visible: shown, ...offersOf(options) });
  return answer(`application/x-${name}-advertisement`, stream(request.method === 'HEAD' ? [] : body));
}

async function service(
  request: SmartHttpRequest,
  name: Service,
  repository: Repository,
  options: SmartHttpOptions,
): Promise<SmartHttpResponse> {
  if (request.method !== 'POST') return methodNotAllowed('POST');
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== `application/x-${name}-request`) return text(415, 'Unsupported Media Type');
  const limit =
    name === 'git-upload-pack'
      ? (options.maxFetchRequest ?? MAX_FETCH_REQUEST)
      : options.limits.maxRequestBytes;
  const sent = new ClientBody(request.body);
  let body: Body;
  try {
    body = decodedBody(sent, request.headers.get('content-encoding') ?? undefined, limit);
  } catch (error) {
    if (error instanceof WireError) return text(415, error.message);
    throw error;
  }
  const reader = new PktReader(body);
  const type = `application/x-${name}-result`;
  if (name === 'git-receive-pack') {
    // Loaded when it is called for, because most functions' processes only fetch.
    const { receivePack } = await import('./receive-pack.ts');
    const { body: report, outcome } = receivePack(repository, reader, options);
    return { ...answer(type, sent.answeredBy(report)), push: outcome };
  }
  const version = protocolVersion(request.headers.get('git-protocol') ?? undefined);
  try {
    return answer(type, sent.answeredBy(await uploadPack(repository, version, reader, options)));
  } catch (error) {
    // Status 200: git clients show the text of an ERR line, but not the body of an error status.
    if (error instanceof WireError) return answer(type, sent.answeredBy([pkt(`ERR ${error.message}\n`)]));
    throw error;
  }
}

function answer(contentType: string, body: AsyncIterable<Uint8Array>): SmartHttpResponse {
  return { status: 200, headers: { 'Content-Type': contentType, ...NO_CACHE }, body };
}

/** As gitprotocol-http asks: "Servers MUST NOT let caches keep" what the smart service answers. */
const NO_CACHE = {
  'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  Expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  Pragma: 'no-cache',
} as const;

function dumbProtocol(): SmartHttpResponse {
  return text(403, 'Please upgrade your git client.\nThis server speaks the smart HTTP protocol only.');
}

function methodNotAllowed(allow: string): SmartHttpResponse {
  const refusal = text(405, 'Method Not Allowed');
  return { ...refusal, headers: { ...refusal.headers, Allow: allow } };
}

function text(status: number, message: string): SmartHttpResponse {
  return {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', ...NO_CACHE },
    body: stream([Buffer.from(`${message}\n`)]),
  };
}

async function* stream(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* pieces;
}
