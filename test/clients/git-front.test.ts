import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { serveGit } from '../../lib/api/git/serve.ts';
import { rawFunction } from '../../lib/http/function.ts';
import { readEnvironment } from '../../lib/store/environment.ts';
import { type Front, startFront } from '../../local/front.ts';
import { ownWorld } from '../harness/own-world.ts';
import type { Who } from '../harness/world.ts';
import { seedCode } from '../scenarios/repository/code-audience.ts';
import { GitCli } from './git-cli.ts';

/** A stock git, a gateway with its limits, and the front that pushes are sent to. */
const git = new GitCli();
let port: number;
beforeAll(async () => {
  port = await freePort();
  process.env['GIT_FRONT_URL'] = `http://localhost:${port}/`;
  process.env['MAX_FETCH_BYTES'] = '5000000';
});
const { service, world } = ownWorld({ limits: true });
let front: Front;
let clone: string;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  await seedCode(world);
  const resources = { TABLE_NAME: 'lemnos', OBJECTS_BUCKET: 'lemnos-objects' };
  env = { ...process.env, ...resources, PORT: String(port), HOST: '127.0.0.1' };
  front = await startFront(env, async () => {
    // Another process has an environment of its own; this one shares everything else with the gateway's functions.
    const own = { ...deps(), environment: readEnvironment(env) };
    return rawFunction((request, facts) => serveGit(request, facts, own)) as never;
  });
  await as('owner', git.home, 'clone', '--quiet', `${service.url}/owner/public-thing.git`, 'clone');
  clone = git.path('clone');
});
afterAll(async () => {
  delete process.env['GIT_FRONT_URL'];
  delete process.env['MAX_FETCH_BYTES'];
  await front.stop(100);
  git[Symbol.dispose]();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function as(who: Who, cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await git.run(args, {
    cwd,
    env: {
      TOKEN: world.tokens[who] ?? '',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'credential.helper',
      GIT_CONFIG_VALUE_0: '!f() { test "$1" = get && echo username=any && echo "password=$TOKEN"; }; f',
    },
  });
  return code === 0 ? stdout.toString() : `exit ${code}\n${stderr}`;
}

test('a stock git push of 7 MB to the gateway’s address goes through the push front', async () => {
  writeFileSync(join(clone, 'large'), randomBytes(7_000_000));
  await git.ok(clone, 'add', 'large');
  await git.ok(clone, 'commit', '--quiet', '-m', 'large');
  expect(await as('owner', clone, 'push', '--quiet', 'origin', 'HEAD:refs/heads/large')).toBe('');
  const there = await as('owner', clone, 'ls-remote', 'origin', 'refs/heads/large');
  expect(there).toContain(await git.ok(clone, 'rev-parse', 'HEAD'));
});

test('fetches of a repository above the limit of a response go to the front, those of others do not', async () => {
  const begin = (path: string, who: Who) =>
    fetch(`${service.url}/owner/${path}.git/info/refs?service=git-upload-pack`, {
      redirect: 'manual',
      headers: {
        'Git-Protocol': 'version=2',
        ...(who === 'anonymous' ? {} : { Authorization: `Basic ${btoa(`any:${world.tokens[who]}`)}` }),
      },
    });
  const sent = await begin('public-thing', 'anonymous');
  expect([sent.status, sent.headers.get('location')]).toEqual([
    302,
    `http://localhost:${env['PORT']}/owner/public-thing.git/info/refs?service=git-upload-pack`,
  ]);
  expect((await begin('private-thing', 'owner')).status).toBe(200);
  expect((await begin('private-thing', 'stranger')).status).toBe(404);
  const large = await git.clone(`${service.url}/owner/public-thing.git`, 'large', '--branch=large');
  expect(await git.ok(large, 'rev-parse', 'HEAD')).toBe(await git.ok(clone, 'rev-parse', 'HEAD'));
});

test('the push front asks for credentials and gives the same errors', async () => {
  const branch = 'HEAD:refs/heads/no';
  expect(await as('reporter', clone, 'push', 'origin', branch)).toContain('not allowed to push code');
  expect(await as('revoked', clone, 'push', 'origin', branch)).toContain('Authentication failed');
  const hidden = `${service.url}/owner/private-thing.git`;
  expect(await as('stranger', clone, 'push', hidden, branch)).toContain('not found');
  expect(await as('developer', clone, 'push', 'origin', 'HEAD:main')).toContain('[remote rejected]');
});

test('the documentation names the push front and no helper', async () => {
  for (const path of ['/', '/api/docs']) {
    const page = await (await fetch(service.url + path)).text();
    expect(page).toContain(`http://localhost:${env['PORT']},`);
    expect(page).not.toContain('git-remote-lemnos');
  }
});

test('only the beginning of a push passes the push front before authentication', async () => {
  const ask = (rest: string) => fetch(`${service.url}/no/where${rest}`, { redirect: 'manual' });
  const sent = await ask('.git/info/refs?service=git-receive-pack');
  expect([sent.status, sent.headers.get('location')]).toEqual([
    302,
    `http://localhost:${env['PORT']}/no/where.git/info/refs?service=git-receive-pack`,
  ]);
  expect((await ask('.git/info/refs?service=git-upload-pack')).status).toBe(401);
  expect((await fetch(`${service.url}/no/where.git/git-receive-pack`, { method: 'POST' })).status).toBe(401);
  expect((await fetch(`${service.url}/no/where.git/lemnos/uploads`, { method: 'POST' })).status).toBe(401);
});

test('the push front reports its health and serves Git only', async () => {
  expect(await (await fetch(`${front.url}/healthz`)).text()).toBe('ok\n');
  expect((await fetch(`${front.url}/api/v4/projects`)).status).toBe(404);
  expect((await fetch(`${front.url}/`)).status).toBe(404);
});

test('the push front does not start without a table and a bucket, and does not forward its own requests', async () => {
  await expect(startFront({ PORT: '0' })).rejects.toThrow(
    'missing environment variables: TABLE_NAME, OBJECTS_BUCKET',
  );
  expect(env).not.toHaveProperty('GIT_FRONT_URL');
  expect(env).not.toHaveProperty('MAX_FETCH_BYTES');
});
