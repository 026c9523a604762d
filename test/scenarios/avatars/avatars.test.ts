import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, ROOT_TOKEN, request, type Service, startService } from '../../harness/service.ts';

let service: Service;
let owner: { id: number; token: string };
let stranger: { id: number; token: string };

beforeAll(async () => {
  service = await startService({ background: false });
  owner = await service.user('owner');
  stranger = await service.user('stranger');
});
afterAll(() => service.stop());

const png = (width: number, height: number, more = 0): Buffer => {
  const bytes = Buffer.alloc(33 + more);
  bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
  bytes.writeUInt32BE(13, 8);
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const gif = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(13);
  bytes.write('GIF89a', 'latin1');
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
};
/** An icon whose directory says 16 by 16, with this in it. */
const icon = (picture: Buffer, count = 1): Buffer => {
  const head = Buffer.alloc(6 + 16);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(count, 4);
  head.writeUInt8(16, 6);
  head.writeUInt8(16, 7);
  head.writeUInt32LE(picture.length, 14);
  head.writeUInt32LE(22, 18);
  return Buffer.concat([head, picture]);
};

const upload = (
  method: string,
  path: string,
  bytes: Buffer | string,
  { name = 'avatar.png', token = owner.token, fields = {} as Record<string, string> } = {},
): Promise<Answer> => {
  const raw = new FormData();
  for (const [field, value] of Object.entries(fields)) raw.set(field, value);
  if (typeof bytes === 'string') raw.set('avatar', bytes);
  else raw.set('avatar', new Blob([Uint8Array.from(bytes)], { type: 'image/png' }), name);
  return service.call(method, path, { token, raw });
};
const fetchBytes = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, { headers });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
};

describe.each([
  { kind: 'user', collection: '/users', by: () => ROOT_TOKEN },
  { kind: 'group', collection: '/groups', by: () => owner.token },
  { kind: 'project', collection: '/projects', by: () => owner.token },
])('the avatar of a $kind', ({ kind, collection, by }) => {
  const fieldsOf = (path: string, visibility: string): Record<string, string> =>
    kind === 'user'
      ? { name: path, username: path, email: `${path}@example.com`, force_random_password: 'true' }
      : { name: path, path, visibility };
  const make = async (path: string, visibility: string, bytes?: Buffer) => {
    const fields = fieldsOf(path, visibility);
    const made = bytes
      ? await upload('POST', collection, bytes, { fields, token: by() })
      : await service.call('POST', collection, { token: by(), json: fields });
    expect(made).toMatchObject({ status: 201 });
    return made.body as { id: number; avatar_url: string | null };
  };

  test('can be set at creation, replaced and removed', async () => {
    const made = await make(`${kind}-a`, 'public', png(8, 8));
    expect(made.avatar_url).toBe(`${service.url}/uploads/-/system/${kind}/avatar/${made.id}/avatar.png`);
    const got = await fetchBytes(made.avatar_url!);
    expect(got.bytes).toEqual(png(8, 8));
    expect(got.headers.get('content-type')).toBe('image/png');
    expect(got.headers.get('x-content-type-options')).toBe('nosniff');
    expect(got.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    const etag = got.headers.get('etag')!;
    expect(await fetchBytes(made.avatar_url!, { 'If-None-Match': etag })).toMatchObject({ status: 304 });

    const other = await upload('PUT', `${collection}/${made.id}`, gif(9, 9), {
      name: '../my own/ä.gif',
      token: by(),
    });
    expect(other.body.avatar_url).toBe(`${service.url}/uploads/-/system/${kind}/avatar/${made.id}/_.gif`);
    const second = await fetchBytes(other.body.avatar_url, { 'If-None-Match': etag });
    expect(second).toMatchObject({ status: 200, bytes: gif(9, 9) });
    expect(second.headers.get('content-type')).toBe('image/gif');

    expect(await upload('PUT', `${collection}/${made.id}`, '', { token: by() })).toMatchObject({
      body: { avatar_url: null },
    });
    expect(await fetchBytes(other.body.avatar_url)).toMatchObject({ status: 404 });
  });

  test('is unchanged by updates of other attributes', async () => {
    const made = await make(`${kind}-b`, 'public', png(8, 8));
    const json = { name: 'new' };
    const changed = await service.call('PUT', `${collection}/${made.id}`, { token: by(), json });
    expect(changed.body).toMatchObject({ name: 'new', avatar_url: made.avatar_url });
  });

  // A user's is public.
  if (kind !== 'user')
    test('is visible only to those who can see its owner', async () => {
      const made = await make(`${kind}-c`, 'private', png(8, 8));
      const paths = [made.avatar_url!, `${service.url}/api/v4${collection}/${made.id}/avatar`];
      for (const url of paths) {
        expect(await fetchBytes(url), url).toMatchObject({ status: 404 });
        expect(await fetchBytes(url, { 'PRIVATE-TOKEN': stranger.token })).toMatchObject({ status: 404 });
        expect(await fetchBytes(url, { 'PRIVATE-TOKEN': owner.token })).toMatchObject({ status: 200 });
        const absent = await request(url.replace(`/${made.id}`, '/987654'), 'GET');
        const hidden = await request(url, 'GET');
        expect(hidden.body).toEqual(absent.body);
      }
    });

  test.each([
    ['no image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'file format is not supported'],
    ['nothing', Buffer.alloc(0), 'file format is not supported'],
    ['the first bytes of a PNG', png(8, 8).subarray(0, 20), 'file format is not supported'],
    [
      'a page behind a JPEG’s first bytes',
      Buffer.from('\xff\xd8<script>', 'latin1'),
      'file format is not supported',
    ],
    [
      'a TIFF that points behind its end',
      Buffer.from('II*\0\xff\xff\xff\x7f', 'latin1'),
      'file format is not supported',
    ],
    ['an icon of more pictures than it has', icon(png(8, 8), 65_535), 'file format is not supported'],
    ['a picture without a size', png(0, 8), 'file format is not supported'],
    ['more pixels than a screen can show', png(100_000, 100_000), 'is too large'],
    ['a GIF as large as its format allows', gif(65_535, 65_535), 'is too large'],
    ['an icon with such a picture in it', icon(png(50_000, 16)), 'is too large'],
    ['too many bytes', png(8, 8, 200 * 1024), 'is too big (should be at most 200 KiB)'],
  ])('cannot be %s', async (_what, bytes, problem) => {
    const path = `${kind}-d${Math.random().toString(36).slice(2)}`;
    const answer = await upload('POST', collection, bytes, {
      fields: fieldsOf(path, 'private'),
      token: by(),
    });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(problem);
  });

  test('must be an uploaded file', async () => {
    const { id } = await make(`${kind}-e`, 'public');
    const json = { avatar: 'aGVsbG8=' };
    expect(await service.call('PUT', `${collection}/${id}`, { token: by(), json })).toMatchObject({
      status: 400,
      body: { error: 'avatar is invalid' },
    });
  });
});

test('the avatar of a group appears wherever a project lists its groups', async () => {
  const fields = { name: 'crest', path: 'crest' };
  const { body: group } = await upload('POST', '/groups', gif(1, 1), { fields });
  const json = { name: 'inside', namespace_id: group.id };
  const { body: project } = await service.call('POST', '/projects', { token: owner.token, json });
  const { body: groups } = await service.call('GET', `/projects/${project.id}/groups`, {
    token: owner.token,
  });
  expect(groups).toMatchObject([{ id: group.id, avatar_url: group.avatar_url }]);
});

test('users set and remove their own avatar', async () => {
  const { id, token } = await service.user('vain');
  const set = await upload('PUT', '/user/avatar', png(8, 8), { token });
  const url = `${service.url}/uploads/-/system/user/avatar/${id}/avatar.png`;
  expect(set).toMatchObject({ status: 200, body: { avatar_url: url } });
  expect(await fetchBytes(url)).toMatchObject({ status: 200, bytes: png(8, 8) });
  expect((await service.call('GET', '/user', { token })).body.avatar_url).toBe(url);
  expect((await upload('PUT', '/user/avatar', Buffer.from('text'), { token })).status).toBe(400);
  expect(await service.call('PUT', '/user/avatar', { token, json: {} })).toMatchObject({
    status: 400,
    body: { error: 'avatar is missing' },
  });
  const gone = await upload('PUT', '/user/avatar', '', { token });
  expect(gone).toMatchObject({ status: 200, body: { avatar_url: null } });
  expect((await fetchBytes(url)).status).toBe(404);
});

test('the avatar endpoint finds avatars by public email address only', async () => {
  const { id } = await service.user('shown', { public_email: '' });
  await upload('PUT', `/users/${id}`, png(8, 8), { token: ROOT_TOKEN });
  const asked = async (email: string) =>
    (await service.call('GET', `/avatar?email=${email}`)).body.avatar_url;
  expect(await asked('shown@example.com')).toBeNull();
  expect(await asked('nobody@example.com')).toBeNull();
  const json = { public_email: 'shown@example.com' };
  await service.call('PUT', `/users/${id}`, { token: ROOT_TOKEN, json });
  expect(await asked('Shown@example.com')).toBe(
    `${service.url}/uploads/-/system/user/avatar/${id}/avatar.png`,
  );
});

test('a project shows the avatar of the group or user that it is in', async () => {
  const { id, token } = await service.user('landlord');
  const fields = { name: 'shield', path: 'shield' };
  const { body: group } = await upload('POST', '/groups', gif(1, 1), { fields, token });
  const { body: user } = await upload('PUT', '/user/avatar', png(8, 8), { token });
  const make = async (json: object) => (await service.call('POST', '/projects', { token, json })).body;
  const inGroup = await make({ name: 'in-group', namespace_id: group.id });
  const own = await make({ name: 'own' });
  const plain = await service.call('POST', '/groups', { token, json: { name: 'plain', path: 'plain' } });
  const bare = await make({ name: 'bare', namespace_id: plain.body.id, lfs_enabled: false });
  const wanted = [group.avatar_url, user.avatar_url, null];
  expect([inGroup, own, bare].map(({ namespace }) => namespace.avatar_url)).toEqual(wanted);
  const path = `/users/${id}/projects?order_by=id&sort=asc`;
  const listed = (await service.call('GET', path, { token })).body;
  expect(listed).toMatchObject([{ namespace: { avatar_url: user.avatar_url } }]);
  const member = (await service.call('GET', '/projects?membership=true&order_by=id&sort=asc', { token }))
    .body;
  const avatars = member.map(
    ({ namespace }: { namespace: { avatar_url: string | null } }) => namespace.avatar_url,
  );
  expect(avatars).toEqual(wanted);
  expect(member.map((project: { lfs_enabled: boolean }) => project.lfs_enabled)).toEqual([true, true, false]);
});
