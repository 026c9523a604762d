import { isDeepStrictEqual } from 'node:util';
import type { AvatarOwner, AvatarRecord } from '../../lib/records/avatars.ts';
import type { RunnerRecord } from '../../lib/records/runners.ts';
import type { Subject } from '../../lib/records/subject.ts';
import { INTERNAL_TYPES, type UserRecord } from '../../lib/records/users.ts';
import { avatarKey } from '../../lib/store/row-keys/avatars.ts';
import {
  attributeKey,
  attributePartition,
  attributesKey,
} from '../../lib/store/row-keys/custom-attributes.ts';
import { groupKey } from '../../lib/store/row-keys/groups.ts';
import { digestOf, idOf, padded } from '../../lib/store/row-keys/key.ts';
import { memberPartition } from '../../lib/store/row-keys/members.ts';
import { NOTIFY } from '../../lib/store/row-keys/notifications.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import {
  RUNNER_OF,
  runnerCountKey,
  runnerOfKey,
  runnersTokenHashKey,
  runnerTokenKey,
} from '../../lib/store/row-keys/runners.ts';
import { passwordResetKey, userKey, userPartition, userRow } from '../../lib/store/row-keys/users.ts';
import { sourcesOf } from '../../lib/store/runners/runners.ts';
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

/** What runners register with is of what exists, and found by its digest; runners are found where they take jobs. */
export const runners = rowCheck(
  ['runners-token', 'runners-token-hash', 'runner', 'runner-token', 'runner-of-resource', 'runner-count'],
  function* (rows) {
    const places = [...rows.of('GROUP#'), ...rows.of('PROJECT#'), ...rows.of('RUNNERS#')];
    const hashes = new Set(rows.of('RUNNERSTOKEN#').map(keyText));
    for (const row of places.filter(({ sk }) => sk === 'RUNNERS_TOKEN')) {
      const id = idOf(row.pk);
      const kind = row.pk.startsWith('GROUP#') ? 'group' : 'project';
      const record = rows.get(kind === 'group' ? groupKey(id) : projectKey(id));
      if (!row.pk.startsWith('RUNNERS#') && record === undefined)
        yield `${keyText(row)} is of a ${kind} that does not exist`;
      if (typeof row['token'] !== 'string' || row['token'] === '') yield `${keyText(row)} has no token`;
      else if (row['found'] === true) {
        const key = keyText(runnersTokenHashKey(digestOf(row['token'])));
        if (!hashes.delete(key)) yield `${keyText(row)} is not found by its digest`;
      }
    }
    for (const hash of hashes) yield `${hash} leads to no registration token`;

    const found = new Map<string, number>();
    const pointers = new Set(rows.of('RUNNERTOKEN#').map(keyText));
    for (const row of rows.of('RUNNER#')) {
      const runner = row as unknown as RunnerRecord;
      if (rows.get(runnerTokenKey(runner.hash))?.['id'] !== runner.id)
        yield `runner ${runner.id} is not found by its token`;
      pointers.delete(keyText(runnerTokenKey(runner.hash)));
      for (const source of sourcesOf(runner)) {
        const key = keyText(runnerOfKey(source, runner.id));
        if (rows.get(runnerOfKey(source, runner.id)) === undefined)
          yield `runner ${runner.id} is not listed as ${key}`;
        found.set(key, runner.id);
      }
    }
    for (const pointer of pointers) yield `${pointer} leads to no runner`;
    const counts = new Map<string, number>();
    for (const row of places.filter(({ sk }) => sk.startsWith(RUNNER_OF))) {
      if (!found.has(keyText(row))) yield `${keyText(row)} leads to no runner`;
      counts.set(row.pk, (counts.get(row.pk) ?? 0) + 1);
    }
    for (const row of places.filter(({ sk }) => sk === runnerCountKey({ kind: 'group', id: 0 }).sk)) {
      if (row['runners'] !== (counts.get(row.pk) ?? 0))
        yield `${keyText(row)} counts ${row['runners']} runners; there are ${counts.get(row.pk) ?? 0}`;
    }
  },
);

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
    if (INTERNAL_TYPES.some((type) => row['type'] === type) && !leading.has(id))
      yield `user ${id} is of the service, and nothing leads there`;
});
