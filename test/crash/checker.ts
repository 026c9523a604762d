import { createHash } from 'node:crypto';
import { GetQueueAttributesCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { decodeTime } from 'ulid';
import { areasOf } from '../../functions/areas.ts';
import type { JobArtifact } from '../../lib/records/artifacts.ts';
import { ownerOfRepository } from '../../lib/records/repository-owner.ts';
import { DEFAULT_STORAGE } from '../../lib/records/storages.ts';
import type { LongText } from '../../lib/records/texts.ts';
import { ARTIFACTS } from '../../lib/store/artifacts/artifacts.ts';
import { LFS } from '../../lib/store/lfs/objects.ts';
import type { RowKindName } from '../../lib/store/row-keys/all.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import { LFS_OBJECT } from '../../lib/store/row-keys/lfs.ts';
import { DERIVED } from '../../lib/store/row-keys/repository.ts';
import type { Store } from '../../lib/store/store.ts';
import { STAGING } from '../../lib/store/table/schema.ts';
import { TEXTS } from '../../lib/store/texts/texts.ts';
import { besideCode, snippetProblems } from './check-beside-code.ts';
import { pushEventProblems } from './check-events.ts';
import { type CheckedRepository, checkRepository } from './check-git.ts';
import { issueWorkProblems } from './check-issue-work.ts';
import { mergeRequestsOf, proposalProblems } from './check-proposals.ts';
import { invariants, settledInvariants } from './check-rows.ts';
import { stateProblems } from './check-states.ts';
import type { Data } from './data.ts';
import type { ExpectedState } from './expected-state.ts';
import { livingOf, repositoryOwners } from './records.ts';
import { type Row, type Rows, readRows } from './rows.ts';

export interface Report {
  /** What is wrong, a line each, the check's name in front. */
  readonly problems: readonly string[];
  readonly items: number;
  readonly packs: number;
  /** Objects that no repository lists: what interrupted writers left for the sweeper. */
  readonly unlisted: number;
  /** Promises that wait to be sent. */
  readonly promises: number;
  /** Repositories whose writer of a ref table died. */
  readonly frozen: number;
}

/**
 * Reads everything that is stored and says what is wrong with it, and what of the expected state is missing. The host must
 * be down.
 *
 * @param now milliseconds since 1970, by the host's clock
 * @param settled whether the workers have had the time to do all they were asked; or until when (ms) what fell due was
 */
export async function check(
  data: Data,
  expectedState: ExpectedState,
  settled: boolean | number,
  now = Date.now(),
): Promise<Report> {
  const settledAt = typeof settled === 'number' ? settled : Date.now();
  const rows = await readRows(data);
  const problems: string[] = [];
  const note = (name: string, found: Iterable<string>) => {
    for (const problem of found) problems.push(`${name}: ${problem}`);
  };
  const checks = settled !== false ? { ...invariants, ...settledInvariants } : invariants;
  for (const [name, { run }] of Object.entries(checks)) note(name, run(rows, settledAt, now));
  note('acknowledged', await missing(data, expectedState));
  note('states', stateProblems(rows, expectedState));
  note('work on issues', issueWorkProblems(rows, expectedState, settled !== false));
  note('work on merge requests', proposalProblems(rows, expectedState));
  note('snippets of writers', snippetProblems(rows, expectedState));
  note('push events', pushEventProblems(rows, expectedState));
  const proposed = Map.groupBy(mergeRequestsOf(rows), ({ projectId }) => projectId);
  const repositories: IterableIterator<CheckedRepository> = [
    ...livingOf(rows).map(({ id, row }) => ({ id, repositoryId: row['repositoryId'] as string })),
    ...besideCode(rows, expectedState),
  ].values();
  const checkNext = async () => {
    for (const repository of repositories) {
      const name = repository.id === undefined ? repository.repositoryId : `project ${repository.id}`;
      const unreadable = (error: Error) => [`${name} cannot be read: ${error.message}`];
      const mergeRequests = proposed.get(repository.id ?? 0) ?? [];
      const proposals = { mergeRequests, settled: settled !== false };
      note('git', await checkRepository(data, repository, expectedState, proposals).catch(unreadable));
    }
  };
  await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, checkNext));
  const stored = await storedObjects(data, rows, settled !== false);
  note('objects', stored.problems);
  // A job whose worker was killed five times goes to the dead letters; an operator redrives it.
  if (settled !== false) note('dead letters', await deadLetters(data));
  return {
    problems,
    items: rows.items.length,
    packs: stored.listed,
    unlisted: stored.unlisted,
    promises: rows.of('OUTBOX#').length,
    frozen: rows.of('REPO#').filter(({ sk, frozenBy }) => sk === 'GUARD#0' && frozenBy !== '').length,
  };
}

/** Repositories that git looks at: most of the time is its processes'. */
const CHECKED_AT_ONCE = 4;

/** Through the service's own reads, by the names that clients use. */
async function missing({ store }: Data, expectedState: ExpectedState): Promise<string[]> {
  const problems: string[] = [];
  for (const [id, { username, email }] of expectedState.users) {
    if ((await store.users.byUsername(username))?.id !== id) problems.push(`user ${username} is not ${id}`);
    if ((await store.users.byEmail(email))?.id !== id) problems.push(`${email} is not user ${id}'s`);
  }
  for (const [text, { id, userId }] of expectedState.tokens) {
    const token = await store.tokens.byHash(createHash('sha256').update(text).digest('hex'));
    if (token?.id !== id || token.userId !== userId)
      problems.push(`token ${id} of user ${userId} is unknown`);
  }
  for (const [path, { id, present }] of expectedState.projects) {
    const is = (await store.projects.byPath(path))?.id === id;
    if (!present.possible.has(is)) problems.push(`project ${path} is ${is ? 'still there' : 'gone'}`);
  }
  for (const [key, { possible }] of expectedState.members) {
    const [projectId, userId] = key.split(' ').map(Number) as [number, number];
    const level = (await store.members.get({ kind: 'project', id: projectId }, userId))?.accessLevel ?? 0;
    if (!possible.has(level) && (await store.projects.get(projectId)) !== undefined)
      problems.push(
        `user ${userId} has level ${level} in project ${projectId} and not ${[...possible].join(' or ')}`,
      );
  }
  return problems;
}

/** Kinds of rows that {@link storedObjects} looks at: each lists an object. */
export const OBJECT_KINDS = [
  'pack',
  'superseded-pack',
  'derived-file',
] as const satisfies readonly RowKindName[];

/**
 * Every object belongs to an existing repository or is scheduled to be swept; every listed object exists.
 * @param settled otherwise the order to sweep may be in a queue, where nobody looks
 */
async function storedObjects({ store }: Data, rows: Rows, settled: boolean) {
  const problems: string[] = [];
  const packs = rows.of('REPO#').filter(({ sk }) => /^(OLD)?PACK#/.test(sk));
  const code = new Set(livingOf(rows).map(({ row }) => row['repositoryId'] as string));
  const recordOf = repositoryOwners(rows);
  const ownerOf = (repository: string) => {
    const owner = ownerOfRepository(repository);
    return owner && recordOf(owner);
  };
  const exists = (repository: string) =>
    code.has(repository) || (ownerOf(repository) !== undefined && !ownerOf(repository)!['deletedAt']);
  const living = new Set(livingOf(rows).map(({ id }) => id));
  // Of those on their way out, bytes go before rows.
  const promised = rows.of('OUTBOX#').map((row) => row['body']);
  const deleted = rows.of('PROJECT#').filter((row) => row['deletedAt']);
  const leaving = new Set(
    [...promised, ...deleted].flatMap((row) => {
      const { repositoryId, repositories = [] } = row as {
        repositoryId?: string;
        repositories?: readonly { repositoryId: string }[];
      };
      return [repositoryId, ...repositories.map((each) => each.repositoryId)];
    }),
  );
  const listed = new Set(packs.filter(({ pk }) => exists(pk.slice('REPO#'.length))).flatMap(objectKeys));
  const derived = rows.of('REPO#').filter(({ sk }) => sk.startsWith(DERIVED));
  for (const row of derived) {
    if (exists(row.pk.slice('REPO#'.length))) listed.add(row['location'] as string);
  }
  let unlisted = 0;
  // Whose an object is stands in its key.
  const kinds = [
    ['networks/', 3],
    ['derived/', 1],
    ['archives/', 1],
  ] as const;
  for (const [prefix, place] of [...kinds, ...(await placesOf(store))]) {
    for await (const key of keysOf(store, prefix)) {
      const repository = key.split('/')[place]!;
      if (listed.delete(key)) continue;
      // Nobody lists archives: they are made again when they are gone.
      if (exists(repository)) unlisted += prefix === 'archives/' ? 0 : 1;
      else if (settled && !leaving.has(repository) && ownerOf(repository) === undefined)
        problems.push(`${key} is nobody's`);
    }
  }
  // What a writer that ended before its transaction left goes with the project.
  const texts = new Set(rows.items.flatMap((row) => Object.values(row).flatMap(longTextOf)));
  for await (const key of keysOf(store, TEXTS)) texts.delete(key);
  for (const key of texts) problems.push(`${key} is named and not there`);
  // Bytes that no project lists are swept two days after their upload.
  const largeFiles = new Set(
    rows
      .of('LFS#')
      .flatMap(({ pk, sk, location }) =>
        sk.startsWith(LFS_OBJECT) && living.has(idOf(pk)) ? [`${LFS}${location}`] : [],
      ),
  );
  for await (const key of keysOf(store, LFS)) largeFiles.delete(key);
  for (const key of largeFiles) problems.push(`${key} is listed and not there`);
  // A pipeline is deleted before its jobs, their bytes after them.
  const artifacts = new Set(
    rows
      .of('PIPELINE_JOBS#')
      .flatMap(({ projectId, artifacts: files }) =>
        living.has(projectId as number)
          ? ((files ?? []) as readonly JobArtifact[]).map(({ blob }) => blob)
          : [],
      ),
  );
  for await (const key of keysOf(store, ARTIFACTS)) artifacts.delete(key);
  for (const key of artifacts) problems.push(`${key} is listed and not there`);
  for await (const key of keysOf(store, STAGING)) {
    const id = key.slice(STAGING.length).split('/')[0]!;
    // The bucket takes what is left of interrupted ones.
    if (!Number.isFinite(dated(id))) problems.push(`${key} is no staged upload`);
  }
  // Of a superseded pack the bytes go before the row.
  const needed = new Set([
    ...packs.filter((pack) => pack['state'] === 'active').flatMap(objectKeys),
    ...derived.map((row) => row['location'] as string),
  ]);
  for (const key of listed) if (needed.has(key)) problems.push(`${key} is listed and not there`);
  return { problems, unlisted, listed: packs.length };
}

/** The same kinds at each place that repositories were brought to, or are in other storages. */
async function placesOf(store: Store): Promise<(readonly [string, number])[]> {
  const places = new Set<string>();
  for (const name of Object.keys(store.environment.storages))
    for await (const key of keysOf(store, `@${name}/`)) {
      const [, place] = /^(@[^/]+\/(?:\d+\/)?)(?:networks|derived)\//.exec(key) ?? [];
      if (place !== undefined && !(name === DEFAULT_STORAGE && place === `@${name}/`)) places.add(place);
    }
  return [...places].flatMap((place) => {
    const depth = place.split('/').length - 1;
    return [[`${place}networks/`, depth + 3] as const, [`${place}derived/`, depth + 1] as const];
  });
}

const longTextOf = (value: unknown): string[] => {
  const { blob } = (value ?? {}) as Partial<LongText>;
  return typeof blob === 'string' && blob.startsWith(TEXTS) ? [blob] : [];
};

async function* keysOf({ blobs }: Store, prefix: string): AsyncGenerator<string> {
  let after: string | undefined;
  do {
    const page = await blobs.list(prefix, after === undefined ? {} : { after });
    yield* page.keys;
    after = page.more ? page.keys.at(-1) : undefined;
  } while (after !== undefined);
}

function dated(id: string): number {
  try {
    return decodeTime(id.slice(0, 26));
  } catch {
    return Number.NaN;
  }
}

function objectKeys(pack: Row): string[] {
  const location = pack['location'] as string;
  return pack['layout'] === 'joined' ? [location] : [`${location}.pack`, `${location}.idx`];
}

async function deadLetters({ clients }: Data): Promise<string[]> {
  const problems: string[] = [];
  for (const queue of new Set(areasOf('worker').map((area) => area.queue))) {
    const { QueueUrl } = await clients.sqs.send(new GetQueueUrlCommand({ QueueName: `${queue}-dead` }));
    const { Attributes } = await clients.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
    );
    const count = Number(Attributes?.['ApproximateNumberOfMessages']);
    if (count > 0) problems.push(`${count} messages of ${queue} were given up`);
  }
  return problems;
}
