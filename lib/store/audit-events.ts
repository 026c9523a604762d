/**
 * Who did what: written once, in the transaction of what it records, and never touched again. No method here changes
 * or removes one, and what belongs to a user, group or project goes without these.
 */
import type { Counters } from './counters.ts';
import {
  type AuditedKind,
  auditEventKey,
  auditListClass,
  auditOwnPartition,
  auditPosition,
  listPartition,
  orderedBy,
  padded,
} from './keys.ts';
import type { Table } from './table.ts';
import { ABSENT, type Put } from './write.ts';

export type { AuditedKind } from './keys.ts';

export interface AuditEventRecord {
  readonly id: number;
  /** Of the user who did it; below zero for nobody of the users. */
  readonly authorId: number;
  readonly entityKind: AuditedKind;
  readonly entityId: number;
  /** What happened, to whom, from where: said for good, with the names everything had then. */
  readonly details: AuditDetails;
  readonly createdAt: string;
}

export type AuditDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export class AuditEvents {
  readonly #counters: Counters;
  constructor(_table: Table, counters: Counters) {
    this.#counters = counters;
  }

  /** Unique; ids of several processes do not rise with time. */
  nextId(): Promise<number> {
    return this.#counters.leased('audit-event');
  }
}

/** The one write there is of it. */
export function auditEventPut(event: AuditEventRecord): Put {
  const { id, authorId, entityKind, entityId, createdAt } = event;
  return {
    put: {
      ...auditEventKey(entityKind, entityId, createdAt, id),
      ...event,
      list: listPartition(auditListClass(entityKind), id),
      byId: padded(id),
      byUpdated: orderedBy(createdAt, id),
      who: auditOwnPartition(entityKind, entityId, authorId),
      what: auditPosition(createdAt, id),
    },
    if: ABSENT,
    reason: 'audit-event',
  };
}
