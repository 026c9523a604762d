import type { AuditedKind } from '../../records/audit-events.ts';
import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** @param createdAt ISO 8601 */
export const auditPosition = (createdAt: string, id: number): string => `${createdAt}#${padded(id)}`;

export const auditPartition = (kind: AuditedKind, entityId: number): string =>
  `AUDIT#${kind}#${padded(entityId)}`;

export const auditEventKey = (kind: AuditedKind, entityId: number, createdAt: string, id: number): Key => ({
  pk: auditPartition(kind, entityId),
  sk: auditPosition(createdAt, id),
});

/** Events of one author on an entity; ids below zero are not users. */
export const auditOwnPartition = (kind: AuditedKind, entityId: number, authorId: number): string =>
  `${auditPartition(kind, entityId)}#BY#${padded(authorId)}`;

/** The list of all events on entities of a kind. */
export const auditListClass = (kind: AuditedKind): string => `AUDIT#${kind}`;

export const rowKinds = [
  {
    name: 'audit-event',
    partitions: ['AUDIT#'],
    keys: { auditEventKey },
    of: ['project', 'group', 'user'],
    stays: 'the record of what was done outlives what it was done to',
  },
] as const satisfies readonly RowKind[];
