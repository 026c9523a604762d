/** Tools that may send alerts to projects: found by their ids, by their endpoints, and by the hashes of their keys. */
import type { AlertIntegration } from '../../records/alerts.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  ALERT_INTEGRATION_PREFIX,
  alertEndpointKey,
  alertIntegrationCountKey,
  alertIntegrationKey,
  alertIntegrationsPartition,
  alertKeyKey,
} from '../row-keys/alerts.ts';
import type { Counters } from '../table/counters.ts';
import { allRecords, recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, countBelow, unchangedSince, type Write } from '../table/write.ts';

/** Maximum number of integrations of a project. */
const MAX_ALERT_INTEGRATIONS = 50;

/** What decides whether a request is taken. */
export type AlertEndpoint = Pick<
  AlertIntegration,
  'id' | 'projectId' | 'type' | 'active' | 'endpoint' | 'keyHash'
>;

export class AlertIntegrations {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  nextId(): Promise<number> {
    return this.#counters.next('alert-integration');
  }

  /** In the order of ids. */
  async of(projectId: number): Promise<AlertIntegration[]> {
    const rows = { partition: alertIntegrationsPartition(projectId), prefix: ALERT_INTEGRATION_PREFIX };
    return allRecords<AlertIntegration>(this.#table, rows);
  }

  async get(projectId: number, id: number): Promise<AlertIntegration | undefined> {
    return recordOf(await this.#table.get(alertIntegrationKey(projectId, id)));
  }

  /** What an endpoint, and what the hash of a key leads to: in one round trip. */
  async receiving(
    endpoint: string | undefined,
    keyHash: string,
  ): Promise<{ readonly named: AlertEndpoint | undefined; readonly keyed: AlertEndpoint | undefined }> {
    const keys = [alertKeyKey(keyHash), ...(endpoint === undefined ? [] : [alertEndpointKey(endpoint)])];
    const [keyed, named] = await this.#table.batchGet(keys);
    return { named: recordOf(named), keyed: recordOf(keyed) };
  }

  /** @throws LimitReached; Missing when the project is deleted */
  async create(integration: AlertIntegration, alongside: readonly Write[]): Promise<void> {
    const { projectId, id } = integration;
    await this.#transact([
      { put: { ...alertIntegrationKey(projectId, id), ...integration }, if: ABSENT, reason: 'integration' },
      ...leading(integration),
      countBelow(alertIntegrationCountKey(projectId), MAX_ALERT_INTEGRATIONS, 'count'),
      checkProjectExists(projectId),
      ...alongside,
    ]);
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async change(
    before: AlertIntegration,
    change: Partial<Pick<AlertIntegration, 'name' | 'active' | 'mapping' | 'incidents' | 'keyHash'>>,
    now: Date,
    alongside: readonly Write[],
  ): Promise<AlertIntegration> {
    const next = { ...before, ...change, updatedAt: now.toISOString(), version: before.version + 1 };
    await this.#transact([
      { put: { ...alertIntegrationKey(before.projectId, before.id), ...next }, ...unchanged(before) },
      ...(next.keyHash === before.keyHash ? [] : [{ delete: alertKeyKey(before.keyHash) }]),
      ...leading(next),
      ...alongside,
    ]);
    return next;
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async remove(integration: AlertIntegration, alongside: readonly Write[]): Promise<void> {
    const { projectId, id, endpoint, keyHash } = integration;
    await this.#transact([
      { delete: alertIntegrationKey(projectId, id), ...unchanged(integration) },
      { delete: alertEndpointKey(endpoint) },
      { delete: alertKeyKey(keyHash) },
      { update: alertIntegrationCountKey(projectId), add: { total: -1 } },
      ...alongside,
    ]);
  }

  /** Deletes the integrations of a deleted project. @returns whether any are left */
  async removeOfProject(projectId: number, limit = 25): Promise<boolean> {
    const partition = alertIntegrationsPartition(projectId);
    const { items, next } = await this.#table.query({ partition, prefix: ALERT_INTEGRATION_PREFIX, limit });
    for (const item of items) {
      const { id, endpoint, keyHash } = recordOf<AlertIntegration>(item)!;
      await this.#table.delete({ delete: alertKeyKey(keyHash) });
      await this.#table.delete({ delete: alertEndpointKey(endpoint) });
      await this.#table.delete({ delete: alertIntegrationKey(projectId, id) });
    }
    if (next === undefined) await this.#table.delete({ delete: alertIntegrationCountKey(projectId) });
    return next !== undefined;
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      if (error.has('count')) throw new LimitReached('alert integrations', MAX_ALERT_INTEGRATIONS);
      throw error.has('integration') ? new Stale('alert integration') : error;
    }
  }
}

/** The rows that lead to an integration. */
function leading({ id, projectId, type, active, endpoint, keyHash }: AlertIntegration) {
  const shown: AlertEndpoint = { id, projectId, type, active, endpoint, keyHash };
  return [
    { put: { ...alertEndpointKey(endpoint), ...shown } },
    { put: { ...alertKeyKey(keyHash), ...shown } },
  ];
}

const unchanged = (record: AlertIntegration) => unchangedSince(record, 'integration');
