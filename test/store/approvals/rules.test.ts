import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApprovalRule } from '../../../lib/records/approvals.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { replaced } from '../../../lib/store/approvals/rules.ts';
import { Missing, Stale } from '../../../lib/store/errors.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let owner: UserRecord;
beforeAll(async () => {
  opened = await openTestStore();
  owner = await opened.store.users.create(newUser('owner'));
});
afterAll(() => opened.close());

const AT = '2026-01-01T00:00:00.000Z';
const rule = (id: number): ApprovalRule => ({
  id,
  name: `rule ${id}`,
  type: 'regular',
  approvalsRequired: 1,
  userIds: [1],
  groupIds: [],
  protectedBranchIds: [],
  allProtectedBranches: false,
  sourceRuleId: null,
  createdAt: AT,
  updatedAt: AT,
});

test('of two changes of the same rules one is told that it was late', async () => {
  const { approvalRules } = opened.store;
  const { id } = await createProject(opened.store, owner, 'raced');
  const none = await approvalRules.of(id);
  expect(none).toEqual({ projectId: id, iid: null, rules: [], version: 0 });
  await approvalRules.replace(none, [rule(1)]);
  await expect(approvalRules.replace(none, [rule(2)])).rejects.toThrow(Stale);
  const one = await approvalRules.of(id);
  expect(one).toMatchObject({ rules: [rule(1)], version: 1 });
  await approvalRules.replace(one, []);
  await expect(approvalRules.replace(one, [rule(2)])).rejects.toThrow(Stale);
});

test('those of a merge request stand beside those of its project, and all go with the project', async () => {
  const { approvalRules, table } = opened.store;
  const { id } = await createProject(opened.store, owner, 'both');
  await approvalRules.replace(await approvalRules.of(id), [rule(1)]);
  await table.transact([replaced(await approvalRules.of(id, 7), [rule(2)])]);
  const both = await approvalRules.forMergeRequest(id, 7);
  expect([both.project.rules, both.own.rules]).toEqual([[rule(1)], [rule(2)]]);
  expect((await approvalRules.forMergeRequest(id, 8)).own.rules).toEqual([]);
  expect(await approvalRules.removeOfProject(id, 1)).toBe(true);
  await approvalRules.removeOfProject(id);
  expect((await approvalRules.forMergeRequest(id, 7)).own.version).toBe(0);
  expect((await approvalRules.of(id)).version).toBe(0);
});

test('a project that there is not has none', async () => {
  const { approvalRules } = opened.store;
  await expect(approvalRules.replace(await approvalRules.of(404), [rule(1)])).rejects.toThrow(Missing);
});
