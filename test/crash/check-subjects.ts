import { isDeepStrictEqual } from 'node:util';
import type { AvatarOwner, AvatarRecord } from '../../lib/records/avatars.ts';
import type { Subject } from '../../lib/records/subject.ts';
import type { UserRecord } from '../../lib/records/users.ts';
import { avatarKey } from '../../lib/store/row-keys/avatars.ts';
import {
  attributeKey,
  attributePartition,
  attributesKey,
} from '../../lib/store/row-keys/custom-attributes.ts';
import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { idOf, padded } from '../../lib/store/row-keys/key.ts';
import { memberPartition } from '../../lib/store/row-keys/members.ts';
import { NOTIFY } from '../../lib/store/row-keys/notifications.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { runnersTokenKey } from '../../lib/store/row-keys/runners.ts';
import { passwordResetKey, userKey, userPartition, userRow } from '../../lib/store/row-keys/users.ts';
import { groupsOf, livingOf, usersOf } from './records.ts';
import { keyText, type Row, type Rows, rowCheck } from './rows.ts';

/** Users, and groups and projects that are not deleted. */
const subjectsOf = (rows: Rows): { subject: Subject; row: Row }[] =>
  [...usersOf(rows), ...groupsOf(rows), ...livingOf(rows)].map(({ type, id, row }) => ({
    subject: { kind: type, id },
    row,
  }));

/** A record says what its avatar is, and the avatar lies beside it. */
export const avatars = rowCheck(['avatar'], function* (rows) {
  const topics = rows.of('TOPIC#').filter(({ sk }) => sk === 'TOPIC');
  const owners: { subject: AvatarOwner; row: Row }[] = [
    ...subjectsOf(rows),
    ...topics.map((row) => ({ subject: { kind: 'topic' as const, id: idOf(row.pk) }, row })),
  ];
  for (const { subject, row } of owners) {
    const described = (row['avatar'] as AvatarRecord | null | undefined) ?? undefined;
    const { filename, type, version } = (rows.get(avatarKey(subject)) ?? {}) as Partial<AvatarRecord>;
    const stored = version === undefined ? undefined : { filename, type, version };
    if (!isDeepStrictEqual(described && { ...described }, stored))
      yield `${subject.kind} ${subject.id} has the avatar ${JSON.stringify(stored)} and says ${JSON.stringify(described)}`;
  }
});

/** Each custom attribute has a row that its value finds. */
export const customAttributes = rowCheck(['custom-attributes', 'custom-attribute'], function* (rows) {
  const living = subjectsOf(rows);
  const partitions = new Set(living.map(({ subject }) => attributesKey(subject).pk));
  const stray = new Map(
    [...rows.of('USER#'), ...rows.of('GROUP#'), ...rows.of('PROJECT#')]
      .filter(({ pk, sk }) => sk.startsWith('ABOUT#ATTRIBUTE#') && partitions.has(pk))
      .map((row) => [keyText(row), row]),
  );
  for (const { subject } of living) {
    const attributes = rows.get(attributesKey(subject))?.['attributes'] ?? {};
    for (const [name, value] of Object.entries(attributes as Record<string, string>)) {
      const key = keyText(attributeKey(subject, name));
      const row = stray.get(key);
      const wanted = [attributePartition(subject.kind, name, value), padded(subject.id)];
      if (!isDeepStrictEqual([row?.['who'], row?.['what']], wanted))
        yield `${subject.kind} ${subject.id} is not found by its attribute ${name}`;
      stray.delete(key);
    }
  }
  for (const key of stray.keys()) yield `${key} is of no attribute`;
});

/** What a user chose for a project or group is found under the user. */
export const notificationChoices = rowCheck(['notification-choice'], function* (rows) {
  for (const [kind, prefix, row] of [
    ['project', 'PROJECT#', 'NOTIFY'],
    ['group', 'GROUP#', 'GROUPNOTIFY'],
  ] as const) {
    for (const choice of rows.of(prefix).filter(({ sk }) => sk.startsWith(NOTIFY))) {
      const [id, userId] = [idOf(choice.pk), idOf(choice.sk)];
      const record = rows.get(kind === 'project' ? projectKey(id) : groupKey(id));
      if (record === undefined) yield `${keyText(choice)} is of a ${kind} that does not exist`;
      if (choice['who'] !== userPartition(userId) || choice['what'] !== userRow(row, id))
        yield `${keyText(choice)} is not found under user ${userId}`;
      if (choice.pk !== memberPartition({ kind, id })) yield `${keyText(choice)} is of no ${kind}`;
    }
  }
});

/** What runners register with is of a group that exists. */
export const runners = rowCheck(['runners-token'], function* (rows) {
  for (const row of rows.of('GROUP#').filter(({ sk }) => sk === runnersTokenKey(0).sk)) {
    const id = idOf(row.pk);
    if (rows.get(groupKey(id)) === undefined) yield `${keyText(row)} is of a group that does not exist`;
    if (typeof row['token'] !== 'string' || row['token'] === '') yield `${keyText(row)} has no token`;
  }
});

/** The link for a new password that a record names leads to its user. Rows of links that were replaced expire. */
export const passwordResets = rowCheck(['password-reset'], function* (rows) {
  const now = new Date().toISOString();
  for (const { id, row } of usersOf(rows)) {
    const reset = row['passwordReset'] as UserRecord['passwordReset'];
    if (reset == null || reset.expiresAt <= now) continue;
    if (rows.get(passwordResetKey(reset.hash))?.['userId'] !== id)
      yield `user ${id} is not found by their link for a new password`;
  }
});

/** The user who stands for deleted ones exists, and is one of a kind. */
export const internalUsers = rowCheck(['internal-user'], function* (rows) {
  const leading = new Map(rows.of('INTERNAL#').map((row) => [row['userId'], row.pk]));
  for (const [userId, pk] of leading) {
    const user = rows.get(userKey(userId as number));
    if (`INTERNAL#${user?.['type']}` !== pk) yield `${pk} leads to user ${userId}, who is none`;
  }
  for (const { id, row } of usersOf(rows))
    if (row['type'] === 'ghost' && !leading.has(id)) yield `user ${id} is a ghost that nothing leads to`;
});
