import type { MemberSource } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import {
  type AuditDetails,
  type AuditEventRecord,
  type AuditedKind,
  auditEventPut,
} from '../../store/audit-events/audit-events.ts';
import type { Put } from '../../store/table/write.ts';
import { requestId } from '../../telemetry/correlation.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { resourceNoun } from '../errors.ts';

/** The target of an audited action, with its path (of a user: the username) at the time of the action. */
export interface AuditedEntity {
  readonly kind: AuditedKind;
  readonly id: number;
  readonly path: string;
}

/** What is of no project, group or user. */
export const AUDITED_INSTANCE: AuditedEntity = { kind: 'Instance', id: 1, path: 'instance' };

/** Author of an audited action: the caller, the requester of an earlier request, or the service itself. */
export type AuditAuthor =
  | Actor
  | ({ readonly kind: 'requester' } & Requester)
  | { readonly kind: 'system'; readonly name: string };

/** The requester of work that a worker does later, as plain data for the outbox message. */
export interface Requester {
  readonly authorId: number;
  readonly name: string;
  readonly authorClass: string;
  readonly email?: string;
  readonly address?: string;
  /** Username of the administrator who impersonated them. */
  readonly impersonator?: string;
}

/** The target and details of an audited action. */
export interface Audited {
  readonly entity: AuditedEntity;
  readonly details: Readonly<Record<string, AuditDetails[string] | undefined>>;
}

/** Author of automatic actions. */
export const SYSTEM = { kind: 'system', name: '(System)' } as const satisfies AuditAuthor;

/**
 * Creates the write of an audit event. It belongs in the transaction of the audited action (`alongside`), so that
 * either both happen or neither.
 * @param input.details the details by their API keys (`add`, `remove`, `change` with `from` and `to`, `as`,
 *   `custom_message`, ...). `target_id`, `target_type` and `target_details` default to the entity; undefined values
 *   are left out. Author, IP address and path of the entity are added, and, outside the details, the request ID.
 */
export const audited = async (deps: Deps, author: AuditAuthor, input: Audited): Promise<Put> =>
  (await prepareAudited(deps, author))(input);

/** Like `audited`, for an entity without an ID yet: allocates the event's ID now, in parallel with other reads. */
export async function prepareAudited(deps: Deps, author: AuditAuthor): Promise<(input: Audited) => Put> {
  const id = await deps.store.auditEvents.nextId();
  return (input) => auditEventPut(eventOf(deps, author, id, input));
}

function eventOf(
  deps: Deps,
  author: AuditAuthor,
  id: number,
  { entity, details }: Audited,
): AuditEventRecord {
  const requester = requesterOf(author);
  const all: Record<string, AuditDetails[string] | undefined> = {
    author_name: requester.name,
    author_email: requester.email,
    author_class: requester.authorClass,
    target_id: entity.id,
    target_type: entity.kind,
    target_details: entity.path,
    ...details,
    ip_address: requester.address ?? null,
    entity_path: entity.path,
    impersonated_by: requester.impersonator,
  };
  return {
    id,
    authorId: requester.authorId,
    entityKind: entity.kind,
    entityId: entity.id,
    details: Object.fromEntries(
      Object.entries(all).filter((entry) => entry[1] !== undefined),
    ) as AuditDetails,
    createdAt: deps.now().toISOString(),
    requestId: requestId(),
  };
}

/** The author of the work that a message requests: its requester, or the service if it names none. */
export function authorIn({ by }: { readonly by?: Requester | undefined }): AuditAuthor {
  return by === undefined ? SYSTEM : { kind: 'requester', ...by };
}

/** Author ID of events whose author is not a user. */
const NO_USER_ID = -1;

/** The author as plain data for an outbox message, including their IP address. */
export function requesterOf(author: AuditAuthor): Requester {
  if (author.kind === 'requester') {
    const { kind: _, ...requester } = author;
    return requester;
  }
  if (author.kind === 'system') return { authorId: NO_USER_ID, name: author.name, authorClass: 'System' };
  const from = author.origin?.address;
  const address = from === undefined ? {} : { address: from };
  if (author.kind === 'anonymous') {
    return {
      authorId: NO_USER_ID,
      name: 'An unauthenticated user',
      authorClass: 'UnauthenticatedAuthor',
      ...address,
    };
  }
  const { user, token, sudoer } = author;
  const impersonator = sudoer?.username ?? token?.impersonator;
  return { ...personOf(user), ...address, ...(impersonator !== undefined && { impersonator }) };
}

const personOf = ({ id, name, email }: UserRecord): Requester => ({
  authorId: id,
  name,
  email,
  authorClass: 'User',
});

/** A user who acts through a mailed link, and not with a token of theirs. */
export const requesterByLink = (user: UserRecord, address?: string): AuditAuthor => ({
  kind: 'requester',
  ...personOf(user),
  ...(address === undefined ? {} : { address }),
});

export const auditedUser = ({ id, username }: Pick<UserRecord, 'id' | 'username'>): AuditedEntity => ({
  kind: 'User',
  id,
  path: username,
});

/** A group or project. */
export const auditedResource = (
  kind: 'Group' | 'Project',
  { id, fullPath }: { readonly id: number; readonly fullPath: string },
): AuditedEntity => ({ kind, id, path: fullPath });

/** Like `auditedResource`, by the kind of a membership source. */
export const auditedSource = (
  kind: MemberSource['kind'],
  resource: { readonly id: number; readonly fullPath: string },
): AuditedEntity => auditedResource(resourceNoun(kind), resource);
