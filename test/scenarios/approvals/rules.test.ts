import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Service, startService } from '../../harness/service.ts';

type User = Awaited<ReturnType<Service['user']>>;
let service: Service;
let owner: User;
let dev: User;
let other: User;
let stranger: User;
let project: number;
let group: number;
let hidden: number;
let branchRule: number;

const call = (method: string, path: string, json?: unknown, user: User = owner): Promise<Answer> =>
  service.call(method, path, { token: user.token, ...(json === undefined ? {} : { json }) });
const done = async (method: string, path: string, json?: unknown, user?: User): Promise<Answer['body']> => {
  const answer = await call(method, path, json, user);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
const rules = () => `/projects/${project}/approval_rules`;
const idsOf = (users: readonly { id: number }[]) => users.map(({ id }) => id);

let names = 0;
const newRule = (json: object = {}): Promise<Answer['body']> =>
  done('POST', rules(), { name: `rule ${++names}`, approvals_required: 1, user_ids: [dev.id], ...json });

beforeAll(async () => {
  service = await startService({ background: false });
  [owner, dev, other, stranger] = (await Promise.all(
    ['owner', 'dev', 'other', 'stranger'].map((name) => service.user(name)),
  )) as [User, User, User, User];
  project = (await done('POST', '/projects', { name: 'judged', initialize_with_readme: true })).id;
  for (const { id } of [dev, other])
    await done('POST', `/projects/${project}/members`, { user_id: id, access_level: 30 });
  group = (await done('POST', '/groups', { name: 'team', path: 'team', visibility: 'public' })).id;
  await done('POST', `/groups/${group}/members`, { user_id: other.id, access_level: 20 });
  hidden = (await done('POST', '/groups', { name: 'hidden', path: 'hidden' }, stranger)).id;
  branchRule = (await done('GET', `/projects/${project}/protected_branches/main`)).id;
});
afterAll(() => service.stop());

describe('a rule', () => {
  test('is created with users, groups and protected branches, and shown with them', async () => {
    const made = await call('POST', rules(), {
      name: ' security ',
      approvals_required: 2,
      user_ids: [dev.id],
      usernames: ['owner'],
      group_ids: [group],
      protected_branch_ids: [branchRule],
    });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'security',
        rule_type: 'regular',
        report_type: null,
        approvals_required: 2,
        users: [{ username: 'dev' }, { username: 'owner' }],
        groups: [{ id: group, full_path: 'team' }],
        contains_hidden_groups: false,
        protected_branches: [{ id: branchRule, name: 'main' }],
        applies_to_all_protected_branches: false,
      },
    });
    // The users, then the members of the group.
    expect(idsOf(made.body.eligible_approvers)).toEqual([dev.id, owner.id, other.id]);
    expect(await done('GET', `${rules()}/${made.body.id}`)).toEqual(made.body);
    expect(await done('GET', rules())).toEqual([made.body]);
  });

  test('is for anybody where it names nobody, of which there is one in a project', async () => {
    const made = await done('POST', rules(), { name: 'All', approvals_required: 1 });
    expect(made).toMatchObject({ rule_type: 'any_approver', eligible_approvers: [], users: [], groups: [] });
    const second = await call('POST', rules(), {
      name: 'Again',
      approvals_required: 1,
      rule_type: 'any_approver',
    });
    expect(second).toMatchObject({
      status: 400,
      body: { message: { rule_type: ['any-approver has already been taken'] } },
    });
    expect((await call('PUT', `${rules()}/${made.id}`, { user_ids: [dev.id] })).status).toBe(400);
    expect((await call('DELETE', `${rules()}/${made.id}`)).status).toBe(204);
    expect((await call('GET', `${rules()}/${made.id}`)).status).toBe(404);
  });

  test('keeps what a change does not name, and has the lists that it does', async () => {
    const { id, ...made } = await newRule({ group_ids: [group], protected_branch_ids: [branchRule] });
    expect(await done('PUT', `${rules()}/${id}`, { approvals_required: 3 })).toEqual({
      ...made,
      id,
      approvals_required: 3,
    });
    const changed = await done('PUT', `${rules()}/${id}`, {
      name: 'other name',
      user_ids: [other.id],
      group_ids: [],
      protected_branch_ids: [],
      applies_to_all_protected_branches: true,
    });
    expect(changed).toMatchObject({
      name: 'other name',
      users: [{ id: other.id }],
      groups: [],
      protected_branches: [],
      applies_to_all_protected_branches: true,
    });
  });

  test('keeps groups that who changes it cannot see, and tells that there are some', async () => {
    await done('POST', `/projects/${project}/members`, { user_id: stranger.id, access_level: 40 });
    const { id } = await done(
      'POST',
      rules(),
      { name: 'of the hidden', approvals_required: 1, group_ids: [hidden, group] },
      stranger,
    );
    const seen = await done('GET', `${rules()}/${id}`);
    expect(seen).toMatchObject({ contains_hidden_groups: true, groups: [{ id: group }] });
    expect(idsOf(seen.eligible_approvers)).not.toContain(stranger.id);
    const changed = await done('PUT', `${rules()}/${id}`, { group_ids: [] });
    expect(changed).toMatchObject({ contains_hidden_groups: true, groups: [] });
    expect(await done('GET', `${rules()}/${id}`, undefined, stranger)).toMatchObject({
      contains_hidden_groups: false,
      groups: [{ id: hidden }],
    });
    const removed = await done('PUT', `${rules()}/${id}`, { group_ids: [group], remove_hidden_groups: true });
    expect(removed).toMatchObject({ contains_hidden_groups: false, groups: [{ id: group }] });
    await done('DELETE', `/projects/${project}/members/${stranger.id}`);
  });

  test('no longer shows users that are deleted', async () => {
    const leaver = await service.user('leaver');
    await done('POST', `/projects/${project}/members`, { user_id: leaver.id, access_level: 30 });
    const { id } = await newRule({ user_ids: [dev.id, leaver.id] });
    await service.call('DELETE', `/users/${leaver.id}`, { token: service.rootToken });
    const shown = await done('GET', `${rules()}/${id}`);
    expect([idsOf(shown.users), idsOf(shown.eligible_approvers)]).toEqual([[dev.id], [dev.id]]);
  });

  test.each<[string, () => object, string]>([
    ['without a name', () => ({ name: ' ' }), 'name'],
    ['with a name of 256 characters', () => ({ name: 'x'.repeat(256) }), 'name'],
    ['with a name that is taken', () => ({ name: 'security' }), 'name'],
    ['with users who are no members', () => ({ user_ids: [dev.id, stranger.id] }), 'users'],
    ['with users whom there are not', () => ({ usernames: ['nobody'] }), 'users'],
    ['with groups that one cannot see', () => ({ group_ids: [hidden] }), 'groups'],
    ['with groups that there are not', () => ({ group_ids: [99999999] }), 'groups'],
    ['with branches of others', () => ({ protected_branch_ids: [99999999] }), 'protected_branches'],
    ['for anybody, with users', () => ({ rule_type: 'any_approver' }), 'rule_type'],
  ])('is refused %s', async (_, json, field) => {
    const valid = { name: 'refused', approvals_required: 1, user_ids: [dev.id] };
    const answer = await call('POST', rules(), { ...valid, ...json() });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.message)).toEqual([field]);
  });

  test.each<[object, string]>([
    [{ approvals_required: 1 }, 'name is missing'],
    [{ name: 'x' }, 'approvals_required is missing'],
    [{ name: 'x', approvals_required: 101 }, 'approvals_required does not have a valid value'],
    [{ name: 'x', approvals_required: -1 }, 'approvals_required does not have a valid value'],
    [
      { name: 'x', approvals_required: 1, rule_type: 'report_approver' },
      'rule_type does not have a valid value',
    ],
  ])('is refused for %j', async (json, error) => {
    expect(await call('POST', rules(), json)).toMatchObject({ status: 400, body: { error } });
  });

  test('is recorded when it is created, changed and deleted', async () => {
    const { id } = await newRule({ name: 'told' });
    await done('PUT', `${rules()}/${id}`, { approvals_required: 2, user_ids: [dev.id, other.id] });
    // Nothing changes, so nothing is recorded.
    await done('PUT', `${rules()}/${id}`, { approvals_required: 2 });
    await call('DELETE', `${rules()}/${id}`);
    const events = await done('GET', `/projects/${project}/audit_events?per_page=100`);
    const told = events
      .map(({ details }: Answer['body']) => details)
      .filter(
        (details: Answer['body']) =>
          details.target_type === 'ApprovalProjectRule' && details.target_id === id,
      )
      .map(({ add, change, from, to, remove }: Answer['body']) => add ?? remove ?? [change, from, to]);
    expect(told.reverse()).toEqual([
      'approval_rule',
      ['number of required approvals', '1', '2'],
      ['approvers', `User ${dev.id}`, `User ${dev.id}, User ${other.id}`],
      'approval_rule',
    ]);
  });

  test('is created, changed, listed and deleted by gitbeaker', async () => {
    const { MergeRequestApprovals } = new Gitlab({ host: service.url, token: owner.token });
    const made = await MergeRequestApprovals.createApprovalRule(project, 'beaker', 1, { userIds: [dev.id] });
    await MergeRequestApprovals.editApprovalRule(project, made.id, 'beaker', 2, { userIds: [other.id] });
    const shown = await MergeRequestApprovals.showApprovalRule(project, made.id);
    expect(shown).toMatchObject({ approvals_required: 2, users: [{ id: other.id }] });
    expect(idsOf(await MergeRequestApprovals.allApprovalRules(project))).toContain(made.id);
    await MergeRequestApprovals.removeApprovalRule(project, made.id);
    expect((await call('GET', `${rules()}/${made.id}`)).status).toBe(404);
  });
});

describe('many at once', () => {
  test('rules that are created at the same time are all there, up to the limit', async () => {
    project = (await done('POST', '/projects', { name: 'busy' })).id;
    const names = Array.from({ length: 12 }, (_, i) => `rule ${i}`);
    const made = await Promise.all(
      names.map((name) => call('POST', rules(), { name, approvals_required: 0, rule_type: 'regular' })),
    );
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
    const listed = await done('GET', `${rules()}?per_page=100`);
    expect(listed.map(({ name }: Answer['body']) => name).sort()).toEqual(names.toSorted());
    for (let i = 12; i < 30; i++)
      await done('POST', rules(), { name: `rule ${i}`, approvals_required: 0, rule_type: 'regular' });
    expect(await call('POST', rules(), { name: 'one more', approvals_required: 0 })).toMatchObject({
      status: 400,
      body: { message: { base: ['there are 30 rules already'] } },
    });
    expect(await done('GET', `${rules()}?per_page=20&page=2`)).toHaveLength(10);
  });

  test('of one name one is created', async () => {
    project = (await done('POST', '/projects', { name: 'same' })).id;
    const json = { name: 'same', approvals_required: 0, rule_type: 'regular' };
    const made = await Promise.all(Array.from({ length: 5 }, () => call('POST', rules(), json)));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400]);
  });
});
