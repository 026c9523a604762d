/** The rows of issues that have a label or a milestone, for changes of these that all such issues have to follow. */

import { ConditionFailed } from '../errors.ts';
import {
  iidOf,
  issueFacetPrefix,
  issuesOfRootBy,
  issuesPartition,
  listClassOf,
  placeOf,
} from '../row-keys/issues.ts';
import type { Table } from '../table/table.ts';
import { PRESENT } from '../table/write.ts';

/** A label or milestone, in one project. */
export interface UsedValue {
  readonly projectId: number;
  readonly facet: 'label' | 'milestone';
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
    used: UsedValue,
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
        const set = { list: present, byId: placeOf(key.sk) };
        await this.#table.update({ update: key, set, if: PRESENT }).catch((error: unknown) => {
          // The issue has changed, and its new row has the present title.
          if (!(error instanceof ConditionFailed)) throw error;
        });
      }),
    );
    return next;
  }

  async #rows({ projectId, facet, valueId }: UsedValue, limit: number, after?: string) {
    const prefix = issueFacetPrefix(facet, valueId);
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
