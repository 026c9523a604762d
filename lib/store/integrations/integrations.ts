/**
 * Integrations, in the partition of the project, the group or the instance. Their secrets are rows of their own (`lib/store/secrets`). They
 * have ids of hooks, so that what they are sent waits in queues like those of hooks.
 */
import type { IntegrationOwner, IntegrationRecord } from '../../records/integrations.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { groupKey } from '../row-keys/groups.ts';
import { hookCountsKey } from '../row-keys/hooks.ts';
import { INTEGRATION_PREFIX, integrationKey, integrationsPartition } from '../row-keys/integrations.ts';
import { projectKey } from '../row-keys/projects.ts';
import { secretKey } from '../row-keys/secrets.ts';
import type { Counters } from '../table/counters.ts';
import { allRecords, recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Write } from '../table/write.ts';

/** The owner of the secrets of an integration. */
export const secretOwnerOf = ({ id }: Pick<IntegrationRecord, 'id'>): string => `INTEGRATION#${id}`;

const REFUSED = 'integration';
const GONE = 'integration-owner';

export class Integrations {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  nextId(): Promise<number> {
    return this.#counters.next('hook');
  }

  async get(owner: IntegrationOwner, slug: string): Promise<IntegrationRecord | undefined> {
    return recordOf<IntegrationRecord>(await this.#table.get(integrationKey(owner, slug)));
  }

  /** All integrations of an owner, by slug: as many as there are kinds at most. */
  async of(owner: IntegrationOwner): Promise<IntegrationRecord[]> {
    const rows = { partition: integrationsPartition(owner), prefix: INTEGRATION_PREFIX };
    return allRecords<IntegrationRecord>(this.#table, rows);
  }

  /**
   * Stores an integration in place of what was read before.
   * @throws Stale when it was changed since; Missing when the owner is gone
   */
  async save(
    before: IntegrationRecord | undefined,
    next: IntegrationRecord,
    alongside: readonly Write[],
  ): Promise<void> {
    const more = Number(next.active) - Number(before?.active ?? false);
    try {
      await this.#table.transact([
        {
          put: { ...integrationKey(next.owner, next.slug), ...next },
          reason: REFUSED,
          ...(before === undefined
            ? { if: ABSENT }
            : { if: '#version = :version', values: { version: before.version } }),
        },
        ...counted(next.owner, more),
        ...alongside,
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has(GONE)) throw new Missing('integration owner');
      throw error.has(REFUSED) ? new Stale('integration') : error;
    }
  }

  /** Deletes the integrations of a deleted project or group. @returns whether nothing remains */
  async removeOf(owner: IntegrationOwner, deadline: number): Promise<boolean> {
    for (const integration of await this.of(owner)) {
      if (Date.now() > deadline) return false;
      const { slug, active, secrets } = integration;
      await this.#table
        .transact([
          {
            delete: integrationKey(owner, slug),
            if: '#version = :version',
            values: { version: integration.version },
            reason: REFUSED,
          },
          ...secrets.map((name) => ({ delete: secretKey(secretOwnerOf(integration), name) })),
          // The record of a project is about to be deleted, with its count.
          ...(owner.kind === 'group' && active ? [{ update: hookCountsKey(), add: { group: -1 } }] : []),
        ])
        .catch((error: unknown) => {
          if (!(error instanceof TransactionRefused && error.has(REFUSED))) throw error;
        });
    }
    return (await this.of(owner)).length === 0;
  }
}

/** Counts an active integration more or less where changes look whether somebody hears of them, if its owner is there. */
function counted(owner: IntegrationOwner, more: number): Write[] {
  const living = {
    if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
    values: { null: 'NULL' },
    reason: GONE,
  };
  if (owner.kind === 'system')
    return more === 0 ? [] : [{ update: hookCountsKey(), add: { integrations: more } }];
  if (owner.kind === 'project')
    return more === 0
      ? [{ check: projectKey(owner.id), ...living }]
      : [{ update: projectKey(owner.id), add: { integrationsCount: more }, ...living }];
  return [
    { check: groupKey(owner.id), ...living },
    ...(more === 0 ? [] : [{ update: hookCountsKey(), add: { group: more } }]),
  ];
}
