import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, truncateSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EARLY_BODY_BYTES } from '../../../lib/http/body.ts';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;
let owner: Awaited<ReturnType<Service['user']>>;
let stranger: Awaited<ReturnType<Service['user']>>;
let hidden: number;

beforeAll(async () => {
  service = await startService();
  [owner, stranger] = [await service.user('owner'), await service.user('stranger')];
  const json = { name: 'hidden', initialize_with_readme: true };
  hidden = (await service.call('POST', '/projects', { token: owner.token, json })).body.id;
});
afterAll(() => service.stop());

const HUNDRED_MB = 100 * 1024 * 1024;

/** A connection on which a request is written by hand. */
async function open(path: string, headers: Readonly<Record<string, string | number>>) {
  const { hostname, port } = new URL(service.url);
  const socket: Socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let received = '';
  const broken: unknown[] = [];
  socket.on('error', (error) => broken.push(error));
  socket.on('data', (data) => (received += data));
  const lines = Object.entries({ Host: hostname, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return { socket, broken, received: () => received };
}

const requests = () =>
  [
    ['a stranger', {}, '/api/v4/projects', 401],
    ['a stranger', {}, `/api/v4/projects/${hidden}/repository/commits`, 401],
    ['an invalid token', { 'PRIVATE-TOKEN': 'nobody' }, '/api/v4/projects', 401],
    [
      'a user who cannot see it',
      { 'PRIVATE-TOKEN': stranger.token },
      `/api/v4/projects/${hidden}/repository/commits`,
      404,
    ],
    ['a user who is no administrator', { 'PRIVATE-TOKEN': stranger.token }, '/api/v4/users', 403],
    ['a stranger', {}, '/owner/hidden.git/git-receive-pack', 401],
    ['anybody', {}, '/api/v4/nothing', 404],
  ] as const;

describe('a body of 100 MB', () => {
  test('is refused after 64 KiB of it, in every content type', async () => {
    for (const [who, credential, path, status] of requests()) {
      for (const type of [
        'application/json',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=b',
      ]) {
        const headers = { ...credential, 'Content-Type': type, 'Content-Length': HUNDRED_MB };
        const { socket, received } = await open(path, headers);
        // Nothing more is sent until the answer is there.
        socket.write(Buffer.alloc(EARLY_BODY_BYTES, 'x'));
        await expect.poll(received, { message: `${who} ${path} ${type}` }).toMatch(/\r\n\r\n/);
        expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
        expect(received()).toMatch(/connection: close/i);
        socket.destroy();
      }
    }
  });

  test('without a declared length is refused after 64 KiB too', async () => {
    const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
    const { socket, received } = await open('/api/v4/projects', headers);
    const chunk = EARLY_BODY_BYTES + 1;
    socket.write(`${chunk.toString(16)}\r\n${' '.repeat(chunk)}\r\n`);
    await expect.poll(received).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
  });

  test('that the client sends whatever it is answered does not lose the answer, and the connection ends', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': HUNDRED_MB };
    const { socket, broken, received } = await open('/api/v4/projects', headers);
    const ended = once(socket, 'end');
    const piece = Buffer.alloc(1024 * 1024, ' ');
    for (let sent = 0; sent < 100; sent++) if (!socket.write(piece)) await once(socket, 'drain');
    await ended;
    expect(broken).toEqual([]);
    expect(received()).toMatch(/^HTTP\/1.1 401 [\s\S]*\{"message":"401 Unauthorized"\}$/);
  });

  test('gives curl its answer', async () => {
    const file = join(service.mailDir, '..', 'large');
    closeSync(openSync(file, 'w'));
    truncateSync(file, HUNDRED_MB);
    const post = async (...more: string[]) => {
      const args = ['-s', '-w', '%{http_code}', '-o', '/dev/null', ...more, '--data-binary', `@${file}`];
      return (await promisify(execFile)('curl', [...args, `${service.url}/api/v4/projects`])).stdout;
    };
    expect(await post()).toBe('401');
    expect(await post('-H', 'Expect:')).toBe('401');
    // Who may create a project is told what is wrong with the body.
    expect(await post('-H', `PRIVATE-TOKEN: ${owner.token}`)).toBe('413');
  });
});

describe('a body above 64 KiB', () => {
  const content = 'long '.repeat(100_000);

  test('is served as a small one is', async () => {
    const path = `/projects/${hidden}/repository/files/long.txt`;
    const json = { branch: 'main', content, commit_message: 'long' };
    const made = await service.call('POST', path, { token: owner.token, json });
    expect(made).toMatchObject({ status: 201, body: { file_path: 'long.txt', branch: 'main' } });
    const raw = await service.call('GET', `${path}/raw?ref=main`, { token: owner.token });
    expect(raw.body).toBe(content);
    const invalid = (text: string) =>
      service.call('POST', path, { token: owner.token, json: { content: text } });
    const [small, large] = [await invalid('short'), await invalid(content)];
    expect([large.status, large.body]).toEqual([400, small.body]);
  });

  test('counts a credential in the query, not one in the body', async () => {
    const json = { name: 'large', description: 'x'.repeat(70_000) };
    const create = (query: string, body: object) =>
      service.call('POST', `/projects${query}`, { json: { ...json, ...body } });
    expect((await create('', { private_token: owner.token })).status).toBe(401);
    expect((await create(`?private_token=${owner.token}`, {})).status).toBe(400);
  });
});
