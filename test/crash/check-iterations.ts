import type { IterationRecord } from '../../lib/records/iterations.ts';
import {
  iterationCountKey,
  iterationIidKey,
  iterationListKey,
  iterationsPartition,
  iterationTitleKey,
} from '../../lib/store/row-keys/iterations.ts';
import { containersOf } from './check-labels.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Each iteration has a row for its title, its number and its place in the list, and no day of another of its group. */
export const iterations = rowCheck(
  ['iteration', 'iteration-of-group', 'iteration-count', 'iteration-schedule'],
  function* (rows) {
    const records = rows.of('ITERATION#') as unknown as readonly (Row & IterationRecord)[];
    const recordsOf = Map.groupBy(records, ({ container }) => iterationsPartition(container));
    const entriesOf = Map.groupBy(
      rows.of('ITERATIONS#').filter(({ sk }) => sk !== 'COUNT' && sk !== 'SCHEDULE'),
      ({ pk }) => pk,
    );
    for (const container of [...containersOf(rows)].filter(({ kind }) => kind === 'group')) {
      const partition = iterationsPartition(container);
      const held = recordsOf.get(partition) ?? [];
      const expected = new Map(
        held.flatMap((record) =>
          [
            iterationTitleKey(container, record.title),
            iterationIidKey(container, record.iid),
            iterationListKey(container, record),
          ].map((key) => [keyText(key), record.id] as const),
        ),
      );
      for (const entry of entriesOf.get(partition) ?? []) {
        if (expected.get(keyText(entry)) !== entry['iterationId'])
          yield `${keyText(entry)} is of no iteration`;
        expected.delete(keyText(entry));
      }
      for (const [key, id] of expected) yield `iteration ${id} lacks the row ${key}`;
      const ordered = held.toSorted((a, b) => (a.startDate < b.startDate ? -1 : 1));
      for (const [i, { id, startDate }] of ordered.entries())
        if (i > 0 && ordered[i - 1]!.dueDate >= startDate) yield `iteration ${id} overlaps the one before`;
      const { total = 0, iid = 0 } = (rows.get(iterationCountKey(container)) ?? {}) as {
        readonly total?: number;
        readonly iid?: number;
      };
      if (total !== held.length) yield `${partition} counts ${total} of ${held.length}`;
      if (held.some((record) => record.iid > iid)) yield `${partition} has numbers above ${iid}`;
    }
  },
);
