/** A group's record as a table item, with its index attributes. */
import { basename, dirname } from 'node:path/posix';
import type { GroupRecord } from '../../records/groups.ts';
import type { Visibility } from '../../records/visibility.ts';
import { groupKey } from '../row-keys/groups.ts';
import { folded, type Key, orderedBy, padded } from '../row-keys/key.ts';
import { listPartition } from '../row-keys/lists.ts';
import type { Item } from '../table/write.ts';

/** The list a group is in. */
export const groupClass = (visibility: Visibility): string => `GROUP#${visibility}`;

const LIST_ATTRIBUTES = ['list', 'byId', 'byName', 'byPath'];

/** Index attributes of a group; a deleted one has none. */
export const groupListAttributes: readonly string[] = LIST_ATTRIBUTES;

/** Sort keys of groups in lists; a path is its last segment. */
export const groupOrders = ({ id, name, fullPath }: Pick<GroupRecord, 'id' | 'name' | 'fullPath'>) => ({
  byName: orderedBy(folded(name), id),
  byPath: orderedBy(folded(basename(fullPath)), id),
});

const sortValues = (group: GroupRecord) => ({ byId: padded(group.id), ...groupOrders(group) });

export function groupItem(group: GroupRecord): Item & Key {
  const { id, visibility, deletedAt } = group;
  const lists =
    deletedAt === null ? { list: listPartition(groupClass(visibility), id), ...sortValues(group) } : {};
  return { ...groupKey(id), ...group, ...lists };
}

/** Includes the attributes of a visibility change in progress. */
const NOT_OF_RECORD = new Set(['pk', 'sk', 'w', 'ceiling', 'ceilingUntil', ...LIST_ATTRIBUTES]);

export function groupOf(item: Item | undefined): GroupRecord | undefined {
  if (item === undefined) return undefined;
  const record = Object.entries(item).filter(([name]) => !NOT_OF_RECORD.has(name));
  return Object.fromEntries(record) as unknown as GroupRecord;
}

/**
 * Whether the new ancestors of a moved group may lack rows of its descendants. `movedFrom` may equal `fullPath`: another
 * group may have taken the path of the previous parent.
 */
export const isArriving = ({ movedFrom, fullPath }: GroupRecord): boolean =>
  movedFrom !== null && (dirname(movedFrom) !== dirname(fullPath) || movedFrom === fullPath);
