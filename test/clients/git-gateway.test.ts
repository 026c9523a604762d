import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withToken } from './git-cli.ts';
import { credentialStories } from './git-credentials.ts';

/** The host with `GATEWAY_LIMITS=1`: the authorizer asks for credentials, and bodies end where the gateway's do. */
const { git, service, world } = credentialStories(true);

test('behind the gateway a function cannot ask for credentials: its header is renamed', async () => {
  const answer = await fetch(`${service.url}/owner/private-thing.git/info/refs?service=git-upload-pack`);
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="Lemnos"']);
  expect(await answer.json()).toEqual({ message: '401 Unauthorized' });
});

test('behind the gateway the authorizer asks for credentials for downloads by web path too', async () => {
  const url = `${service.url}/owner/private-thing/-/raw/main/f`;
  const answer = await fetch(url);
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="Lemnos"']);
  const Authorization = `Basic ${btoa(`any:${world.tokens.owner}`)}`;
  expect(await (await fetch(url, { headers: { Authorization } })).text()).toBe('private');
  expect((await fetch(`${url}?private_token=${world.tokens.owner}`)).status).toBe(200);
});

test('behind the gateway a push within the limit passes, and a larger one is 413 and changes nothing', async () => {
  const url = withToken(service.url, 'owner/public-thing', world.tokens.maintainer);
  const clone = await git.clone(url, 'sizes');
  const commit = async (name: string, size: number) => {
    writeFileSync(join(clone, name), randomBytes(size));
    await git.ok(clone, 'add', name);
    await git.ok(clone, 'commit', '--quiet', '-m', name);
  };
  await commit('fits', 3_500_000);
  await git.ok(clone, 'push', '--quiet', 'origin', 'main');
  await commit('does not', 6_000_000);
  const before = await git.ok(clone, 'ls-remote', 'origin');
  expect(await git.fails(clone, 'push', 'origin', 'main')).toMatch(/413/);
  expect(await git.ok(clone, 'ls-remote', 'origin')).toBe(before);
  const proof = await git.clone(url, 'proof');
  expect(await git.lines(proof, 'ls-tree', '--name-only', 'main')).toContain('fits');
});

test('behind the gateway an answer larger than an event is streamed: a clone of ten megabytes', async () => {
  const token = world.tokens.maintainer!;
  const path = `/projects/${world.ids['public']}/repository`;
  for (let part = 0; part < 3; part++) {
    const content = randomBytes(3_000_000).toString('base64');
    const json = { branch: 'main', commit_message: 'm', content, encoding: 'base64' };
    const made = await service.call('POST', `${path}/files/part${part}`, { token, json });
    expect(made.status).toBe(201);
  }
  const clone = await git.clone(`${service.url}/owner/public-thing.git`, 'large');
  expect((await git.lines(clone, 'ls-tree', 'main')).length).toBeGreaterThan(3);
});
