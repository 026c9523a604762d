/** What is tracked is found by the request after it: no worker runs here. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld({ background: false });
/** A public group with a private one in it, and a project of each below. */
let [group, inner, open, closed] = [0, 0, 0, 0];

const made = async (who: Who, path: string, json: object) => {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};
/** Titles that a search shows. */
async function titles(who: Who, where: string, search: string, query = ''): Promise<string[]> {
  const path = `${where}/search?scope=issues&search=${encodeURIComponent(search)}${query}`;
  const { status, body, headers } = await as(who, 'GET', path);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(headers.get('x-total')).toBe(String(body.length));
  return body.map(({ title }: { title: string }) => title);
}

beforeAll(async () => {
  await as('administrator', 'PUT', '/application/settings', { search_rate_limit: 0 });
  const shown = { visibility: 'public' };
  group = (await made('owner', '/groups', { name: 'outer', path: 'outer', ...shown })).id;
  inner = (
    await made('owner', '/groups', { name: 'in', path: 'in', parent_id: group, visibility: 'private' })
  ).id;
  open = (await made('owner', '/projects', { name: 'open', namespace_id: group, ...shown })).id;
  closed = (await made('owner', '/projects', { name: 'closed', namespace_id: inner })).id;
  const people = [
    ['guest', 10],
    ['reporter', 20],
  ] as const;
  for (const [who, access_level] of people)
    await made('owner', `/projects/${open}/members`, { user_id: world.ids[who], access_level });
  const issue = (who: Who, id: number, json: object) => made(who, `/projects/${id}/issues`, json);
  await issue('owner', open, { title: 'Migrate the database', description: 'Rusty hinges of the Gateway' });
  await issue('owner', open, { title: 'Migration of users', description: `${'x '.repeat(20_000)}` });
  await issue('guest', open, { title: 'Leak: migration dumps', confidential: true });
  await issue('owner', closed, { title: 'Hidden migration', labels: 'bug' });
  await issue('reporter', open, { title: '検索機能の改善', description: 'naïve café' });
  await as('owner', 'PUT', `/projects/${open}/issues/2`, { state_event: 'close' });
});

describe('a search of issues finds', () => {
  test.each([
    ['migration', ['Migration of users']],
    ['migrat', ['Migration of users', 'Migrate the database']],
    ['MIGRAT', ['Migration of users', 'Migrate the database']],
    ['database migrate', ['Migrate the database']],
    ['the database', ['Migrate the database']],
    ['rusty gate', ['Migrate the database']],
    ['migrate rusty', ['Migrate the database']],
    ['x', []],
    ['of', ['Migration of users']],
    ['igrat', []],
    ['検索', ['検索機能の改善']],
    ['機能の改善', ['検索機能の改善']],
    ['CAFÉ', ['検索機能の改善']],
    ['#2', ['Migration of users']],
    ['see #2', ['Migration of users']],
    ['2', ['Migration of users']],
    ['#3', []],
    ['#77', []],
    ['...', []],
    ['#', []],
  ])('by %s', async (search, expected) => {
    expect(await titles('stranger', `/projects/${open}`, search)).toEqual(expected);
  });

  const everything = [
    'Hidden migration',
    'Leak: migration dumps',
    'Migration of users',
    'Migrate the database',
  ];
  const without = (...gone: string[]) =>
    everything.filter((title) => !gone.some((part) => title.includes(part)));
  test.each<[Who, string[]]>([
    ['owner', everything],
    ['administrator', everything],
    ['reporter', without('Hidden')],
    ['guest', without('Hidden')],
    ['stranger', without('Hidden', 'Leak')],
  ])('what %s may see, in the group and everywhere', async (who, expected) => {
    expect(await titles(who, `/groups/${group}`, 'migrat')).toEqual(expected);
    expect(await titles(who, '', 'migrat')).toEqual(expected);
    const ofProject = expected.filter((title) => !title.startsWith('Hidden'));
    expect(await titles(who, `/projects/${open}`, 'migrat')).toEqual(ofProject);
    const third = expected.filter((title) => title.startsWith('Leak'));
    expect(await titles(who, `/projects/${open}`, '#3')).toEqual(third);
    expect(await titles(who, `/groups/${group}`, '#3')).toEqual(third);
  });

  test('those of a state, confidential or not, in both directions, page by page', async () => {
    const all = (query: string) => titles('owner', `/groups/${group}`, 'migrat', query);
    expect(await all('&state=closed')).toEqual(['Migration of users']);
    expect(await all('&state=opened')).toEqual(without('users'));
    expect(await all('&state=all')).toEqual(everything);
    expect(await all('&state=merged')).toEqual([]);
    expect(await all('&confidential=true')).toEqual(['Leak: migration dumps']);
    expect(await all('&confidential=false')).toEqual(without('Leak'));
    expect(await all('&order_by=created_at&sort=asc')).toEqual(everything.toReversed());
    const second = await as(
      'owner',
      'GET',
      `/groups/${group}/search?scope=issues&search=migrat&per_page=2&page=2`,
    );
    expect(second.body.map(({ title }: { title: string }) => title)).toEqual(everything.slice(2));
    expect(second.headers.get('x-total')).toBe('4');
  });

  test('issues as their list shows them', async () => {
    const found = await as('guest', 'GET', `/projects/${open}/search?scope=issues&search=%233`);
    const listed = await as('guest', 'GET', `/projects/${open}/issues?iids[]=3`);
    expect(found.body).toEqual(listed.body);
    expect(found.body).toHaveLength(1);
  });

  test('what was changed by its new words alone, and nothing that was deleted', async () => {
    const path = `/projects/${open}/issues`;
    const { iid } = await made('owner', path, { title: 'Wombat', description: 'of old' });
    const find = (word: string) => titles('owner', `/projects/${open}`, word);
    expect(await find('wombat')).toEqual(['Wombat']);
    await as('owner', 'PUT', `${path}/${iid}`, { title: 'Quokka', description: 'and numbat' });
    expect(await find('wombat')).toEqual([]);
    expect(await find('old')).toEqual([]);
    expect(await find('quok')).toEqual(['Quokka']);
    expect(await find('numbat')).toEqual(['Quokka']);
    await as('owner', 'PUT', `${path}/${iid}`, { state_event: 'close', confidential: true });
    expect(await find('numbat')).toEqual(['Quokka']);
    expect(await titles('stranger', `/projects/${open}`, 'numbat')).toEqual([]);
    await as('owner', 'DELETE', `${path}/${iid}`);
    expect(await find('quokka')).toEqual([]);
  });
});

test('a search of milestones finds those that the caller may see, by any part of their texts', async () => {
  await made('owner', `/groups/${group}/milestones`, { title: 'Version one' });
  await made('owner', `/projects/${open}/milestones`, { title: 'Later', description: 'after Version one' });
  const last = await made('owner', `/projects/${closed}/milestones`, { title: 'Inversion' });
  await as('owner', 'PUT', `/projects/${closed}/milestones/${last.id}`, { state_event: 'close' });
  const found = async (who: Who, where: string, query = '') => {
    const { body, headers } = await as(who, 'GET', `${where}/search?scope=milestones&search=version${query}`);
    expect(headers.get('x-total')).toBe(String(body.length));
    return body.map(({ title }: { title: string }) => title);
  };
  expect(await found('owner', `/groups/${group}`)).toEqual(['Inversion', 'Later', 'Version one']);
  expect(await found('owner', `/groups/${group}`, '&sort=asc')).toEqual([
    'Version one',
    'Later',
    'Inversion',
  ]);
  expect(await found('stranger', `/groups/${group}`)).toEqual(['Later', 'Version one']);
  expect(await found('stranger', `/projects/${open}`)).toEqual(['Later']);
  expect(await found('owner', '')).toEqual(['Inversion', 'Later']);
  expect(await found('stranger', '')).toEqual([]);
  await as('owner', 'PUT', `/projects/${open}`, {
    issues_access_level: 'private',
    merge_requests_access_level: 'private',
  });
  expect(await found('stranger', `/projects/${open}`)).toEqual([]);
  expect(await found('stranger', `/groups/${group}`)).toEqual(['Version one']);
});
