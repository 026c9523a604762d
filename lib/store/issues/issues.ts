/** Issues: what their store has beside that of every tracked record. */

import {
  ISSUE_CLASSES,
  type IssueClass,
  type IssueRecord,
  type IssueReference,
} from '../../records/issues.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { type IssueFacet, issueKeys, issueOfDuePlace, issuesDueOn } from '../row-keys/issues.ts';
import { idOf } from '../row-keys/key.ts';
import { listPartitions } from '../row-keys/lists.ts';
import { iidOf } from '../row-keys/tracked.ts';
import type { Counters } from '../table/counters.ts';
import type { Direction } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import type { Update } from '../table/write.ts';
import { AT_VERSION, TrackedRecords } from '../tracked/records.ts';
import { arrangedPlace, ISSUE_KIND } from './kind.ts';

export class Issues extends TrackedRecords<IssueRecord, IssueFacet, IssueClass> {
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    super(ISSUE_KIND, table, counters, outbox);
  }

  /**
   * Returns the issues of a project that stand next to a place in the order that people arrange, the nearest first.
   * @param except an id
   */
  async beside(
    projectId: number,
    place: string,
    direction: Direction,
    limit: number,
    except: number,
  ): Promise<IssueRecord[]> {
    const after = direction === 'asc';
    const pages = await Promise.all(
      ISSUE_CLASSES.map((listClass) =>
        this.table.query({
          index: 'byId',
          partition: issueKeys.ofProject(projectId, listClass),
          ...(after ? { from: place } : { to: place }),
          reverse: !after,
          // The issue of the place may be among them.
          limit: limit + 2,
        }),
      ),
    );
    const places = pages.flatMap(({ items }) => items.map((item) => item['byId'] as string));
    const found = places.filter((each) => each !== place && idOf(each) !== except);
    const nearest = found.sort((a, b) => (a < b === after ? -1 : 1)).slice(0, limit);
    const issues = await this.getMany(nearest.map((each) => ({ projectId, iid: iidOf(each) })));
    return issues.filter((issue) => issue !== undefined);
  }

  /** Gives issues of a project places in the order that people arrange. @throws Stale, Missing */
  async arrange(
    issues: readonly { readonly issue: IssueRecord; readonly position: string }[],
  ): Promise<void> {
    const updates = issues.map(({ issue, position }): Update => {
      const after = { ...issue, relativePosition: position };
      return {
        update: issueKeys.record(issue),
        set: { relativePosition: position, byId: arrangedPlace(after), version: issue.version + 1 },
        ...AT_VERSION,
        values: { version: issue.version },
      };
    });
    await this.commit([...updates, checkProjectExists(issues[0]!.issue.projectId)]);
  }

  /** Gives issues positions in the order of their epic, on condition of their versions. @throws Stale, Missing */
  async arrangeInEpic(
    epicId: number,
    issues: readonly { readonly issue: IssueRecord; readonly position: string }[],
  ): Promise<void> {
    await this.commit(
      issues.map(
        ({ issue, position }): Update => ({
          update: issueKeys.record(issue),
          set: { epicPosition: { epicId, position }, version: issue.version + 1 },
          ...AT_VERSION,
          values: { version: issue.version },
        }),
      ),
    );
  }

  /**
   * Returns open issues that are due on a day, of one shard of its list.
   * @param day `YYYY-MM-DD`. @param after the `next` of the page before; absent at the end
   */
  async dueOn(
    day: string,
    shard: number,
    limit: number,
    after?: string,
  ): Promise<{ readonly issues: readonly IssueReference[]; readonly next?: string }> {
    const { items, next } = await this.table.query({
      index: 'byId',
      partition: listPartitions(issuesDueOn(day))[shard]!,
      limit,
      ...(after === undefined ? {} : { from: `${after}~` }),
    });
    const places = items.map(({ byId }) => byId as string);
    const issues = places.map(issueOfDuePlace);
    return next === undefined || places.length === 0 ? { issues } : { issues, next: places.at(-1)! };
  }
}
