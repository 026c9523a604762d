import type { AuditEventRecord } from '../../store/audit-events.ts';

export const auditEvent = (event: AuditEventRecord) => ({
  id: event.id,
  author_id: event.authorId,
  entity_id: event.entityId,
  entity_type: event.entityKind,
  details: event.details,
  created_at: event.createdAt,
});
