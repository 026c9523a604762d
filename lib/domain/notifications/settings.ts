/** Notification settings of the current user. */

import type { MemberSource } from '../../records/members.ts';
import {
  NOTIFICATION_LEVELS,
  type NotificationChoice,
  type NotificationEvent,
  type NotificationLevel,
} from '../../records/notifications.ts';
import type { UserRecord } from '../../records/users.ts';
import { Missing } from '../../store/errors.ts';
import type { NotificationChange, NotificationScope } from '../../store/notifications/settings.ts';
import { sameName } from '../../store/table/unique-names.ts';
import { isConfirmedEmail } from '../accounts/addresses.ts';
import type { Deps } from '../deps.ts';
import { invalid, refused, resourceNotFound, unauthorized } from '../errors.ts';
import { DEFAULT_LEVEL } from './levels.ts';

export interface NotificationInput {
  readonly level?: string | undefined;
  /** Empty or null: the primary address. */
  readonly email?: string | null | undefined;
  readonly events: Readonly<Partial<Record<NotificationEvent, boolean>>>;
}

/** Returns the setting for a project or group. */
export async function sourceSetting(
  { store }: Deps,
  user: UserRecord,
  source: MemberSource,
): Promise<NotificationChoice & { readonly level: NotificationLevel }> {
  return { level: 'global', ...(await store.notificationSettings.get(user.id, source)) };
}

/** Returns the global setting with the notification address. */
export async function globalSetting(
  { store }: Deps,
  user: UserRecord,
): Promise<NotificationChoice & { readonly level: NotificationLevel; readonly email: string }> {
  const choice = await store.notificationSettings.get(user.id, undefined);
  const chosen = choice.email ?? null;
  const holder = chosen === null ? undefined : await store.names.holder('email', chosen);
  const theirs = holder?.type === 'user' && holder.id === user.id && holder.confirmed;
  return { level: DEFAULT_LEVEL, ...choice, email: theirs ? chosen! : user.email };
}

/** @throws 400 for an unknown level; 400 by field for an unconfirmed address; 404 */
export async function changeSetting(
  deps: Deps,
  user: UserRecord,
  scope: NotificationScope,
  { level, email, events }: NotificationInput,
): Promise<void> {
  const change: NotificationChange = {
    ...(level === undefined ? {} : { level: levelOf(level) }),
    ...(email === undefined ? {} : { email: await addressOf(deps, user, email) }),
    events,
  };
  if (change.level === undefined && change.email === undefined && Object.keys(events).length === 0) return;
  try {
    await deps.store.notificationSettings.change(user.id, scope, change);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    if (scope === undefined || error.message.startsWith('user')) throw unauthorized();
    throw resourceNotFound(scope);
  }
}

function levelOf(level: string): NotificationLevel {
  const known = NOTIFICATION_LEVELS.find((each) => each === level);
  if (known === undefined) throw refused(`'${level.slice(0, 255)}' is not a valid level`);
  return known;
}

/** Returns the address as given; null for the primary address, so that the setting follows its changes. */
async function addressOf(deps: Deps, user: UserRecord, email: string | null): Promise<string | null> {
  if (email === null || email === '') return null;
  const confirmed = await isConfirmedEmail(deps, user);
  if (!confirmed(email)) throw invalid({ notification_email: ['must be an email you have verified'] });
  return sameName(email, user.email) ? null : email;
}
