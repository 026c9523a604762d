import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NOTE_CLASSES, type NoteClass, type NoteRecord } from '../../../lib/records/notes.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import { noteWrites } from '../../../lib/store/notes/notes.ts';
import { createProject, measured, newUser, openTestStore, type TestStore } from '../table/store-fixture.ts';

const MANY = 3_000;
/** Notes of one transaction: three rows each and those of two words, and the count. */
const AT_ONCE = 18;
const FEW = 20;

let opened: TestStore;
let project: ProjectRecord;
beforeAll(async () => {
  opened = await openTestStore();
  const owner = await opened.store.users.create(newUser('Owner'));
  project = await createProject(opened.store, owner, 'owner/talk');
  await talk(1, FEW);
  await talk(2, MANY);
});
afterAll(() => opened.close());

let next = 1;

/** An issue with notes of 2 KB each. */
async function talk(issue: number, count: number): Promise<void> {
  const notes = Array.from({ length: count }, (_, n): NoteRecord => {
    const at = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
    return {
      id: next++,
      projectId: project.id,
      noteable: { kind: 'issue', id: issue },
      iid: issue,
      body: `${n} ${'x'.repeat(2_000)}`,
      author: { id: project.ownerId!, username: 'owner', name: 'Owner' },
      line: null,
      ...(n % 10 === 9 ? { internal: true } : {}),
      ...(n % 10 === 8 ? { system: 'title' } : {}),
      createdAt: at,
      updatedAt: at,
    };
  });
  for (let from = 0; from < count; from += AT_ONCE)
    await opened.store.table.transact(noteWrites(...notes.slice(from, from + AT_ONCE)));
}

const on = (id: number, classes: readonly NoteClass[] = NOTE_CLASSES) =>
  ({ projectId: project.id, noteable: { kind: 'issue', id }, classes }) as const;
const PAGE = { page: 1, perPage: 20 };

describe('a page of notes costs the same among twenty and among thousands', () => {
  test.each(['createdAt', 'updatedAt'] as const)('by %s', async (by) => {
    for (const direction of ['asc', 'desc'] as const) {
      const page = (id: number) =>
        measured(opened, () => opened.store.notes.page(on(id), { by, direction }, PAGE));
      const [few, many] = [await page(1), await page(2)];
      expect([few.value.items.length, few.value.total, few.value.more]).toEqual([FEW, FEW, false]);
      expect([many.value.items.length, many.value.total, many.value.more]).toEqual([20, MANY, true]);
      expect(many.requests).toBe(few.requests);
      // The first keys of each class, whatever is behind them.
      expect(many.units - few.units).toBeLessThanOrEqual(5);
    }
  });

  test('of discussions too', async () => {
    const page = (id: number) => measured(opened, () => opened.store.discussions.page(on(id), PAGE));
    const [few, many] = [await page(1), await page(2)];
    expect(many.value.items.map(({ firstId }) => firstId)).toHaveLength(20);
    expect([few.requests, few.value.total]).toEqual([many.requests, FEW]);
    expect(many.units - few.units).toBeLessThanOrEqual(10);
  });
});

test('pages follow each other without a gap, for readers of each class', async () => {
  for (const classes of [['comment', 'internal', 'system'], ['comment'], ['comment', 'system']] as const) {
    const seen: number[] = [];
    for (let page = 1; ; page++) {
      const { items, total, more } = await opened.store.notes.page(
        on(2, classes),
        { by: 'createdAt', direction: 'desc' },
        { page, perPage: 100 },
      );
      seen.push(...items.map(({ id }) => id));
      expect(total).toBe((MANY / 10) * (classes.length === 3 ? 10 : 7 + classes.length));
      if (!more) break;
    }
    expect(seen).toHaveLength((MANY / 10) * (classes.length === 3 ? 10 : 7 + classes.length));
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
  }
});
