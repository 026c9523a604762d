/** A group's record as an item, with the attributes of its lists. */
import { dirname } from 'node:path/posix';
import type { GroupRecord } from '../../records/groups.ts';
import type { Visibility } from '../../records/visibility.ts';
import { groupKey } from '../row-keys/groups.ts';
import { folded, type Key, orderedBy, padded } from '../row-keys/key.ts';
import { listPartition } from '../row-keys/lists.ts';
import type { Item } from '../table/write.ts';

/** Which list a group stands in. */
export const groupClass = (visibility: Visibility): string => `GROUP#${visibility}`;

const LIST_ATTRIBUTES = ['list', 'byId', 'byName', 'byPath'];

/** What lists find a group by; a deleted one stands in none. */
export const groupListAttributes: readonly string[] = LIST_ATTRIBUTES;

/** Their places in the orders of lists. */
export const groupOrders = ({ id, name, fullPath }: Pick<GroupRecord, 'id' | 'name' | 'fullPath'>) => ({
  byName: orderedBy(folded(name), id),
  byPath: orderedBy(folded(fullPath), id),
});

const sortValues = (group: GroupRecord) => ({ byId: padded(group.id), ...groupOrders(group) });

export function groupItem(group: GroupRecord): Item & Key {
  const { id, visibility, deletedAt } = group;
  const lists =
    deletedAt === null ? { list: listPartition(groupClass(visibility), id), ...sortValues(group) } : {};
  return { ...groupKey(id), ...group, ...lists };
}

/** Also what a change of visibility under way leaves beside the record. */
const NOT_OF_RECORD = new Set(['pk', 'sk', 'w', 'ceiling', 'ceilingUntil', ...LIST_ATTRIBUTES]);

export function groupOf(item: Item | undefined): GroupRecord | undefined {
  if (item === undefined) return undefined;
  const record = Object.entries(item).filter(([name]) => !NOT_OF_RECORD.has(name));
  return Object.fromEntries(record) as unknown as GroupRecord;
}

/**
 * Whether the groups above may have no rows yet of what is inside. Another group may have taken the path that the former
 * parent left.
 */
export const isArriving = ({ movedFrom, fullPath }: GroupRecord): boolean =>
  movedFrom !== null && (dirname(movedFrom) !== dirname(fullPath) || movedFrom === fullPath);
