import { beforeAll, expect, test } from 'vitest';
import { ownService } from '../../harness/own-service.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

const service = ownService();
process.env['REPOSITORY_STORAGES'] = 'cold';

let token: string;
const root = (method: string, path: string, json?: unknown) =>
  service.call(method, path, { token: service.rootToken, ...(json === undefined ? {} : { json }) });
const mine = (method: string, path: string, json?: unknown) =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
const weights = (repository_storages_weighted: Record<string, number>) =>
  root('PUT', '/application/settings', { repository_storages_weighted });
const keysIn = async (prefix: string) => (await storeOf().blobs.list(prefix)).keys;
const namesIn = async (storage: string) =>
  (await root('GET', `/projects?repository_storage=${storage}&order_by=id&sort=asc`)).body.map(
    ({ path }: { path: string }) => path,
  );

beforeAll(async () => {
  ({ token } = await service.user('ann'));
  expect((await mine('POST', '/projects', { name: 'before', initialize_with_readme: true })).status).toBe(
    201,
  );
  expect((await weights({ default: 0, cold: 1 })).body.repository_storages_weighted).toEqual({
    default: 0,
    cold: 1,
  });
});

test('weights name storages that exist', async () => {
  const { status, body } = await weights({ warm: 1 });
  expect([status, body.message]).toEqual([400, { repository_storages_weighted: ["can't include: warm"] }]);
});

test('a new project lies where the weights say, with its wiki, and is read and written there', async () => {
  const { body: made } = await mine('POST', '/projects', { name: 'there', initialize_with_readme: true });
  expect((await root('GET', `/projects/${made.id}`)).body.repository_storage).toBe('cold');
  expect((await mine('GET', `/projects/${made.id}`)).body).not.toHaveProperty('repository_storage');
  expect((await root('GET', `/projects/${made.id}/storage`)).body.repository_storage).toBe('cold');
  await mine('POST', `/projects/${made.id}/repository/files/a.txt`, {
    branch: 'main',
    content: 'hello',
    commit_message: 'a',
  });
  const raw = await mine('GET', `/projects/${made.id}/repository/files/a.txt/raw?ref=main`);
  expect(raw.body).toBe('hello');
  expect((await mine('POST', `/projects/${made.id}/wikis`, { title: 'home', content: 'wiki' })).status).toBe(
    201,
  );
  expect((await mine('GET', `/projects/${made.id}/wikis/home`)).body.content).toBe('wiki');
  const { repositoryId } = (await storeOf().projects.get(made.id))!;
  expect(await keysIn(`networks/${repositoryId}/`)).toEqual([]);
  expect(await keysIn(`@cold/networks/${repositoryId}/packs/${repositoryId}/`)).toHaveLength(2);
  expect(await keysIn(`@cold/networks/project-wiki-${made.id}/`)).toHaveLength(1);
  expect(await namesIn('cold')).toContain('there');
  expect(await namesIn('default')).toEqual(['before']);
  expect(await namesIn('elsewhere')).toEqual([]);
});

test('maintenance writes packs and derived files where the repository lies', async () => {
  const { body: made } = await mine('POST', '/projects', { name: 'kept', initialize_with_readme: true });
  for (let n = 0; n < 12; n++)
    await mine('POST', `/projects/${made.id}/repository/files/${n}.txt`, {
      branch: 'main',
      content: `${n}`,
      commit_message: `${n}`,
    });
  await mine('POST', `/projects/${made.id}/housekeeping`);
  await settled();
  const { repositoryId } = (await storeOf().projects.get(made.id))!;
  const { packs, derived } = await storeOf().repositories.open(repositoryId).listing();
  expect(packs.length).toBeLessThan(12);
  for (const { location } of [...packs, ...derived]) expect(location).toMatch(/^@cold\//);
});

test('a fork lies where its source does', async () => {
  const { body: forked } = await root('POST', '/projects/ann%2Fthere/fork', { path: 'fork' });
  await weights({ default: 1, cold: 0 });
  const { body: later } = await root('POST', '/projects/ann%2Fthere/fork', { path: 'later', name: 'later' });
  await weights({ default: 0, cold: 1 });
  await settled();
  for (const { id } of [forked, later]) {
    expect((await root('GET', `/projects/${id}`)).body.repository_storage).toBe('cold');
    const raw = await root('GET', `/projects/${id}/repository/files/a.txt/raw?ref=main`);
    expect(raw.body).toBe('hello');
  }
});

test('snippets and wikis of groups lie where the weights say', async () => {
  const { body: snippet } = await mine('POST', '/snippets', {
    title: 't',
    file_name: 'a.txt',
    content: 'text',
    visibility: 'private',
  });
  expect((await mine('GET', `/snippets/${snippet.id}/raw`)).body).toBe('text');
  expect(await keysIn(`@cold/networks/snippet-${snippet.id}/`)).toHaveLength(1);
  const { body: group } = await mine('POST', '/groups', { name: 'g', path: 'g' });
  expect((await mine('POST', `/groups/${group.id}/wikis`, { title: 'home', content: 'x' })).status).toBe(201);
  expect(await keysIn(`@cold/networks/group-wiki-${group.id}/`)).toHaveLength(1);
  await mine('DELETE', `/snippets/${snippet.id}`);
  await mine('DELETE', `/groups/${group.id}`);
  await settled();
  expect(await keysIn(`@cold/networks/snippet-${snippet.id}/`)).toEqual([]);
  expect(await keysIn(`@cold/networks/group-wiki-${group.id}/`)).toEqual([]);
});

test('the bytes go with the project', async () => {
  const { body: made } = await mine('POST', '/projects', { name: 'gone', initialize_with_readme: true });
  const { repositoryId } = (await storeOf().projects.get(made.id))!;
  expect(await keysIn(`@cold/networks/${repositoryId}/`)).toHaveLength(1);
  await mine('DELETE', `/projects/${made.id}`);
  await settled();
  expect(await keysIn(`@cold/networks/${repositoryId}/`)).toEqual([]);
});
