/** Renames a personal namespace, with its projects, when the username or name changes. */

import type { UserRecord } from '../../records/users.ts';
import {
  MAINTENANCE,
  message,
  messageAt,
  type OutboxMessage,
  outboxWrite,
} from '../../store/outbox/outbox.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../errors.ts';
import { type Mover, movedProjectMails } from '../notifications/enqueue.ts';

/** The maintenance job. Body: `{ userId, last, mover }`. */
export const NAMESPACE_MOVE_JOB = 'namespace.move';

/** Milliseconds after which the indexes contain earlier writes. */
const INDEXED_MS = 60_000;

/** What a change of username or name adds to the user's update; empty when neither changes. */
export interface NamespaceMove {
  readonly change: Pick<UserRecord, 'movedFrom'>;
  readonly alongside: readonly Write[];
  readonly messages: readonly OutboxMessage[];
}

/**
 * For `store.users.update` with a username or name: pass `change`, `alongside` and `messages` on. Projects are found under
 * both usernames until all have moved; afterwards their former paths redirect.
 * @throws 409 for another username while projects are still moving to the last one: seconds, at most about a minute
 */
export function namespaceMove(
  deps: Pick<Deps, 'now'>,
  user: UserRecord,
  { username = user.username, name = user.name }: { readonly username?: string; readonly name?: string },
  mover: Mover,
): NamespaceMove {
  if (username === user.username && name === user.name) return { change: {}, alongside: [], messages: [] };
  const renamed = !sameName(username, user.username);
  if (renamed && (user.movedFrom ?? null) !== null) throw conflict('409 Conflict: Resource lock');
  const body = { userId: user.id, mover };
  const later = new Date(deps.now().getTime() + INDEXED_MS);
  return {
    change: renamed ? { movedFrom: user.username } : {},
    alongside: [outboxWrite(messageAt(MAINTENANCE, NAMESPACE_MOVE_JOB, { ...body, last: true }, later))],
    messages: [message(MAINTENANCE, NAMESPACE_MOVE_JOB, { ...body, last: false })],
  };
}

/** Milliseconds that a request spends on moving projects; the worker moves the rest. */
const HELP_MS = 1_000;

/** Moves the first projects before the response; for most users these are all, and the username may change again. */
export async function helpNamespaceMove(deps: Deps, userId: number, mover: Mover): Promise<void> {
  const deadline = Date.now() + HELP_MS;
  // The job repeats what fails here.
  await deps.store.personalNamespaces
    .moveProjects(userId, { deadline, last: false }, movedProjectMails(mover))
    .catch(() => {});
}

/** For another username while projects are still moving to the last one: a name that is taken will stay so. @throws 409 */
export async function requireFreeUsername(deps: Deps, user: UserRecord, username: string): Promise<void> {
  if ((user.movedFrom ?? null) === null || sameName(username, user.username)) return;
  const holder = await deps.store.names.holder('path', username);
  if (holder?.current && (holder.type !== 'user' || holder.id !== user.id))
    throw conflict('Username has already been taken');
}
