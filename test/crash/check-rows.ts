import { isDeepStrictEqual } from 'node:util';
import { decodeTime } from 'ulid';
import { isBelow } from '../../lib/domain/visibility.ts';
import type { MemberRecord } from '../../lib/records/members.ts';
import { ownerOfRepository } from '../../lib/records/repository-owner.ts';
import { SORTED_SIZES, STORAGE_SIZES, sortedSizes } from '../../lib/records/storage-sizes.ts';
import type { DeployTokenRecord, TokenRecord } from '../../lib/records/tokens.ts';
import type { UserRecord } from '../../lib/records/users.ts';
import type { Visibility } from '../../lib/records/visibility.ts';
import { allRowKinds } from '../../lib/store/row-keys/all.ts';
import { type CounterKind, counterKey } from '../../lib/store/row-keys/counters.ts';
import { FORK, forkKey, heirKey } from '../../lib/store/row-keys/forks.ts';
import { groupKey, sharedBelowKey, treeKey } from '../../lib/store/row-keys/groups.ts';
import { folded, idOf, type Key } from '../../lib/store/row-keys/key.ts';
import { type OwnKind, ownCountKey, ownPrefix } from '../../lib/store/row-keys/keys.ts';
import { leaseKey } from '../../lib/store/row-keys/maintenance.ts';
import { MEMBER, memberPartition } from '../../lib/store/row-keys/members.ts';
import { type NameKind, nameKey } from '../../lib/store/row-keys/names.ts';
import { notifyEverywhereKey, WATCHERS } from '../../lib/store/row-keys/notifications.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import {
  GUARD_STRIPES,
  guardKey,
  headKey,
  PACK,
  refNamesKey,
  repositoryPartition,
} from '../../lib/store/row-keys/repository.ts';
import { gramKey, indexedKey } from '../../lib/store/row-keys/search.ts';
import { STAR } from '../../lib/store/row-keys/stars.ts';
import { projectSizeKey, statisticsKey } from '../../lib/store/row-keys/statistics.ts';
import {
  ACCESS_TOKEN,
  DEPLOY_TOKEN,
  deployTokenIdKey,
  deployTokenKey,
  deployTokenRow,
  tokenCountKey,
  tokenIdKey,
  tokenKey,
} from '../../lib/store/row-keys/tokens.ts';
import { type FollowRow, followKey, userKey } from '../../lib/store/row-keys/users.ts';
import { gramsOf } from '../../lib/store/search/trigrams.ts';
import { type ProjectStatistics, sortedRow } from '../../lib/store/statistics/statistics.ts';
import { type IndexName, indexes } from '../../lib/store/table/schema.ts';
import { identityNames } from '../../lib/store/users/item.ts';
import { alertIntegrations, alerts } from './check-alerts.ts';
import { approvals } from './check-approvals.ts';
import { audit } from './check-audit.ts';
import { awards } from './check-awards.ts';
import { ciVariables } from './check-ci-variables.ts';
import { environments } from './check-environments.ts';
import { epics } from './check-epics.ts';
import { clientKeys, trackedErrors } from './check-error-tracking.ts';
import { events } from './check-events.ts';
import { expiring } from './check-expiry.ts';
import { hooks } from './check-hooks.ts';
import { linkSecrets, masterKeyLeases, secrets, settings } from './check-instance.ts';
import { integrations } from './check-integrations.ts';
import { invitations } from './check-invitations.ts';
import { issueLinks, issues } from './check-issues.ts';
import { iterations } from './check-iterations.ts';
import { advanced, artifacts, jobs, jobTraces } from './check-jobs.ts';
import { labelPriorities, labelSubscriptions, labels } from './check-labels.ts';
import { largeFiles } from './check-lfs.ts';
import { mergeRequests } from './check-merge-requests.ts';
import { milestones } from './check-milestones.ts';
import { furtherReplies, mentions, noteLists, notes, noteWords, participants } from './check-notes.ts';
import { packages } from './check-packages.ts';
import { pipelineSchedules, triggers } from './check-pipeline-schedules.ts';
import { pipelines } from './check-pipelines.ts';
import { releases } from './check-releases.ts';
import { refRows, refTables } from './check-repository-rows.ts';
import { scim } from './check-scim.ts';
import { snippets } from './check-snippets.ts';
import { storageMoves } from './check-storage-moves.ts';
import {
  avatars,
  customAttributes,
  internalUsers,
  notificationChoices,
  passwordResets,
  runners,
} from './check-subjects.ts';
import { todos } from './check-todos.ts';
import { topicAssignments, topics } from './check-topics.ts';
import { groupsOf, lazyRepositoriesOf, livingOf, projectsOf, usersOf } from './records.ts';
import { keyText, type Row, type RowCheck, type Rows, rowCheck } from './rows.ts';

/** Hold whenever no request is under way, whatever happened before. */
export const invariants: Readonly<Record<string, RowCheck>> = {
  kinds: rowCheck([], function* ({ items }) {
    for (const row of items)
      if (!PARTITIONS.has(partitionKind(row.pk))) yield `${keyText(row)} is of no known kind`;
  }),

  names: rowCheck(['path', 'project-name', 'group-name', 'email', 'identity'], function* (rows) {
    const kinds = ['PATH#', 'PROJECTNAME#', 'GROUPNAME#', 'EMAIL#', 'IDENTITY#'];
    for (const name of kinds.flatMap((kind) => rows.of(kind))) {
      // A former path redirects until it is taken.
      if (name['current'] === false) continue;
      const held = heldNames(rows, name['type'] as string, name['id'] as number);
      const same = held.find((one) => keyText(one.key) === keyText(name));
      if (same === undefined)
        yield `${name.pk} is held by ${name['type']} ${name['id']}, whose name it is not`;
      else if (same.name !== name['name'])
        yield `${name.pk} is spelled ${name['name']}, its owner ${same.name}`;
    }
    for (const { type, id } of [...usersOf(rows), ...livingOf(rows), ...groupsOf(rows)]) {
      for (const { key, name } of heldNames(rows, type, id)) {
        const item = rows.get(key);
        if (item?.['type'] !== type || item['id'] !== id)
          yield `${type} ${id} does not hold its name ${name}`;
      }
    }
  }),

  counters: rowCheck(['counter'], function* (rows) {
    const largest: Readonly<Record<string, number>> = {
      user: Math.max(0, ...usersOf(rows).map(({ id }) => id)),
      namespace: Math.max(
        0,
        ...usersOf(rows).map(({ row }) => row['namespaceId'] as number),
        ...groupsOf(rows).map(({ id }) => id),
      ),
      project: Math.max(0, ...projectsOf(rows).map((row) => row['id'] as number)),
      token: Math.max(0, ...rows.of('TOKENID#').map(({ pk }) => idOf(pk))),
      'deploy-token': Math.max(0, ...rows.of('DEPLOYTOKENID#').map(({ pk }) => idOf(pk))),
      milestone: Math.max(0, ...rows.of('MILESTONE#').map(({ pk }) => idOf(pk))),
      iteration: Math.max(0, ...rows.of('ITERATION#').map(({ pk }) => idOf(pk))),
      snippet: Math.max(0, ...rows.of('SNIPPET#').map(({ pk }) => idOf(pk))),
      epic: Math.max(0, ...rows.of('EPIC#').map(({ pk }) => idOf(pk))),
      label: Math.max(0, ...rows.of('LABEL#').map(({ pk }) => idOf(pk))),
      'approval-rule': Math.max(
        0,
        ...rows
          .of('APPROVALS#')
          .flatMap((row) => (row['rules'] as readonly { readonly id: number }[]).map(({ id }) => id)),
      ),
      'branch-rule': Math.max(0, ...rulesOf(rows, 'branch').map((row) => row['id'] as number)),
    };
    for (const [kind, id] of Object.entries(largest)) {
      const n = (rows.get(counterKey(kind as CounterKind))?.['n'] as number | undefined) ?? 0;
      if (n < id) yield `the counter of ${kind}s is at ${n}, behind ${kind} ${id}`;
    }
  }),

  indexes: rowCheck([], function* (rows) {
    for (const { name, partitionKey, sortKey, include = [] } of indexes) {
      const attributes = ['pk', 'sk', partitionKey, sortKey, ...include];
      const found = new Map<string, Row>();
      for (const row of rows.indexes.get(name as IndexName)!) {
        if (found.has(keyText(row))) yield `${name} has ${keyText(row)} twice`;
        found.set(keyText(row), row);
      }
      for (const item of rows.items) {
        const row = found.get(keyText(item));
        found.delete(keyText(item));
        if (item[partitionKey] === undefined || item[sortKey] === undefined) {
          if (row !== undefined) yield `${name} has a row of ${keyText(item)}, which is not in it`;
          continue;
        }
        const expected = Object.fromEntries(
          attributes.flatMap((attribute) => (attribute in item ? [[attribute, item[attribute]]] : [])),
        );
        if (row === undefined) yield `${name} lacks the row of ${keyText(item)}`;
        else if (!isDeepStrictEqual({ ...row }, expected)) yield `${name} differs from ${keyText(item)}`;
      }
      for (const key of found.keys()) yield `${name} has a row of ${key}, which does not exist`;
    }
  }),

  approvals,

  labels,

  milestones,
  packages,
  releases,
  environments,
  ciVariables,
  'pipeline schedules': pipelineSchedules,
  triggers,
  clientKeys,
  alertIntegrations,
  alerts,
  trackedErrors,
  iterations,

  epics,

  snippets,
  storageMoves,

  watchers: rowCheck(['watcher', 'notification-choice-everywhere'], function* (rows) {
    const watching = new Set(rows.of(WATCHERS).map(({ sk }) => idOf(sk)));
    for (const { id } of usersOf(rows)) {
      const level = rows.get(notifyEverywhereKey(id))?.['level'];
      if ((level === 'watch' || level === 'custom') !== watching.has(id))
        yield `user ${id} is ${watching.has(id) ? '' : 'not '}found as a watcher at the level ${level}`;
    }
  }),

  tokens: rowCheck(
    [
      'token',
      'token-id',
      'deploy-token',
      'deploy-token-id',
      'token-count',
      'access-token-of-resource',
      'deploy-token-of-resource',
    ],
    function* (rows) {
      for (const token of rows.of('TOKEN#')) {
        const pointer = rows.get(tokenIdKey(token['id'] as number));
        if (pointer?.['hash'] !== token['hash'] || token.pk !== tokenKey(token['hash'] as string).pk)
          yield `token ${token['id']} is not found by its id`;
        if (rows.get(userKey(token['userId'] as number)) === undefined)
          yield `token ${token['id']} is of user ${token['userId']}, who does not exist`;
      }
      for (const pointer of rows.of('TOKENID#')) {
        const token = rows.get(tokenKey(pointer['hash'] as string));
        if (token?.['id'] !== idOf(pointer.pk)) yield `${pointer.pk} leads to no token`;
      }
      for (const token of rows.of('DEPLOYTOKEN#')) {
        const { id, hash, resource } = token as unknown as DeployTokenRecord;
        for (const key of [deployTokenIdKey(id), deployTokenRow(resource, id)]) {
          if (rows.get(key)?.['hash'] !== hash) yield `deploy token ${id} is not found by ${keyText(key)}`;
        }
      }
      for (const row of [...rows.of('PROJECT#'), ...rows.of('GROUP#')]) {
        if (row.sk.startsWith(ACCESS_TOKEN)) {
          const id = idOf(row.sk);
          const token = rows.get(tokenKey((rows.get(tokenIdKey(id))?.['hash'] as string | undefined) ?? '-'));
          if (token?.['revoked'] !== false || token['userId'] !== row['userId'])
            yield `${keyText(row)} leads to no token in force`;
        }
        if (row.sk.startsWith(DEPLOY_TOKEN) && rows.get(deployTokenKey(row['hash'] as string)) === undefined)
          yield `${keyText(row)} leads to no deploy token`;
      }
      const live = new Map<string, number>();
      for (const token of rows.of('TOKEN#')) {
        const { resource, userId, revoked } = token as unknown as TokenRecord;
        const key = keyText(tokenCountKey(resource ?? { kind: 'user', id: userId }));
        if (!revoked) live.set(key, (live.get(key) ?? 0) + 1);
      }
      for (const row of [...rows.of('USER#'), ...rows.of('PROJECT#'), ...rows.of('GROUP#')]) {
        const counted = row['live'];
        if (row.sk === 'TOKENS' && counted !== undefined && counted !== (live.get(keyText(row)) ?? 0))
          yield `${keyText(row)} counts ${counted} tokens; there are ${live.get(keyText(row)) ?? 0}`;
      }
    },
  ),

  owned: rowCheck(['owned-by-user', 'owned-count', 'ssh-key-claim', 'gpg-key-claim'], function* (rows) {
    const claims = new Set(
      [...rows.of('SSHKEYID#'), ...rows.of('SSHKEY#'), ...rows.of('GPGKEY#')].map(keyText),
    );
    for (const kind of ['SSHKEY', 'GPGKEY', 'ADDRESS'] as const) {
      const owned = ownedBy(rows, kind);
      for (const row of owned) {
        for (const key of row['claimed'] as readonly Key[]) {
          const { userId, ownId, id, emailId } = rows.get(key) ?? ({} as Row);
          claims.delete(keyText(key));
          if ((userId ?? id) !== row['userId'] || (ownId ?? emailId) !== row['id'])
            yield `${keyText(key)} does not lead to ${keyText(row)}`;
        }
      }
      for (const user of usersOf(rows)) {
        const there = owned.filter(({ pk }) => pk === user.row.pk).length;
        const counted = (rows.get(ownCountKey(user.id))?.[kind] as number | undefined) ?? 0;
        if (counted !== there) yield `user ${user.id} counts ${counted} of ${kind}; there are ${there}`;
      }
    }
    for (const claim of claims) yield `${claim} leads to nothing`;
  }),

  audit,

  avatars,

  awards,

  'custom attributes': customAttributes,

  events,

  expiring,

  'internal users': internalUsers,

  hooks,
  integrations,

  invitations,

  'link secrets': linkSecrets,

  'master key': masterKeyLeases,

  notes,
  noteLists,
  furtherReplies,
  noteWords,
  mentions,

  'notification choices': notificationChoices,

  participants,

  'password resets': passwordResets,

  issues,
  mergeRequests,
  issueLinks,
  todos,
  pipelines,
  jobs,
  jobTraces,
  artifacts,

  'ref rows': refRows,

  'ref tables': refTables,

  runners,

  scim,

  secrets,

  settings,

  memberships: rowCheck(['membership'], function* (rows) {
    for (const row of [...rows.of('PROJECT#'), ...rows.of('GROUP#')]) {
      if (!row.sk.startsWith('MEMBER#')) continue;
      const { source, userId } = row as unknown as MemberRecord;
      const { kind, id } = source;
      const what = `the membership of user ${userId} in ${kind} ${id}`;
      if (row.pk !== memberPartition(source) || idOf(row.sk) !== userId)
        yield `${what} stands at ${keyText(row)}`;
      if (rows.get(userKey(userId)) === undefined) yield `${what}: the user does not exist`;
      if (rows.get(kind === 'project' ? projectKey(id) : groupKey(id)) === undefined)
        yield `${what}: the ${kind} does not exist`;
    }
  }),

  owners: rowCheck(['group', 'membership'], function* (rows) {
    const owned = new Set(
      rows.of('GROUP#').flatMap((row) => (row['accessLevel'] === 50 ? [idOf(row.pk)] : [])),
    );
    for (const { id, row } of groupsOf(rows))
      if (row['parentId'] === null && !owned.has(id)) yield `nobody owns group ${id}`;
  }),

  rules: rowCheck(['protection-rule', 'protection-rule-count'], function* (rows) {
    for (const rule of rulesOf(rows)) {
      const what = `the rule ${rule['name']} of project ${rule['projectId']}`;
      if (idOf(rule.pk) !== rule['projectId']) yield `${what} stands at ${keyText(rule)}`;
      if (rows.get(projectKey(idOf(rule.pk))) === undefined) yield `${what}: the project does not exist`;
    }
    for (const { id } of livingOf(rows)) {
      const { pk } = projectKey(id);
      const counts = rows.get({ pk, sk: 'RULES' }) ?? {};
      for (const kind of ['branch', 'tag', 'environment'] as const) {
        const held = rulesOf(rows, kind).filter((rule) => rule.pk === pk).length;
        const counted = (counts as Row)[kind] ?? 0;
        if (counted !== held) yield `project ${id} counts ${counted} ${kind} rules and has ${held}`;
      }
    }
  }),

  'project counts': rowCheck(['user', 'project'], function* (rows) {
    for (const { id, row } of usersOf(rows)) {
      const owned = livingOf(rows).filter(
        ({ row }) => row['namespaceKind'] === 'user' && row['ownerId'] === id,
      );
      if (row['projectsCount'] !== owned.length)
        yield `user ${id} counts ${row['projectsCount']} projects and owns ${owned.length}`;
    }
  }),

  repositories: rowCheck(['guard', 'head', 'ref-names'], function* (rows) {
    const known = new Set<string>();
    for (const project of projectsOf(rows)) {
      const { id, repositoryId, deletedAt, archived } = project as unknown as {
        id: number;
        repositoryId: string;
        deletedAt: string | null;
        archived: boolean;
      };
      known.add(repositoryPartition(repositoryId));
      const states = Array.from({ length: GUARD_STRIPES }, (_, i) => {
        const guard = rows.get(guardKey(repositoryId, i));
        return guard && [guard['state'], guard['epoch'], guard['refTable'], guard['frozenBy']].join(' ');
      });
      // What is deleted may be half taken away.
      const wanted = deletedAt !== null ? 'deleted' : archived ? 'read-only' : 'open';
      const standing = deletedAt === null ? states : states.filter((state) => state !== undefined);
      if (new Set(standing).size > 1) yield `the guards of project ${id} disagree: ${states.join(', ')}`;
      if (standing.some((state) => !state?.startsWith(`${wanted} `))) yield `project ${id} is not ${wanted}`;
      if (deletedAt !== null) continue;
      if (rows.get(headKey(repositoryId)) === undefined) yield `project ${id} has no HEAD`;
      if (rows.get(refNamesKey(repositoryId)) === undefined)
        yield `project ${id} has no version of its ref names`;
    }
    for (const { repositoryId, owner } of lazyRepositoriesOf(rows)) {
      if (owner === undefined) continue;
      known.add(repositoryPartition(repositoryId));
      const guards = Array.from({ length: GUARD_STRIPES }, (_, i) => rows.get(guardKey(repositoryId, i)));
      // Closed by the worker that takes it away.
      if (owner['deletedAt']) continue;
      const states = guards.map(
        (guard) => guard && [guard['state'], guard['epoch'], guard['refTable'], guard['frozenBy']].join(' '),
      );
      if (new Set(states).size > 1) yield `the guards of ${repositoryId} disagree: ${states.join(', ')}`;
      if (guards[0]?.['state'] !== 'open') yield `${repositoryId} is not open`;
      for (const key of [headKey(repositoryId), refNamesKey(repositoryId)])
        if (rows.get(key) === undefined) yield `${repositoryId} has no ${key.sk}`;
    }
    for (const { pk, sk } of rows.of('REPO#')) {
      // A worker removes those of deleted snippets, whose records go first.
      if (ownerOfRepository(pk.slice('REPO#'.length))?.kind === 'snippet') continue;
      if (!known.has(pk) && !sk.startsWith('REFTABLES#')) yield `${pk} ${sk} belongs to nothing`;
    }
  }),

  forks: rowCheck(['fork', 'project'], function* (rows) {
    const forks = rows.of('PROJECT#').filter(({ sk }) => sk.startsWith(FORK));
    for (const { pk, sk } of forks) {
      const [parent, fork] = [idOf(pk), idOf(sk)];
      const record = rows.get(projectKey(fork));
      // A project on its way out takes its relations with it.
      if (rows.get(projectKey(parent))?.['deletedAt'] !== null || record?.['deletedAt'] !== null) continue;
      if (record['forkedFromId'] !== parent) yield `project ${fork} stands among the forks of ${parent}`;
    }
    for (const { id, row } of livingOf(rows)) {
      const parent = row['forkedFromId'] as number | undefined;
      if (parent !== undefined && rows.get(forkKey(parent, id)) === undefined)
        yield `project ${id} is not among the forks of ${parent}`;
      const held = forks.filter(
        ({ pk, sk }) => idOf(pk) === id && rows.get(projectKey(idOf(sk)))?.['deletedAt'] === null,
      ).length;
      if (((row['forksCount'] as number | undefined) ?? 0) !== held)
        yield `project ${id} counts ${row['forksCount']} forks and has ${held}`;
    }
  }),

  topics,

  largeFiles,

  stars: rowCheck(['star'], function* (rows) {
    const stars = rows.of('PROJECT#').filter(({ sk }) => sk.startsWith(STAR));
    for (const { id, row } of livingOf(rows)) {
      const held = stars.filter(({ pk }) => idOf(pk) === id).length;
      if (((row['starsCount'] as number | undefined) ?? 0) !== held)
        yield `project ${id} counts ${row['starsCount']} stars and has ${held}`;
    }
  }),

  follows: rowCheck(['follow', 'user'], function* (rows) {
    const ends = rows.of('USER#').flatMap(({ pk, sk }) => {
      const [row, other] = sk.split('#') as [FollowRow, string];
      return row === 'FOLLOWER' || row === 'FOLLOWING' ? [{ row, id: idOf(pk), other: Number(other) }] : [];
    });
    const opposite = { FOLLOWER: 'FOLLOWING', FOLLOWING: 'FOLLOWER' } as const;
    for (const { row, id, other } of ends) {
      if (rows.get(followKey(other, opposite[row], id)) === undefined)
        yield `user ${id} has ${row} ${other}, who has no such row of them`;
    }
    for (const { id, row } of usersOf(rows)) {
      for (const [count, kind] of [
        ['followers', 'FOLLOWER'],
        ['following', 'FOLLOWING'],
      ] as const) {
        const held = ends.filter((end) => end.id === id && end.row === kind).length;
        if (((row[count] as number | undefined) ?? 0) !== held)
          yield `user ${id} counts ${row[count]} ${count} and has ${held}`;
      }
    }
  }),

  sums: rowCheck(['statistics'], function* (rows) {
    for (const size of STORAGE_SIZES) {
      const sums = new Map<string, number>();
      for (const row of rows.of('PROJECT#')) {
        if (row.sk !== 'STATISTICS' || typeof row['countedIn'] !== 'number') continue;
        const { pk } = groupKey(row['countedIn']);
        sums.set(pk, (sums.get(pk) ?? 0) + ((row[size] as number | undefined) ?? 0));
      }
      for (const { pk, sk, [size]: counted } of rows.of('GROUP#'))
        if (sk === 'STATISTICS' && (counted ?? 0) !== (sums.get(pk) ?? 0))
          yield `${pk} counts ${counted} bytes and has ${sums.get(pk) ?? 0}: ${size}`;
    }
  }),

  /** A project is sorted by the sizes that were measured, and by no other. */
  sizes: rowCheck(['project-size'], function* (rows) {
    for (const row of rows.of('PROJECT#')) {
      const id = idOf(row.pk);
      if (row.sk.startsWith('SIZE#') && rows.get(statisticsKey({ kind: 'project', id })) === undefined)
        yield `project ${id} has a ${row.sk} and no statistics`;
      if (row.sk !== 'STATISTICS' || row['storageSize'] === undefined) continue;
      const measured = row as unknown as ProjectStatistics;
      const record = rows.get(projectKey(id));
      for (const size of SORTED_SIZES) {
        const { w: _w, ...held }: Partial<Row> = rows.get(projectSizeKey(id, size)) ?? {};
        if (!isDeepStrictEqual(held, sortedRow(id, size, measured) ?? {}))
          yield `project ${id} is out of order: ${size}`;
        if (record && record['deletedAt'] === null && (record[size] ?? 0) !== sortedSizes(measured)[size])
          yield `project ${id} says ${record[size]} for ${size} and its statistics do not`;
      }
    }
  }),

  networks: rowCheck(['pack', 'pack-heir', 'network-member'], function* (rows) {
    const living = new Set(
      livingOf(rows).map(({ row }) => repositoryPartition(row['repositoryId'] as string)),
    );
    const inherited = new Set(
      rows
        .of('REPO#')
        // Of what is deleted, this goes before the rows of the packs.
        .filter((row) => living.has(row.pk) && row.sk.startsWith(PACK) && row['inherited'] === true)
        .map(({ pk, sk }) => keyText(heirKey(sk.slice(PACK.length), pk.slice('REPO#'.length)))),
    );
    const heirs = new Set(rows.of('HEIRS#').map(keyText));
    for (const key of inherited) if (!heirs.has(key)) yield `${key} is missing: the bytes may be removed`;
    for (const { pk, sk } of rows.of('NETWORK#')) {
      const repository = sk.slice(MEMBER.length);
      if (!rows.of('REPO#').some((row) => row.pk === repositoryPartition(repository)))
        yield `${pk} has ${repository} for a member, which does not exist`;
    }
  }),

  /** The time of the next visit is noted in the transaction that promises it. */
  visits: rowCheck(['lease'], function* (rows, _, now) {
    const promised = new Set(
      rows.of('OUTBOX#').flatMap((row) => {
        const { repositoryId } = row['body'] as { repositoryId?: string };
        return row['type'] === 'repository.maintain' ? [`${repositoryId} ${decodeTime(row.sk)}`] : [];
      }),
    );
    for (const { id, row } of livingOf(rows)) {
      const repositoryId = row['repositoryId'] as string;
      const { until = 0, fence = 0, visitAt = 0 } = (rows.get(leaseKey(repositoryId)) ?? {}) as Partial<Row>;
      if (typeof until !== 'number' || typeof fence !== 'number')
        yield `the lease of project ${id} is no lease`;
      if ((visitAt as number) > now && !promised.has(`${repositoryId} ${visitAt}`))
        yield `project ${id} waits for a visit that nobody has promised`;
    }
  }),
};

/** Rules that hold once the workers have processed the outbox. */
export const settledInvariants: Readonly<Record<string, RowCheck>> = {
  outbox: rowCheck(['outbox-message'], function* (rows, settledAt) {
    for (const row of rows.of('OUTBOX#')) {
      // Dated ahead: a job for later.
      if (decodeTime(row.sk) <= settledAt) yield `the promise ${row['type']} ${row.sk} was not kept`;
    }
  }),

  'promises in order': rowCheck(['promise'], function* (rows, settledAt) {
    for (const row of rows.of('PROMISES#')) {
      if (typeof row['ttl'] !== 'number') yield `${keyText(row)} stays for ever`;
      if (decodeTime(row.sk) <= settledAt) yield `${keyText(row)} was not kept`;
    }
  }),

  'pipelines that went on': advanced,

  labelPriorities,
  labelSubscriptions,

  imports: rowCheck(['project'], function* (rows) {
    const promised = new Set(promisesOf(rows, 'projectId'));
    for (const { id, row } of livingOf(rows)) {
      if (/scheduled|started/.test(String(row['importStatus'])) && !promised.has(id))
        yield `project ${id} waits for its content, which nobody has promised`;
    }
  }),

  uploads: rowCheck(['push-upload'], function* (rows) {
    const promised = new Set(promisesOf(rows, 'id'));
    for (const { pk, state } of rows.of('UPLOAD#')) {
      if ((state === 'queued' || state === 'ingesting') && !promised.has(pk.slice('UPLOAD#'.length)))
        yield `${pk} is ${state}, and nobody has promised to take it in`;
    }
  }),

  deletions: rowCheck(['project'], function* (rows) {
    for (const project of projectsOf(rows)) {
      if (project['deletedAt'] !== null) yield `project ${project['id']} is deleted and still there`;
    }
  }),

  'repositories of deleted snippets': rowCheck(['guard', 'head', 'ref-names'], function* (rows) {
    const gone = lazyRepositoriesOf(rows).filter(({ owner }) => owner === undefined);
    const partitions = new Set(gone.map(({ repositoryId }) => repositoryPartition(repositoryId)));
    for (const { pk, sk } of rows.of('REPO#')) {
      if (partitions.has(pk) && !sk.startsWith('REFTABLES#')) yield `${pk} ${sk} belongs to nothing`;
    }
  }),

  visibility: rowCheck(['project', 'group'], function* (rows) {
    for (const { type, id, row } of [...livingOf(rows), ...groupsOf(rows)]) {
      const inGroup = type === 'group' || row['namespaceKind'] === 'group';
      const parentId = inGroup ? row[type === 'group' ? 'parentId' : 'namespaceId'] : null;
      const parent = parentId === null ? undefined : rows.get(groupKey(parentId as number));
      if (parent !== undefined && isBelow(visibilityOf(parent), visibilityOf(row)))
        yield `${type} ${id} is ${visibilityOf(row)} in a group that is ${visibilityOf(parent)}`;
    }
  }),

  trees: rowCheck(['tree-node', 'share', 'share-below', 'pending-move'], function* (rows) {
    const wanted = new Set<string>();
    for (const { type, id, row } of [...livingOf(rows), ...groupsOf(rows)]) {
      const above = row['ancestorIds'] as number[];
      for (const [i, ancestor] of above.entries())
        wanted.add(keyText(treeKey(ancestor, i === above.length - 1 ? 'DIRECT' : 'DEEP', type, id)));
      for (const { groupId } of row['shares'] as { groupId: number }[]) {
        wanted.add(keyText(treeKey(groupId, 'SHARED', type, id)));
        // Who is a member above an invited group is let into projects, not into groups.
        const invited = type === 'project' ? rows.get(groupKey(groupId)) : undefined;
        for (const ancestor of (invited?.['ancestorIds'] as number[] | undefined) ?? [])
          wanted.add(keyText(sharedBelowKey(ancestor, groupId, id)));
      }
      if (typeof row['movedFrom'] === 'string') yield `group ${id} has not arrived`;
    }
    for (const row of rows.of('TREE#')) {
      if (!wanted.delete(keyText(row))) yield `the row ${keyText(row)} is of nothing that stands there`;
    }
    for (const key of wanted) yield `the row ${key} is missing`;
  }),

  'topic assignments': topicAssignments,

  search: rowCheck(['indexed-texts', 'search-gram'], function* (rows) {
    const wanted = new Map<string, string>();
    const subjects = [
      ...usersOf(rows).map(({ id, row }) => ['user', id, row['name'], row['username']] as const),
      ...livingOf(rows).map(({ id, row }) => ['project', id, row['name'], row['path']] as const),
      ...groupsOf(rows).map(({ id, row }) => ['group', id, row['name'], row['path']] as const),
      ...rows
        .of('SNIPPET#')
        .filter(({ sk }) => sk === 'SNIPPET')
        .map((row) => ['snippet', row['id'] as number, row['title']] as const),
    ];
    for (const [kind, id, ...texts] of subjects) {
      const text = folded(texts.join('\n'));
      for (const gram of gramsOf(text.split('\n'))) wanted.set(keyText(gramKey(kind, gram, id)), text);
      const indexed = rows.get(indexedKey(kind, id))?.['texts'];
      if (!isDeepStrictEqual(indexed, [text])) yield `${kind} ${id} is indexed as ${JSON.stringify(indexed)}`;
    }
    for (const row of rows.of('GRAM#')) {
      if (wanted.get(keyText(row)) !== row['text']) yield `the search row ${keyText(row)} is stale`;
      wanted.delete(keyText(row));
    }
    for (const key of wanted.keys()) yield `the search row ${key} is missing`;
  }),
};

const partitionKind = (pk: string): string => pk.slice(0, pk.indexOf('#') + 1);

const PARTITIONS: ReadonlySet<string> = new Set(allRowKinds.flatMap(({ partitions }) => partitions));

/** What users have several of. */
const ownedBy = (rows: Rows, kind: OwnKind): Row[] =>
  rows.of('USER#').filter(({ sk }) => sk.startsWith(ownPrefix(kind)));

const promisesOf = (rows: Rows, subject: string): unknown[] =>
  rows.of('OUTBOX#').map(({ body }) => (body as Readonly<Record<string, unknown>>)[subject]);

const rulesOf = (rows: Rows, kind = ''): Row[] =>
  rows.of('PROJECT#').filter(({ sk }) => sk.startsWith(`RULE#${kind}`));

const visibilityOf = (row: Row) => row['visibility'] as Visibility;

/** Projects hold their name in their namespace, subgroups theirs in their parent. */
function nameInNamespace(type: string, row: Row): [NameKind, string][] {
  if (type === 'project') return [['projectname', `${row['namespaceId']}/${row['name']}`]];
  return row['parentId'] === null ? [] : [['groupname', `${row['parentId']}/${row['name']}`]];
}

function heldNames(rows: Rows, type: string, id: number) {
  const held = (kind: NameKind, name: unknown) => ({
    key: nameKey(kind, name as string),
    name: name as string,
  });
  const keyOf = { user: userKey, group: groupKey, project: projectKey }[type];
  const row = keyOf && rows.get(keyOf(id));
  if (row === undefined || (type !== 'user' && row['deletedAt'] !== null)) return [];
  const others = ownedBy(rows, 'ADDRESS').filter(({ pk }) => pk === row.pk);
  return type === 'user'
    ? [
        held('path', row['username']),
        held('email', row['email']),
        ...others.map((other) => held('email', other['email'])),
        ...identityNames(row as unknown as UserRecord).map((name) => held('identity', name)),
      ]
    : [held('path', row['fullPath']), ...nameInNamespace(type, row).map((name) => held(...name))];
}
