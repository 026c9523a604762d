import type { SearchKind } from '../../records/search.ts';
import { groupKey } from './groups.ts';
import { type Key, padded } from './key.ts';
import { projectKey } from './projects.ts';
import { userKey } from './users.ts';

/** What the search rows of a subject were made from, so that they can be taken away again. */
export const indexedKey = (kind: SearchKind, id: number): Key => ({
  pk: { project: projectKey, user: userKey, group: groupKey }[kind](id).pk,
  sk: 'INDEXED',
});

export const gramKey = (kind: SearchKind, gram: string, id: number): Key => ({
  pk: `GRAM#${kind}#${gram}`,
  sk: padded(id),
});
