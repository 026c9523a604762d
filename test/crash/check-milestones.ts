import type { MilestoneRecord, MilestoneState } from '../../lib/records/milestones.ts';
import {
  milestoneCountKey,
  milestoneIidKey,
  milestoneListKey,
  milestonesPartition,
  milestoneTitleKey,
} from '../../lib/store/row-keys/milestones.ts';
import { containersOf } from './check-labels.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Each milestone has a row for its title, its number and its place in the list, and is counted by its state. */
export const milestones = rowCheck(
  ['milestone', 'milestone-of-container', 'milestone-count'],
  function* (rows) {
    const records = rows.of('MILESTONE#') as unknown as readonly (Row & MilestoneRecord)[];
    const recordsOf = Map.groupBy(records, ({ container }) => milestonesPartition(container));
    const entriesOf = Map.groupBy(
      rows.of('MILESTONES#').filter(({ sk }) => sk !== 'COUNT'),
      ({ pk }) => pk,
    );
    for (const container of containersOf(rows)) {
      const partition = milestonesPartition(container);
      const held = recordsOf.get(partition) ?? [];
      const expected = new Map(
        held.flatMap((record) =>
          [
            milestoneTitleKey(container, record.title),
            milestoneIidKey(container, record.iid),
            milestoneListKey(container, record),
          ].map((key) => [keyText(key), record.id] as const),
        ),
      );
      for (const entry of entriesOf.get(partition) ?? []) {
        if (expected.get(keyText(entry)) !== entry['milestoneId'])
          yield `${keyText(entry)} is of no milestone`;
        expected.delete(keyText(entry));
      }
      for (const [key, id] of expected) yield `milestone ${id} lacks the row ${key}`;
      const {
        total = 0,
        iid = 0,
        ...of
      } = (rows.get(milestoneCountKey(container)) ?? {}) as Partial<
        Record<MilestoneState | 'total' | 'iid', number>
      >;
      const states = { active: 0, closed: 0 };
      for (const { state } of held) states[state]++;
      const counts = `${total}: ${of.active ?? 0} and ${of.closed ?? 0}`;
      const wanted = `${held.length}: ${states.active} and ${states.closed}`;
      if (counts !== wanted) yield `${partition} counts ${counts} of ${wanted}`;
      if (held.some((record) => record.iid > iid)) yield `${partition} has numbers above ${iid}`;
    }
  },
);
