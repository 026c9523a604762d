/** What was done, for those who may read it. */
import {
  AUDITED_KINDS,
  type AuditEventRecord,
  type AuditedKind,
} from '../../store/audit-events/audit-events.ts';

export { AUDITED_KINDS };

import { decodeCursor, encodeCursor } from '../../store/table/cursor.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { can, canInGroup, signedIn } from '../access/permissions.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';

export interface AuditListInput extends PageRequest {
  /** Both inclusive. */
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  /** Of a keyset page: where the one before it ended. */
  readonly cursor?: string | undefined;
}

type Audited = Page<AuditEventRecord> & { readonly next?: string };

/** Of all things, of those of a kind, or of one: for administrators. */
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
  return there(await deps.store.auditEvents.find(id, AUDITED_KINDS));
}

/** Those who run a group or project see all, other members who may read it what they did themselves. */
export async function auditEventsOfResource(
  deps: Deps,
  actor: Actor,
  place: GroupAccess | ProjectAccess,
  input: AuditListInput,
): Promise<Audited> {
  const { kind, id, runs } = placeOf(actor, place);
  const authorId = runs ? undefined : signedIn(actor).user.id;
  const found = await paged([kind, id, authorId], input, (query) =>
    deps.store.auditEvents.ofEntity(kind, id, { ...query, authorId }),
  );
  return { ...found, items: found.items.map((event) => shownTo(actor, event)) };
}

/**
 * Whoever runs something gets to know who did what to it, not an address that its author shows nobody; what leads to
 * the log is for those who have it.
 */
function shownTo(actor: Actor, event: AuditEventRecord): AuditEventRecord {
  if (isAdministrator(actor)) return event;
  const { author_email: _, ...details } = event.details;
  return { ...event, details, requestId: undefined };
}

/** @throws 404, also for one of something else */
export async function auditEventOfResource(
  deps: Deps,
  actor: Actor,
  place: GroupAccess | ProjectAccess,
  eventId: number,
): Promise<AuditEventRecord> {
  const { kind, id } = placeOf(actor, place);
  const event = await deps.store.auditEvents.find(eventId, [kind]);
  return shownTo(actor, there(event?.entityId === id ? event : undefined));
}

function placeOf(actor: Actor, place: GroupAccess | ProjectAccess) {
  return 'project' in place
    ? ({ kind: 'Project', id: place.project.id, runs: can(actor, place, 'admin_project') } as const)
    : ({ kind: 'Group', id: place.group.id, runs: canInGroup(actor, place, 'admin_group') } as const);
}

async function paged(
  which: readonly unknown[],
  { createdAfter, createdBefore, cursor, ...page }: AuditListInput,
  read: (query: Parameters<Deps['store']['auditEvents']['ofKinds']>[1]) => Promise<Page<AuditEventRecord>>,
): Promise<Audited> {
  const list = [...which, createdAfter?.getTime(), createdBefore?.getTime()];
  const after = cursor === undefined ? undefined : decodeCursor(list, cursor);
  const found = await read({ ...page, from: createdAfter, to: createdBefore, after });
  return found.more && found.last !== undefined ? { ...found, next: encodeCursor(list, found.last) } : found;
}

function there(event: AuditEventRecord | undefined): AuditEventRecord {
  if (event === undefined) throw recordNotFound();
  return event;
}
