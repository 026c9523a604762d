import type { TrackedAddress } from '../../records/tracked.ts';
import { digestOf, type Key, padded, wholeOrDigest } from './key.ts';
import { beginningOf, type WordRows } from './search.ts';

// Issues and merge requests: the records of a project and the rows that lists of them are read from. An index row ends in
// a place, the time of creation with both numbers, so that it leads to the record, and all sources of a list sort alike.

/**
 * Position in the order of creation, also among those of other projects.
 * @param createdAt ISO 8601; for another order another time, or a position in an order that people arrange
 */
export const trackedPlace = (createdAt: string, iid: number, id: number): string =>
  `${createdAt}#${padded(iid)}#${padded(id)}`;

const PLACE_LENGTH = 24 + 1 + 12 + 1 + 12;

/** The place at the end of a key. */
export const placeOf = (keyPart: string): string => keyPart.slice(-PLACE_LENGTH);

/** The number in its project, from a key that ends in a place. */
export const iidOf = (keyPart: string): number => Number(keyPart.slice(-25, -13));

/** Rows of words. */
export const TRACKED_WORDS = 'WORD#';

/** The plain lists of all classes. */
export const TRACKED_LISTS = 'LIST#';

/** The number among the words that it is found by. @param sign `#` of issues, `!` of merge requests */
export const numberWord = (sign: string, iid: number): string => `${sign}${iid}`;

/** The class, from the sort key of a row of one value. */
export const listClassOf = (sortKey: string): string => sortKey.split('#')[3]!;

/** The value, from the sort key of a row of one value that is an id. */
export const facetValueOf = (sortKey: string): number => Number(sortKey.split('#')[2]);

/** Values of facets: ids, or names such as those of branches. */
export type FacetValue = number | string;

const valueKey = (value: FacetValue): string => (typeof value === 'number' ? padded(value) : digestOf(value));

/** Whose title is in the rows, so that a root lists by it. */
export type TitledFacet = 'label' | 'milestone';

/**
 * The keys of one kind.
 * @param names beginnings of its keys: `plural` of partitions, `one` of records
 */
export function trackedKeys<Facet extends string, Class extends string>(names: {
  readonly plural: string;
  readonly one: string;
}) {
  const { plural, one } = names;
  const partition = (projectId: number): string => `${plural}#${padded(projectId)}`;
  const recordPrefix = `${one}#`;
  /** All rows of a facet. */
  const facetPrefix = (facet: Facet): string => `BY#${facet}#`;
  /** All rows of one value, of every class. */
  const valuePrefix = (facet: Facet, value: FacetValue): string => `BY#${facet}#${valueKey(value)}#`;
  const byPrefix = (facet: Facet, value: FacetValue, listClass: Class): string =>
    `${valuePrefix(facet, value)}${listClass}#`;
  const listPrefix = (listClass: Class): string => `${TRACKED_LISTS}${listClass}#`;
  const rootPrefix = `${plural}#ROOT#`;
  return {
    partition,
    recordPrefix,
    facetPrefix,
    valuePrefix,
    byPrefix,
    listPrefix,
    record: ({ projectId, iid }: TrackedAddress): Key => ({
      pk: partition(projectId),
      sk: recordPrefix + padded(iid),
    }),
    list: (projectId: number, listClass: Class, place: string): Key => ({
      pk: partition(projectId),
      sk: listPrefix(listClass) + place,
    }),
    by: (projectId: number, facet: Facet, value: FacetValue, listClass: Class, place: string): Key => ({
      pk: partition(projectId),
      sk: byPrefix(facet, value, listClass) + place,
    }),
    /** One that has a word, whatever its class. */
    word: (projectId: number, word: string, place: string): Key => ({
      pk: partition(projectId),
      sk: `${TRACKED_WORDS}${word}#${place}`,
    }),
    /** How many a project has, by class. */
    count: (projectId: number): Key => ({ pk: partition(projectId), sk: 'COUNT' }),
    /** The last number given in a project. */
    iid: (projectId: number): Key => ({ pk: partition(projectId), sk: 'IID' }),
    /** Leads from an id to its project and number. */
    id: (id: number): Key => ({ pk: `${one}ID#${padded(id)}`, sk: `${one}ID` }),

    /** Attribute `what` of the rows that `byUser` finds, before the place. */
    ownPrefix: (facet: Facet, listClass: Class): string => `${one}#${facet}#${listClass}#`,
    /** The same of all that a user is assigned to, of every class. */
    assignedPrefix: `${one}#assignee#`,

    // Partitions of `list`.
    ofProject: (projectId: number, listClass: Class): string => `${partition(projectId)}#${listClass}`,
    /** @param rootId the top-level group, or the personal namespace */
    ofRoot: (rootId: number, listClass: Class): string => `${rootPrefix}${padded(rootId)}#${listClass}`,
    /** Of one label or milestone of a root, by its title. */
    ofRootBy: (rootId: number, facet: TitledFacet, title: string, listClass: Class): string =>
      `${rootPrefix}${padded(rootId)}#${facet}#${wholeOrDigest(title)}#${listClass}`,
    /** Of one value in all projects, such as an epic: it is in one group, so its id is enough. */
    ofValue: (facet: Facet, id: number, listClass: Class): string =>
      `${plural}#${facet}#${padded(id)}#${listClass}`,
    /** Of the instance, before the shard. */
    ofAll: (listClass: Class): string => `${plural}#all#${listClass}`,
    /** The same list of another root. */
    underRoot: (list: string, rootId: number): string =>
      list.startsWith(rootPrefix)
        ? rootPrefix + padded(rootId) + list.slice(rootPrefix.length + padded(rootId).length)
        : list,

    wordsOfProject: (projectId: number): WordRows => ({
      partition: () => partition(projectId),
      prefix: TRACKED_WORDS,
    }),
    /** The same rows below a root, in `list` and `byId`. */
    wordsOfRoot: (rootId: number): WordRows => ({
      index: 'byId',
      partition: (word) => `${rootPrefix}${padded(rootId)}#word#${beginningOf(word)}`,
      prefix: '',
    }),
    /** The same rows of the instance, in `who` and `what`. */
    wordsOfAll: {
      index: 'byUser',
      partition: (word) => `${plural}#WORD#${beginningOf(word)}`,
      prefix: '',
    } satisfies WordRows as WordRows,
  };
}

export type TrackedKeys<Facet extends string, Class extends string> = ReturnType<
  typeof trackedKeys<Facet, Class>
>;
