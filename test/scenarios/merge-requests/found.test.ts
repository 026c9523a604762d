/** Merge requests where they are searched and counted: of what a reader may see, by the request after the change. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld({ background: false });
/** A public group, an open project in it, and one whose code is for members. */
let [group, open, closed] = [0, 0, 0];
let label = 0;

const made = async (who: Who, path: string, json: object) => {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};

async function proposed(project: number, json: object) {
  const source_branch = `b-${Math.random()}`;
  const actions = [{ action: 'create', file_path: source_branch, content: 'x' }];
  const commit = { branch: source_branch, start_branch: 'main', commit_message: 'x', actions };
  await made('owner', `/projects/${project}/repository/commits`, commit);
  const given = { source_branch, target_branch: 'main', ...json };
  return made('owner', `/projects/${project}/merge_requests`, given);
}

beforeAll(async () => {
  await as('administrator', 'PUT', '/application/settings', { search_rate_limit: 0 });
  const shown = { visibility: 'public' };
  group = (await made('owner', '/groups', { name: 'around', path: 'around', ...shown })).id;
  const project = { namespace_id: group, initialize_with_readme: true, ...shown };
  open = (await made('owner', '/projects', { name: 'open', ...project })).id;
  const hidden = { name: 'closed', merge_requests_access_level: 'private', ...project };
  closed = (await made('owner', '/projects', hidden)).id;
  label = (await made('owner', `/groups/${group}/labels`, { name: 'door', color: '#ffffff' })).id;
  const [me, developer] = [world.ids['owner'], world.ids['developer']];
  await made('owner', `/projects/${open}/members`, { user_id: developer, access_level: 30 });
  const people = { assignee_ids: [me], reviewer_ids: [developer] };
  await proposed(open, {
    title: 'Mend the hinge',
    description: 'of a rusty gate',
    labels: 'door',
    ...people,
  });
  await proposed(open, { title: 'Mending pots', labels: 'door', assignee_ids: [developer] });
  await proposed(open, { title: 'Paint', reviewer_ids: [developer] });
  await proposed(closed, { title: 'Mend in secret', labels: 'door', assignee_ids: [me] });
  const close = { state_event: 'close' };
  expect((await as('owner', 'PUT', `/projects/${open}/merge_requests/2`, close)).status).toBe(200);
});

/** Titles that a search shows. */
async function titles(who: Who, where: string, search: string, query = ''): Promise<string[]> {
  const path = `${where}/search?scope=merge_requests&search=${encodeURIComponent(search)}${query}`;
  const { status, body, headers } = await as(who, 'GET', path);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(headers.get('x-total')).toBe(String(body.length));
  return body.map(({ title }: { title: string }) => title);
}

describe('a search of merge requests finds', () => {
  test.each([
    ['mend', ['Mending pots', 'Mend the hinge']],
    ['rusty GATE', ['Mend the hinge']],
    ['!2', ['Mending pots']],
    ['see !3', ['Paint']],
    ['3', ['Paint']],
    ['#3', []],
    ['!77', []],
    ['nothing', []],
    ['!', []],
  ])('by %s', async (search, expected) => {
    expect(await titles('stranger', `/projects/${open}`, search)).toEqual(expected);
  });

  test.each<[Who, string[]]>([
    ['owner', ['Mend in secret', 'Mending pots', 'Mend the hinge']],
    ['stranger', ['Mending pots', 'Mend the hinge']],
  ])('what %s may see, in the project, the group and everywhere', async (who, expected) => {
    expect(await titles(who, `/groups/${group}`, 'mend')).toEqual(expected);
    expect(await titles(who, '', 'mend')).toEqual(expected);
    const hidden = expected.filter((title) => title.includes('secret'));
    expect(await titles(who, `/projects/${closed}`, 'mend')).toEqual(hidden);
    expect(await titles(who, `/projects/${closed}`, '!1')).toEqual(hidden);
  });

  test('those of a state, in both directions, page by page', async () => {
    const found = (query: string) => titles('owner', `/groups/${group}`, 'mend', query);
    expect(await found('&state=closed')).toEqual(['Mending pots']);
    expect(await found('&state=merged')).toEqual([]);
    expect(await found('&state=opened&sort=asc')).toEqual(['Mend the hinge', 'Mend in secret']);
    const path = `/groups/${group}/search?scope=merge_requests&search=mend&per_page=1&page=2`;
    const { body, headers } = await as('owner', 'GET', path);
    expect(body).toMatchObject([{ title: 'Mending pots', references: { relative: 'open!2' } }]);
    expect(headers.get('x-total')).toBe('3');
  });
});

describe('merge requests are counted', () => {
  test.each<[Who, object]>([
    ['owner', { merge_requests: 2, assigned_merge_requests: 2, review_requested_merge_requests: 0 }],
    ['developer', { merge_requests: 0, assigned_merge_requests: 0, review_requested_merge_requests: 2 }],
  ])('for %s: the open ones that they work on or review', async (who, counts) => {
    expect((await as(who, 'GET', '/user_counts')).body).toMatchObject(counts);
  });

  test('for their author, whatever became of them', async () => {
    const { body } = await as('owner', 'GET', `/users/${world.ids['owner']}/associations_count`);
    expect(body).toMatchObject({ merge_requests_count: 4 });
  });

  test.each<[Who, number, number, number]>([
    ['owner', 2, 1, 1],
    ['stranger', 1, 1, 0],
  ])('with their labels, the open ones that %s may see', async (who, inGroup, inOpen, inClosed) => {
    const count = async (path: string) => {
      const { status, body } = await as(who, 'GET', `${path}/labels?with_counts=true`);
      expect(status, JSON.stringify(body)).toBe(200);
      return body.find(({ id }: { id: number }) => id === label).open_merge_requests_count;
    };
    expect(await count(`/groups/${group}`)).toBe(inGroup);
    expect(await count(`/projects/${open}`)).toBe(inOpen);
    expect(await count(`/projects/${closed}`)).toBe(inClosed);
  });
});
