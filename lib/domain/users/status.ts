import type { UserRecord, UserStatus } from '../../records/users.ts';
import { signedIn } from '../access/permissions.ts';
import { changeUser } from '../accounts/accounts.ts';
import type { Actor } from '../actor.ts';
import { type AvatarFile, newAvatar } from '../avatars/avatars.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound } from '../errors.ts';
import { problemsOf } from '../name-rules.ts';

/** Durations after which a status is cleared, in milliseconds. */
const HOUR = 3_600_000;
export const CLEAR_AFTER = {
  '30_minutes': HOUR / 2,
  '3_hours': 3 * HOUR,
  '8_hours': 8 * HOUR,
  '1_day': 24 * HOUR,
  '3_days': 72 * HOUR,
  '7_days': 168 * HOUR,
  '30_days': 720 * HOUR,
} as const;
export type ClearAfter = keyof typeof CLEAR_AFTER;

const DEFAULT_EMOJI = 'speech_balloon';
const MAX_MESSAGE = 100;

export interface StatusInput {
  readonly emoji?: string | undefined;
  readonly message?: string | undefined;
  readonly availability?: UserStatus['availability'] | undefined;
  readonly clearAfter?: ClearAfter | undefined;
}

/** Returns the current status, unless it has expired. */
export function statusOf({ status }: UserRecord, now: Date): UserStatus | undefined {
  if (status === undefined || status === null) return undefined;
  return status.clearAt !== null && status.clearAt <= now.toISOString() ? undefined : status;
}

/** Replaces the actor's status; without emoji, message and availability it is cleared. @throws 400 by field */
export async function setStatus(
  deps: Deps,
  actor: Actor,
  { emoji = '', message = '', availability = 'not_set', clearAfter }: StatusInput,
): Promise<UserStatus | undefined> {
  const problems = problemsOf({
    emoji: emoji === '' || /^[a-z0-9_+-]{1,100}$/.test(emoji) ? [] : ['is not a valid emoji name'],
    message: [...message].length > MAX_MESSAGE ? [`is too long (maximum is ${MAX_MESSAGE} characters)`] : [],
  });
  if (problems !== undefined) throw invalid(problems);
  const now = deps.now();
  const status: UserStatus | null =
    emoji === '' && message === '' && availability === 'not_set'
      ? null
      : {
          emoji: emoji || DEFAULT_EMOJI,
          message: message || null,
          availability,
          clearAt:
            clearAfter === undefined ? null : new Date(now.getTime() + CLEAR_AFTER[clearAfter]).toISOString(),
        };
  const changed = await changeUser(deps, signedIn(actor).user.id, () => ({ change: { status } }));
  if (changed === undefined) throw notFound('User');
  return status ?? undefined;
}

/** Changes the preferences of the actor. @returns the updated account */
export async function setPreferences(
  deps: Deps,
  actor: Actor,
  preferences: Readonly<Record<string, unknown>>,
): Promise<UserRecord> {
  const changed = await changeUser(deps, signedIn(actor).user.id, ({ profile }) => ({
    change: { profile: { ...profile, ...preferences } },
  }));
  if (changed === undefined) throw notFound('User');
  return changed;
}

/** @param file null removes the avatar @returns the updated account @throws 400 `{"avatar": [...]}` */
export async function setAvatar(deps: Deps, actor: Actor, file: AvatarFile | null): Promise<UserRecord> {
  const newImage = newAvatar(file)!;
  const changed = await changeUser(deps, signedIn(actor).user.id, ({ id }) => ({
    change: { avatar: newImage.avatar },
    alongside: newImage.writes({ kind: 'user', id }),
  }));
  if (changed === undefined) throw notFound('User');
  return changed;
}
