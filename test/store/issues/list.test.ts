import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssueRecord } from '../../../lib/records/issues.ts';
import { Issues } from '../../../lib/store/issues/issues.ts';
import { ISSUE_KIND, issueRanges } from '../../../lib/store/issues/kind.ts';
import { Outbox } from '../../../lib/store/outbox/outbox.ts';
import { projectKey } from '../../../lib/store/row-keys/projects.ts';
import { Counters } from '../../../lib/store/table/counters.ts';
import type { Table } from '../../../lib/store/table/table.ts';
import { TrackedList } from '../../../lib/store/tracked/list.ts';
import type { PlaceRange } from '../../../lib/store/tracked/places.ts';
import { recordItem } from '../../../lib/store/tracked/records.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
  await fill(SMALL, 200);
  await fill(LARGE, 3000);
});
afterAll(() => opened.close());

/** Projects, each below a root of the same number. */
const [SMALL, LARGE] = [7, 8];
/** Everybody's label, one of every other issue, and one of the three oldest. */
const [COMMON, HALF, RARE] = [1, 2, 3];
const [ANNE, BERT] = [11, 12];

const issue = (projectId: number, iid: number): IssueRecord => ({
  id: projectId * 100_000 + iid,
  iid,
  projectId,
  title: `issue ${iid}`,
  description: null,
  state: 'opened',
  confidential: false,
  type: 'issue',
  author: { id: iid % 2 === 0 ? ANNE : BERT, username: 'u', name: 'u' },
  assigneeIds: [],
  labelIds: [COMMON, ...(iid % 2 === 0 ? [HALF] : []), ...(iid <= 3 ? [RARE] : [])],
  milestoneId: null,
  iterationId: null,
  epicId: null,
  dueDate: null,
  weight: null,
  healthStatus: null,
  severity: 'UNKNOWN',
  discussionLocked: null,
  timeEstimate: 0,
  timeSpent: 0,
  closedAt: null,
  closedById: null,
  movedTo: null,
  duplicatedTo: null,
  relativePosition: null,
  tasks: { count: 0, completed: 0 },
  createdAt: new Date(Date.UTC(2026, 0, 1) + iid * 1000).toISOString(),
  updatedAt: new Date(Date.UTC(2026, 0, 1) + iid * 1000).toISOString(),
  userNotesCount: 0,
  upvotes: 0,
  downvotes: 0,
  version: 1,
});

async function fill(projectId: number, count: number): Promise<void> {
  const around = { rootId: projectId, labelTitles: new Map() };
  const rows = Array.from({ length: count }, (_, i) => issue(projectId, i + 1)).flatMap((one) => [
    recordItem(ISSUE_KIND, one),
    ...ISSUE_KIND.rows(one, around),
  ]);
  for (let from = 0; from < rows.length; from += 100)
    await opened.store.table.transact(rows.slice(from, from + 100).map((put) => ({ put })));
}

/** What a page reads: requests, and items that they return. */
async function read(sources: (projectId: number) => PlaceRange[][], projectId: number, perPage = 20) {
  const reads = { requests: 0, items: 0 };
  const table = new Proxy(opened.store.table, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      // `queryAll` reads by queries of its own, which are counted.
      if (typeof value !== 'function' || name === 'queryAll') return value;
      return async (...given: unknown[]) => {
        const answer = (await value.apply(target, given)) as { items?: unknown[] } | unknown[];
        reads.requests++;
        reads.items += Array.isArray(answer) ? answer.length : (answer?.items?.length ?? 0);
        return answer;
      };
    },
  }) as Table;
  const list = new TrackedList(ISSUE_KIND, table, new Issues(table, new Counters(table), new Outbox(table)));
  const page = await list.page({ sources: sources(projectId), direction: 'desc', page: 1, perPage });
  return { iids: page.items.map(({ iid }) => iid), truncated: page.truncated, ...reads };
}

const OPENED = ['opened'] as const;

describe('a page of issues reads as much among 3,000 as among 200', () => {
  test.each<[string, (projectId: number) => PlaceRange[][]]>([
    ['of a project', (id) => [issueRanges.ofProject(id, OPENED)]],
    ['of a root', (id) => [issueRanges.ofRoot(id, OPENED)]],
    ['of a label', (id) => [issueRanges.by(id, 'label', COMMON, OPENED)]],
    ['of an author', (id) => [issueRanges.by(id, 'author', ANNE, OPENED)]],
  ])('%s', async (_, sources) => {
    const [small, large] = [await read(sources, SMALL), await read(sources, LARGE)];
    expect(large.requests).toBe(small.requests);
    expect(large.items).toBe(small.items);
    expect(large.requests).toBe(2);
    // Records that lie between those of the page are read with them.
    expect(large.items).toBeLessThanOrEqual(21 + 2 * 20);
    expect(large.iids).toHaveLength(20);
  });

  test('of a label and an author, at most ten times that', async () => {
    const sources = (id: number) => [
      issueRanges.by(id, 'label', COMMON, OPENED),
      issueRanges.by(id, 'author', ANNE, OPENED),
    ];
    const [small, large] = [await read(sources, SMALL), await read(sources, LARGE)];
    expect(large.iids).toEqual(Array.from({ length: 20 }, (_, i) => 3000 - 2 * i));
    expect(large.requests).toBe(small.requests);
    expect(large.items).toBeLessThanOrEqual(10 * 41);
  });
});

test('issues in a long and in a short list are found without reading the long one', async () => {
  const found = await read(
    (id) => [issueRanges.by(id, 'label', HALF, OPENED), issueRanges.by(id, 'label', RARE, OPENED)],
    LARGE,
  );
  expect(found.iids).toEqual([2]);
  expect(found.truncated).toBeUndefined();
  expect(found.items).toBeLessThan(200);
});

test('lists that share no issue have no page', async () => {
  const found = await read(
    (id) => [issueRanges.by(id, 'author', BERT, OPENED), issueRanges.by(id, 'label', HALF, OPENED)],
    SMALL,
  );
  expect(found.iids).toEqual([]);
});

test('an issue is found by its number at once, also where a worker writes the last of its rows', async () => {
  const { store } = opened;
  await store.table.put({ put: { ...projectKey(SMALL), id: SMALL, deletedAt: null } });
  const many = { ...issue(SMALL, 900), labelIds: Array.from({ length: 90 }, (_, i) => 1000 + i) };
  await store.issues.create(many, { rootId: SMALL, labelTitles: new Map() });
  const sources = [store.issueList.rangesOfNumbers(SMALL, [900])];
  const page = await store.issueList.page({ sources, direction: 'desc', page: 1, perPage: 20 });
  expect(page.items.map(({ iid }) => iid)).toEqual([900]);
});
