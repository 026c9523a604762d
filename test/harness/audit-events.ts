import type { AuditedKind } from '../../lib/store/audit-events/audit-events.ts';
import type { Service } from './service.ts';

/** An event as the API tells it. */
export interface Event {
  readonly id: number;
  readonly author_id: number;
  readonly entity_id: number;
  readonly entity_type: AuditedKind;
  readonly details: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

/** All that was done to something, the newest first, as administrators read it. */
export async function auditOf(service: Service, kind: AuditedKind, id: number): Promise<Event[]> {
  const path = `/audit_events?entity_type=${kind}&entity_id=${id}&per_page=100`;
  const { status, body } = await service.call('GET', path, { token: service.rootToken });
  if (status !== 200) throw new Error(`${path}: ${status}`);
  return body;
}

/** Without what an answer tells beside what was done. */
export const acts = (events: readonly Event[]) =>
  events.map(({ details }) => {
    const {
      author_class: _c,
      author_email: _e,
      entity_path: _p,
      ip_address: _i,
      correlation_id: _r,
      ...rest
    } = details;
    return rest;
  });
