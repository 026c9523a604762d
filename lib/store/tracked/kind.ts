/** What a kind of tracked records declares: its keys, and the rows that its records are found by. */

import type { TrackedRecord } from '../../records/tracked.ts';
import type { OutboxMessage } from '../outbox/outbox.ts';
import type { CounterKind } from '../row-keys/counters.ts';
import type { Key } from '../row-keys/key.ts';
import { type FacetValue, type TitledFacet, type TrackedKeys, trackedPlace } from '../row-keys/tracked.ts';
import { userPartition } from '../row-keys/users.ts';
import type { Item, Put } from '../table/write.ts';

/** What the rows say beside the record: it changes when projects move, and labels or milestones are renamed. */
export interface Surroundings {
  /** The top-level group of its project, or the personal namespace. */
  readonly rootId: number;
  /** Titles of its labels and its milestone, by id; those without one are in no list of the root. */
  readonly labelTitles: ReadonlyMap<number, string>;
  readonly milestoneTitle?: string | undefined;
}

/** Of a record whose labels and milestone stay as they are. */
export const NO_SURROUNDINGS: Surroundings = { rootId: 0, labelTitles: new Map() };

export type Row = Item & Key;

/** Names of the fields that all tracked records have, for {@link TrackedKind.fields}. */
export const TRACKED_FIELDS = {
  id: true,
  iid: true,
  projectId: true,
  title: true,
  description: true,
  author: true,
  assigneeIds: true,
  labelIds: true,
  milestoneId: true,
  createdAt: true,
  updatedAt: true,
  updatedById: true,
  lastEdited: true,
  userNotesCount: true,
  upvotes: true,
  downvotes: true,
  version: true,
} as const satisfies Readonly<Record<keyof TrackedRecord, true>>;

export interface TrackedKind<R extends TrackedRecord, Facet extends string, Class extends string> {
  /** Also the name of its counter of ids, and of what a refused transaction misses. */
  readonly name: CounterKind;
  /** Before its number, in texts and among the words that it is found by. */
  readonly sign: string;
  readonly keys: TrackedKeys<Facet, Class>;
  readonly classes: readonly Class[];
  classOf(record: R): Class;
  /** Names of all its fields. */
  readonly fields: readonly string[];
  /** Attributes that the record has as a row, beside its fields. */
  recordIndex(record: R): Item;
  /** The row of the plain list: the only one beside the record that says when it was changed. */
  listRow(record: R, rootId: number): Row;
  /** All rows beside the record, in its partition or fixed by its id; those of words come last. They follow from it alone. */
  rows(record: R, around: Surroundings): Row[];
  /** Rows in other places that only one record at a time may have, while it is as it is; refused as `claim`. */
  claims?(record: R): readonly Put[];
  /** The job that brings the rows of a record in line: `{ projectId, iid }`. */
  readonly indexJob: string;
  /** What else is deleted in the transaction of a deletion, and is promised in it. */
  removed(record: R): { readonly keys: readonly Key[]; readonly messages: readonly OutboxMessage[] };
}

/** Builds the rows by one value, of a record. */
export function facetRows<R extends TrackedRecord, Facet extends string, Class extends string>(
  { keys, classOf }: Pick<TrackedKind<R, Facet, Class>, 'keys' | 'classOf'>,
  record: R,
  rootId: number,
) {
  const { projectId, createdAt, iid, id } = record;
  const place = trackedPlace(createdAt, iid, id);
  const listClass = classOf(record);
  const by = (facet: Facet, value: FacetValue, attributes: Item = {}): Row => ({
    ...keys.by(projectId, facet, value, listClass, place),
    ...attributes,
  });
  return {
    place,
    by,
    /** In lists of a person, too. */
    own: (facet: Facet, userId: number): Row =>
      by(facet, userId, { who: userPartition(userId), what: keys.ownPrefix(facet, listClass) + place }),
    /** In the root's list of the title, too. */
    titled: (facet: Facet & TitledFacet, value: number, title: string | undefined): Row =>
      by(
        facet,
        value,
        title === undefined ? {} : { list: keys.ofRootBy(rootId, facet, title, listClass), byId: place },
      ),
    word: (each: string): Row => ({
      ...keys.word(projectId, each, place),
      list: keys.wordsOfRoot(rootId).partition(each),
      byId: `${each}#${place}`,
      who: keys.wordsOfAll.partition(each),
      what: `${each}#${place}`,
    }),
    plain: (updatedAt: string): Row => ({
      ...keys.list(projectId, listClass, place),
      list: keys.ofRoot(rootId, listClass),
      byId: place,
      byUpdated: trackedPlace(updatedAt, iid, id),
    }),
  };
}
