/** Every filter of the lists of merge requests: of a project, of its group and of the instance they find the same. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld({ background: false });
/** A public group, and a project in it. */
let [group, project] = [0, 0];
/** When each was created, and when it was changed last. */
const created = new Map<string, string>();
const updated = new Map<string, string>();

const ok = async (who: Who, method: string, path: string, json?: object) => {
  const { status, body } = await as(who, method, path, json);
  expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeLessThan(300);
  return body;
};
const id = (who: string) => world.ids[who]!;

async function commit(branch: string, start_branch?: string) {
  const actions = [{ action: 'create', file_path: branch, content: 'x' }];
  const json = { branch, commit_message: 'x', actions, ...(start_branch && { start_branch }) };
  await ok('owner', 'POST', `/projects/${project}/repository/commits`, json);
}

async function propose(who: Who, source_branch: string, json: object): Promise<string> {
  await commit(source_branch, 'main');
  const given = { source_branch, target_branch: 'main', ...json };
  const { iid } = await ok(who, 'POST', `/projects/${project}/merge_requests`, given);
  return `/projects/${project}/merge_requests/${iid}`;
}

/*
 * one: of the maintainer, open, a draft with label, milestone, assignee and reviewer; the owner likes it
 * two: of the owner, closed, to another target, assigned to two
 * three: of the owner, merged
 */
beforeAll(async () => {
  group = (await ok('owner', 'POST', '/groups', { name: 'lists', path: 'lists', visibility: 'public' })).id;
  const made = { name: 'listed', namespace_id: group, visibility: 'public' };
  project = (await ok('owner', 'POST', '/projects', made)).id;
  for (const [who, access_level] of [
    ['maintainer', 40],
    ['developer', 30],
  ] as const)
    await ok('owner', 'POST', `/groups/${group}/members`, { user_id: id(who), access_level });
  await commit('main');
  await commit('stable', 'main');
  await ok('owner', 'POST', `/projects/${project}/labels`, { name: 'door', color: '#ffffff' });
  const milestone = await ok('owner', 'POST', `/projects/${project}/milestones`, { title: 'v1' });
  const one = await propose('maintainer', 'one', {
    ...{ title: 'Draft: one mends', description: 'the hinge', labels: 'door,iron' },
    ...{ milestone_id: milestone.id, assignee_ids: [id('developer')], reviewer_ids: [id('owner')] },
  });
  await ok('owner', 'POST', `${one}/award_emoji`, { name: 'heart' });
  const two = await propose('owner', 'two', {
    ...{ title: 'two', description: 'mends the sill', labels: 'iron', target_branch: 'stable' },
    assignee_ids: [id('developer'), id('maintainer')],
  });
  await ok('owner', 'PUT', two, { state_event: 'close' });
  const three = await propose('owner', 'three', { title: 'three' });
  await ok('owner', 'PUT', `${three}/merge`);
  for (const each of await ok('owner', 'GET', `/projects/${project}/merge_requests`)) {
    const title = each.title.replace(/^Draft: (\w+) .*/, '$1');
    created.set(title, each.created_at);
    updated.set(title, each.updated_at);
  }
});

const levels = (): [string, string][] => [
  ['project', `/projects/${project}/merge_requests`],
  ['group', `/groups/${group}/merge_requests`],
  ['instance', '/merge_requests'],
];

/** Which are found, by the first word of their titles, as all three levels tell. */
async function found(query: string, who: Who = 'owner'): Promise<string[]> {
  const scope = query.includes('scope=') ? '' : '&scope=all';
  const answers = [];
  for (const [level, path] of levels()) {
    const { status, body } = await as(who, 'GET', `${path}?${query}${scope}`);
    expect(status, `${level} ${query}: ${JSON.stringify(body)}`).toBe(200);
    answers.push(body.map(({ title }: { title: string }) => title.replace(/^Draft: /, '').split(' ')[0]));
  }
  expect(answers[1], `group ${query}`).toEqual(answers[0]);
  expect(answers[2], `instance ${query}`).toEqual(answers[0]);
  return answers[0]!;
}
const at = (times: ReadonlyMap<string, string>, title: string) => encodeURIComponent(times.get(title)!);

describe('a list of merge requests takes', () => {
  test.each<[string, () => string, string[]]>([
    ['state=opened', () => 'state=opened', ['one']],
    ['state=closed', () => 'state=closed', ['two']],
    ['state=merged', () => 'state=merged', ['three']],
    ['state=locked', () => 'state=locked', []],
    ['state=all', () => 'state=all', ['three', 'two', 'one']],
    ['order_by, sort', () => 'order_by=created_at&sort=asc', ['one', 'two', 'three']],
    ['order_by=updated_at', () => 'order_by=updated_at', ['three', 'two', 'one']],
    ['milestone', () => 'milestone=v1', ['one']],
    ['milestone=None', () => 'milestone=None', ['three', 'two']],
    ['milestone=Any', () => 'milestone=Any', ['one']],
    ['an unknown milestone', () => 'milestone=v9', []],
    ['labels', () => 'labels=iron', ['two', 'one']],
    ['several labels, all of which it has', () => 'labels=iron,door', ['one']],
    ['labels=None', () => 'labels=None', ['three']],
    ['labels=Any', () => 'labels=Any', ['two', 'one']],
    ['author_id', () => `author_id=${id('maintainer')}`, ['one']],
    ['author_username', () => 'author_username=owner', ['three', 'two']],
    ['an unknown author_username', () => 'author_username=nobody-known', []],
    ['assignee_id', () => `assignee_id=${id('maintainer')}`, ['two']],
    ['assignee_id=None', () => 'assignee_id=None', ['three']],
    ['assignee_id=Any', () => 'assignee_id=Any', ['two', 'one']],
    ['assignee_username', () => 'assignee_username=developer', ['two', 'one']],
    ['reviewer_id', () => `reviewer_id=${id('owner')}`, ['one']],
    ['reviewer_id=None', () => 'reviewer_id=None', ['three', 'two']],
    ['reviewer_id=Any', () => 'reviewer_id=Any', ['one']],
    ['reviewer_username', () => 'reviewer_username=owner', ['one']],
    ['reviewer_username=None', () => 'reviewer_username=None', ['three', 'two']],
    ['my_reaction_emoji', () => 'my_reaction_emoji=heart', ['one']],
    ['my_reaction_emoji=Any', () => 'my_reaction_emoji=Any', ['one']],
    ['my_reaction_emoji=None', () => 'my_reaction_emoji=None', ['three', 'two']],
    ['source_branch', () => 'source_branch=two', ['two']],
    ['target_branch', () => 'target_branch=stable', ['two']],
    ['search', () => 'search=mends', ['two', 'one']],
    ['search in titles', () => 'search=mends&in=title', ['one']],
    ['search in descriptions', () => 'search=mends&in=description', ['two']],
    ['search in both', () => 'search=mends&in=title,description', ['two', 'one']],
    ['wip=yes', () => 'wip=yes', ['one']],
    ['wip=no', () => 'wip=no', ['three', 'two']],
    ['created_after', () => `created_after=${at(created, 'two')}`, ['three', 'two']],
    ['created_before', () => `created_before=${at(created, 'two')}`, ['two', 'one']],
    ['updated_after', () => `updated_after=${at(updated, 'two')}`, ['three', 'two']],
    ['updated_before', () => `updated_before=${at(updated, 'two')}`, ['two', 'one']],
    ['not[labels]', () => 'not[labels]=door', ['three', 'two']],
    ['not[labels], none of several', () => 'not[labels]=door,iron', ['three']],
    ['not[milestone]', () => 'not[milestone]=v1', ['three', 'two']],
    ['not[author_id]', () => `not[author_id]=${id('owner')}`, ['one']],
    ['not[author_username]', () => 'not[author_username]=maintainer', ['three', 'two']],
    ['not[assignee_id]', () => `not[assignee_id]=${id('maintainer')}`, ['three', 'one']],
    ['not[assignee_username]', () => 'not[assignee_username]=developer', ['three']],
    ['not[reviewer_id]', () => `not[reviewer_id]=${id('owner')}`, ['three', 'two']],
    ['not[reviewer_username]', () => 'not[reviewer_username]=owner', ['three', 'two']],
    ['not[my_reaction_emoji]', () => 'not[my_reaction_emoji]=heart', ['three', 'two']],
    ['several of not, none of which holds', () => `not[labels]=door&not[author_id]=${id('owner')}`, []],
    [
      'not[author_username] of nobody, beside others',
      () => 'not[author_username]=nobody-known&not[labels]=door',
      ['three', 'two'],
    ],
    ['filters together', () => 'labels=iron&state=opened&wip=yes&milestone=v1&target_branch=main', ['one']],
  ])('%s', async (_, query, expected) => {
    expect(await found(query())).toEqual(expected);
  });

  test.each<[Who, string, string[]]>([
    ['owner', 'created_by_me', ['three', 'two']],
    ['owner', 'created-by-me', ['three', 'two']],
    ['maintainer', 'created_by_me', ['one']],
    ['maintainer', 'assigned_to_me', ['two']],
    ['developer', 'assigned-to-me', ['two', 'one']],
    ['owner', 'reviews_for_me', ['one']],
    ['stranger', 'all', ['three', 'two', 'one']],
    ['stranger', 'assigned_to_me', []],
  ])('the scope of %s: %s', async (who, scope, expected) => {
    expect(await found(`scope=${scope}`, who)).toEqual(expected);
  });

  test.each<[string, string, string[]]>([
    ['assignees', 'assigned_to_me&assignee_username=maintainer', ['two']],
    ['any assignee', 'assigned_to_me&assignee_id=Any', ['two', 'one']],
    ['no assignee', 'assigned_to_me&assignee_id=None', []],
    ['another author', 'created_by_me&author_username=owner', []],
  ])("the caller's own, and %s as well", async (_, scope, expected) => {
    expect(await found(`scope=${scope}`, 'developer')).toEqual(expected);
  });

  test.each([
    'state=open',
    'order_by=size',
    'sort=up',
    'scope=mine',
    'view=full',
    'wip=maybe',
    'in=body',
    'created_after=yesterday',
    'updated_before=x',
    'deployed_after=x',
    'with_labels_details=maybe',
    'author_id=x',
    'assignee_id=x',
    'reviewer_id=x',
    'author_id=1&author_username=owner',
    'assignee_id=1&assignee_username=owner',
    'reviewer_id=1&reviewer_username=owner',
    'not[author_id]=1&not[author_username]=owner',
    'not[reviewer_id]=1&not[reviewer_username]=owner',
    'approver_ids=1,2,3,4,5,6',
    'approved_by_ids=1,2,3,4,5,6',
  ])('nothing that is wrong: %s', async (query) => {
    for (const [level, path] of levels())
      expect((await as('owner', 'GET', `${path}?${query}`)).status, level).toBe(400);
  });

  test('view=simple, with few fields, and labels with all theirs', async () => {
    for (const [, path] of levels()) {
      const [simple] = await ok('owner', 'GET', `${path}?scope=all&view=simple&state=opened`);
      expect(Object.keys(simple).toSorted()).toEqual(
        [
          ...['created_at', 'description', 'id', 'iid', 'project_id'],
          ...['state', 'title', 'updated_at', 'web_url'],
        ].toSorted(),
      );
      const detailed = `${path}?scope=all&with_labels_details=true&state=opened`;
      const [{ labels }] = await ok('owner', 'GET', detailed);
      expect(labels).toMatchObject([{ name: 'door', color: '#ffffff' }, { name: 'iron' }]);
      const [{ labels: titles }] = await ok('owner', 'GET', `${path}?scope=all&state=opened`);
      expect(titles).toEqual(['door', 'iron']);
    }
  });

  test('references as they are written where they are asked for', async () => {
    const relative = async (path: string) =>
      (await ok('owner', 'GET', `${path}?scope=all&state=opened`))[0].references.relative;
    const [ofProject, ofGroup, ofInstance] = levels().map(([, path]) => path) as [string, string, string];
    expect([await relative(ofProject), await relative(ofGroup), await relative(ofInstance)]).toEqual([
      ...['!1', 'listed!1', 'lists/listed!1'],
    ]);
  });
});

test('only the list of a group leaves out archived projects, unless it is asked for them', async () => {
  const json = { name: 'bygone', namespace_id: group, visibility: 'public', initialize_with_readme: true };
  const { id: bygone } = await ok('owner', 'POST', '/projects', json);
  const actions = [{ action: 'create', file_path: 'old', content: 'x' }];
  const committed = { branch: 'old', start_branch: 'main', commit_message: 'x', actions };
  await ok('owner', 'POST', `/projects/${bygone}/repository/commits`, committed);
  const proposal = { title: 'old', source_branch: 'old', target_branch: 'main' };
  await ok('owner', 'POST', `/projects/${bygone}/merge_requests`, proposal);
  await ok('owner', 'POST', `/projects/${bygone}/archive`);
  const has = async (path: string) => {
    const listed = await ok('owner', 'GET', `${path}scope=all&source_branch=old`);
    return listed.length === 1;
  };
  expect(await has(`/projects/${bygone}/merge_requests?`)).toBe(true);
  expect(await has('/merge_requests?')).toBe(true);
  expect(await has(`/groups/${group}/merge_requests?`)).toBe(false);
  expect(await has(`/groups/${group}/merge_requests?non_archived=false&`)).toBe(true);
});

test('a list of the instance is for callers who are signed in, and shows nobody what they may not see', async () => {
  for (const scope of ['all', 'created_by_me'])
    expect((await as('anonymous', 'GET', `/merge_requests?scope=${scope}`)).status).toBe(401);
  await ok('owner', 'PUT', `/projects/${project}`, { merge_requests_access_level: 'private' });
  const count = async (who: Who, path: string) =>
    (await ok(who, 'GET', `${path}?scope=all&labels=iron`)).length;
  for (const path of [`/groups/${group}/merge_requests`, '/merge_requests']) {
    expect(await count('stranger', path)).toBe(0);
    expect(await count('developer', path)).toBe(2);
  }
  expect((await as('stranger', 'GET', `/projects/${project}/merge_requests`)).status).toBeGreaterThanOrEqual(
    403,
  );
});
