import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { PACKAGES } from '../../../lib/store/packages/packages.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

const { as, service, world } = ownWorld();

let at: string;
let id: number;
beforeAll(async () => {
  ({ at, id } = await project('packed'));
});

async function project(name: string, more: object = {}): Promise<{ at: string; id: number }> {
  const { status, body } = await as('owner', 'POST', '/projects', { name, ...more });
  expect(status).toBe(201);
  return { at: `/projects/${body.id}`, id: body.id };
}

const put = (path: string, content: string | Uint8Array<ArrayBuffer>, who: 'owner' | 'developer' = 'owner') =>
  service.call('PUT', `${at}/packages/generic/${path}`, { token: world.tokens[who]!, raw: content });
const get = (path: string) => as('owner', 'GET', `${at}/packages/generic/${path}`);
const textOf = async (path: string): Promise<string> => {
  const headers = { 'PRIVATE-TOKEN': world.tokens.owner! };
  return (await fetch(`${service.url}/api/v4${at}/packages/generic/${path}`, { headers })).text();
};
const listed = async (query = ''): Promise<Answer['body']> =>
  (await as('owner', 'GET', `${at}/packages${query}`)).body;
/** The contents that the bucket has for a project. */
const contents = async (of: number) => (await world.store.blobs.list(`${PACKAGES}${of}/`)).keys;

describe('a file', () => {
  test('is downloaded as it was uploaded, whatever its bytes', async () => {
    const bytes = new Uint8Array(randomBytes(100_000));
    expect(await put('tool/1.0/tool.bin', bytes)).toMatchObject({
      status: 201,
      body: { message: '201 Created' },
    });
    const url = `${service.url}/api/v4${at}/packages/generic/tool/1.0/tool.bin`;
    const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': world.tokens.owner! } });
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toContain('attachment; filename="tool.bin"');
  });

  test('that is empty is a file', async () => {
    expect((await put('tool/1.0/empty', '')).status).toBe(201);
    expect(await get('tool/1.0/empty')).toMatchObject({ status: 200 });
  });

  test('of more than 16 MiB is downloaded from the bucket', async () => {
    const bytes = new Uint8Array(17 * 1024 * 1024).fill(7);
    expect((await put('tool/1.0/large.bin', bytes)).status).toBe(201);
    const url = `${service.url}/api/v4${at}/packages/generic/tool/1.0/large.bin`;
    const first = await fetch(url, {
      headers: { 'PRIVATE-TOKEN': world.tokens.owner! },
      redirect: 'manual',
    });
    expect(first.status).toBe(302);
    const content = Buffer.from(await (await fetch(first.headers.get('location')!)).arrayBuffer());
    expect(content.equals(bytes)).toBe(true);
  });

  test('is told with its digests where the caller selects it', async () => {
    const content = 'of the file';
    const digest = (algorithm: string) => createHash(algorithm).update(content).digest('hex');
    expect(await put('tool/1.1/tool.txt?select=package_file', content)).toMatchObject({
      status: 201,
      body: {
        file_name: 'tool.txt',
        size: content.length,
        file_md5: digest('md5'),
        file_sha1: digest('sha1'),
        file_sha256: digest('sha256'),
        file: { url: `${service.url}/api/v4${at}/packages/generic/tool/1.1/tool.txt` },
      },
    });
  });

  test('of the same name stays, and the newer one is downloaded until it is deleted', async () => {
    await put('tool/2.0/same.txt', 'first');
    const { body: second } = await put('tool/2.0/same.txt?select=package_file', 'second');
    expect(await textOf('tool/2.0/same.txt')).toBe('second');
    const files = `${at}/packages/${second.package_id}/package_files`;
    const { body } = await as('owner', 'GET', files);
    expect(body.map(({ size }: { size: number }) => size)).toEqual([5, 6]);
    expect((await as('owner', 'DELETE', `${files}/${second.id}`)).status).toBe(204);
    expect(await textOf('tool/2.0/same.txt')).toBe('first');
    expect((await as('owner', 'DELETE', `${files}/${second.id}`)).status).toBe(404);
  });

  test.each([
    ['..%2F..%2Fetc/1.0/passwd', 'package_name is invalid'],
    ['tool/1..0/a', 'package_version is invalid'],
    ['tool/1.0/a%2Fb', 'file_name is invalid'],
    ['tool/1.0/%00', 'a path may not contain NUL'],
    [`tool/1.0/${'a'.repeat(256)}`, 'file_name is too long (maximum is 255 characters)'],
  ])('is refused by the name %s', async (path, error) => {
    const answer = await put(path, 'x');
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(error) } });
  });

  test('that ends before its time leaves nothing', async () => {
    const before = await contents(id);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(1000));
        setTimeout(() => controller.error(new Error('gone')), 50);
      },
    });
    const url = `${service.url}/api/v4${at}/packages/generic/cut/1.0/cut.bin`;
    const headers = { 'PRIVATE-TOKEN': world.tokens.owner! };
    await expect(
      fetch(url, { method: 'PUT', headers, body, duplex: 'half' } as RequestInit),
    ).rejects.toThrow();
    expect((await get('cut/1.0/cut.bin')).status).toBe(404);
    expect(await contents(id)).toEqual(before);
  });
});

describe('a package', () => {
  test('is made once by uploads at once, and counts all of them', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => put(`raced/1.0/file-${i}?select=package_file`, `${i}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(new Set(answers.map(({ body }) => body.package_id)).size).toBe(1);
    const [raced] = await listed('?package_name=raced');
    expect((await as('owner', 'GET', `${at}/packages/${raced.id}/package_files`)).body).toHaveLength(8);
  });

  test('that is hidden is in no list but that of hidden ones, and is downloaded', async () => {
    await put('secret/1.0/a.txt?status=hidden', 'a');
    expect(await listed('?package_name=secret')).toEqual([]);
    expect(await listed('?package_name=secret&status=hidden')).toMatchObject([
      { name: 'secret', version: '1.0', package_type: 'generic', status: 'hidden' },
    ]);
    expect((await get('secret/1.0/a.txt')).status).toBe(200);
  });

  test('is listed by name, version and time, and by part of its name', async () => {
    const other = await project('ordered');
    const upload = (path: string) =>
      service.call('PUT', `${other.at}/packages/generic/${path}/f`, {
        token: world.tokens.owner!,
        raw: 'f',
      });
    for (const path of ['b/3', 'a/2', 'c/1']) expect((await upload(path)).status).toBe(201);
    const names = async (query: string) =>
      (await as('owner', 'GET', `${other.at}/packages?${query}`)).body
        .map(({ name }: { name: string }) => name)
        .join('');
    expect(await names('')).toBe('bac');
    expect(await names('order_by=name')).toBe('abc');
    expect(await names('order_by=version&sort=desc')).toBe('bac');
    expect(await names('package_name=B')).toBe('b');
    expect(await names('package_type=npm')).toBe('');
    expect(await names('package_type=generic')).toBe('bac');
    const wrong = await as('owner', 'GET', `${other.at}/packages?package_type=x`);
    expect(wrong).toMatchObject({ status: 400, body: { error: 'package_type does not have a valid value' } });
    expect(await names('per_page=1&page=2&order_by=name')).toBe('b');
  });

  test('tells its other versions, and who may delete it where', async () => {
    const other = await project('versions', { visibility: 'public' });
    const upload = (path: string) =>
      service.call('PUT', `${other.at}/packages/generic/${path}`, { token: world.tokens.owner!, raw: 'f' });
    for (const path of ['tool/1.0/f', 'tool/1.1/f', 'tool/1.2/f?status=hidden', 'tools/1.0/f'])
      expect((await upload(path)).status).toBe(201);
    const list = (await as('owner', 'GET', `${other.at}/packages`)).body;
    expectSchema('packages/packages', list);
    const [first, second, third] = list;
    const shown = async (who: 'owner' | 'stranger', { id }: { id: number }) =>
      (await as(who, 'GET', `${other.at}/packages/${id}`)).body;
    const found = await shown('owner', second);
    expect(found.versions).toEqual([
      { id: first.id, version: '1.0', created_at: first.created_at, tags: [] },
    ]);
    const alone = await shown('owner', third);
    expectSchema('packages/package', alone);
    expect(alone.versions).toEqual([]);
    expect(found._links.delete_api_path).toBe(`${service.url}/api/v4${other.at}/packages/${second.id}`);
    expect((await shown('stranger', second))._links).toEqual({ web_path: found._links.web_path });
    expectSchema(
      'packages/package_files',
      (await as('owner', 'GET', `${other.at}/packages/${first.id}/package_files`)).body,
    );
  });

  test('that is deleted takes its files and their contents along', async () => {
    const other = await project('emptied');
    const upload = (file: string) =>
      service.call('PUT', `${other.at}/packages/generic/a/1/${file}`, {
        token: world.tokens.owner!,
        raw: file,
      });
    await Promise.all(['x', 'y'].map(upload));
    expect(await contents(other.id)).toHaveLength(2);
    const [{ id: packageId }] = (await as('owner', 'GET', `${other.at}/packages`)).body;
    expect((await as('owner', 'DELETE', `${other.at}/packages/${packageId}`)).status).toBe(204);
    expect((await as('owner', 'GET', `${other.at}/packages/generic/a/1/x`)).status).toBe(404);
    expect((await as('owner', 'GET', `${other.at}/packages/${packageId}`)).status).toBe(404);
    await settled();
    expect(await contents(other.id)).toEqual([]);
    // The name is free again.
    expect((await upload('x')).status).toBe(201);
  });

  test('is deleted only if it is not newer than the caller says, as are its files', async () => {
    const { body: file } = await put('kept/1.0/a.txt?select=package_file', 'a');
    const shown = `${at}/packages/${file.package_id}`;
    const remove = async (path: string, since: string) =>
      (
        await service.call('DELETE', path, {
          token: world.tokens.owner!,
          headers: { 'If-Unmodified-Since': since },
        })
      ).status;
    const [before, after] = ['Mon, 01 Jan 2018 00:00:00 GMT', 'Tue, 01 Jan 2100 00:00:00 GMT'];
    const files = `${shown}/package_files/${file.id}`;
    expect(await remove(files, before)).toBe(412);
    expect(await remove(shown, before)).toBe(412);
    expect(await remove(files, after)).toBe(204);
    expect(await remove(shown, after)).toBe(204);
    expect(await as('owner', 'GET', shown)).toMatchObject({
      status: 404,
      body: { message: '404 Not found' },
    });
  });

  test('goes with its project', async () => {
    const other = await project('going');
    const path = `${other.at}/packages/generic/a/1/x`;
    expect((await service.call('PUT', path, { token: world.tokens.owner!, raw: 'x' })).status).toBe(201);
    expect((await as('owner', 'DELETE', other.at)).status).toBe(202);
    await settled();
    expect(await contents(other.id)).toEqual([]);
  });

  test('is refused where the project has switched packages off', async () => {
    const other = await project('without', { packages_enabled: false });
    const path = `${other.at}/packages/generic/a/1/x`;
    const answer = await service.call('PUT', path, { token: world.tokens.owner!, raw: 'x' });
    expect(answer).toMatchObject({ status: 403, body: { message: '403 Forbidden' } });
    expect((await as('owner', 'GET', `${other.at}/packages`)).status).toBe(403);
  });
});

describe('a deploy token', () => {
  const FILE = 'deployed/1.0/a.txt';
  const basic = (user: string, token: string) =>
    `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;
  const made = async (
    of: string,
    scopes: readonly string[],
  ): Promise<{ token: string; username: string }> => {
    const { status, body } = await as('owner', 'POST', `${of}/deploy_tokens`, { name: 'deploys', scopes });
    expect(status).toBe(201);
    return body;
  };
  const call = async (method: string, path: string, headers: Record<string, string>) => {
    const answer = await fetch(`${service.url}/api/v4${path}`, {
      method,
      headers,
      ...(method === 'PUT' ? { body: 'of a token' } : {}),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const statuses = async (path: string, headers: Record<string, string>) => [
    (await call('PUT', path, headers)).status,
    (await call('GET', path, headers)).status,
  ];
  let path: string;
  let writer: { token: string; username: string };
  beforeAll(async () => {
    path = `${at}/packages/generic/${FILE}`;
    writer = await made(at, ['write_package_registry']);
  });

  test('uploads and downloads files, by its header or by the password of any user', async () => {
    expect(await statuses(path, { 'Deploy-Token': writer.token })).toEqual([201, 200]);
    expect(await statuses(path, { Authorization: basic(writer.username, writer.token) })).toEqual([201, 200]);
    expect(await statuses(path, { Authorization: basic('anybody', writer.token) })).toEqual([201, 200]);
    expect((await call('GET', path, { 'Deploy-Token': writer.token })).text).toBe('of a token');
  });

  test('does what its scopes say, and nothing else', async () => {
    const reader = await made(at, ['read_package_registry']);
    expect(await statuses(path, { 'Deploy-Token': reader.token })).toEqual([403, 200]);
    const ofCode = await made(at, ['read_repository']);
    expect(await statuses(path, { 'Deploy-Token': ofCode.token })).toEqual([403, 403]);
    const header = { 'Deploy-Token': writer.token };
    for (const [method, other] of [
      ['GET', `${at}/packages`],
      ['DELETE', `${at}/packages/1`],
      ['GET', `${at}/releases`],
      ['GET', at],
    ] as const)
      expect((await call(method, other, header)).status).toBeGreaterThanOrEqual(401);
  });

  test('that is wrong, or was revoked, is refused where anybody may read too', async () => {
    const open = await project('open to all', { visibility: 'public' });
    const there = `${open.at}/packages/generic/${FILE}`;
    expect((await call('PUT', there, { 'PRIVATE-TOKEN': world.tokens.owner! })).status).toBe(201);
    expect((await call('GET', there, {})).status).toBe(200);
    expect(await statuses(there, { 'Deploy-Token': 'gldt-wrong' })).toEqual([401, 401]);
    const ended = await made(open.at, ['write_package_registry']);
    const [{ id: tokenId }] = (await as('owner', 'GET', `${open.at}/deploy_tokens`)).body;
    expect((await as('owner', 'DELETE', `${open.at}/deploy_tokens/${tokenId}`)).status).toBe(204);
    expect(await statuses(there, { 'Deploy-Token': ended.token })).toEqual([401, 401]);
  });

  test('knows nothing of other projects, and may do there what everybody may', async () => {
    const other = await project('not of the token');
    expect(await statuses(`${other.at}/packages/generic/${FILE}`, { 'Deploy-Token': writer.token })).toEqual([
      404, 404,
    ]);
    const open = await project('of everybody', { visibility: 'public' });
    const there = `${open.at}/packages/generic/${FILE}`;
    expect((await call('PUT', there, { 'PRIVATE-TOKEN': world.tokens.owner! })).status).toBe(201);
    expect(await statuses(there, { 'Deploy-Token': writer.token })).toEqual([403, 200]);
  });

  test('of a group is one of all projects in it', async () => {
    const { body: group } = await as('owner', 'POST', '/groups', { name: 'deploying', path: 'deploying' });
    const inside = await project('inside', { namespace_id: group.id });
    const ofGroup = await made(`/groups/${group.id}`, ['write_package_registry']);
    const there = `${inside.at}/packages/generic/${FILE}`;
    expect(await statuses(there, { 'Deploy-Token': ofGroup.token })).toEqual([201, 200]);
    expect(await statuses(path, { 'Deploy-Token': ofGroup.token })).toEqual([404, 404]);
  });

  test('is told what is wrong with a name before anything else, and writes nothing to an archived project', async () => {
    const closed = await project('closed');
    const token = { 'Deploy-Token': (await made(closed.at, ['write_package_registry'])).token };
    expect((await call('PUT', `${closed.at}/packages/generic/a/1..0/f`, token)).status).toBe(400);
    const there = `${closed.at}/packages/generic/${FILE}`;
    expect((await call('PUT', there, token)).status).toBe(201);
    expect((await as('owner', 'POST', `${closed.at}/archive`)).status).toBe(201);
    expect(await statuses(there, token)).toEqual([403, 200]);
  });
});
