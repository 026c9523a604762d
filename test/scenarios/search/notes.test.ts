/** What people note is found by the request after it: no worker runs here, unless a test waits for it. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();
/** A public group with a private one in it, and a project of each below. */
let [group, open, closed] = [0, 0, 0];
let sha = '';

async function made(who: Who, path: string, json: object) {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

/** Texts of the notes that a search shows. */
async function found(who: Who, where: string, search: string, query = ''): Promise<string[]> {
  const path = `${where}/search?scope=notes&search=${encodeURIComponent(search)}${query}`;
  const { status, body, headers } = await as(who, 'GET', path);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(headers.get('x-total')).toBe(String(body.length));
  return body.map((note: { body: string }) => note.body);
}

const note = (who: Who, id: number, iid: number, json: object) =>
  made(who, `/projects/${id}/issues/${iid}/notes`, json);

beforeAll(async () => {
  await as('administrator', 'PUT', '/application/settings', { search_rate_limit: 0 });
  const shown = { visibility: 'public' };
  group = (await made('owner', '/groups', { name: 'outer', path: 'outer', ...shown })).id;
  const inner = { name: 'in', path: 'in', parent_id: group, visibility: 'private' };
  const innerId = (await made('owner', '/groups', inner)).id;
  const readme = { initialize_with_readme: true, namespace_id: group, ...shown };
  open = (await made('owner', '/projects', { name: 'open', ...readme })).id;
  closed = (await made('owner', '/projects', { name: 'closed', namespace_id: innerId })).id;
  for (const [who, access_level] of [
    ['guest', 10],
    ['reporter', 20],
  ] as const)
    await made('owner', `/projects/${open}/members`, { user_id: world.ids[who], access_level });
  for (const [id, json] of [
    [open, { title: 'Talk' }],
    [open, { title: 'Secret', confidential: true }],
    [closed, { title: 'Inside' }],
  ] as const)
    await made('owner', `/projects/${id}/issues`, json);
  sha = (await as('owner', 'GET', `/projects/${open}/repository/commits`)).body[0].id;
  await note('owner', open, 1, { body: 'The rusty hinges of the gateway' });
  await note('guest', open, 1, { body: 'Hinge oil helps' });
  await note('reporter', open, 1, { body: 'Hinge, between us', internal: true });
  await note('owner', open, 2, { body: 'Hinge of the safe' });
  await note('owner', closed, 1, { body: 'Hinge inside' });
  await made('owner', `/projects/${open}/repository/commits/${sha}/comments`, { note: 'hinge in code' });
  await as('owner', 'PUT', `/projects/${open}/issues/1`, { title: 'Hinge of the service' });
});

test('a search of notes finds those on merge requests, for who may see these', async () => {
  const branch = { branch: 'topic', start_branch: 'main', commit_message: 'x' };
  const actions = [{ action: 'create', file_path: 'topic', content: 'x' }];
  await made('owner', `/projects/${open}/repository/commits`, { ...branch, actions });
  const path = `/projects/${open}/merge_requests`;
  const input = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  const { iid } = await made('owner', path, input);
  await made('owner', `${path}/${iid}/notes`, { body: 'A proposal of whistles' });
  await made('owner', `${path}/${iid}/discussions`, { body: 'More whistles' });
  const both = ['More whistles', 'A proposal of whistles'];
  expect(await found('stranger', `/projects/${open}`, 'whistles')).toEqual(both);
  expect(await found('stranger', `/groups/${group}`, 'whistles')).toEqual(both);
  const limit = (level: string) =>
    as('owner', 'PUT', `/projects/${open}`, { merge_requests_access_level: level });
  await limit('private');
  expect(await found('stranger', `/projects/${open}`, 'whistles')).toEqual([]);
  expect(await found('reporter', `/projects/${open}`, 'whistles')).toEqual(both);
  await limit('enabled');
});

describe('a search of notes finds', () => {
  test.each([
    ['hinge', ['hinge in code', 'Hinge oil helps', 'The rusty hinges of the gateway']],
    ['HINGES', ['The rusty hinges of the gateway']],
    ['rusty gate', ['The rusty hinges of the gateway']],
    ['the of gateway', ['The rusty hinges of the gateway']],
    ['oil gateway', []],
    ['inge', []],
    ['of', []],
    ['service', []],
    ['#1', []],
    ['...', []],
  ])('by %s', async (search, expected) => {
    expect(await found('stranger', `/projects/${open}`, search)).toEqual(expected);
  });

  const everything = [
    ...['hinge in code', 'Hinge inside', 'Hinge of the safe', 'Hinge, between us', 'Hinge oil helps'],
    'The rusty hinges of the gateway',
  ];
  const without = (...gone: string[]) =>
    everything.filter((text) => !gone.some((part) => text.includes(part)));
  test.each<[Who, string[], string[]]>([
    ['owner', everything, everything],
    ['administrator', everything, []],
    ['reporter', without('inside'), without('inside')],
    ['guest', without('inside', 'safe', 'between us'), without('inside', 'safe', 'between us')],
    ['stranger', without('inside', 'safe', 'between us'), []],
  ])('what %s may read, in the group and in their own projects', async (who, inGroup, own) => {
    expect(await found(who, `/groups/${group}`, 'hinge')).toEqual(inGroup);
    expect(await found(who, '', 'hinge')).toEqual(own);
    const ofProject = inGroup.filter((text) => !text.includes('inside'));
    expect(await found(who, `/projects/${open}`, 'hinge')).toEqual(ofProject);
  });

  test('those on code and on issues where these are for all', async () => {
    const change = (json: object) => as('owner', 'PUT', `/projects/${open}`, json);
    await change({ issues_access_level: 'private' });
    expect(await found('stranger', `/projects/${open}`, 'hinge')).toEqual(['hinge in code']);
    await change({ issues_access_level: 'enabled', repository_access_level: 'private' });
    const ofIssues = ['Hinge oil helps', 'The rusty hinges of the gateway'];
    expect(await found('stranger', `/projects/${open}`, 'hinge')).toEqual(ofIssues);
    await change({ repository_access_level: 'enabled' });
  });

  test('in both directions, page by page, as the issue shows them', async () => {
    const where = `/groups/${group}`;
    expect(await found('owner', where, 'hinge', '&order_by=created_at&sort=asc')).toEqual(
      everything.toReversed(),
    );
    const path = `${where}/search?scope=notes&search=hinge&per_page=2&page=2`;
    const second = await as('owner', 'GET', path);
    expect(second.body.map(({ body }: { body: string }) => body)).toEqual(everything.slice(2, 4));
    expect(second.headers.get('x-total')).toBe('6');
    const [shown] = (await as('owner', 'GET', `/projects/${open}/search?scope=notes&search=oil`)).body;
    const listed = (await as('owner', 'GET', `/projects/${open}/issues/1/notes`)).body;
    expect(listed).toContainEqual(shown);
  });

  test('by the first sixteen words, in long texts too', async () => {
    const words = Array.from({ length: 20 }, (_, n) => `word${String.fromCharCode(97 + n)}`);
    const body = `${words.join(' ')} ${'x'.repeat(40_000)}`;
    const { id } = await note('owner', open, 1, { body });
    expect(await found('owner', `/projects/${open}`, 'wordp')).toEqual([body]);
    expect(await found('owner', `/projects/${open}`, 'wordq')).toEqual([]);
    await as('owner', 'DELETE', `/projects/${open}/issues/1/notes/${id}`);
    expect(await found('owner', `/projects/${open}`, 'wordp')).toEqual([]);
  });

  test('what was changed by its new words alone, and nothing that was deleted', async () => {
    const { iid } = await made('owner', `/projects/${open}/issues`, { title: 'Animals' });
    const { id } = await note('owner', open, iid, { body: 'A wombat\n/label ~none' });
    const find = (word: string) => found('owner', `/projects/${open}`, word);
    expect(await find('wombat')).toEqual(['A wombat']);
    await as('owner', 'PUT', `/projects/${open}/issues/${iid}/notes/${id}`, { body: 'A quokka' });
    expect([await find('wombat'), await find('quokka')]).toEqual([[], ['A quokka']]);
    await as('owner', 'DELETE', `/projects/${open}/issues/${iid}`);
    expect(await find('quokka')).toEqual([]);
    await settled();
  });

  test('the notes of an issue that moved, in both projects', async () => {
    const { iid } = await made('owner', `/projects/${open}/issues`, { title: 'Nomad' });
    for (let n = 0; n < 7; n++) await note('owner', open, iid, { body: `caravan ${n} on the way` });
    await made('owner', `/projects/${open}/issues/${iid}/move`, { to_project_id: closed });
    await settled();
    for (const id of [open, closed])
      expect(await found('owner', `/projects/${id}`, 'caravan')).toHaveLength(7);
  });
});
