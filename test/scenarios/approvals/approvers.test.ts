import { beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();

async function made(path: string, json: object, who: Who = 'owner') {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

let [group, hidden, project] = [0, 0, 0];
/** A project in a group; its rules are for different branches. */
beforeAll(async () => {
  group = (await made('/groups', { name: 'judges', path: 'judges', visibility: 'public' })).id;
  hidden = (await made('/groups', { name: 'unseen', path: 'unseen', visibility: 'private' })).id;
  const readme = { initialize_with_readme: true, visibility: 'public' };
  project = (await made('/projects', { name: 'judged', namespace_id: group, ...readme })).id;
  for (const [who, at] of [
    ['developer', `/projects/${project}`],
    ['maintainer', `/projects/${project}`],
    ['reporter', `/groups/${group}`],
    ['guest', `/groups/${hidden}`],
  ] as const)
    await made(`${at}/members`, { user_id: world.ids[who], access_level: 30 });
  for (const [branch, target_branch] of [
    ['one', 'main'],
    ['two', 'stable'],
    ['three', 'main'],
  ] as const) {
    for (const name of [target_branch, branch])
      await as('owner', 'POST', `/projects/${project}/repository/branches?branch=${name}&ref=main`);
    const actions = [{ action: 'create', file_path: branch, content: 'x' }];
    await made(`/projects/${project}/repository/commits`, { branch, commit_message: 'x', actions });
    await made(`/projects/${project}/merge_requests`, {
      title: branch,
      source_branch: branch,
      target_branch,
    });
  }
});

const found = async (query: string, who: Who = 'owner', where = `/projects/${project}`) => {
  const { status, body } = await as(who, 'GET', `${where}/merge_requests?scope=all&sort=asc&${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.map(({ title }: { title: string }) => title);
};
const by = (...people: Who[]) => people.map((who) => `approver_ids[]=${world.ids[who]}`).join('&');
const rule = (json: object) =>
  made(`/projects/${project}/approval_rules`, { approvals_required: 1, ...json });

test('merge requests are found by those whom rules in force name, themselves or as members of groups', async () => {
  const everything = ['one', 'two', 'three'];
  expect(await found('approver_ids=None')).toEqual(everything);
  expect(await found('approver_ids=Any')).toEqual([]);
  await as('owner', 'POST', `/projects/${project}/protected_branches?name=stable`);
  const { body: protection } = await as('owner', 'GET', `/projects/${project}/protected_branches/stable`);
  const wanted = { protected_branch_ids: [protection.id], user_ids: [world.ids['developer']] };
  const { id } = await rule({ name: 'stable', ...wanted });
  expect(await found(by('developer'))).toEqual(['two']);
  expect(await found('approver_ids=None')).toEqual(['one', 'three']);
  await rule({ name: 'team', group_ids: [group] });
  expect(await found(by('reporter'))).toEqual(everything);
  expect(await found(by('reporter', 'developer'))).toEqual(['two']);
  expect(await found(by('maintainer'))).toEqual([]);
  for (const where of [`/groups/${group}`, ''])
    expect(await found(by('developer'), 'owner', where)).toEqual(['two']);
  // A rule of a merge request stands for one of the project, with other people.
  const own = `/projects/${project}/merge_requests/3/approval_rules`;
  await made(own, { name: 'mine', approvals_required: 0, user_ids: [world.ids['maintainer']] });
  expect(await found(by('maintainer'))).toEqual(['three']);
  await as('owner', 'POST', `/projects/${project}/approvals`, {
    disable_overriding_approvers_per_merge_request: true,
  });
  expect(await found(by('maintainer'))).toEqual([]);
  await as('owner', 'DELETE', `/projects/${project}/approval_rules/${id}`);
  expect(await found(by('developer'))).toEqual([]);
  expect(await found('approver_ids=Any')).toEqual(everything);
});

test('members of a group that one does not see are not told by who may approve', async () => {
  await rule({ name: 'secret', group_ids: [hidden] });
  expect(await found(by('guest'))).toEqual(['one', 'two', 'three']);
  expect(await found(by('guest'), 'stranger')).toEqual([]);
});

test('merge requests are found by who approved them, and by who is to review them', async () => {
  const at = `/projects/${project}/merge_requests`;
  const reviewers = { reviewer_ids: [world.ids['maintainer']] };
  expect((await as('owner', 'PUT', `${at}/2`, reviewers)).status).toBe(200);
  await made(`${at}/1/approve`, {}, 'developer');
  await made(`${at}/3/approve`, {}, 'developer');
  await made(`${at}/3/approve`, {}, 'maintainer');
  const approvedBy = (...people: Who[]) =>
    people.map((who) => `approved_by_ids[]=${world.ids[who]}`).join('&');
  expect(await found(approvedBy('developer'))).toEqual(['one', 'three']);
  expect(await found(approvedBy('developer', 'maintainer'))).toEqual(['three']);
  expect(await found(`${approvedBy('developer')}&target_branch=stable`)).toEqual([]);
  expect(await found('approved_by_ids=None')).toEqual(['two']);
  expect(await found('approved_by_ids=Any')).toEqual(['one', 'three']);
  for (const where of [`/groups/${group}`, ''])
    expect(await found(approvedBy('maintainer'), 'owner', where)).toEqual(['three']);
  const asked = await as('maintainer', 'GET', '/merge_requests?scope=reviews_for_me');
  expect(asked.body.map(({ title }: { title: string }) => title)).toEqual(['two']);
  for (const nobody of ['abc', '1.5', '-1', '0', '99999999999999999999'])
    for (const filter of ['approved_by_ids', 'approver_ids'])
      expect(await found(`${filter}[]=${nobody}`), `${filter} ${nobody}`).toEqual([]);
  const six = Array.from({ length: 6 }, (_, i) => `approved_by_ids[]=${i + 1}`).join('&');
  expect((await as('owner', 'GET', `${at}?${six}`)).status).toBe(400);
});
