import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Service, startService } from '../../harness/service.ts';

let service: Service;
let top: number;
let sub: number;
let project: number;

const call = (method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, { token: service.rootToken, ...(json === undefined ? {} : { json }) });
const done = async (method: string, path: string, json?: unknown): Promise<Answer['body']> => {
  const answer = await call(method, path, json);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
const ofGroup = (id: number) => `/groups/${id}/merge_request_approval_setting`;
const ofProject = (id = project) => `/projects/${id}/merge_request_approval_setting`;
const newProject = async (namespace_id: number): Promise<number> =>
  (await done('POST', '/projects', { name: `p${Math.random()}`.replace('.', ''), namespace_id })).id;

let groups = 0;
const newGroup = async (parent_id?: number): Promise<number> => {
  const name = `g${++groups}`;
  return (await done('POST', '/groups', { name, path: name, parent_id })).id;
};

beforeAll(async () => {
  service = await startService({ background: false });
});
afterAll(() => service.stop());

describe('the configuration of a project', () => {
  beforeAll(async () => {
    top = await newGroup();
    project = await newProject(top);
  });

  test('has the defaults, and what is changed of it', async () => {
    const before = await done('GET', `/projects/${project}/approvals`);
    expect(before).toEqual({
      approvers: [],
      approver_groups: [],
      approvals_before_merge: 0,
      reset_approvals_on_push: true,
      selective_code_owner_removals: false,
      disable_overriding_approvers_per_merge_request: false,
      merge_requests_author_approval: false,
      merge_requests_disable_committers_approval: false,
      require_password_to_approve: false,
    });
    const change = {
      approvals_before_merge: 2,
      reset_approvals_on_push: false,
      selective_code_owner_removals: true,
      disable_overriding_approvers_per_merge_request: true,
      merge_requests_author_approval: true,
      merge_requests_disable_committers_approval: true,
      require_password_to_approve: true,
    };
    const answer = await call('POST', `/projects/${project}/approvals`, change);
    expect(answer).toMatchObject({ status: 201, body: { ...before, ...change } });
    expect(await done('GET', `/projects/${project}/approvals`)).toEqual({ ...before, ...change });
    expect((await done('GET', `/projects/${project}`)).approvals_before_merge).toBe(2);
    const events = await done('GET', `/projects/${project}/audit_events`);
    expect(
      events
        .map(({ details }: Answer['body']) => details.change)
        .filter(Boolean)
        .sort(),
    ).toEqual(Object.keys(change).sort());
  });

  test('is the one that the other path shows, from the other side', async () => {
    const on = { value: true, locked: false, inherited_from: null };
    const off = { ...on, value: false };
    expect(await done('GET', ofProject())).toEqual({
      allow_author_approval: on,
      allow_committer_approval: off,
      allow_overrides_to_approver_list_per_merge_request: off,
      retain_approvals_on_push: on,
      selective_code_owner_removals: on,
      require_password_to_approve: on,
      require_reauthentication_to_approve: on,
    });
    const changed = await done('PUT', ofProject(), {
      allow_committer_approval: true,
      require_reauthentication_to_approve: false,
    });
    expect(changed).toMatchObject({ allow_committer_approval: on, require_password_to_approve: off });
    expect(await done('GET', `/projects/${project}/approvals`)).toMatchObject({
      merge_requests_disable_committers_approval: false,
      require_password_to_approve: false,
      merge_requests_author_approval: true,
    });
  });

  test('removes approvals of code owners alone only where it keeps the others', async () => {
    const text = {
      message: { selective_code_owner_removals: ['can only be enabled where approvals are kept on a push'] },
    };
    expect(await call('PUT', ofProject(), { retain_approvals_on_push: false })).toMatchObject({
      status: 400,
      body: text,
    });
    const both = { retain_approvals_on_push: false, selective_code_owner_removals: false };
    expect((await call('PUT', ofProject(), both)).status).toBe(200);
    expect((await call('PUT', ofProject(), { selective_code_owner_removals: true })).status).toBe(400);
  });

  test.each([[-1], [101], ['many']])(
    'asks for 0 to 100 approvals: not for %s',
    async (approvals_before_merge) => {
      expect((await call('POST', `/projects/${project}/approvals`, { approvals_before_merge })).status).toBe(
        400,
      );
      expect((await call('PUT', `/projects/${project}`, { approvals_before_merge })).status).toBe(400);
    },
  );

  test('is read and changed by gitbeaker', async () => {
    const { MergeRequestApprovals } = new Gitlab({ host: service.url, token: service.rootToken });
    await MergeRequestApprovals.editConfiguration(project, { mergeRequestsAuthorApproval: false });
    const shown = await MergeRequestApprovals.showConfiguration(project);
    expect(shown.merge_requests_author_approval).toBe(false);
  });
});

describe('what a group restricts', () => {
  beforeAll(async () => {
    top = await newGroup();
    sub = await newGroup(top);
    project = await newProject(sub);
    await done('POST', `/projects/${project}/approvals`, {
      merge_requests_author_approval: true,
      reset_approvals_on_push: false,
    });
  });
  const locked = (value: boolean) => ({ value, locked: true, inherited_from: 'group' });

  test('is nothing as long as it has not decided', async () => {
    const shown = await done('GET', ofGroup(top));
    expect(shown.allow_author_approval).toEqual({ value: true, locked: false, inherited_from: null });
    expect(shown.require_password_to_approve.value).toBe(false);
    expect((await done('GET', ofProject())).allow_author_approval.locked).toBe(false);
  });

  test('is restricted in all below it, whatever they had chosen, and cannot be chosen otherwise', async () => {
    const change = {
      allow_author_approval: false,
      retain_approvals_on_push: false,
      require_password_to_approve: true,
    };
    const changed = await done('PUT', ofGroup(top), change);
    expect(changed.allow_author_approval).toEqual({ value: false, locked: false, inherited_from: null });
    for (const path of [ofGroup(sub), ofProject()]) {
      const shown = await done('GET', path);
      expect(shown).toMatchObject({
        allow_author_approval: locked(false),
        retain_approvals_on_push: locked(false),
        require_password_to_approve: locked(true),
        allow_committer_approval: { value: true, locked: false },
      });
      for (const [name, value] of Object.entries(change)) {
        const loosened = await call('PUT', path, { [name]: !value });
        expect(loosened, name).toMatchObject({
          status: 400,
          body: { message: { [name]: ['is decided by a group above'] } },
        });
        expect((await call('PUT', path, { [name]: value })).status, name).toBe(200);
      }
    }
    expect(await done('GET', `/projects/${project}/approvals`)).toMatchObject({
      merge_requests_author_approval: false,
      reset_approvals_on_push: true,
    });
    const loosened = await call('POST', `/projects/${project}/approvals`, {
      merge_requests_author_approval: true,
    });
    expect(loosened.status).toBe(400);
  });

  test('and no more when the group has decided otherwise: then they have what they chose last', async () => {
    await done('PUT', ofGroup(top), { allow_author_approval: true });
    expect((await done('GET', ofGroup(sub))).allow_author_approval).toEqual({
      value: false,
      locked: false,
      inherited_from: null,
    });
    await done('PUT', ofGroup(sub), { allow_author_approval: true });
    expect((await done('GET', ofProject())).allow_author_approval).toMatchObject({
      value: false,
      locked: false,
    });
  });

  test('counts for a project that comes in, and not for one that left', async () => {
    await done('PUT', ofGroup(top), { allow_committer_approval: false });
    const elsewhere = await newGroup();
    await done('PUT', `/projects/${project}/transfer`, { namespace: elsewhere });
    expect((await done('GET', ofProject())).allow_committer_approval).toMatchObject({
      value: true,
      locked: false,
    });
    await done('PUT', `/projects/${project}/transfer`, { namespace: sub });
    expect((await done('GET', ofProject())).allow_committer_approval).toEqual(locked(false));
  });

  test('is recorded', async () => {
    const events = await done('GET', `/groups/${top}/audit_events`);
    expect(events.map(({ details }: Answer['body']) => details)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ change: 'allow_author_approval', from: 'true', to: 'false' }),
        expect.objectContaining({ change: 'require_password_to_approve', from: 'false', to: 'true' }),
      ]),
    );
  });
});
