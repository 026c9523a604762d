/** Lists of audit events, restricted to what the caller may read. */
import {
  AUDITED_KINDS,
  type AuditEventRecord,
  type AuditedKind,
} from '../../store/audit-events/audit-events.ts';

export { AUDITED_KINDS };

import type { Page, PageRequest } from '../../store/table/paging.ts';
import { can, canInGroup, signedIn } from '../access/permissions.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';
import { pageByCursor } from '../page-by-cursor.ts';

export interface AuditListInput extends PageRequest {
  /** Both inclusive. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  /** Of a keyset page: the cursor at which the previous page ended. */
  readonly cursor?: string | undefined;
}

type Audited = Page<AuditEventRecord> & { readonly next?: string };

/** Audit events of the instance, optionally of one kind of entity or of one entity. For administrators. */
export function auditEventsOfInstance(
  deps: Deps,
  { kind, id, ...input }: AuditListInput & { kind?: AuditedKind | undefined; id?: number | undefined },
): Promise<Audited> {
  const { auditEvents } = deps.store;
  return paged([kind, id], input, (query) =>
    kind !== undefined && id !== undefined
      ? auditEvents.ofEntity(kind, id, query)
      : auditEvents.ofKinds(kind === undefined ? AUDITED_KINDS : [kind], query),
  );
}

/** @throws 404 */
export async function auditEventOfInstance(deps: Deps, id: number): Promise<AuditEventRecord> {
  return requireEvent(await deps.store.auditEvents.find(id, AUDITED_KINDS));
}

/** Audit events of a group or project: all of them for its administrators, their own for other members. */
export async function auditEventsOfResource(
  deps: Deps,
  actor: Actor,
  resource: GroupAccess | ProjectAccess,
  input: AuditListInput,
): Promise<Audited> {
  const { kind, id, administers } = entityOf(actor, resource);
  const authorId = administers ? undefined : signedIn(actor).user.id;
  const page = await paged([kind, id, authorId], input, (query) =>
    deps.store.auditEvents.ofEntity(kind, id, { ...query, authorId }),
  );
  return { ...page, items: page.items.map((event) => shownTo(actor, event)) };
}

/**
 * Hides the author's email address, which may be private, and the request ID, which refers to server logs, from
 * everybody but administrators of the instance.
 */
function shownTo(actor: Actor, event: AuditEventRecord): AuditEventRecord {
  if (isAdministrator(actor)) return event;
  const { author_email: _, ...details } = event.details;
  return { ...event, details, requestId: undefined };
}

/** @throws 404, also for an event of another entity */
export async function auditEventOfResource(
  deps: Deps,
  actor: Actor,
  resource: GroupAccess | ProjectAccess,
  eventId: number,
): Promise<AuditEventRecord> {
  const { kind, id } = entityOf(actor, resource);
  const event = await deps.store.auditEvents.find(eventId, [kind]);
  return shownTo(actor, requireEvent(event?.entityId === id ? event : undefined));
}

function entityOf(actor: Actor, resource: GroupAccess | ProjectAccess) {
  return 'project' in resource
    ? ({
        kind: 'Project',
        id: resource.project.id,
        administers: can(actor, resource, 'admin_project'),
      } as const)
    : ({
        kind: 'Group',
        id: resource.group.id,
        administers: canInGroup(actor, resource, 'admin_group'),
      } as const);
}

function paged(
  which: readonly unknown[],
  { createdAfter, createdBefore, cursor, ...page }: AuditListInput,
  read: (query: Parameters<Deps['store']['auditEvents']['ofKinds']>[1]) => Promise<Page<AuditEventRecord>>,
): Promise<Audited> {
  const list = [...which, createdAfter?.getTime(), createdBefore?.getTime()];
  return pageByCursor(list, { cursor }, (after) =>
    read({ ...page, from: createdAfter, to: createdBefore, ...after }),
  );
}

function requireEvent(event: AuditEventRecord | undefined): AuditEventRecord {
  if (event === undefined) throw recordNotFound();
  return event;
}
