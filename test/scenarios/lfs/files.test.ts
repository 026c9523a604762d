import { beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { request } from '../../harness/service.ts';
import { content, lfsClient, pointerFile, pointerTo } from './client.ts';

const { service, world, as } = ownWorld();
const lfs = lfsClient(world);
const bytes = Buffer.from('the content that the pointer stands for\n');
const large = content(17 * 1024 * 1024);
const files = () => `/projects/${world.ids['private']}/repository/files`;

beforeAll(async () => {
  const texts = {
    'small.txt': pointerFile(pointerTo(bytes)),
    'large.bin': pointerFile(pointerTo(large)),
    'lost.bin': pointerFile(pointerTo(content())),
    'other.txt': 'no pointer\n',
  };
  const actions = Object.entries(texts).map(([file_path, text]) => ({
    action: 'create',
    file_path,
    content: text,
  }));
  const json = { branch: 'main', commit_message: 'files', actions };
  expect(
    (await as('owner', 'POST', `/projects/${world.ids['private']}/repository/commits`, json)).status,
  ).toBe(201);
  for (const object of [bytes, large]) await lfs.upload('owner', 'owner/private-thing', object);
});

const raw = (name: string, query: string) => as('reporter', 'GET', `${files()}/${name}/raw?ref=main${query}`);

test('with `lfs` a raw file is the content that its pointer stands for, else the pointer', async () => {
  expect((await raw('small.txt', '&lfs=true')).body).toBe(bytes.toString());
  expect((await raw('small.txt', '')).body).toBe(pointerFile(pointerTo(bytes)));
  expect((await raw('other.txt', '&lfs=true')).body).toBe('no pointer\n');
});

test('a large one is redirected to, and one that the project lacks is not found', async () => {
  const { status, headers } = await raw('large.bin', '&lfs=true');
  expect(status).toBe(302);
  const got = await fetch(headers.get('location')!);
  expect(Buffer.from(await got.arrayBuffer()).equals(large)).toBe(true);
  expect((await raw('lost.bin', '&lfs=true')).status).toBe(404);
  expect((await raw('lost.bin', '')).status).toBe(200);
});

test('by its web path a raw file is what its pointer stands for', async () => {
  const url = `${service.url}/owner/private-thing/-/raw/main/small.txt`;
  const Authorization = `Basic ${Buffer.from(`any:${world.tokens.owner}`).toString('base64')}`;
  expect((await request(url, 'GET', { headers: { Authorization } })).body).toBe(bytes.toString());
});

test('where Git LFS is off, pointers are files as any other', async () => {
  await as('owner', 'PUT', `/projects/${world.ids['private']}`, { lfs_enabled: false });
  expect((await raw('small.txt', '&lfs=true')).body).toBe(pointerFile(pointerTo(bytes)));
  await as('owner', 'PUT', `/projects/${world.ids['private']}`, { lfs_enabled: true });
});
