import type { AuditDetails, AuditEventRecord } from '../../store/audit-events/audit-events.ts';

export const auditEvent = (event: AuditEventRecord) => ({
  id: event.id,
  author_id: event.authorId,
  entity_id: event.entityId,
  entity_type: event.entityKind,
  details: {
    ...event.details,
    ...changeAsText(event.details),
    ...(event.requestId === undefined ? {} : { correlation_id: event.requestId }),
  },
  created_at: event.createdAt,
});

/** `from` and `to` as text whatever their type; null is the empty text. */
function changeAsText({ from, to }: AuditDetails) {
  const text = (value: AuditDetails[string]) => (value === null ? '' : String(value));
  return {
    ...(from === undefined ? {} : { from: text(from) }),
    ...(to === undefined ? {} : { to: text(to) }),
  };
}
