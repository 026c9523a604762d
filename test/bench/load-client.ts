import { Agent, type IncomingMessage, request } from 'node:http';

/** After that, a request counts as one without an answer. */
export const TIMEOUT_MS = 60_000;

export interface Call {
  readonly method: string;
  /** From the root, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** Connections that are kept, and as many as it takes. */
export class LoadClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #url: URL;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** @throws without an answer in time, or with a refusal that does not tell when to try again */
  async send(call: Call): Promise<Answer> {
    const sent = new AbortController();
    const timer = setTimeout(() => sent.abort(), TIMEOUT_MS);
    try {
      return await this.#once(call, sent.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** As the API's clients send it, with JSON. */
  api(method: string, path: string, token: string, json?: unknown): Promise<Answer> {
    const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
    return this.send({
      method,
      path: `/api/v4${path}`,
      headers: {
        'PRIVATE-TOKEN': token,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #once(call: Call, signal: AbortSignal): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const { method, path, headers, body } = call;
    const sent = request({
      agent: this.#agent,
      host: this.#url.hostname,
      port: this.#url.port,
      method,
      path,
      headers: { ...headers, ...(body === undefined ? {} : { 'Content-Length': body.length }) },
      signal,
    });
    sent.once('response', (response: IncomingMessage) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('error', reject);
      response.once('end', () => {
        const status = response.statusCode!;
        if (status === 503 && response.headers['retry-after'] === undefined)
          reject(new Error('503 without Retry-After'));
        else resolve({ status, body: Buffer.concat(pieces) });
      });
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      // The host closed a connection that was idle, while this was on its way.
      if (sent.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted)
        this.#once(call, signal).then(resolve, reject);
      else reject(error);
    });
    sent.end(body);
    return promise;
  }
}
