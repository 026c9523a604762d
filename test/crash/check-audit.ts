import { isDeepStrictEqual } from 'node:util';
import { type AuditEventRecord, auditEventPut } from '../../lib/store/audit-events/audit-events.ts';
import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { keyText, type Row, type Rows, rowCheck } from './rows.ts';

/** Of what is recorded of groups and projects: that it lies where lists find it, and that it happened. */
export const audit = rowCheck(['audit-event'], function* (rows) {
  const told = new Map<string, Row[]>();
  for (const row of rows.of('AUDIT#')) {
    const { id, authorId, entityKind, entityId, details, createdAt, requestId } =
      row as unknown as AuditEventRecord;
    const event = { id, authorId, entityKind, entityId, details, createdAt, requestId };
    const wanted = auditEventPut(event).put;
    const { w: _, ...found } = row;
    if (!isDeepStrictEqual(found, wanted)) yield `${keyText(row)} is not where lists look for it`;
    if (entityKind === 'User' || entityKind === 'Instance') continue;
    const entity = `${entityKind} ${entityId}`;
    told.set(entity, [...(told.get(entity) ?? []), row]);
  }
  for (const [entity, events] of told) {
    const count = (act: 'add' | 'remove') =>
      events.filter(({ details }) => {
        const what = (details as AuditEventRecord['details'])[act];
        return what === 'group' || what === 'project';
      }).length;
    const [added, removed] = [count('add'), count('remove')];
    if (added > 1 || removed > 1) yield `${entity} was made ${added} times and removed ${removed} times`;
    // What was made before it was recorded, as tests do in the store, says nothing of its end either.
    if (added === 0) continue;
    const there = isThere(rows, events[0] as Row);
    if (there && removed > 0) yield `${entity} is there, and was removed by what is recorded`;
    if (!there && removed === 0) yield `${entity} is gone, and nothing is recorded of that`;
  }
});

function isThere(rows: Rows, { entityKind, entityId }: Row): boolean {
  const id = entityId as number;
  const record = rows.get(entityKind === 'Group' ? groupKey(id) : projectKey(id));
  return record?.['deletedAt'] === null;
}
