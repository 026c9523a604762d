import type { EpicRecord } from '../../lib/records/epics.ts';
import { indexOf } from '../../lib/store/epics/epics.ts';
import { epicCountKey, epicIidKey, epicKey, epicsPartition } from '../../lib/store/row-keys/epics.ts';
import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Each epic is found by its number in its group, which counts it, and stands in the lists that its record says. */
export const epics = rowCheck(['epic', 'epic-of-group', 'epic-count'], function* (rows) {
  const records = rows.of('EPIC#') as unknown as readonly (Row & EpicRecord)[];
  const held = Map.groupBy(records, ({ container }) => epicsPartition(container));
  for (const record of records) {
    const { id, iid, container } = record;
    if (rows.get(groupKey(container.id)) === undefined) yield `epic ${id} is of a group that does not exist`;
    if (rows.get(epicIidKey(container, iid))?.['epicId'] !== id)
      yield `epic ${id} is not found by its number`;
    for (const [name, value] of Object.entries(indexOf(record)))
      if ((record as unknown as Row)[name] !== value) yield `epic ${id} has another ${name}`;
    const count = rows.get(epicCountKey(container));
    const of = held.get(epicsPartition(container))!.length;
    if (count?.['total'] !== of) yield `group ${container.id} counts ${count?.['total']} epics of ${of}`;
    if ((count?.['iid'] as number) < iid) yield `group ${container.id} has numbers above ${count?.['iid']}`;
  }
  for (const row of rows.of('EPICS#').filter(({ sk }) => sk !== 'COUNT'))
    if (rows.get(epicKey(row['epicId'] as number)) === undefined) yield `${keyText(row)} leads to no epic`;
});
