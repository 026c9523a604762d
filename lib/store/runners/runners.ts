/** Runners: each is stored under its id, found by the digest of its token, and listed where it takes jobs. */

import type { MemberSource } from '../../records/members.ts';
import { RUNNER_TYPES, type RunnerFacts, type RunnerRecord, type RunnerType } from '../../records/runners.ts';
import { AlreadyExists, LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import { idOf, padded } from '../row-keys/key.ts';
import { listPartition, listPartitions } from '../row-keys/lists.ts';
import { memberPartition } from '../row-keys/members.ts';
import { RUNNER_OF, runnerCountKey, runnerKey, runnerOfKey, runnerTokenKey } from '../row-keys/runners.ts';
import type { Counters } from '../table/counters.ts';
import { chunkFor, countSources, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { indexSource, mergeKeys, rowSource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Write } from '../table/write.ts';

export type NewRunner = Omit<RunnerRecord, 'id' | 'createdAt' | 'contactedAt' | 'change'>;

/** What can be changed through the interface. */
export type RunnerChange = Partial<
  Pick<
    RunnerRecord,
    'description' | 'tags' | 'runUntagged' | 'locked' | 'paused' | 'maximumTimeout' | 'accessLevel'
  >
>;

export interface RunnerQuery extends PageRequest {
  /** Runners that take jobs of these; all of the instance when absent. */
  readonly of?: readonly MemberSource[];
  /** Of these types alone. With `of`, `instance_type` adds the runners of the instance. */
  readonly types?: readonly RunnerType[];
  readonly where?: ((runner: RunnerRecord) => boolean) | undefined;
}

/** Maximum number of runners of a group, or enabled in a project. */
export const MAX_RUNNERS = 1000;
/** Maximum number of projects that a runner is enabled in: it is deleted in one transaction. */
export const MAX_PROJECTS_OF_RUNNER = 45;
/** Tokens whose runners a process remembers. */
const MAX_KNOWN = 10_000;

const listOf = (type: RunnerType) => `RUNNER#${type}`;

export class Runners {
  readonly #table: Table;
  readonly #counters: Counters;
  /** Ids by the digests of tokens: what a token leads to never changes. */
  readonly #known = new Map<string, number>();

  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** @throws Missing when its group or project is gone, LimitReached */
  async create(
    runner: NewRunner,
    now: Date,
    alongside: (created: RunnerRecord) => readonly Write[] = () => [],
  ): Promise<RunnerRecord> {
    const id = await this.#counters.next('runner');
    const record: RunnerRecord = {
      ...runner,
      id,
      createdAt: now.toISOString(),
      contactedAt: null,
      change: 1,
    };
    const { type, hash } = record;
    const lists = { list: listPartition(listOf(type), id), byId: padded(id) };
    try {
      await this.#table.transact([
        { put: { ...runnerKey(id), ...record, ...lists }, if: ABSENT },
        { put: { ...runnerTokenKey(hash), id }, if: ABSENT },
        ...sourcesOf(record).flatMap((source) => [...listed(source, id), checkSourceExists(source)]),
        ...alongside(record),
      ]);
    } catch (error) {
      throw refusalOf(error);
    }
    return record;
  }

  /** One strongly consistent read where this process knows the token, else two that follow each other. */
  async byHash(hash: string): Promise<RunnerRecord | undefined> {
    const known = this.#known.get(hash);
    const id = known ?? ((await this.#table.get(runnerTokenKey(hash)))?.['id'] as number | undefined);
    const runner = id === undefined ? undefined : await this.get(id);
    if (runner?.hash !== hash) return undefined;
    this.#remember(hash, runner.id);
    return runner;
  }

  async get(id: number): Promise<RunnerRecord | undefined> {
    return fromItem(await this.#table.get(runnerKey(id)));
  }

  /** In the order of the ids. */
  async getMany(ids: readonly number[]): Promise<(RunnerRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map(runnerKey))).map(fromItem);
  }

  /** Those of the groups and projects that have runners of their own; one round trip per four hundred. */
  async withRunners(sources: readonly MemberSource[]): Promise<MemberSource[]> {
    const counts = await this.#table.batchGet(sources.map(runnerCountKey), { only: ['runners'] });
    return sources.filter((_, i) => ((counts[i]?.['runners'] as number | undefined) ?? 0) > 0);
  }

  /** By id, ascending. */
  async list({ of, types = RUNNER_TYPES, where, ...request }: RunnerQuery): Promise<Page<RunnerRecord>> {
    const inLists = of === undefined ? types : types.filter((type) => type === 'instance_type');
    const partitions = inLists
      .flatMap((type) => listPartitions(listOf(type)))
      .map((partition) => ({ index: 'byId', partition }) as const);
    const rows = (of ?? []).map((source) => ({ partition: memberPartition(source), prefix: RUNNER_OF }));
    const chunk = chunkFor(request, partitions.length + rows.length);
    const after = request.rows?.after;
    const afterRow = after && { ...after, sort: RUNNER_OF + after.sort };
    const listed = partitions.map((each) => indexSource(this.#table, each, 'asc', chunk, after));
    const sources = [...listed, ...rows.map((each) => rowSource(this.#table, each, 'asc', chunk, afterRow))];
    const filter =
      of === undefined || types.length === RUNNER_TYPES.length
        ? where
        : (runner: RunnerRecord) => types.includes(runner.type) && (where?.(runner) ?? true);
    // Rows of several projects can name one runner.
    const countable = filter === undefined && of === undefined;
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources.map(onlyIds), 'asc', after), request, {
        load: (ids) => this.getMany(ids),
        where: countable ? undefined : (filter ?? (() => true)),
      }),
      request.count && countable ? countSources(listed) : undefined,
    ]);
    return countable ? { ...page, total } : page;
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async change(
    runner: RunnerRecord,
    change: RunnerChange,
    alongside: readonly Write[] = [],
  ): Promise<RunnerRecord> {
    const next = { ...runner, ...change, change: runner.change + 1 };
    await this.#transact([
      { update: runnerKey(runner.id), set: { ...change, change: next.change }, ...unchanged(runner) },
      ...alongside,
    ]);
    return next;
  }

  /** Notes that a runner has asked; nothing happens where it is deleted. */
  async contacted(
    { id }: RunnerRecord,
    facts: Partial<RunnerFacts> & Pick<RunnerRecord, 'ipAddress'>,
    now: Date,
  ): Promise<void> {
    const set = { ...facts, contactedAt: now.toISOString() };
    await this.#table.update({ update: runnerKey(id), set, if: PRESENT }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== 'refused') throw error;
    });
  }

  /**
   * Lets a runner of projects take the jobs of one more.
   * @throws AlreadyExists, Missing when the project is gone, LimitReached, Stale when the runner was changed meanwhile
   */
  async enable(runner: RunnerRecord, projectId: number, alongside: readonly Write[]): Promise<RunnerRecord> {
    const { id, projectIds } = runner;
    if (projectIds.includes(projectId)) throw new AlreadyExists('runner');
    if (projectIds.length >= MAX_PROJECTS_OF_RUNNER)
      throw new LimitReached('projects of a runner', MAX_PROJECTS_OF_RUNNER);
    const source = { kind: 'project', id: projectId } as const;
    const next = { ...runner, projectIds: [...projectIds, projectId], change: runner.change + 1 };
    await this.#transact([
      moved(runner, next),
      ...listed(source, id),
      checkSourceExists(source),
      ...alongside,
    ]);
    return next;
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async disable(runner: RunnerRecord, projectId: number, alongside: readonly Write[] = []): Promise<void> {
    const projectIds = runner.projectIds.filter((id) => id !== projectId);
    await this.#transact([
      moved(runner, { ...runner, projectIds, change: runner.change + 1 }),
      ...unlisted({ kind: 'project', id: projectId }, runner.id),
      ...alongside,
    ]);
  }

  /** Takes effect at once. @throws Stale when it was changed or deleted since it was read */
  async remove(runner: RunnerRecord, alongside: readonly Write[] = []): Promise<void> {
    const { id, hash } = runner;
    await this.#transact([
      { delete: runnerKey(id), ...unchanged(runner) },
      { delete: runnerTokenKey(hash) },
      ...sourcesOf(runner).flatMap((source) => unlisted(source, id)),
      ...alongside,
    ]);
    this.#known.delete(hash);
  }

  /**
   * Takes up to `limit` runners from a deleted project or group; those that have no other are deleted.
   * @returns whether any are left
   */
  async removeOfResource(source: MemberSource, limit = 50): Promise<boolean> {
    const rows = { partition: memberPartition(source), prefix: RUNNER_OF };
    const page = await this.#table.query({ ...rows, limit, only: ['pk', 'sk'] });
    const runners = await this.getMany(page.items.map(({ sk }) => idOf(sk as string)));
    let left = page.next !== undefined;
    for (const [i, runner] of runners.entries()) {
      const { pk, sk } = page.items[i] as { pk: string; sk: string };
      try {
        if (runner === undefined) await this.#table.delete({ delete: { pk, sk } });
        else if (source.kind === 'project' && runner.projectIds.some((id) => id !== source.id))
          await this.disable(runner, source.id);
        else await this.remove(runner);
      } catch (error) {
        // It was changed meanwhile: the next step reads it again.
        if (!(error instanceof Stale)) throw error;
        left = true;
      }
    }
    if (!left) await this.#table.delete({ delete: runnerCountKey(source) });
    return left;
  }

  #remember(hash: string, id: number): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(hash, id);
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      throw refusalOf(error);
    }
  }
}

/** Where a runner takes jobs, if not of the whole instance. */
export function sourcesOf({
  groupId,
  projectIds,
}: Pick<RunnerRecord, 'groupId' | 'projectIds'>): MemberSource[] {
  return groupId === null
    ? projectIds.map((id) => ({ kind: 'project', id }))
    : [{ kind: 'group', id: groupId }];
}

const listed = (source: MemberSource, id: number): Write[] => [
  { put: { ...runnerOfKey(source, id) }, if: ABSENT, reason: 'listed' },
  {
    update: runnerCountKey(source),
    add: { runners: 1 },
    if: 'attribute_not_exists(#runners) OR #runners < :limit',
    values: { limit: MAX_RUNNERS },
    reason: 'limit',
  },
];

const unlisted = (source: MemberSource, id: number): Write[] => [
  { delete: runnerOfKey(source, id) },
  { update: runnerCountKey(source), add: { runners: -1 } },
];

const moved = (runner: RunnerRecord, { projectIds, change }: RunnerRecord): Write => ({
  update: runnerKey(runner.id),
  set: { projectIds: [...projectIds], change },
  ...unchanged(runner),
});

const unchanged = ({ change }: RunnerRecord) => ({
  if: '#change = :was',
  values: { was: change },
  reason: 'runner',
});

function refusalOf(error: unknown): unknown {
  if (!(error instanceof TransactionRefused)) return error;
  if (error.has('runner')) return new Stale('runner');
  if (error.has('listed')) return new AlreadyExists('runner');
  for (const kind of ['project', 'group']) if (error.has(kind)) return new Missing(kind);
  return error.has('limit') ? new LimitReached('runners', MAX_RUNNERS) : error;
}

/** The sort keys of a list and of a project's rows differ: both are merged by the id alone. */
const onlyIds = (source: ReturnType<typeof rowSource>): ReturnType<typeof rowSource> => ({
  next: async () => (await source.next()).map(({ id }) => ({ sort: padded(id), id })),
});

function fromItem(item: Item | undefined): RunnerRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, list: _l, byId: _b, ...rest } = item;
  return rest as unknown as RunnerRecord;
}
