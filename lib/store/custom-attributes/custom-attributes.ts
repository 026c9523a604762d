/**
 * Custom attributes, which administrators set on users, groups and projects: values by name. All attributes of a
 * subject are in one row beside its record, so that a page of a list reads one row per subject. In addition, each
 * attribute has a row of its own, which an index finds by its value.
 */

import type { Subject } from '../../records/subject.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { attributeKey, attributePartition, attributesKey } from '../row-keys/custom-attributes.ts';
import { groupKey } from '../row-keys/groups.ts';
import { padded } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import { ABOUT } from '../row-keys/subjects.ts';
import { userKey } from '../row-keys/users.ts';
import { deletePage } from '../table/delete-page.ts';
import { type IdSource, idsOfIndex } from '../table/id-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, type Item, PRESENT, type Write } from '../table/write.ts';

export type Attributes = Readonly<Record<string, string>>;

/** Each has at most 255 characters, so the attributes of a subject stay below the 400 KB of a row. */
export const MAX_ATTRIBUTES = 100;
const ATTEMPTS = 10;

export class CustomAttributes {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns the attributes of a subject, in one read. */
  async get(subject: Subject): Promise<Attributes> {
    return attributesOf(await this.#table.get(attributesKey(subject)));
  }

  /** Returns the attributes of several subjects, in the order of the ids. */
  async getMany(kind: Subject['kind'], ids: readonly number[]): Promise<Attributes[]> {
    return (await this.#table.batchGet(ids.map((id) => attributesKey({ kind, id })))).map(attributesOf);
  }

  /** @throws Missing when the subject is gone, LimitReached, Stale */
  set(subject: Subject, name: string, value: string): Promise<void> {
    const row: Write = {
      put: {
        ...attributeKey(subject, name),
        who: attributePartition(subject.kind, name, value),
        what: padded(subject.id),
      },
    };
    return this.#change(subject, row, (present) => {
      const changed = { ...present, [name]: value };
      if (Object.keys(changed).length > MAX_ATTRIBUTES)
        throw new LimitReached('custom attributes', MAX_ATTRIBUTES);
      return changed;
    });
  }

  /** @returns false when the subject has no such attribute. @throws Missing when the subject is gone, Stale */
  async remove(subject: Subject, name: string): Promise<boolean> {
    let had = true;
    await this.#change(subject, { delete: attributeKey(subject, name) }, (present) => {
      had = Object.hasOwn(present, name);
      const { [name]: _, ...rest } = present;
      return rest;
    });
    return had;
  }

  async #change(subject: Subject, row: Write, change: (present: Attributes) => Attributes): Promise<void> {
    for (let n = 0; n < ATTEMPTS; n++) {
      const before = await this.#table.get(attributesKey(subject));
      const attributes = change(attributesOf(before));
      const version = (before?.['version'] as number | undefined) ?? 0;
      try {
        await this.#table.transact([
          subjectIsThere(subject),
          {
            put: { ...attributesKey(subject), attributes, version: version + 1 },
            ...(version === 0 ? { if: ABSENT } : { if: '#version = :version', values: { version } }),
            reason: 'attributes',
          },
          row,
        ]);
        return;
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
        if (error.has('subject')) throw new Missing(subject.kind);
      }
    }
    throw new Stale('custom attributes');
  }
}

const attributesOf = (row: Item | undefined): Attributes =>
  (row?.['attributes'] as Attributes | undefined) ?? {};

/**
 * Returns ids of subjects that have the first of the attributes. The index may be late and knows only this one: filter
 * the result with {@link haveAllAttributes}.
 */
export function idsWithAttributes(table: Table, kind: Subject['kind'], attributes: Attributes): IdSource {
  const [[name, value] = ['', '']] = Object.entries(attributes);
  return idsOfIndex(table, attributePartition(kind, name, value));
}

/** Returns which of the subjects have all of the attributes. Reads nothing when none are wanted. */
export async function haveAllAttributes(
  table: Table,
  kind: Subject['kind'],
  ids: readonly number[],
  wanted: Attributes | undefined,
): Promise<boolean[]> {
  if (wanted === undefined) return ids.map(() => true);
  const rows = await table.batchGet(ids.map((id) => attributesKey({ kind, id })));
  return rows.map((row) => {
    const has = attributesOf(row);
    return Object.entries(wanted).every(([name, value]) => has[name] === value);
  });
}

/** Deletes the attributes and the avatar of a deleted subject. @returns whether any rows remain */
export const removeAbout = (table: Table, subject: Subject, limit = 200): Promise<boolean> =>
  deletePage(table, { partition: attributesKey(subject).pk, prefix: ABOUT, limit });

const recordKey = { user: userKey, group: groupKey, project: projectKey } as const;

const subjectIsThere = ({ kind, id }: Subject): Check => ({
  check: recordKey[kind](id),
  if: kind === 'user' ? PRESENT : `${PRESENT} AND attribute_type(#deletedAt, :null)`,
  ...(kind === 'user' ? {} : { values: { null: 'NULL' } }),
  reason: 'subject',
});
