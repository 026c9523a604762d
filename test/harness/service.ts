import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Email } from 'postal-mime';
import { type Host, type HostOptions, MAIL_DIR, startHost } from '../../local/host.ts';
import { expectDocumented } from './answers.ts';
import { mailTo } from './mail.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else text; null without a body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface CallOptions {
  readonly token?: string;
  readonly json?: unknown;
  readonly form?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly raw?: BodyInit;
}

/** A whole service of one's own: embedded parts, real functions, real HTTP. */
export interface Service {
  readonly url: string;
  readonly host: Host;
  readonly rootToken: string;
  /** The folder of its mails, each a file. */
  readonly mailDir: string;
  /** `path` is below `/api/v4`, or from the root where it begins with `/api/`, percent-encoded. The answer must be one that the OpenAPI document tells. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** A user with a token of all scopes, made by the administrator. */
  user(
    username: string,
    options?: Record<string, unknown>,
  ): Promise<{ id: number; username: string; token: string }>;
  /** The mails to an address, oldest first, as soon as there are so many (one). */
  mailTo(address: string, count?: number): Promise<Email[]>;
  stop(): Promise<void>;
}

export const ROOT_TOKEN = 'root-token-for-tests-only';

let running = false;

/** One service at a time in a process: the functions have one set of clients, as in Lambda. A test file shares its own. */
export async function startService(options: Partial<HostOptions> = {}): Promise<Service> {
  if (running) throw new Error('this process has a service, which was not stopped: share one per test file');
  running = true;
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'lemnos-test-'));
  const mailDir = join(dataDir, MAIL_DIR);
  const host = await startHost({ port: 0, host: '127.0.0.1', ...options, dataDir }).catch((error) => {
    running = false;
    throw error;
  });
  await host.invoke('first-administrator', { token: ROOT_TOKEN });
  const call = async (
    method: string,
    path: string,
    { token, json, form, headers, raw }: CallOptions = {},
  ): Promise<Answer> => {
    const answer = await request(host.url + (path.startsWith('/api/') ? path : `/api/v4${path}`), method, {
      headers: {
        ...(token === undefined ? {} : { 'PRIVATE-TOKEN': token }),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      body: raw ?? form ?? (json === undefined ? undefined : JSON.stringify(json)),
    });
    expectDocumented(method, path, answer.status, answer.body);
    return answer;
  };
  return {
    url: host.url,
    host,
    rootToken: ROOT_TOKEN,
    mailDir,
    call,
    async user(username, more = {}) {
      const made = await call('POST', '/users', {
        token: ROOT_TOKEN,
        json: {
          username,
          name: username,
          email: `${username}@example.com`,
          force_random_password: true,
          skip_confirmation: true,
          ...more,
        },
      });
      if (made.status !== 201)
        throw new Error(`user ${username}: ${made.status} ${JSON.stringify(made.body)}`);
      const token = await call('POST', `/users/${made.body.id}/personal_access_tokens`, {
        token: ROOT_TOKEN,
        json: { name: 'test', scopes: ['api', 'read_repository', 'write_repository'] },
      });
      return { id: made.body.id, username, token: token.body.token };
    },
    mailTo: (address, count) => mailTo(mailDir, address, count),
    async stop() {
      await host.stop();
      running = false;
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export async function request(
  url: string,
  method: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: BodyInit | undefined } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : isJson ? JSON.parse(text) : text,
  };
}
