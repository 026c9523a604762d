import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { BranchRule, EnvironmentRule, TagRule } from '../../../lib/records/refs.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../../lib/store/errors.ts';
import { addRule, MAX_RULES } from '../../../lib/store/refs/protection-rules.ts';
import { ruleCountKey, ruleKey } from '../../../lib/store/row-keys/refs.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let owner: UserRecord;
beforeAll(async () => {
  opened = await openTestStore();
  owner = await opened.store.users.create(newUser('owner'));
});
afterAll(() => opened.close());

const AT = '2026-01-01T00:00:00.000Z';
const times = { createdAt: AT, updatedAt: AT };
const branchRule = ({ id }: ProjectRecord, name: string, change: Partial<BranchRule> = {}): BranchRule => ({
  kind: 'branch',
  id: 1,
  projectId: id,
  name,
  push: [{ id: 1, level: 40 }],
  merge: [{ id: 2, level: 40 }],
  unprotect: [{ id: 3, level: 40 }],
  allowForcePush: false,
  codeOwnerApproval: false,
  ...times,
  ...change,
});
const tagRule = ({ id }: ProjectRecord, name: string): TagRule => ({
  kind: 'tag',
  projectId: id,
  name,
  create: [{ id: 1, level: 30 }],
  ...times,
});
const environmentRule = ({ id }: ProjectRecord, name: string): EnvironmentRule => ({
  kind: 'environment',
  projectId: id,
  name,
  deploy: [{ id: 1, level: 40 }],
  ...times,
});
const rules = () => opened.store.refRules;
const counts = async ({ id }: ProjectRecord) => {
  const { branch = 0, tag = 0 } = (await opened.store.table.get(ruleCountKey(id))) ?? {};
  return [branch, tag];
};
let made = 0;
const project = () => createProject(opened.store, owner, `project-${++made}`);

test('of many concurrent creations of a rule one succeeds and the others fail with an error', async () => {
  const one = await project();
  const outcomes = await Promise.allSettled(
    [1, 2, 3, 4].map((id) => rules().create(branchRule(one, 'main', { id }))),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const lost of outcomes.filter((outcome) => outcome.status === 'rejected'))
    expect(lost.reason).toBeInstanceOf(AlreadyExists);
  expect(await counts(one)).toEqual([1, 0]);
});

test('branch and tag rules are read in one request, sorted by name', async () => {
  const one = await project();
  const names = ['b', 'a/*', 'Ü', 'a', 'x'.repeat(1024), `${'x'.repeat(1023)}y`];
  for (const name of names) await rules().create(branchRule(one, name));
  await rules().create(tagRule(one, 'a'));
  opened.reset();
  const all = await rules().all(one.id);
  expect(opened.operations).toHaveLength(1);
  expect(all.branches.map(({ name }) => name)).toEqual(['a', 'a/*', 'b', names[4], names[5], 'Ü']);
  expect(all.branches[0]).toEqual(branchRule(one, 'a'));
  expect(all.tags).toEqual([tagRule(one, 'a')]);
  expect(await rules().list(one.id, 'tag')).toEqual(all.tags);
  expect(await rules().list(one.id, 'branch')).toEqual(all.branches);
  for (const name of names) expect((await rules().get(one.id, 'branch', name))?.name).toBe(name);
  expect(await rules().get(one.id, 'tag', 'b')).toBeUndefined();
  expect(await counts(one)).toEqual([6, 1]);
});

test('rules of environments are found by exact names, apart from those of branches and tags', async () => {
  const one = await project();
  const long = 'x'.repeat(1024);
  for (const name of ['live', 'live/*', long]) await rules().create(environmentRule(one, name));
  await rules().create(tagRule(one, 'live'));
  const names = ['live', 'Live', 'live/eu', long, 'live'];
  expect(await rules().ofEnvironments(one.id, names)).toEqual(
    new Map([
      ['live', environmentRule(one, 'live')],
      [long, environmentRule(one, long)],
    ]),
  );
  expect(await rules().ofEnvironments(one.id, [])).toEqual(new Map());
  expect(await rules().all(one.id)).toEqual({ branches: [], tags: [tagRule(one, 'live')] });
  expect(await rules().list(one.id, 'environment')).toHaveLength(3);
  await rules().remove(environmentRule(one, 'live'));
  expect(await opened.store.table.get(ruleCountKey(one.id))).toMatchObject({ environment: 2, tag: 1 });
});

test('a rule that changed cannot be removed from an older version', async () => {
  const one = await project();
  const rule = branchRule(one, 'main');
  await rules().create(rule);
  const changed = await rules().change(rule, { push: [{ id: 1, level: 30 }] }, new Date('2026-02-01'));
  expect(changed).toEqual({ ...rule, push: [{ id: 1, level: 30 }], updatedAt: '2026-02-01T00:00:00.000Z' });
  await expect(rules().remove(rule)).rejects.toThrow(Stale);
  const outcomes = await Promise.allSettled([rules().remove(changed), rules().remove(changed)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(rules().remove(changed)).rejects.toThrow(Missing);
  await expect(rules().change(rule, {}, new Date())).rejects.toThrow(Missing);
  expect(await counts(one)).toEqual([0, 0]);
});

test('each kind of rule has a limit, and a removal makes room', async () => {
  const one = await project();
  const writes = Array.from({ length: MAX_RULES }, (_, i) => addRule(branchRule(one, `b${i}`)));
  for (const write of writes) await opened.store.table.transact(write);
  expect(await counts(one)).toEqual([MAX_RULES, 0]);
  await expect(rules().create(branchRule(one, 'more'))).rejects.toThrow(LimitReached);
  await rules().create(tagRule(one, 'more'));
  await rules().remove(branchRule(one, 'b7'));
  await rules().create(branchRule(one, 'more'));
  await expect(rules().create(branchRule(one, 'b7'))).rejects.toThrow(LimitReached);
});

test('the rules of a deleted project cannot be changed, and are removed', async () => {
  const one = await project();
  await rules().create(branchRule(one, 'a'));
  await rules().create(tagRule(one, 'a'));
  await opened.store.projects.remove(one);
  await expect(rules().create(branchRule(one, 'b'))).rejects.toThrow(Missing);
  await expect(rules().remove(branchRule(one, 'a'))).rejects.toThrow(Missing);
  while (await rules().removeOfProject(one.id, 2));
  expect(await rules().all(one.id)).toEqual({ branches: [], tags: [] });
  expect(await opened.store.table.get(ruleCountKey(one.id))).toBeUndefined();
  // Nothing else of the partition is touched.
  expect(await opened.store.projects.getEvenDeleted(one.id)).toBeDefined();
});

test('rules of earlier releases, with one level for each action, are read as their grants', async () => {
  const one = await project();
  const { push, merge, unprotect, codeOwnerApproval, ...branch } = branchRule(one, 'old');
  const { create, ...tag } = tagRule(one, 'old');
  const { table } = opened.store;
  await table.put({ put: { ...ruleKey(one.id, 'branch', 'old'), ...branch, pushLevel: 30, mergeLevel: 0 } });
  await table.put({ put: { ...ruleKey(one.id, 'tag', 'old'), ...tag, createLevel: 60 } });
  const all = await rules().all(one.id);
  expect(all.branches).toEqual([
    { ...branchRule(one, 'old'), push: [{ id: 1, level: 30 }], merge: [{ id: 2, level: 0 }] },
  ]);
  expect(all.tags).toEqual([{ ...tagRule(one, 'old'), create: [{ id: 1, level: 60 }] }]);
  const changed = await rules().change(all.branches[0]!, { allowForcePush: true }, new Date('2026-02-01'));
  expect(await rules().get(one.id, 'branch', 'old')).toEqual(changed);
});
