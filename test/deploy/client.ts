import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, type Ran, run } from './process.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty where the body is not JSON. */
  readonly json: Record<string, unknown>;
}

export async function call(
  url: string,
  {
    token,
    method,
    body,
    headers,
  }: { token?: string; method?: string; body?: object; headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(token === undefined ? {} : { 'PRIVATE-TOKEN': token }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : {} };
}

/** Paths of a list of projects. */
export function pathsOf({ status, text }: Answer): unknown[] {
  assert.equal(status, 200, text);
  return JSON.parse(text).map((project: Record<string, unknown>) => project['path_with_namespace']);
}

export const userNamed = (username: string) => ({
  username,
  name: username,
  email: `${username}@example.com`,
  password: randomBytes(12).toString('hex'),
  skip_confirmation: true,
});

/** @returns a token of the new user. */
export async function makeUser(api: string, root: string, username: string): Promise<string> {
  const user = await call(`${api}/users`, { token: root, body: userNamed(username) });
  assert.equal(user.status, 201, user.text);
  const token = await call(`${api}/users/${user.json['id']}/personal_access_tokens`, {
    token: root,
    body: { name: 'story', scopes: ['api', 'read_repository', 'write_repository'] },
  });
  assert.equal(token.status, 201, token.text);
  return String(token.json['token']);
}

export type Git = (directory: string, ...args: string[]) => Promise<Ran>;

/** Git without this machine's or this user's settings, which never asks. */
const gitEnvironment = (work: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: work,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  NO_PROXY: '127.0.0.1',
  GIT_AUTHOR_NAME: 'A Developer',
  GIT_AUTHOR_EMAIL: 'developer@example.com',
  GIT_COMMITTER_NAME: 'A Developer',
  GIT_COMMITTER_EMAIL: 'developer@example.com',
});

export const gitIn =
  (work: string): Git =>
  (directory, ...args) =>
    run('git', ['-C', join(work, directory), ...args], { env: gitEnvironment(work) });

export const gitAttempt = (work: string, directory: string, ...args: string[]): Promise<Ran> =>
  attempt('git', ['-C', join(work, directory), ...args], { env: gitEnvironment(work) });

export function withCredentials(url: string, username: string, password: string): string {
  const remote = new URL(url);
  remote.username = username;
  remote.password = password;
  return remote.href;
}

export const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Repeats a check for half a minute. @throws what it threw last. */
export async function eventually(check: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + 30_000; ; ) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(250);
    }
  }
}
