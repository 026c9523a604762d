/** The rows of records that have a label, milestone, iteration or epic, for changes that all such records have to follow. */

import type { TrackedAddress } from '../../records/tracked.ts';
import { ConditionFailed } from '../errors.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import {
  facetValueOf,
  iidOf,
  listClassOf,
  placeOf,
  type TitledFacet,
  TRACKED_LISTS,
  TRACKED_WORDS,
  type TrackedKeys,
} from '../row-keys/tracked.ts';
import { userPartition } from '../row-keys/users.ts';
import type { Table } from '../table/table.ts';
import { type Item, PRESENT } from '../table/write.ts';

/** A value of a facet, such as a label, in one project. */
export interface UsedValue<Facet extends string> {
  readonly projectId: number;
  readonly facet: Facet;
  readonly valueId: number;
}

interface Uses {
  readonly iids: readonly number[];
  /** Sort key to go on after; absent: at the end. */
  readonly next?: string;
}

/** Records that a user is assigned to, in all projects. */
export interface AssignedPage {
  readonly addresses: readonly TrackedAddress[];
  /** Where to go on; absent: at the end. */
  readonly next?: string;
}

export class TrackedUses<Facet extends string, Class extends string> {
  readonly #table: Table;
  readonly #keys: TrackedKeys<Facet, Class>;
  constructor(keys: TrackedKeys<Facet, Class>, table: Table) {
    this.#keys = keys;
    this.#table = table;
  }

  /** Returns numbers of records that have it, of whatever class. @param after sort key of an earlier page */
  async page(used: UsedValue<Facet>, limit: number, after?: string): Promise<Uses> {
    const { items, next } = await this.#rows(used, limit, after);
    return {
      iids: items.map(({ sk }) => iidOf(sk as string)),
      ...(next === undefined ? {} : { next }),
    };
  }

  /** Returns what a user is assigned to, of every class, as the index of their rows shows it. @param after of an earlier page */
  async assigned(userId: number, limit: number, after?: string): Promise<AssignedPage> {
    const prefix = this.#keys.assignedPrefix;
    const { items, next } = await this.#table.query({
      index: 'byUser',
      partition: userPartition(userId),
      // No other row has the last position with this behind it.
      from: after === undefined ? prefix : `${after}~`,
      to: `${prefix}~`,
      limit,
      only: ['pk', 'sk', 'what'],
    });
    const last = items.at(-1)?.['what'] as string | undefined;
    return {
      addresses: items.map(({ pk, sk }) => ({ projectId: idOf(pk as string), iid: iidOf(sk as string) })),
      ...(next === undefined || last === undefined ? {} : { next: last }),
    };
  }

  /**
   * Puts the rows of a page into the root's list of the present title.
   * @param rootId the top-level group, or the personal namespace
   * @returns sort key to go on after; undefined at the end
   */
  async retitle(
    used: UsedValue<Facet & TitledFacet>,
    { rootId, title }: { readonly rootId: number; readonly title: string },
    limit: number,
    after?: string,
  ): Promise<string | undefined> {
    const { items, next } = await this.#rows(used, limit, after);
    await Promise.all(
      items.map(async ({ pk, sk, list }) => {
        const key = { pk: pk as string, sk: sk as string };
        const present = this.#keys.ofRootBy(rootId, used.facet, title, listClassOf(key.sk) as Class);
        if (list === present) return;
        await this.#relist(key, { list: present, byId: placeOf(key.sk) });
      }),
    );
    return next;
  }

  /** Returns the next value that records of a project have. @param after the one before */
  async nextValue(projectId: number, facet: Facet, after: number | undefined): Promise<number | undefined> {
    const from =
      after === undefined ? this.#keys.facetPrefix(facet) : `${this.#keys.valuePrefix(facet, after)}~`;
    const page = await this.#table.query({
      partition: this.#keys.partition(projectId),
      from,
      to: `${this.#keys.facetPrefix(facet)}~`,
      limit: 1,
      only: ['sk'],
    });
    const found = page.items[0];
    return found && facetValueOf(found['sk'] as string);
  }

  /**
   * Puts a page of a project's rows into the lists of another root.
   * @param part the plain list, that of labels or milestones, or the words
   * @returns sort key to go on after; undefined at the end
   */
  async reroot(
    projectId: number,
    part: 'list' | 'word' | (Facet & TitledFacet),
    rootId: number,
    limit: number,
    after?: string,
  ): Promise<string | undefined> {
    const prefix =
      part === 'list' ? TRACKED_LISTS : part === 'word' ? TRACKED_WORDS : this.#keys.facetPrefix(part);
    const { items, next } = await this.#page(projectId, prefix, limit, after);
    await Promise.all(
      items.map(async ({ pk, sk, list }) => {
        const present = list === undefined ? undefined : this.#keys.underRoot(list as string, rootId);
        if (present !== undefined && present !== list)
          await this.#relist({ pk: pk as string, sk: sk as string }, { list: present });
      }),
    );
    return next;
  }

  /** A record that has changed since has another row, with the present list. */
  async #relist(update: Key, set: Item): Promise<void> {
    await this.#table.update({ update, set, if: PRESENT }).catch((error: unknown) => {
      if (!(error instanceof ConditionFailed)) throw error;
    });
  }

  #rows({ projectId, facet, valueId }: UsedValue<Facet>, limit: number, after?: string) {
    return this.#page(projectId, this.#keys.valuePrefix(facet, valueId), limit, after);
  }

  async #page(projectId: number, prefix: string, limit: number, after?: string) {
    const partition = this.#keys.partition(projectId);
    const page = await this.#table.query({
      partition,
      prefix,
      limit,
      only: ['pk', 'sk', 'list'],
      ...(after === undefined ? {} : { startKey: { pk: partition, sk: after } }),
    });
    const last = page.items.at(-1)?.['sk'] as string | undefined;
    return { items: page.items, next: page.next === undefined ? undefined : last };
  }
}
