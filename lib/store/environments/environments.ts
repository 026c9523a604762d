/** Environments of projects, by their ids and names. */

import type { EnvironmentRecord } from '../../records/environments.ts';
import { AlreadyExists, LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage, outboxWrites } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  ENVIRONMENT_PREFIX,
  environmentCountKey,
  environmentKey,
  environmentNameKey,
  environmentsPartition,
} from '../row-keys/environments.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { mergeKeys, rowSource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, countBelow, type Item, unchangedSince, type Write } from '../table/write.ts';

/** Maximum number of environments of a project. */
const MAX_ENVIRONMENTS = 5_000;

/** Deletes an environment whose day has come, and the deployments of a deleted one. */
export const DELETE_ENVIRONMENT_JOB = 'environment.delete';

/** Stops an environment whose time has come. */
export const STOP_ENVIRONMENT_JOB = 'environment.stop';

export class Environments {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  nextId(): Promise<number> {
    return this.#counters.next('environment');
  }

  async get(projectId: number, id: number): Promise<EnvironmentRecord | undefined> {
    return fromItem(await this.#table.get(environmentKey(projectId, id)));
  }

  /** Returns environments in the order of the ids; undefined for a deleted one. */
  async getMany(projectId: number, ids: readonly number[]): Promise<(EnvironmentRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map((id) => environmentKey(projectId, id)))).map(fromItem);
  }

  async named(projectId: number, name: string): Promise<EnvironmentRecord | undefined> {
    const row = await this.#table.get(environmentNameKey(projectId, name));
    return row && this.get(projectId, row['environmentId'] as number);
  }

  /** In the order of ids. @param where a filter, for which all are loaded */
  async page(
    projectId: number,
    request: PageRequest,
    where?: (environment: EnvironmentRecord) => boolean,
  ): Promise<Page<EnvironmentRecord>> {
    const rows = { partition: environmentsPartition(projectId), prefix: ENVIRONMENT_PREFIX };
    const chunk = where === undefined ? request.page * request.perPage + 1 : 500;
    const [page, total] = await Promise.all([
      cutPage(mergeKeys([rowSource(this.#table, rows, 'asc', Math.min(chunk, 1000))], 'asc'), request, {
        load: (ids) => this.getMany(projectId, ids),
        where,
        countWalk: MAX_ENVIRONMENTS,
      }),
      where === undefined && request.count ? this.#table.get(environmentCountKey(projectId)) : undefined,
    ]);
    if (where !== undefined) return page;
    return { ...page, total: request.count ? ((total?.['total'] as number | undefined) ?? 0) : undefined };
  }

  /** Whether projects have an environment of this name. */
  async areIn(projectIds: readonly number[], name: string): Promise<boolean[]> {
    const keys = projectIds.map((id) => environmentNameKey(id, name));
    return (await this.#table.batchGet(keys)).map((row) => row !== undefined);
  }

  /** Writes of a new environment. Refused as `environment-name`, `environment-count`. */
  creation(environment: EnvironmentRecord): Write[] {
    const { projectId, id, name } = environment;
    return [
      { put: { ...environmentKey(projectId, id), ...environment }, if: ABSENT, reason: 'environment' },
      {
        put: { ...environmentNameKey(projectId, name), environmentId: id },
        if: ABSENT,
        reason: 'environment-name',
      },
      countBelow(environmentCountKey(projectId), MAX_ENVIRONMENTS, 'environment-count'),
    ];
  }

  /** @throws AlreadyExists for a taken name; LimitReached; Missing when the project is deleted */
  async create(environment: EnvironmentRecord): Promise<void> {
    await this.#transact([...this.creation(environment), checkProjectExists(environment.projectId)]);
  }

  /** The write of a change, but for that of a name. Refused as `environment` where it was changed since it was read. */
  changing(environment: EnvironmentRecord, change: Partial<EnvironmentRecord>, now: Date): Write {
    const next = changed(environment, change, now);
    return {
      put: { ...environmentKey(environment.projectId, environment.id), ...next },
      ...unchanged(environment),
    };
  }

  /** @throws Stale when it was changed or deleted since it was read; AlreadyExists for a taken name; Missing */
  async change(
    environment: EnvironmentRecord,
    change: Partial<Omit<EnvironmentRecord, 'id' | 'projectId'>>,
    now: Date,
  ): Promise<EnvironmentRecord> {
    const { projectId, id } = environment;
    const next = changed(environment, change, now);
    const renamed = next.name !== environment.name;
    await this.#transact([
      this.changing(environment, change, now),
      ...(renamed
        ? [
            { delete: environmentNameKey(projectId, environment.name) },
            {
              put: { ...environmentNameKey(projectId, next.name), environmentId: id },
              if: ABSENT,
              reason: 'environment-name',
            },
          ]
        : []),
      checkProjectExists(projectId),
    ]);
    return next;
  }

  /** Marks environments for deletion, with messages of that day: 40 at most. @throws Stale */
  async schedule(
    environments: readonly EnvironmentRecord[],
    deletedOn: string,
    now: Date,
    messages: readonly OutboxMessage[],
  ): Promise<void> {
    const writes = environments.map((each) => this.changing(each, { deletedOn }, now));
    await this.#transact([...writes, ...outboxWrites(messages)]);
  }

  /** Deletes an environment; a worker deletes its deployments. @throws Stale */
  async remove(environment: EnvironmentRecord): Promise<void> {
    const { projectId, id, name } = environment;
    await this.#transact(
      [
        { delete: environmentKey(projectId, id), ...unchanged(environment) },
        { delete: environmentNameKey(projectId, name) },
        { update: environmentCountKey(projectId), add: { total: -1 } },
      ],
      [message(MAINTENANCE, DELETE_ENVIRONMENT_JOB, { projectId, environmentId: id })],
    );
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: environmentsPartition(projectId), limit });
  }

  async #transact(writes: readonly Write[], messages: readonly OutboxMessage[] = []): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      throw environmentRefusal(error);
    }
  }
}

/** What the refusal of a transaction with writes of environments means. */
export function environmentRefusal(error: unknown): unknown {
  if (!(error instanceof TransactionRefused)) return error;
  if (error.has('project')) return new Missing('project');
  if (error.has('environment-name')) return new AlreadyExists('environment');
  if (error.has('environment-count')) return new LimitReached('environments', MAX_ENVIRONMENTS);
  return error.has('environment') ? new Stale('environment') : error;
}

const changed = (
  environment: EnvironmentRecord,
  change: Partial<EnvironmentRecord>,
  now: Date,
): EnvironmentRecord => ({
  ...environment,
  ...change,
  updatedAt: now.toISOString(),
  version: environment.version + 1,
});

const unchanged = (record: EnvironmentRecord) => unchangedSince(record, 'environment');

function fromItem(item: Item | undefined): EnvironmentRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, ...record } = item;
  return record as unknown as EnvironmentRecord;
}
