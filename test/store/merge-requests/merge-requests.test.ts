import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DiffVersion, MergeRequestRecord } from '../../../lib/records/merge-requests.ts';
import { TransactionRefused } from '../../../lib/store/errors.ts';
import { mergeRequestRanges } from '../../../lib/store/merge-requests/kind.ts';
import { CLOSE_SOURCELESS_JOB } from '../../../lib/store/merge-requests/merge-requests.ts';
import {
  openFromProject,
  openTo,
  openToProject,
  removeOfSource,
} from '../../../lib/store/merge-requests/open.ts';
import { OUTBOX_SHARDS, outboxPartition } from '../../../lib/store/row-keys/outbox.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let projectId: number;
beforeAll(async () => {
  opened = await openTestStore();
  const author = await opened.store.users.create(newUser('author'));
  projectId = (await createProject(opened.store, author, 'project')).id;
});
afterAll(() => opened.close());

const AROUND = { rootId: 1, labelTitles: new Map() };
const AT = '2026-01-01T00:00:00.000Z';

const diff = (number: number): DiffVersion => ({
  id: number,
  number,
  headSha: String(number).repeat(40).slice(0, 40),
  baseSha: 'b'.repeat(40),
  startSha: 'b'.repeat(40),
  createdAt: AT,
});

async function proposed(branch: string, targetBranch = 'main'): Promise<MergeRequestRecord> {
  const { id, iid } = await opened.store.mergeRequests.allocate(projectId);
  return {
    id,
    iid,
    projectId,
    title: `Merge ${branch}`,
    description: null,
    state: 'opened',
    author: { id: 1, username: 'u', name: 'u' },
    source: { projectId, branch },
    targetBranch,
    assigneeIds: [],
    reviewerIds: [2],
    labelIds: [],
    milestoneId: null,
    discussionLocked: null,
    timeEstimate: 0,
    timeSpent: 0,
    tasks: { count: 0, completed: 0 },
    squash: false,
    forceRemoveSource: false,
    allowCollaboration: false,
    approvalsBeforeMerge: null,
    approvals: [],
    diff: diff(1),
    autoMerge: null,
    mergeError: null,
    rebase: null,
    closedAt: null,
    closedById: null,
    mergedAt: null,
    mergedById: null,
    mergeCommitSha: null,
    squashCommitSha: null,
    createdAt: AT,
    updatedAt: AT,
    verdict: null,
    userNotesCount: 0,
    upvotes: 0,
    downvotes: 0,
    unresolvedCount: 0,
    version: 1,
  };
}

async function created(branch: string, targetBranch?: string): Promise<MergeRequestRecord> {
  const record = await proposed(branch, targetBranch);
  const alongside = [opened.store.mergeRequests.versionWrite(record, record.diff)];
  await opened.store.mergeRequests.create(record, AROUND, { alongside });
  return record;
}

test('a source branch has one open merge request to a target branch', async () => {
  const { mergeRequests } = opened.store;
  const first = await created('twice');
  const refusal = await created('twice').catch((error: unknown) => error as TransactionRefused);
  expect(refusal).toBeInstanceOf(TransactionRefused);
  expect((refusal as TransactionRefused).get('claim')?.item).toMatchObject({ iid: first.iid });
  await created('twice', 'stable');
  await mergeRequests.update(first, { state: 'closed' }, AROUND);
  await created('twice');
  const open = await mergeRequests.openFrom({ projectId, branch: 'twice' }, 10);
  expect(open.map(({ targetBranch }) => targetBranch).sort()).toEqual(['main', 'stable']);
});

test('versions are listed from the newest, page by page', async () => {
  const { mergeRequests, table } = opened.store;
  const record = await created('versions');
  for (const number of [2, 3]) await table.transact([mergeRequests.versionWrite(record, diff(number))]);
  const page = await mergeRequests.versions(record, 2);
  expect(page.items.map(({ number }) => number)).toEqual([3, 2]);
  const rest = await mergeRequests.versions(record, 2, Number(page.next));
  expect(rest.items).toEqual([diff(1)]);
});

test('an answer for an earlier head is not kept', async () => {
  const { mergeRequests } = opened.store;
  const record = await created('checked');
  const verdict = {
    headSha: diff(1).headSha,
    targetSha: 'c'.repeat(40),
    mergeable: true,
    fastForward: true,
    conflicts: [],
  };
  expect(await mergeRequests.keepVerdict(record, { ...verdict, headSha: 'd'.repeat(40) })).toBe(false);
  expect(await mergeRequests.keepVerdict(record, verdict)).toBe(true);
  const kept = await mergeRequests.get(record);
  expect(kept).toMatchObject({ verdict, version: record.version });
});

test('lists by branch and by reviewer find it in its state', async () => {
  const { mergeRequests, mergeRequestList } = opened.store;
  const record = await created('listed/branch');
  const iids = async (sources: ReturnType<typeof mergeRequestRanges.by>) => {
    const page = await mergeRequestList.page({ sources: [sources], direction: 'desc', page: 1, perPage: 5 });
    return page.items.map(({ iid }) => iid);
  };
  const bySource = (state: 'opened' | 'merged') =>
    mergeRequestRanges.by(projectId, 'source', 'listed/branch', [state]);
  expect(await iids(bySource('opened'))).toEqual([record.iid]);
  expect(await iids(mergeRequestRanges.ofPerson('reviewer', 2, ['opened'], false))).toContain(record.iid);
  await mergeRequests.update(record, { state: 'merged' }, AROUND);
  expect(await iids(bySource('opened'))).toEqual([]);
  expect(await iids(bySource('merged'))).toEqual([record.iid]);
});

test('open ones from a project, to it and to a branch are read page by page, the oldest first', async () => {
  const { mergeRequests } = opened.store;
  const author = await opened.store.users.create(newUser('paging'));
  const { id } = await createProject(opened.store, author, 'paged');
  const numbers: number[] = [];
  for (const n of [1, 2, 3, 4]) {
    const { id: mrId, iid } = await mergeRequests.allocate(id);
    const like = await proposed(`branch-${n}`, n === 2 ? 'aside' : 'main');
    const at = `2026-01-01T00:00:0${n}.000Z`;
    const record = {
      ...like,
      id: mrId,
      iid,
      projectId: id,
      source: { projectId: id, branch: `branch-${n}` },
    };
    await mergeRequests.create({ ...record, createdAt: at, updatedAt: at }, AROUND);
    if (n === 4)
      await mergeRequests.update({ ...record, createdAt: at, updatedAt: at }, { state: 'closed' }, AROUND);
    else numbers.push(iid);
  }
  const all = async (
    page: (after?: string) => Promise<{ items: readonly ({ iid: number } | undefined)[]; next?: string }>,
  ) => {
    const found: number[] = [];
    let after: string | undefined;
    do {
      const { items, next } = await page(after);
      expect(items.length).toBeLessThanOrEqual(2);
      found.push(...items.map((each) => each!.iid));
      after = next;
    } while (after !== undefined);
    return found;
  };
  expect((await all((after) => openFromProject(opened.store, id, 2, after))).toSorted()).toEqual(numbers);
  expect(await all((after) => openToProject(opened.store, id, 2, after))).toEqual(numbers);
  const toMain = { projectId: id, branch: 'main' };
  expect(await openTo(opened.store, toMain, 4)).toEqual([numbers[0], numbers[2]]);
  expect(await openTo(opened.store, toMain, 1)).toEqual([numbers[0]]);
});

test('rows of a deleted project are deleted in pages, and what is open to others is left to a worker', async () => {
  const { mergeRequests, table } = opened.store;
  const author = await opened.store.users.create(newUser('leaving'));
  const { id } = await createProject(opened.store, author, 'leaving');
  const record = {
    ...(await proposed('mine')),
    source: { projectId: id, branch: 'mine' },
    allowCollaboration: true,
  };
  await mergeRequests.create(record, AROUND);
  let pages = 1;
  while (await removeOfSource(opened.store, id, 7, 1)) pages++;
  expect(pages).toBeGreaterThan(1);
  expect((await openFromProject(opened.store, id, 10)).items).toEqual([]);
  const promised = [];
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++)
    for await (const { type, body } of table.queryAll({ partition: outboxPartition(shard) }))
      if (type === CLOSE_SOURCELESS_JOB) promised.push(body);
  const body = { mergeRequests: [{ projectId, iid: record.iid }], actorId: 7 };
  expect(promised).toEqual([body, body]);
});
