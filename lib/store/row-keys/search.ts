import type { SearchKind } from '../../records/search.ts';
import { groupKey } from './groups.ts';
import { type Key, padded } from './key.ts';
import { projectKey } from './projects.ts';
import type { RowKind } from './row-kind.ts';
import { userKey } from './users.ts';

/** The texts that a subject's search rows were made from, so that the rows can be deleted. */
export const indexedKey = (kind: SearchKind, id: number): Key => ({
  pk: { project: projectKey, user: userKey, group: groupKey }[kind](id).pk,
  sk: 'INDEXED',
});

export const gramKey = (kind: SearchKind, gram: string, id: number): Key => ({
  pk: `GRAM#${kind}#${gram}`,
  sk: padded(id),
});

export const rowKinds = [
  {
    name: 'indexed-texts',
    partitions: ['PROJECT#', 'GROUP#', 'USER#'],
    keys: { indexedKey },
    of: ['project', 'group', 'user'],
  },
  { name: 'search-gram', partitions: ['GRAM#'], keys: { gramKey }, of: ['project', 'group', 'user'] },
] as const satisfies readonly RowKind[];
