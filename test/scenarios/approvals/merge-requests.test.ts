import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freshWindow } from '../../harness/fresh-window.ts';
import { inClone } from '../../harness/in-clone.ts';
import { closeProposal, notedOn, propose } from '../../harness/proposals.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';

type User = Awaited<ReturnType<Service['user']>>;
let service: Service;
let owner: User;
let author: User;
let dev: User;
let other: User;
let reporter: User;
let guest: User;
let stranger: User;
let project: number;
let group: number;
/** Path and head of a new merge request. */
let mr: string;
let iid: number;
let head: string;

const call = (method: string, path: string, json?: unknown, user: User = owner): Promise<Answer> =>
  service.call(method, path, { token: user.token, ...(json === undefined ? {} : { json }) });
const done = async (method: string, path: string, json?: unknown, user?: User): Promise<Answer['body']> => {
  const answer = await call(method, path, json, user);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
const approve = (user: User, json: object = {}) => call('POST', `${mr}/approve`, json, user);
const statusOf = async (user: User, json?: object) => (await approve(user, json)).status;
const configure = (json: object) => done('POST', `/projects/${project}/approvals`, json);
const idsOf = (users: readonly { id: number }[]) => users.map(({ id }) => id);

let branches = 0;
const commit = (branch: string, user: User, start_branch?: string) =>
  done(
    'POST',
    `/projects/${project}/repository/commits`,
    {
      branch,
      ...(start_branch === undefined ? {} : { start_branch }),
      commit_message: 'Change',
      actions: [{ action: 'create', file_path: `f${++branches}`, content: 'x' }],
    },
    user,
  );

/** A merge request of the author, whose commit is by them too. */
async function proposeChange(targetBranch = 'main'): Promise<void> {
  const sourceBranch = `b${++branches}`;
  head = (await commit(sourceBranch, author, 'main')).id;
  iid = await propose(author.id, project, { sourceBranch, targetBranch });
  mr = `/projects/${project}/merge_requests/${iid}`;
}

let projects = 0;
beforeAll(async () => {
  service = await startService({ background: false });
  [owner, author, dev, other, reporter, guest, stranger] = (await Promise.all(
    ['owner', 'author', 'dev', 'other', 'reporter', 'guest', 'stranger'].map((name) => service.user(name)),
  )) as [User, User, User, User, User, User, User];
  group = (await done('POST', '/groups', { name: 'team', path: 'team' })).id;
  await done('POST', `/groups/${group}/members`, { user_id: reporter.id, access_level: 20 });
});
afterAll(() => service.stop());
beforeEach(async () => {
  const json = { name: `judged${++projects}`, initialize_with_readme: true, visibility: 'public' };
  project = (await done('POST', '/projects', json)).id;
  for (const [user, access_level] of [
    [author, 30],
    [dev, 30],
    [other, 30],
    [reporter, 20],
    [guest, 10],
  ] as const)
    await done('POST', `/projects/${project}/members`, { user_id: user.id, access_level });
  await proposeChange();
});

describe('approving', () => {
  test('is told in the answer, in a note, and in what is left', async () => {
    await configure({ approvals_before_merge: 2 });
    const before = await done('GET', `${mr}/approvals`, undefined, dev);
    expect(before).toMatchObject({
      iid,
      project_id: project,
      state: 'opened',
      approved: false,
      approvals_required: 2,
      approvals_left: 2,
      approved_by: [],
      user_has_approved: false,
      user_can_approve: true,
      approval_rules_left: [{ id: null, name: 'All Members', rule_type: 'any_approver' }],
    });
    const answer = await approve(dev, { sha: head });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        approved: false,
        approvals_left: 1,
        approved_by: [{ user: { id: dev.id } }],
        user_has_approved: true,
        user_can_approve: false,
      },
    });
    expect((await approve(other)).body).toMatchObject({
      approved: true,
      approvals_left: 0,
      approval_rules_left: [],
    });
    expect(await notedOn(project, iid)).toEqual([
      ['approved this merge request', 'dev'],
      ['approved this merge request', 'other'],
    ]);
  });

  test('is for Developers who did not write it, as long as it is open, and once', async () => {
    const people = { owner, author, dev, reporter, guest, stranger };
    const found: Record<string, unknown> = {};
    for (const [name, user] of Object.entries(people)) {
      const { user_can_approve } = await done('GET', `${mr}/approvals`, undefined, user);
      found[name] = [user_can_approve, await statusOf(user)];
    }
    expect(found).toEqual({
      owner: [true, 201],
      author: [false, 401],
      dev: [true, 201],
      reporter: [false, 401],
      guest: [false, 401],
      stranger: [false, 401],
    });
    expect(await statusOf(dev)).toBe(401);
    expect((await service.call('POST', `${mr}/approve`)).status).toBe(401);
    await closeProposal(owner.id, project, iid);
    expect(await statusOf(other)).toBe(401);
    expect((await call('POST', `${mr}/unapprove`, {}, dev)).status).toBe(401);
  });

  test('of another head than there is is refused', async () => {
    expect(await approve(dev, { sha: 'a'.repeat(40) })).toMatchObject({
      status: 409,
      body: { message: `SHA does not match HEAD of source branch: ${head}` },
    });
    expect((await done('GET', `${mr}/approvals`)).approved_by).toEqual([]);
  });

  test('is for authors and committers as the settings say', async () => {
    await configure({
      merge_requests_author_approval: true,
      merge_requests_disable_committers_approval: true,
    });
    // They wrote its commit.
    expect(await statusOf(author)).toBe(401);
    await configure({ merge_requests_disable_committers_approval: false });
    expect(await statusOf(author)).toBe(201);
    await done('POST', `${mr}/unapprove`, {}, author);
    await configure({ merge_requests_author_approval: false });
    expect(await statusOf(author)).toBe(401);
  });

  test('is for who wrote none of its commits, also of thousands', async () => {
    await configure({ merge_requests_disable_committers_approval: true });
    const { email } = await done('GET', '/user', undefined, author);
    const { path_with_namespace: fullPath } = await done('GET', `/projects/${project}`);
    // The oldest of 2,100 is the author's.
    const stream = [
      'BEGIN { for (i = 1; i <= 2100; i++) { print "commit refs/heads/long";',
      `print "committer W <" (i == 1 ? "${email}" : "w" i "@example.org") "> " i " +0000";`,
      'print "data 1"; print "x"; if (i == 1) print "from refs/heads/main^0" } }',
    ].join(' ');
    const importing = `alias.many=!awk '${stream}' | git fast-import --quiet`;
    await inClone(service, owner, fullPath, [
      ['-c', importing, 'many'],
      ['push', '--quiet', 'origin', 'long'],
    ]);
    iid = await propose(owner.id, project, { sourceBranch: 'long', targetBranch: 'main' });
    mr = `/projects/${project}/merge_requests/${iid}`;
    expect(await statusOf(author)).toBe(401);
    expect(await statusOf(dev)).toBe(201);
  });

  test('asks for the password where the settings do, and not for many', async () => {
    await configure({ require_password_to_approve: true });
    const known = await service.user(`known${projects}`, {
      force_random_password: undefined,
      password: 'correct horse battery',
    });
    await done('POST', `/projects/${project}/members`, { user_id: known.id, access_level: 30 });
    expect((await done('GET', `${mr}/approvals`)).require_password_to_approve).toBe(true);
    expect(await statusOf(known)).toBe(401);
    expect(await statusOf(known, { approval_password: 'wrong' })).toBe(401);
    expect(await statusOf(known, { approval_password: 'correct horse battery' })).toBe(201);
    await done('POST', `${mr}/unapprove`, {}, known);
    await freshWindow(600, 60);
    const tries = [];
    for (let i = 0; i < 11; i++) tries.push(await statusOf(known, { approval_password: `wrong ${i}` }));
    expect(tries).toContain(429);
    expect(await statusOf(known, { approval_password: 'correct horse battery' })).toBe(429);
  });

  test('is taken back, by who did it', async () => {
    await approve(dev);
    expect((await call('POST', `${mr}/unapprove`, {}, other)).status).toBe(404);
    const answer = await call('POST', `${mr}/unapprove`, {}, dev);
    expect(answer).toMatchObject({ status: 201, body: { approved_by: [], user_can_approve: true } });
    expect((await notedOn(project, iid)).at(-1)).toEqual(['unapproved this merge request', 'dev']);
  });

  test('by several at once counts for each of them, and by one at once a single time', async () => {
    const statuses = await Promise.all([owner, dev, other, dev, dev].map((user) => statusOf(user)));
    expect(statuses.filter((status) => status === 201)).toHaveLength(3);
    const { approved_by } = await done('GET', `${mr}/approvals`);
    const ids = approved_by.map(({ user }: Answer['body']) => user.id);
    expect(ids.toSorted()).toEqual([owner.id, dev.id, other.id].toSorted());
  });

  test('counts no longer when its user is blocked, loses the level, or leaves', async () => {
    await configure({ approvals_before_merge: 1 });
    const passing = await service.user(`passing${projects}`);
    const membership = `/projects/${project}/members/${passing.id}`;
    await done('POST', `/projects/${project}/members`, { user_id: passing.id, access_level: 30 });
    await approve(passing);
    const approved = async () => (await done('GET', `${mr}/approvals`)).approved;
    expect(await approved()).toBe(true);
    await done('PUT', membership, { access_level: 20 });
    expect(await approved()).toBe(false);
    await done('PUT', membership, { access_level: 40 });
    expect(await approved()).toBe(true);
    await service.call('POST', `/users/${passing.id}/block`, { token: service.rootToken });
    expect(await approved()).toBe(false);
    await service.call('POST', `/users/${passing.id}/unblock`, { token: service.rootToken });
    await done('DELETE', membership);
    expect(await approved()).toBe(false);
  });

  test('is reset by users of access tokens, and no others', async () => {
    await approve(dev);
    expect((await call('PUT', `${mr}/reset_approvals`)).status).toBe(401);
    const { token } = await done('POST', `/projects/${project}/access_tokens`, {
      name: 'bot',
      scopes: ['api'],
      access_level: 30,
    });
    expect((await service.call('PUT', `${mr}/reset_approvals`, { token })).status).toBe(202);
    expect((await done('GET', `${mr}/approvals`)).approved_by).toEqual([]);
  });

  test('works through gitbeaker', async () => {
    const { MergeRequestApprovals } = new Gitlab({ host: service.url, token: dev.token });
    await MergeRequestApprovals.approve(project, iid, { sha: head });
    const shown = await MergeRequestApprovals.showConfiguration(project, { mergerequestIId: iid });
    expect(shown.approved_by?.map(({ user }) => user.id)).toEqual([dev.id]);
    const { rules } = await MergeRequestApprovals.showApprovalState(project, iid);
    expect(rules).toEqual([]);
    await MergeRequestApprovals.unapprove(project, iid);
    expect((await done('GET', `${mr}/approvals`)).approved_by).toEqual([]);
  });

  test('of a hidden merge request is not found', async () => {
    await done('PUT', `/projects/${project}`, { visibility: 'private' });
    for (const [user, status] of [
      [stranger, 404],
      [guest, 403],
    ] as const)
      for (const [method, path] of [
        ['POST', 'approve'],
        ['POST', 'unapprove'],
        ['GET', 'approvals'],
        ['GET', 'approval_state'],
        ['GET', 'approval_rules'],
      ] as const)
        expect((await call(method, `${mr}/${path}`, undefined, user)).status, path).toBe(status);
    expect((await call('POST', `/projects/${project}/merge_requests/99999/approve`)).status).toBe(404);
  });
});

describe('rules of the project', () => {
  const rule = (json: object) => done('POST', `/projects/${project}/approval_rules`, json);
  const state = (user?: User) => done('GET', `${mr}/approval_state`, undefined, user);

  test('say who may approve besides Developers, and what is left', async () => {
    const security = await rule({ name: 'security', approvals_required: 1, group_ids: [group] });
    const named = await rule({ name: 'named', approvals_required: 1, user_ids: [dev.id, author.id] });
    expect(await statusOf(reporter)).toBe(201);
    expect(await statusOf(other)).toBe(201);
    const shown = await state();
    expect(shown.approval_rules_overwritten).toBe(false);
    expect(
      shown.rules.map((each: Answer['body']) => [
        each.id,
        each.approved,
        idsOf(each.approved_by),
        each.source_rule,
      ]),
    ).toEqual([
      [security.id, true, [reporter.id], null],
      [named.id, false, [], null],
    ]);
    const left = await done('GET', `${mr}/approvals`);
    expect(left).toMatchObject({ approved: false, approvals_required: 2, approvals_left: 1 });
    expect(left.approval_rules_left).toEqual([{ id: named.id, name: 'named', rule_type: 'regular' }]);
    expect((await approve(dev)).body.approved).toBe(true);
  });

  test('show nobody who is in a group that the caller cannot see, unless they approved', async () => {
    const hidden = (await done('POST', '/groups', { name: `h${projects}`, path: `h${projects}` })).id;
    await done('POST', `/groups/${hidden}/members`, { user_id: reporter.id, access_level: 20 });
    await rule({ name: 'hidden', approvals_required: 1, group_ids: [hidden] });
    const [before] = (await state(other)).rules;
    expect(before).toMatchObject({ eligible_approvers: [], groups: [], contains_hidden_groups: true });
    await approve(reporter);
    const [then] = (await state(other)).rules;
    expect([then.approved, idsOf(then.approved_by)]).toEqual([true, [reporter.id]]);
  });

  test('of protected branches are for merge requests to these', async () => {
    const { id } = await done('POST', `/projects/${project}/protected_branches`, { name: 'stable' });
    await rule({ name: 'stable', approvals_required: 1, user_ids: [dev.id], protected_branch_ids: [id] });
    const protectedOnes = {
      name: 'all',
      approvals_required: 1,
      user_ids: [dev.id],
      applies_to_all_protected_branches: true,
    };
    await rule(protectedOnes);
    expect((await state()).rules.map(({ name }: Answer['body']) => name)).toEqual(['all']);
    await done('POST', `/projects/${project}/repository/branches`, { branch: 'stable', ref: 'main' });
    await proposeChange('stable');
    expect((await state()).rules.map(({ name }: Answer['body']) => name)).toEqual(['stable', 'all']);
  });
});

describe('rules of the merge request', () => {
  const own = () => `${mr}/approval_rules`;
  const security = () =>
    done('POST', `/projects/${project}/approval_rules`, {
      name: 'security',
      approvals_required: 1,
      user_ids: [dev.id],
    });

  test('stand for one of the project, with other approvers and no fewer approvals', async () => {
    const { id } = await security();
    const taken = { name: 'mine', approvals_required: 1, approval_project_rule_id: id };
    const made = await done('POST', own(), taken, author);
    expect(made).toMatchObject({
      name: 'security',
      users: [{ id: dev.id }],
      source_rule: { id, name: 'security', approvals_required: 1 },
      overridden: false,
    });
    expect((await call('POST', own(), taken)).status).toBe(400);
    const fewer = await call('PUT', `${own()}/${made.id}`, { approvals_required: 0 });
    expect(fewer).toMatchObject({
      status: 400,
      body: { message: { approvals_required: ['must be greater than or equal to 1'] } },
    });
    const changed = await done('PUT', `${own()}/${made.id}`, { user_ids: [other.id] });
    expect(changed).toMatchObject({ users: [{ id: other.id }], overridden: true });
    await approve(dev);
    expect((await done('GET', `${mr}/approvals`)).approved).toBe(false);
    await approve(other);
    expect((await done('GET', `${mr}/approvals`)).approved).toBe(true);
    expect((await done('GET', `${mr}/approval_state`)).approval_rules_overwritten).toBe(true);
    expect((await call('DELETE', `${own()}/${made.id}`)).status).toBe(204);
    expect(await done('GET', own())).toEqual([]);
  });

  test('or are one more, and never take one away', async () => {
    await security();
    const made = await done('POST', own(), { name: 'more', approvals_required: 1, user_ids: [other.id] });
    expect(made).toMatchObject({ source_rule: null, overridden: false });
    expect(await done('GET', `${own()}/${made.id}`)).toEqual(made);
    expect((await done('GET', `${mr}/approvals`)).approvals_required).toBe(2);
  });

  test('are for its author and Developers to change, where the project lets them', async () => {
    const json = { name: 'x', approvals_required: 1, user_ids: [dev.id] };
    for (const user of [reporter, guest, stranger])
      expect((await call('POST', own(), json, user)).status).toBe(403);
    const { id } = await done('POST', own(), json, author);
    await done('PUT', `${own()}/${id}`, { approvals_required: 2 }, dev);
    await configure({ disable_overriding_approvers_per_merge_request: true });
    expect((await call('POST', own(), { ...json, name: 'y' })).status).toBe(403);
    expect((await call('PUT', `${own()}/${id}`, { approvals_required: 1 })).status).toBe(403);
    expect((await call('DELETE', `${own()}/${id}`)).status).toBe(403);
    expect((await call('POST', `${mr}/approvals`, { approvals_required: 3 })).status).toBe(403);
    expect((await done('GET', `${mr}/approvals`)).approvals_required).toBe(0);
  });

  test('that are made at the same time are all there', async () => {
    const made = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) =>
        call('POST', own(), { name, approvals_required: 1, user_ids: [dev.id] }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(await done('GET', own())).toHaveLength(4);
  });

  test('the number that it asks for itself counts above that of the project', async () => {
    const required = async (approvals_required: number) =>
      (await done('POST', `${mr}/approvals`, { approvals_required })).approvals_required;
    expect(await required(3)).toBe(0);
    await configure({ approvals_before_merge: 2 });
    expect(await required(3)).toBe(3);
    expect(await required(1)).toBe(2);
  });
});
