import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PipelineRecord, ReportedState } from '../../../lib/records/pipelines.ts';
import { LimitReached, Missing, Stale } from '../../../lib/store/errors.ts';
import type { ListedStatus } from '../../../lib/store/jobs/commit-statuses.ts';
import { type CommitStatusRecord, MAX_STATUSES } from '../../../lib/store/pipelines/reported-statuses.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let projectId: number;
beforeAll(async () => {
  opened = await openTestStore();
  const owner = await opened.store.users.create(newUser('ada'));
  projectId = (await createProject(opened.store, owner, 'thing')).id;
});
afterAll(() => opened.close());

const SHA = 'a'.repeat(40);
const author = { id: 1, username: 'ada', name: 'Ada' };
const at = '2026-01-01T00:00:00.000Z';

let made = 0;
function pipeline(ref: string, more: Partial<PipelineRecord> = {}): PipelineRecord {
  const id = ++made;
  const fresh = { id, iid: id, projectId, sha: SHA, ref, source: 'external', status: 'running' } as const;
  const times = { createdAt: at, updatedAt: at, startedAt: at, finishedAt: null };
  return { ...fresh, states: { running: 1 }, statuses: 1, author, ...times, version: 1, ...more };
}
function status(of: PipelineRecord, name: string, state: ReportedState = 'running'): CommitStatusRecord {
  const place = { projectId, pipelineId: of.id, sha: SHA, ref: of.ref, stage: 'external' };
  const told = { targetUrl: null, description: null, coverage: null, author };
  return { id: ++made, ...place, name, state, ...told, createdAt: at, startedAt: at, finishedAt: null };
}

const reported = (listed: ListedStatus) => {
  if (listed.kind !== 'reported') throw new Error('a job');
  return listed.status;
};
const idOf = (listed: ListedStatus) => reported(listed).id;
const nameOf = (listed: ListedStatus) => reported(listed).name;

test('of two concurrent first statuses for a commit and ref one creates the pipeline', async () => {
  const { pipelines, reportedStatuses } = opened.store;
  const rivals = [pipeline('main'), pipeline('main')];
  const outcomes = await Promise.allSettled(
    rivals.map((one) =>
      reportedStatuses.write({
        pipeline: one,
        previous: undefined,
        status: status(one, 'n'),
        current: undefined,
      }),
    ),
  );
  expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).toBeInstanceOf(Stale);
  const winner = rivals[outcomes.findIndex((outcome) => outcome.status === 'fulfilled')]!;
  expect(await pipelines.ofRef(projectId, SHA, 'main')).toEqual(winner);
  expect((await reportedStatuses.current(winner, 'n'))?.pipelineId).toBe(winner.id);
});

test('of two statuses based on the same version of a pipeline one is refused', async () => {
  const { pipelines, reportedStatuses, commitStatuses } = opened.store;
  const previous = pipeline('race');
  const first = status(previous, 'n');
  await reportedStatuses.write({
    pipeline: previous,
    previous: undefined,
    status: first,
    current: undefined,
  });
  const next = { ...previous, version: 2, updatedAt: '2026-01-02T00:00:00.000Z' };
  const rivals = [
    { pipeline: next, previous, status: { ...first, state: 'success' as const }, current: first },
    { pipeline: { ...next, statuses: 2 }, previous, status: status(previous, 'n', 'failed'), current: first },
    { pipeline: { ...next, statuses: 2 }, previous, status: status(previous, 'other'), current: undefined },
  ];
  const outcomes = await Promise.allSettled(rivals.map((rival) => reportedStatuses.write(rival)));
  const won = outcomes.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [i] : []));
  expect(won.length).toBe(1);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(Stale);
  // The refused ones left nothing.
  const page = { page: 1, perPage: 10, count: true };
  const listed = await commitStatuses.page(projectId, SHA, { all: true, ref: 'race' }, page);
  expect(listed.items.map(idOf)).toEqual([...new Set([first.id, rivals[won[0]!]!.status.id])]);
  expect(await pipelines.get(projectId, SHA, previous.id)).toEqual(rivals[won[0]!]!.pipeline);
});

test('a list of statuses reads only its page', async () => {
  const { reportedStatuses, commitStatuses } = opened.store;
  const sha = 'b'.repeat(40);
  let previous: PipelineRecord | undefined;
  for (let n = 0; n < 30; n++) {
    const next: PipelineRecord = previous
      ? { ...previous, version: previous.version + 1 }
      : { ...pipeline('main'), sha };
    // Half of them are replaced by a newer status of the same name.
    const current = previous && n >= 15 ? await reportedStatuses.current(previous, `n${n - 15}`) : undefined;
    const one = { ...status(next, `n${n % 15}`), sha };
    await reportedStatuses.write({ pipeline: next, previous, status: one, current });
    previous = next;
  }
  opened.reset();
  const latest = await commitStatuses.page(
    projectId,
    sha,
    { all: false },
    { page: 2, perPage: 5, count: true },
  );
  expect(latest.items.map(nameOf)).toEqual(['n5', 'n6', 'n7', 'n8', 'n9']);
  expect([latest.total, latest.more]).toEqual([15, true]);
  // Pipelines of the commit, keys, the page; another read for the count beyond the first keys.
  expect(opened.operations.length).toBe(4);
  const all = await commitStatuses.page(
    projectId,
    sha,
    { all: true },
    { page: 1, perPage: 100, count: true },
  );
  expect([all.items.length, all.total]).toEqual([30, 30]);
  // A place that is none of a list of statuses, as a caller may make it up.
  const rows = { after: { sort: '~', id: idOf(all.items[9]!) }, ended: () => {} };
  opened.reset();
  const behind = await commitStatuses.page(projectId, sha, { all: true }, { page: 1, perPage: 5, rows });
  expect(behind.items.map(idOf)).toEqual(all.items.slice(10, 15).map(idOf));
  expect(opened.operations.length).toBe(3);
});

test('statuses above the limit or of a deleted project are refused', async () => {
  const { reportedStatuses } = opened.store;
  const full = pipeline('full', { statuses: MAX_STATUSES + 1 });
  const write = (one: PipelineRecord) =>
    reportedStatuses.write({
      pipeline: one,
      previous: undefined,
      status: status(one, 'n'),
      current: undefined,
    });
  await expect(write(full)).rejects.toBeInstanceOf(LimitReached);
  await expect(write({ ...pipeline('gone'), projectId: 999 })).rejects.toBeInstanceOf(Missing);
});
