import type { SearchKind } from '../../records/search.ts';
import type { IndexName } from '../table/schema.ts';
import { groupKey } from './groups.ts';
import { type Key, padded } from './key.ts';
import { projectKey } from './projects.ts';
import type { RowKind } from './row-kind.ts';
import { snippetKey } from './snippets.ts';
import { userKey } from './users.ts';

/** The texts that a subject's search rows were made from, so that the rows can be deleted. */
export const indexedKey = (kind: SearchKind, id: number): Key => ({
  pk: { project: projectKey, user: userKey, group: groupKey, snippet: snippetKey }[kind](id).pk,
  sk: 'INDEXED',
});

export const gramKey = (kind: SearchKind, gram: string, id: number): Key => ({
  pk: `GRAM#${kind}#${gram}`,
  sk: padded(id),
});

// Rows of words are below what has the text, in its own partition: the word, then the place in the order of creation. A
// word has letters and digits only, or is a number behind `#`: the `#` after it ends it.

/** Where rows of words are found. */
export interface WordRows {
  readonly index?: Extract<IndexName, 'byId' | 'byUser'>;
  readonly partition: (word: string) => string;
  /** Of the sort key, before the word. */
  readonly prefix: string;
}

/** Characters that a word has to have in common with words that begin with it. */
export const LEAST_BEGINNING = 3;

/** Partitions of an index have the words of one beginning. */
export const beginningOf = (word: string): string => Array.from(word).slice(0, LEAST_BEGINNING).join('');

export const rowKinds = [
  {
    name: 'indexed-texts',
    partitions: ['PROJECT#', 'GROUP#', 'USER#', 'SNIPPET#'],
    keys: { indexedKey },
    of: ['project', 'group', 'user'],
  },
  { name: 'search-gram', partitions: ['GRAM#'], keys: { gramKey }, of: ['project', 'group', 'user'] },
] as const satisfies readonly RowKind[];
