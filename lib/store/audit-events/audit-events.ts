/**
 * Audit events: who did what. Each is written once, in the transaction of the change that it records, and is immutable:
 * no method here changes or removes one, and the removal of a user, group or project keeps them.
 */

import type { AuditedKind } from '../../records/audit-events.ts';
import {
  auditEventKey,
  auditListClass,
  auditOwnPartition,
  auditPartition,
  auditPosition,
} from '../row-keys/audit-events.ts';
import { idOf, type Key, padded } from '../row-keys/key.ts';
import { listPartition, listPartitions } from '../row-keys/lists.ts';
import type { Counters } from '../table/counters.ts';
import type { Position } from '../table/cursor.ts';
import {
  chunkFor,
  countPartitions,
  countSources,
  cutPage,
  type Page,
  type PageRequest,
} from '../table/paging.ts';
import { type Countable, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { QueryOptions, Table } from '../table/table.ts';
import { ABSENT, type Item, type Put } from '../table/write.ts';

export type { AuditedKind } from '../../records/audit-events.ts';

export interface AuditEventRecord {
  readonly id: number;
  /** The user who did it; negative if no user did. */
  readonly authorId: number;
  readonly entityKind: AuditedKind;
  readonly entityId: number;
  /** What happened, to whom, from where. A snapshot, with the names as they were at that time. */
  readonly details: AuditDetails;
  readonly createdAt: string;
  /** The id of the request that caused it, as in the log; absent in events of earlier releases. */
  readonly requestId?: string | undefined;
}

export type AuditDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export const AUDITED_KINDS = [
  'User',
  'Group',
  'Project',
  'Instance',
] as const satisfies readonly AuditedKind[];

export interface AuditQuery extends PageRequest {
  /** Bounds of the creation time, inclusive. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Returns only the events that follow this position in the list. */
  readonly after?: Position | undefined;
}

export class AuditEvents {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** Returns a unique id. Ids from several processes do not increase with time. */
  nextId(): Promise<number> {
    return this.#counters.leased('audit-event');
  }

  /** Returns the events of one entity, newest first. @param query.authorId only events of this user */
  ofEntity(
    kind: AuditedKind,
    id: number,
    { authorId, ...query }: AuditQuery & { authorId?: number | undefined },
  ): Promise<Page<AuditEventRecord>> {
    const where =
      authorId === undefined
        ? { partition: auditPartition(kind, id) }
        : ({ index: 'byUser', partition: auditOwnPartition(kind, id, authorId) } as const);
    return this.#page([where], query);
  }

  /** Returns the events of all entities of these kinds, newest first. */
  ofKinds(kinds: readonly AuditedKind[], query: AuditQuery): Promise<Page<AuditEventRecord>> {
    const partitions = kinds.flatMap((kind) => listPartitions(auditListClass(kind)));
    return this.#page(
      partitions.map((partition) => ({ index: 'byUpdated', partition }) as const),
      query,
    );
  }

  /** Returns one event by id, if its entity is of one of these kinds. */
  async find(id: number, kinds: readonly AuditedKind[]): Promise<AuditEventRecord | undefined> {
    const pages = await Promise.all(
      kinds.map((kind) => {
        const partition = listPartition(auditListClass(kind), id);
        return this.#table.query({ index: 'byId', partition, from: padded(id), to: padded(id) });
      }),
    );
    const key = pages.flatMap(({ items }) => items)[0] as Key | undefined;
    const item = key && (await this.#table.get(key));
    return item && fromItem(item);
  }

  async #page(partitions: readonly Where[], query: AuditQuery): Promise<Page<AuditEventRecord>> {
    const bounded = partitions.map((where) => ({ ...where, ...boundsOf(query) }));
    const seen = new Map<number, Item>();
    const chunk = chunkFor(query, bounded.length);
    const sources = bounded.map((where) => this.#source(where, chunk, query.page > 1, seen));
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, 'desc'), query, { load: (ids) => this.#load(ids, seen) }),
      query.count ? this.#total(bounded, sources) : undefined,
    ]);
    return { ...page, total };
  }

  /** Rows of the table are counted eventually consistent, at half the cost; keys of indexes are as late as that anyway. */
  #total(bounded: readonly (Where & Bounds)[], sources: readonly Countable[]): Promise<number | undefined> {
    if (bounded.every(({ index }) => index !== undefined)) return countSources(sources);
    return countPartitions(
      this.#table,
      bounded.map((where) => ({ ...where, consistent: false })),
    );
  }

  /**
   * Reads only the keys of the events, except from the table itself when no events are skipped: then it reads whole
   * rows.
   */
  #source(where: Where & Bounds, chunk: number, skips: boolean, seen: Map<number, Item>) {
    const sortKey = where.index === undefined ? 'sk' : SORT[where.index];
    const query = { ...where, ...(where.index === undefined && skips ? { only: ['pk', 'sk'] } : {}) };
    return querySource(this.#table, query, 'desc', chunk, (item) => {
      const id = idOf(item['sk'] as string);
      seen.set(id, item);
      return { sort: item[sortKey] as string, id };
    });
  }

  async #load(ids: readonly number[], seen: ReadonlyMap<number, Item>) {
    const found = ids.map((id) => seen.get(id)!);
    if (found.every((item) => 'details' in item)) return found.map(fromItem);
    const items = await this.#table.batchGet(found as unknown as Key[]);
    return items.map((item) => item && fromItem(item));
  }
}

type Where = { readonly partition: string; readonly index?: 'byUser' | 'byUpdated' };
type Bounds = Pick<QueryOptions, 'from' | 'to'>;
const SORT = { byUser: 'what', byUpdated: 'byUpdated' } as const;

/** All lists are sorted by time and then by id; the sort keys end with the id. */
function boundsOf({ from, to, after }: AuditQuery): Bounds {
  const last = after && after.sort.slice(0, -12) + padded(after.id - 1);
  const end = to && `${textOf(to)}#~`;
  const upper = last === undefined || (end !== undefined && end < last) ? end : last;
  return {
    ...(from === undefined ? {} : { from: textOf(from) }),
    ...(upper === undefined ? {} : { to: upper }),
  };
}

/** Returns a text that sorts correctly also for years before 0 and years of more than four digits. */
function textOf(at: Date): string {
  const text = at.toISOString();
  return text.startsWith('+') ? ':' : text.startsWith('-') ? '' : text;
}

/** Returns the only write that an audit event ever gets. */
export function auditEventPut(event: AuditEventRecord): Put {
  const { requestId, ...row } = event;
  const { id, authorId, entityKind, entityId, createdAt } = row;
  const position = auditPosition(createdAt, id);
  return {
    put: {
      ...auditEventKey(entityKind, entityId, createdAt, id),
      ...row,
      ...(requestId === undefined ? {} : { requestId }),
      list: listPartition(auditListClass(entityKind), id),
      byId: padded(id),
      byUpdated: position,
      who: auditOwnPartition(entityKind, entityId, authorId),
      what: position,
    },
    if: ABSENT,
    reason: 'audit-event',
  };
}

function fromItem(item: Item): AuditEventRecord {
  const { id, authorId, entityKind, entityId, details, createdAt, requestId } =
    item as unknown as AuditEventRecord;
  return { id, authorId, entityKind, entityId, details, createdAt, requestId };
}
