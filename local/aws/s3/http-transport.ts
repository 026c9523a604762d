import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ConnectionFailure } from '../faults.ts';
import { parseQuery, type S3Request, type S3Response } from './message.ts';
import { renderError, type Service } from './service.ts';
import { type Credentials, verifySignature } from './signature.ts';

/**
 * Serves requests over a socket: presigned URLs, and requests with an Authorization header. The signatures of both are
 * verified.
 *
 * @param pathPrefix the part of the client's URL path before `/bucket/key`, such as `/_s3`
 */
export function createHttpHandler(service: Service, credentials: Credentials) {
  return (req: IncomingMessage, res: ServerResponse, pathPrefix: string): void => {
    serve(req, res, pathPrefix).catch(() => res.destroy());
  };

  async function serve(req: IncomingMessage, res: ServerResponse, pathPrefix: string): Promise<void> {
    const url = req.url ?? '/';
    const headers = joinHeaders(req);
    const queryAt = url.indexOf('?');
    const path = queryAt === -1 ? url : url.slice(0, queryAt);
    const closed = new AbortController();
    res.once('close', () => closed.abort());
    const request: S3Request = {
      method: req.method ?? 'GET',
      path: path.startsWith(`${pathPrefix}/`) ? path.slice(pathPrefix.length) : path,
      query: new Map(),
      headers,
      body: req,
      signal: closed.signal,
    };
    let response: S3Response;
    try {
      const query = parseQuery(queryAt === -1 ? '' : url.slice(queryAt));
      verifySignature({ method: request.method, url, headers }, credentials, Date.now());
      response = await service({
        ...request,
        query: new Map(query),
        headers: { ...headers, ...hoisted(query) },
      });
    } catch (error) {
      if (error instanceof ConnectionFailure || closed.signal.aborted) {
        res.destroy();
        return;
      }
      response = renderError(error, request, randomBytes(8).toString('hex').toUpperCase());
    }
    await send(res, response, request.method);
    // Discard the rest of the body, so that the connection can be reused.
    req.resume();
  }
}

/** The presigner moves `x-amz-*` headers into the query; S3 reads them from there. */
function hoisted(query: [string, string][]): Record<string, string> {
  return Object.fromEntries(
    query.map(([name, value]) => [name.toLowerCase(), value]).filter(([name]) => hoistable(name!)),
  );
}

const AUTHENTICATION = new Set([
  'x-amz-algorithm',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-expires',
  'x-amz-security-token',
  'x-amz-signature',
  'x-amz-signedheaders',
]);
const hoistable = (name: string) => name.startsWith('x-amz-') && !AUTHENTICATION.has(name);

function joinHeaders(req: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(req.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(',') : value;
  }
  return headers;
}

async function send(
  res: ServerResponse,
  { status, headers, body }: S3Response,
  method: string,
): Promise<void> {
  res.writeHead(status, headers);
  if (body instanceof Readable) {
    if (method !== 'HEAD') return pipeline(body, res);
    body.destroy();
  }
  res.end(method === 'HEAD' ? undefined : body);
}
