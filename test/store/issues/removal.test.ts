import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssueRecord } from '../../../lib/records/issues.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { TransactionRefused } from '../../../lib/store/errors.ts';
import { ISSUE_KIND } from '../../../lib/store/issues/kind.ts';
import { projectKey } from '../../../lib/store/row-keys/projects.ts';
import type { Surroundings } from '../../../lib/store/tracked/kind.ts';
import { createProject, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
let author: UserRecord;
let project: ProjectRecord;
beforeAll(async () => {
  opened = await openTestStore();
  author = await opened.store.users.create(newUser('author'));
  project = await createProject(opened.store, author, 'project');
});
afterAll(() => opened.close());

const around: Surroundings = { rootId: 1, labelTitles: new Map() };

/** An issue with more rows than one transaction takes. */
async function labelled(): Promise<IssueRecord> {
  const { issues } = opened.store;
  const at = '2026-01-01T00:00:00.000Z';
  const issue: IssueRecord = {
    ...(await issues.allocate(project.id)),
    projectId: project.id,
    title: 'many labels',
    description: null,
    state: 'opened',
    confidential: false,
    type: 'issue',
    author: { id: author.id, username: author.username, name: author.name },
    assigneeIds: [],
    labelIds: Array.from({ length: 150 }, (_, i) => i + 1),
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
    createdAt: at,
    updatedAt: at,
    userNotesCount: 0,
    upvotes: 0,
    downvotes: 0,
    version: 1,
  };
  await issues.create(issue, around);
  await issues.index(issue, async () => around);
  return (await issues.get(issue))!;
}

const stored = async (issue: IssueRecord): Promise<number> => {
  const rows = await opened.store.table.batchGet(ISSUE_KIND.rows(issue, around));
  return rows.filter((row) => row !== undefined).length;
};

test('an issue with more rows than a transaction takes is deleted with all of them', async () => {
  const issue = await labelled();
  expect(await stored(issue)).toBe(156);
  await opened.store.issues.remove(issue, around);
  expect(await opened.store.issues.get(issue)).toBeUndefined();
  expect(await stored(issue)).toBe(0);
});

test('where the deletion of such an issue is refused, the job writes the rows again that were deleted', async () => {
  const { issues } = opened.store;
  const issue = await labelled();
  const refused = { check: projectKey(project.id), if: 'attribute_not_exists(#pk)', reason: 'refused' };
  await expect(issues.remove(issue, around, { alongside: [refused] })).rejects.toBeInstanceOf(
    TransactionRefused,
  );
  expect(await stored(issue)).toBeLessThan(156);
  await issues.index(issue, async () => around);
  expect(await stored(issue)).toBe(156);
});
