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

/** What something was done to, with the path (a user's: username) it has as it is done. */
export interface AuditedEntity {
  readonly kind: AuditedKind;
  readonly id: number;
  readonly path: string;
}

/** Who did it: who asked, somebody who asked before, or the service itself. */
export type AuditAuthor =
  | Actor
  | ({ readonly kind: 'requester' } & Requester)
  | { readonly kind: 'system'; readonly name: string };

/** Who asked for what a worker does later: plain data, for the message that promises it. */
export interface Requester {
  readonly authorId: number;
  readonly name: string;
  readonly authorClass: string;
  readonly email?: string;
  readonly address?: string;
  /** Username of the administrator who asked in their name. */
  readonly impersonator?: string;
}

/** What was done to what. */
export interface Audited {
  readonly entity: AuditedEntity;
  readonly details: Readonly<Record<string, AuditDetails[string] | undefined>>;
}

/** What follows from the rules, and nobody asked for. */
export const SYSTEM = { kind: 'system', name: '(System)' } as const satisfies AuditAuthor;

/**
 * Records who did what, for good: the row goes into the transaction of what it tells (`alongside`), so that there is
 * one exactly when there is the other.
 * @param input.details what happened, by the keys of the API (`add`, `remove`, `change` with `from` and `to`, `as`,
 *   `custom_message`, ...), and about whom: `target_id`, `target_type` and `target_details` are the entity when they
 *   are not given. What is undefined is left out. Author, address and path of the entity are added, and beside the
 *   details the id of the request that led to it.
 */
export const audited = async (deps: Deps, author: AuditAuthor, input: Audited): Promise<Put> =>
  (await auditing(deps, author))(input);

/** As `audited`, for one event about what has no id yet: the event's own is taken now, beside other round trips. */
export async function auditing(deps: Deps, author: AuditAuthor): Promise<(input: Audited) => Put> {
  const id = await deps.store.auditEvents.nextId();
  return (input) => auditEventPut(eventOf(deps, author, id, input));
}

function eventOf(
  deps: Deps,
  author: AuditAuthor,
  id: number,
  { entity, details }: Audited,
): AuditEventRecord {
  const by = requesterOf(author);
  const all: Record<string, AuditDetails[string] | undefined> = {
    author_name: by.name,
    author_email: by.email,
    author_class: by.authorClass,
    target_id: entity.id,
    target_type: entity.kind,
    target_details: entity.path,
    ...details,
    ip_address: by.address ?? null,
    entity_path: entity.path,
    impersonated_by: by.impersonator,
  };
  return {
    id,
    authorId: by.authorId,
    entityKind: entity.kind,
    entityId: entity.id,
    details: Object.fromEntries(
      Object.entries(all).filter((entry) => entry[1] !== undefined),
    ) as AuditDetails,
    createdAt: deps.now().toISOString(),
    requestId: requestId(),
  };
}

/** Whoever a message names; those of what nobody asked for name nobody. */
export function authorIn({ by }: { readonly by?: Requester | undefined }): AuditAuthor {
  return by === undefined ? SYSTEM : { kind: 'requester', ...by };
}

/** Ids of those who are nobody of the users. */
const NOBODY = -1;

/** The author as a message carries them: what a worker does for somebody tells who that was, and from where. */
export function requesterOf(author: AuditAuthor): Requester {
  if (author.kind === 'requester') {
    const { kind: _, ...by } = author;
    return by;
  }
  if (author.kind === 'system') return { authorId: NOBODY, name: author.name, authorClass: 'System' };
  const address = author.origin && { address: author.origin.address };
  if (author.kind === 'anonymous') {
    return {
      authorId: NOBODY,
      name: 'An unauthenticated user',
      authorClass: 'UnauthenticatedAuthor',
      ...address,
    };
  }
  const { user, token, sudoer } = author;
  const impersonator = sudoer?.username ?? token.impersonator;
  return { ...personOf(user), ...address, ...(impersonator !== undefined && { impersonator }) };
}

const personOf = ({ id, name, email }: UserRecord): Requester => ({
  authorId: id,
  name,
  email,
  authorClass: 'User',
});

/** Somebody by something that is no request with a token of theirs: a mailed link that they followed. */
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

/** The same, by what people are members of. */
export const auditedSource = (
  kind: MemberSource['kind'],
  place: { readonly id: number; readonly fullPath: string },
): AuditedEntity => auditedResource(resourceNoun(kind), place);
