/** Triggers of projects: few in a project, found by their ids and by the hashes of their tokens. */
import type { TriggerRecord } from '../../records/triggers.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  triggerCountKey,
  triggerKey,
  triggersPartition,
  triggersPrefix,
  triggerTokenKey,
} from '../row-keys/triggers.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Counters } from '../table/counters.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, countBelow, type Item, PRESENT, unchangedSince, type Write } from '../table/write.ts';

/** Maximum number of triggers of a project. */
const MAX_TRIGGERS = 100;

export class Triggers {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  nextId(): Promise<number> {
    return this.#counters.next('trigger');
  }

  /** In the order of ids. */
  async of(secrets: Secrets, projectId: number): Promise<TriggerRecord[]> {
    const rows = { partition: triggersPartition(projectId), prefix: triggersPrefix(projectId) };
    const found: Item[] = [];
    for await (const item of this.#table.queryAll(rows)) found.push(item);
    return Promise.all(found.map((item) => opened(secrets, item)));
  }

  async get(secrets: Secrets, projectId: number, id: number): Promise<TriggerRecord | undefined> {
    const item = await this.#table.get(triggerKey(projectId, id));
    return item && opened(secrets, item);
  }

  /** @param hash of the token @returns the ids of the trigger and of its project */
  async withToken(hash: string): Promise<{ readonly projectId: number; readonly id: number } | undefined> {
    const row = await this.#table.get(triggerTokenKey(hash));
    return row && { projectId: row['projectId'] as number, id: row['triggerId'] as number };
  }

  /** @param hash of its token @throws LimitReached; Missing when the project is deleted */
  async create(
    secrets: Secrets,
    trigger: TriggerRecord,
    hash: string,
    alongside: readonly Write[],
  ): Promise<void> {
    const { token, ...shown } = trigger;
    const { projectId, id } = trigger;
    const key = triggerKey(projectId, id);
    await this.#transact([
      {
        put: { ...key, ...shown, hash, ...(await secrets.sealed(key, token)) },
        if: ABSENT,
        reason: 'trigger',
      },
      { put: { ...triggerTokenKey(hash), projectId, triggerId: id }, if: ABSENT, reason: 'trigger' },
      countBelow(triggerCountKey(projectId), MAX_TRIGGERS, 'trigger-count'),
      checkProjectExists(projectId),
      ...alongside,
    ]);
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async describe(trigger: TriggerRecord, description: string, now: Date): Promise<TriggerRecord> {
    const [updatedAt, version] = [now.toISOString(), trigger.version + 1];
    const key = triggerKey(trigger.projectId, trigger.id);
    await this.#transact([
      { update: key, set: { description, updatedAt, version }, ...unchanged(trigger) },
      checkProjectExists(trigger.projectId),
    ]);
    return { ...trigger, description, updatedAt, version };
  }

  /** Remembers when it was used, unless it is gone. */
  async used({ projectId, id }: TriggerRecord, now: Date): Promise<void> {
    const set = { lastUsedAt: now.toISOString() };
    await this.#table.update({ update: triggerKey(projectId, id), set, if: PRESENT });
  }

  /** @param hash of its token @throws Stale when it was changed or deleted since it was read */
  async remove(trigger: TriggerRecord, hash: string, alongside: readonly Write[]): Promise<void> {
    const { projectId, id } = trigger;
    await this.#transact([
      { delete: triggerKey(projectId, id), ...unchanged(trigger) },
      { delete: triggerTokenKey(hash) },
      { update: triggerCountKey(projectId), add: { total: -1 } },
      ...alongside,
    ]);
  }

  /** Deletes the triggers of a deleted project, a page of them. @returns whether any are left */
  async removeOfProject(projectId: number, limit = 50): Promise<boolean> {
    const rows = { partition: triggersPartition(projectId), prefix: triggersPrefix(projectId), limit };
    const { items, next } = await this.#table.query({ ...rows, only: ['pk', 'sk', 'hash'] });
    for (const { pk, sk, hash } of items as (Item & { pk: string; sk: string; hash: string })[]) {
      await this.#table.delete({ delete: triggerTokenKey(hash) });
      await this.#table.delete({ delete: { pk, sk } });
    }
    if (next === undefined) await this.#table.delete({ delete: triggerCountKey(projectId) });
    return next !== undefined;
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      if (error.has('trigger-count')) throw new LimitReached('triggers', MAX_TRIGGERS);
      throw error.has('trigger') ? new Stale('trigger') : error;
    }
  }
}

async function opened(secrets: Secrets, item: Item): Promise<TriggerRecord> {
  const { pk: _p, sk: _s, w: _w, key: _k, sealed: _e, hash: _h, ...shown } = item;
  return { ...(shown as unknown as TriggerRecord), token: await secrets.opened(item) };
}

const unchanged = (record: TriggerRecord) => unchangedSince(record, 'trigger');
