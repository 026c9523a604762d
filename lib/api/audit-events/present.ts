import type { AuditDetails, AuditEventRecord } from '../../store/audit-events/audit-events.ts';

export const auditEvent = (event: AuditEventRecord) => ({
  id: event.id,
  author_id: event.authorId,
  entity_id: event.entityId,
  entity_type: event.entityKind,
  details: {
    ...event.details,
    ...asTexts(event.details),
    ...(event.requestId === undefined ? {} : { correlation_id: event.requestId }),
  },
  created_at: event.createdAt,
});

/** What it was and what it is are texts, whatever changed: of nothing, the empty one. */
function asTexts({ from, to }: AuditDetails) {
  const text = (value: AuditDetails[string]) => (value === null ? '' : String(value));
  return {
    ...(from === undefined ? {} : { from: text(from) }),
    ...(to === undefined ? {} : { to: text(to) }),
  };
}
