import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { downloadPrefix } from '../../../lib/store/blobs/downloads.ts';
import { readZip } from '../../git/read-zip.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { content, lfsClient, pointerFile, pointerTo } from './client.ts';

const { service, world, as } = ownWorld();
const lfs = lfsClient(world);
const bytes = Buffer.from('the content that the pointer stands for\n');
const large = content(17 * 1024 * 1024);
const foreign = content();
const lost = content();

const ATTRIBUTES = '*.bin filter=lfs diff=lfs merge=lfs -text\n';
const texts = {
  '.gitattributes': ATTRIBUTES,
  'small.bin': pointerFile(pointerTo(bytes)),
  'large.bin': pointerFile(pointerTo(large)),
  'foreign.bin': pointerFile(pointerTo(foreign)),
  'lost.bin': pointerFile(pointerTo(lost)),
  'plain.bin': 'no pointer\n',
  'small.txt': pointerFile(pointerTo(bytes)),
};

/** A project with these files. */
async function projectWith(path: string, files: Readonly<Record<string, string>>): Promise<number> {
  const { id } = (await as('owner', 'POST', '/projects', { name: path, path })).body;
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content,
  }));
  const json = { branch: 'main', commit_message: 'files', actions };
  expect((await as('owner', 'POST', `/projects/${id}/repository/commits`, json)).status).toBe(201);
  return id;
}

type Files = Readonly<Record<string, string | Buffer>>;
/** Short files as they are, others by their digest. */
const seen = (files: Files) =>
  Object.fromEntries(
    Object.entries(files).map(([name, data]) => [
      name,
      data.length > 500 ? pointerTo(Buffer.from(data)).oid : data.toString(),
    ]),
  );

/** The files of an archive without directories. */
async function filesIn(archive: Buffer, format: 'zip' | 'tar.gz'): Promise<Files> {
  if (format === 'zip') {
    const files = (await readZip(archive)).entries.filter(({ name }) => !name.endsWith('/'));
    return Object.fromEntries(files.map(({ name, data }) => [name.slice(name.indexOf('/') + 1), data]));
  }
  const folder = mkdtempSync(join(tmpdir(), 'lemnos-archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  execFileSync('tar', ['-xz', '-C', folder, '--strip-components=1'], { input: archive });
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

const get = (id: number, format: string) =>
  fetch(`${service.url}/api/v4/projects/${id}/repository/archive.${format}`, {
    headers: { 'PRIVATE-TOKEN': world.tokens.owner! },
  });
const archived = async (id: number, format: 'zip' | 'tar.gz') => {
  const answer = await get(id, format);
  expect(answer.status).toBe(200);
  return seen(await filesIn(Buffer.from(await answer.arrayBuffer()), format));
};

let id: number;
beforeAll(async () => {
  id = await projectWith('archived', texts);
  for (const object of [bytes, large]) await lfs.upload('owner', 'owner/archived', object);
  await lfs.upload('owner', 'owner/private-thing', foreign);
});

test.each(['zip', 'tar.gz'] as const)(
  'a %s has what pointers stand for, where the project has it and Git LFS converts the file; the same twice',
  async (format) => {
    const expected = seen({ ...texts, 'small.bin': bytes, 'large.bin': large });
    expect(await archived(id, format)).toEqual(expected);
    expect(await archived(id, format)).toEqual(expected);
  },
);

test('so has what pages link to', async () => {
  const Authorization = `Basic ${Buffer.from(`any:${world.tokens.owner}`).toString('base64')}`;
  const url = `${service.url}/owner/archived/-/archive/main/archived-main.zip`;
  const answer = await fetch(url, { headers: { Authorization } });
  expect(answer.status).toBe(200);
  const files = await filesIn(Buffer.from(await answer.arrayBuffer()), 'zip');
  expect(seen(files)).toEqual(seen({ ...texts, 'small.bin': bytes, 'large.bin': large }));
});

test('an object that is uploaded later is in archives from then on, and is not where Git LFS is off', async () => {
  const files = { '.gitattributes': ATTRIBUTES, 'one.bin': pointerFile(pointerTo(bytes)) };
  const later = await projectWith('later', files);
  expect(await archived(later, 'zip')).toEqual(seen(files));
  await lfs.upload('owner', 'owner/later', bytes);
  expect(await archived(later, 'zip')).toEqual(seen({ ...files, 'one.bin': bytes }));
  await as('owner', 'PUT', `/projects/${later}`, { lfs_enabled: false });
  expect(await archived(later, 'zip')).toEqual(seen(files));
  await as('owner', 'PUT', `/projects/${later}`, { lfs_enabled: true });
  expect(await archived(later, 'zip')).toEqual(seen({ ...files, 'one.bin': bytes }));
  // A copy with the object and one without it.
  const { repositoryId } = (await world.store.projects.get(later))!;
  expect((await world.store.blobs.list(downloadPrefix(repositoryId))).keys).toHaveLength(2);
});

test('an archive whose objects alone are too large is refused before any of them is read', async () => {
  const size = 5 * 1024 ** 3;
  const oids = ['a', 'b'].map((digit) => digit.repeat(64));
  const pointers = oids.map((oid) => pointerFile({ oid, size }));
  const huge = await projectWith('huge', {
    '.gitattributes': ATTRIBUTES,
    '1.bin': pointers[0]!,
    '2.bin': pointers[1]!,
    // The second one again.
    '3.bin': pointers[1]!,
  });
  const project = (await world.store.projects.get(huge))!;
  for (const oid of oids)
    await world.store.lfsObjects.list(project, '01JDQ000000000000000000000', { oid, size });
  const answer = await get(huge, 'zip');
  expect([answer.status, await answer.json()]).toEqual([
    413,
    { message: '413 Request Entity Too Large: clone instead' },
  ]);
});

test('an archive with an object that is not as it was is not sent, and leaves no copy', async () => {
  const files = { '.gitattributes': ATTRIBUTES, 'one.bin': pointerFile(pointerTo(bytes)) };
  const damaged = await projectWith('damaged', files);
  await lfs.upload('owner', 'owner/damaged', bytes);
  const { keys } = await world.store.blobs.list(`lfs/${damaged}/`);
  await world.store.blobs.put(keys[0]!, content(3));
  expect((await get(damaged, 'zip')).status).toBe(500);
  await world.store.blobs.put(keys[0]!, bytes);
  expect(await archived(damaged, 'zip')).toEqual(seen({ ...files, 'one.bin': bytes }));
});
