/** A person's namespace goes by their username and name: what is in it follows when these change. */

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
import { type Mover, moveMails } from '../notifications/enqueue.ts';

/** The maintenance queue's job: `{ userId, last, mover }`. */
export const NAMESPACE_MOVE_JOB = 'namespace.move';

/** By then an index knows what was written before. */
const INDEXED_MS = 60_000;

/** What a change of a user's names adds to it; nothing where it changes none. */
export interface NamespaceMove {
  readonly change: Pick<UserRecord, 'movedFrom'>;
  readonly alongside: readonly Write[];
  readonly messages: readonly OutboxMessage[];
}

/**
 * For `store.users.update` with a username or name: hand it `change`, `alongside` and `messages` too. Projects are then
 * found below both usernames until all have followed, and their former paths lead on afterwards.
 * @throws 409 for another username while projects still follow to the last one, a minute or so
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

/** How long a request goes on with a person's projects, before the rest is left to the worker. */
const HELP_MS = 1_000;

/** Brings the first projects before the answer: the few that most people have are all of them. */
export async function helpNamespaceMove(deps: Deps, userId: number, mover: Mover): Promise<void> {
  const deadline = Date.now() + HELP_MS;
  // The job does what this does not.
  await deps.store.personalNamespaces.moveProjects(userId, { deadline, last: false }, moveMails(mover)).catch(() => {});
}
