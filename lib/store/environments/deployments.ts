/** Deployments of projects to their environments. */

import type { DeploymentRecord } from '../../records/environments.ts';
import { Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  type DeploymentOrder,
  deploymentCountKey,
  deploymentKey,
  deploymentOfKey,
  deploymentOfPrefix,
  deploymentPlaceKey,
  deploymentsPartition,
} from '../row-keys/environments.ts';
import { idOf } from '../row-keys/key.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { type Direction, mergeKeys, rowSource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, unchangedSince, type Write } from '../table/write.ts';
import { environmentRefusal } from './environments.ts';

/** Deployments that are looked at to find the one that an environment has. */
const LOOKED_AT = 100;

export class Deployments {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** Allocates an id, and a number within the project. */
  async next(projectId: number): Promise<{ id: number; iid: number }> {
    const [id, item] = await Promise.all([
      this.#counters.next('deployment'),
      this.#table.update({ update: deploymentCountKey(projectId), add: { iid: 1 } }),
    ]);
    return { id, iid: item['iid'] as number };
  }

  async get(projectId: number, id: number): Promise<DeploymentRecord | undefined> {
    return fromItem(await this.#table.get(deploymentKey(projectId, id)));
  }

  /** Whether projects have had deployments. */
  async areIn(projectIds: readonly number[]): Promise<boolean[]> {
    return (await this.#table.batchGet(projectIds.map(deploymentCountKey))).map((row) => row !== undefined);
  }

  /** The newest successful deployment to an environment, other than `except`, among the newest hundred. */
  async lastSuccess(
    projectId: number,
    environmentId: number,
    except?: number,
  ): Promise<DeploymentRecord | undefined> {
    const { items } = await this.#table.query({
      partition: deploymentsPartition(projectId),
      prefix: deploymentOfPrefix(environmentId),
      reverse: true,
      limit: LOOKED_AT,
      only: ['sk'],
    });
    const ids = items.map(({ sk }) => idOf(sk as string));
    for (let at = 0; at < ids.length; at += 10) {
      const found = (await this.#load(projectId, ids.slice(at, at + 10))).find(
        (each) => each?.status === 'success' && each.id !== except,
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** @param query.where a filter, for which all in the order are loaded, 5,000 at most */
  async page(
    projectId: number,
    query: {
      /** Undefined: of all environments. */
      readonly environmentId?: number | undefined;
      readonly order: DeploymentOrder;
      readonly direction: Direction;
      readonly where?: ((deployment: DeploymentRecord) => boolean) | undefined;
    },
    request: PageRequest,
  ): Promise<Page<DeploymentRecord>> {
    const { environmentId, order, direction } = query;
    const partition = deploymentsPartition(projectId);
    const ofEnvironment = environmentId !== undefined && order === 'ID';
    const rows = { partition, prefix: ofEnvironment ? deploymentOfPrefix(environmentId) : `${order}#` };
    const filters = [
      query.where,
      environmentId === undefined || ofEnvironment
        ? undefined
        : (each: DeploymentRecord) => each.environmentId === environmentId,
    ].filter((filter) => filter !== undefined);
    const filtered = filters.length > 0;
    const after = request.rows?.after;
    const source = rowSource(this.#table, rows, direction, filtered ? 200 : chunkFor(request, 1), after);
    const counted = !filtered && request.count === true;
    const [page, total] = await Promise.all([
      cutPage(mergeKeys([source], direction, after), request, {
        load: (ids) => this.#load(projectId, ids),
        where: filtered ? (each) => filters.every((filter) => filter(each)) : undefined,
      }),
      counted ? this.#table.count(rows, 10_000) : undefined,
    ]);
    return filtered ? page : { ...page, total };
  }

  /** @param alongside writes of the environment, pins. @throws Stale for the environment; AlreadyExists, LimitReached, Missing */
  async create(deployment: DeploymentRecord, alongside: readonly Write[]): Promise<void> {
    await this.#transact([
      ...this.creation(deployment),
      checkProjectExists(deployment.projectId),
      ...alongside,
    ]);
  }

  /** Writes of a new deployment. */
  creation(deployment: DeploymentRecord): Write[] {
    const { projectId, id } = deployment;
    return [
      { put: { ...deploymentKey(projectId, id), ...deployment }, if: ABSENT, reason: 'deployment' },
      ...placeKeys(deployment).map((key) => ({ put: { ...key } })),
    ];
  }

  /** @throws Stale when it, or the environment, was changed or deleted since it was read; Missing */
  async change(
    deployment: DeploymentRecord,
    change: Pick<DeploymentRecord, 'status' | 'previousSha'>,
    now: Date,
    alongside: readonly Write[],
  ): Promise<DeploymentRecord> {
    const next = changed(deployment, change, now);
    await this.#transact([
      ...this.changing(deployment, change, now),
      checkProjectExists(deployment.projectId),
      ...alongside,
    ]);
    return next;
  }

  /** The writes of a change. Refused as `deployment` where it was changed since it was read. */
  changing(
    deployment: DeploymentRecord,
    change: Pick<DeploymentRecord, 'status' | 'previousSha'>,
    now: Date,
  ): Write[] {
    const { projectId, id, version, updatedAt } = deployment;
    const next = changed(deployment, change, now);
    const put = { ...deploymentKey(projectId, id), ...next };
    const moved = [
      { delete: deploymentPlaceKey(projectId, 'UPDATED', updatedAt, id) },
      { put: { ...deploymentPlaceKey(projectId, 'UPDATED', next.updatedAt, id) } },
    ];
    return [
      { put, ...unchangedSince({ version }, 'deployment') },
      ...(next.updatedAt === updatedAt ? [] : moved),
    ];
  }

  /** Deletes deployments of a deleted environment. @returns whether any are left */
  async removeOf(projectId: number, environmentId: number, limit = 20): Promise<boolean> {
    const { items, next } = await this.#table.query({
      partition: deploymentsPartition(projectId),
      prefix: deploymentOfPrefix(environmentId),
      limit,
    });
    const ids = items.map(({ sk }) => idOf(sk as string));
    const found = await this.#load(projectId, ids);
    const keys = found.flatMap((each) =>
      each === undefined ? [] : [deploymentKey(projectId, each.id), ...placeKeys(each)],
    );
    if (keys.length > 0) await this.#table.transact(keys.map((key) => ({ delete: key })));
    return next !== undefined;
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: deploymentsPartition(projectId), limit });
  }

  async #load(projectId: number, ids: readonly number[]): Promise<(DeploymentRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map((id) => deploymentKey(projectId, id)))).map(fromItem);
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (error instanceof TransactionRefused && error.has('deployment')) throw new Stale('deployment');
      throw environmentRefusal(error);
    }
  }
}

const changed = (
  deployment: DeploymentRecord,
  change: Partial<DeploymentRecord>,
  now: Date,
): DeploymentRecord => ({
  ...deployment,
  ...change,
  updatedAt: now.toISOString(),
  version: deployment.version + 1,
});

const placeKeys = ({ projectId, id, environmentId, updatedAt, ref }: DeploymentRecord) => [
  deploymentPlaceKey(projectId, 'UPDATED', updatedAt, id),
  deploymentPlaceKey(projectId, 'REF', ref, id),
  deploymentOfKey(projectId, environmentId, id),
];

function fromItem(item: Item | undefined): DeploymentRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, ...record } = item;
  return record as unknown as DeploymentRecord;
}
