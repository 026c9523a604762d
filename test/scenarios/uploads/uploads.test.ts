/** Files attached to texts: what is answered, who reads them, how they are served, and when they go. */
import { expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, root, service, world } = ownWorld();

async function project(name: string, more: Record<string, unknown> = {}) {
  const { status, body } = await as('owner', 'POST', '/projects', { name, visibility: 'private', ...more });
  expect(status).toBe(201);
  return body;
}

async function upload(id: number, filename: string, content = 'content', who: Who = 'owner') {
  const raw = new FormData();
  raw.set('file', new Blob([content], { type: 'text/html' }), filename);
  const token = world.tokens[who];
  return service.call('POST', `/projects/${id}/uploads`, { raw, ...(token === undefined ? {} : { token }) });
}

const open = (path: string, who: Who = 'owner', init: RequestInit = {}) => {
  const token = world.tokens[who];
  return fetch(new URL(path, service.url), {
    ...init,
    headers: { ...(token === undefined ? {} : { 'PRIVATE-TOKEN': token }), ...init.headers },
  });
};

test.each([
  ['dk.png', 'dk', 'dk.png', '!'],
  ['notes.txt', 'notes.txt', 'notes.txt', ''],
  ['a b [x](y).JPG', 'a_b_x_y_', 'a_b_x_y_.JPG', '!'],
  ['../../etc/passwd', 'passwd', 'passwd', ''],
  ['日本 語.png', '日本_語', '日本_語.png', '!'],
  ['..', '_', '_', ''],
])('%s is answered with its name, URLs and Markdown', async (filename, alt, name, mark) => {
  const { id, path_with_namespace } = await project(`Named ${Math.random()}`);
  const { status, body } = await upload(id, filename);
  expect(status).toBe(201);
  const url = expect.stringMatching(new RegExp(`^/uploads/[0-9a-f]{32}/${name.replaceAll('.', '\\.')}$`));
  expect(body).toEqual({
    alt,
    url,
    full_path: `/${path_with_namespace}${body.url}`,
    markdown: `${mark}[${alt}](${body.url})`,
  });
  const read = await open(encodeURI(body.full_path));
  expect([read.status, await read.text()]).toEqual([200, 'content']);
});

test('a file is read by both of its URLs, and by no other name', async () => {
  const { id } = await project('Read');
  const { body } = await upload(id, 'a.txt');
  const byId = `/-/project/${id}${body.url}`;
  for (const path of [body.full_path, byId]) {
    const read = await open(path);
    expect([read.status, await read.text()]).toEqual([200, 'content']);
    const head = await open(path, 'owner', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '7']);
    const again = await open(path, 'owner', { headers: { 'If-None-Match': read.headers.get('etag')! } });
    expect(again.status).toBe(304);
    expect((await open(path, 'owner', { method: 'POST' })).status).toBe(405);
  }
  const other = await project('Other');
  for (const path of [
    byId.replace('a.txt', 'b.txt'),
    byId.replace(/[0-9a-f]{32}/, '0'.repeat(32)),
    byId.replace(`/${id}/`, `/${other.id}/`),
    byId.replace('a.txt', '%E0%A4%A'),
  ]) {
    expect([path, (await open(path)).status]).toEqual([path, 404]);
  }
});

test('a file is read by whoever may see the project: others are asked for credentials, or told nothing', async () => {
  const hidden = await project('Hidden');
  const { body } = await upload(hidden.id, 'a.txt');
  expect((await open(body.full_path, 'stranger')).status).toBe(404);
  const anonymous = await open(body.full_path, 'anonymous');
  expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([
    401,
    'Basic realm="Lemnos"',
  ]);
  const absent = await open(body.full_path.replace('hidden', 'absent'), 'anonymous');
  expect([absent.status, await absent.text()]).toEqual([401, await anonymous.text()]);
  await as('owner', 'POST', `/projects/${hidden.id}/members`, {
    user_id: world.ids.stranger,
    access_level: 10,
  });
  expect((await open(body.full_path, 'stranger')).status).toBe(200);
  const shown = await project('Shown', { visibility: 'public' });
  const public_ = (await upload(shown.id, 'a.txt', 'c', 'stranger')).body;
  expect((await open(public_.full_path, 'anonymous')).status).toBe(200);
});

test.each([
  ['a.png', 'image/png', 'inline'],
  ['a.mp4', 'video/mp4', 'inline'],
  ['a.svg', 'application/octet-stream', 'attachment'],
  ['a.html', 'application/octet-stream', 'attachment'],
  ['a.xhtml', 'application/octet-stream', 'attachment'],
  ['a.pdf', 'application/octet-stream', 'attachment'],
  ['a', 'application/octet-stream', 'attachment'],
])('%s is served as %s, %s, and runs nothing', async (name, type, kind) => {
  const { id } = await project(`Served ${Math.random()}`);
  const { body } = await upload(id, name, '<script>alert(1)</script>');
  const { headers } = await open(body.full_path);
  expect(headers.get('content-type')).toBe(type);
  expect(headers.get('content-disposition')).toMatch(new RegExp(`^${kind}; `));
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toMatch(/default-src 'none';.*sandbox/);
});

test('what is no file, too large or not allowed is refused', async () => {
  const { id } = await project('Refused', { visibility: 'public' });
  const path = `/projects/${id}/uploads`;
  expect(await as('owner', 'POST', path, {})).toMatchObject({
    status: 400,
    body: { error: 'file is missing' },
  });
  expect(await as('owner', 'POST', path, { file: 'x' })).toMatchObject({
    status: 400,
    body: { error: 'file is invalid' },
  });
  expect(await as('owner', 'POST', path, { file: '' })).toMatchObject({ status: 400 });
  expect((await upload(id, 'a.txt', 'c', 'anonymous')).status).toBe(401);
  await root('PUT', '/application/settings', { max_attachment_size: 1 });
  expect((await upload(id, 'a.bin', 'c'.repeat(1024 ** 2))).status).toBe(201);
  expect((await upload(id, 'a.bin', 'c'.repeat(1024 ** 2 + 1))).status).toBe(413);
  await root('PUT', '/application/settings', { max_attachment_size: 10 });
  await as('owner', 'POST', `/projects/${id}/archive`);
  expect((await upload(id, 'a.txt')).status).toBe(403);
});

test('the files of a deleted project are deleted with it', async () => {
  const [gone, stays] = [await project('Gone'), await project('Stays')];
  await upload(gone.id, 'a.txt');
  const { body } = await upload(stays.id, 'a.txt');
  expect((await as('owner', 'DELETE', `/projects/${gone.id}`)).status).toBe(202);
  await settled();
  const { keys } = await world.store.blobs.list('attachments/');
  const prefixes = new Set(keys.map((key) => Number(key.split('/')[2])));
  expect([prefixes.has(gone.id), prefixes.has(stays.id)]).toEqual([false, true]);
  expect((await open(body.full_path)).status).toBe(200);
});
