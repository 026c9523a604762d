/** The rows of issues that have a label, milestone, iteration or epic, for changes that all such issues have to follow. */

import { ConditionFailed } from '../errors.ts';
import {
  facetValueOf,
  ISSUE_LISTS,
  ISSUE_WORDS,
  iidOf,
  issueFacetPrefix,
  issueFacetsPrefix,
  issuesOfRootBy,
  issuesPartition,
  listClassOf,
  placeOf,
  underRoot,
} from '../row-keys/issues.ts';
import type { Key } from '../row-keys/key.ts';
import type { Table } from '../table/table.ts';
import { type Item, PRESENT } from '../table/write.ts';

/** Those whose title is in the rows. */
export type TitledFacet = 'label' | 'milestone';

/** A label, milestone, iteration or epic, in one project. */
export interface UsedValue {
  readonly projectId: number;
  readonly facet: TitledFacet | 'iteration' | 'epic';
  readonly valueId: number;
}

interface Uses {
  readonly iids: readonly number[];
  /** Sort key to go on after; absent: at the end. */
  readonly next?: string;
}

export class IssueUses {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns numbers of issues that have it, of whatever class. @param after sort key of an earlier page */
  async page(used: UsedValue, limit: number, after?: string): Promise<Uses> {
    const { items, next } = await this.#rows(used, limit, after);
    return {
      iids: items.map(({ sk }) => iidOf(sk as string)),
      ...(next === undefined ? {} : { next }),
    };
  }

  /**
   * Puts the rows of a page into the root's list of the present title.
   * @param rootId the top-level group, or the personal namespace
   * @returns sort key to go on after; undefined at the end
   */
  async retitle(
    used: UsedValue & { readonly facet: TitledFacet },
    { rootId, title }: { readonly rootId: number; readonly title: string },
    limit: number,
    after?: string,
  ): Promise<string | undefined> {
    const { items, next } = await this.#rows(used, limit, after);
    await Promise.all(
      items.map(async ({ pk, sk, list }) => {
        const key = { pk: pk as string, sk: sk as string };
        const present = issuesOfRootBy(rootId, used.facet, title, listClassOf(key.sk));
        if (list === present) return;
        await this.#relist(key, { list: present, byId: placeOf(key.sk) });
      }),
    );
    return next;
  }

  /** Returns the next label, milestone, iteration or epic that issues of a project have. @param after the one before */
  async nextValue(
    projectId: number,
    facet: UsedValue['facet'],
    after: number | undefined,
  ): Promise<number | undefined> {
    const from = after === undefined ? issueFacetsPrefix(facet) : `${issueFacetPrefix(facet, after)}~`;
    const page = await this.#table.query({
      partition: issuesPartition(projectId),
      from,
      to: `${issueFacetsPrefix(facet)}~`,
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
    part: 'list' | 'word' | TitledFacet,
    rootId: number,
    limit: number,
    after?: string,
  ): Promise<string | undefined> {
    const prefix = part === 'list' ? ISSUE_LISTS : part === 'word' ? ISSUE_WORDS : issueFacetsPrefix(part);
    const { items, next } = await this.#page(projectId, prefix, limit, after);
    await Promise.all(
      items.map(async ({ pk, sk, list }) => {
        const present = list === undefined ? undefined : underRoot(list as string, rootId);
        if (present !== undefined && present !== list)
          await this.#relist({ pk: pk as string, sk: sk as string }, { list: present });
      }),
    );
    return next;
  }

  /** An issue that has changed since has another row, with the present list. */
  async #relist(update: Key, set: Item): Promise<void> {
    await this.#table.update({ update, set, if: PRESENT }).catch((error: unknown) => {
      if (!(error instanceof ConditionFailed)) throw error;
    });
  }

  #rows({ projectId, facet, valueId }: UsedValue, limit: number, after?: string) {
    return this.#page(projectId, issueFacetPrefix(facet, valueId), limit, after);
  }

  async #page(projectId: number, prefix: string, limit: number, after?: string) {
    const partition = issuesPartition(projectId);
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
