/** Hooks, in the partition of what they hear of. Their tokens are secrets (`lib/store/secrets`). */

import type { HookOwner, HookRecord } from '../../records/hooks.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { groupKey } from '../row-keys/groups.ts';
import { HOOK_PREFIX, hookCountKey, hookCountsKey, hookKey, hooksPartition } from '../row-keys/hooks.ts';
import { issueKeys } from '../row-keys/issues.ts';
import { idOf } from '../row-keys/key.ts';
import { mergeRequestKeys } from '../row-keys/merge-requests.ts';
import { projectKey } from '../row-keys/projects.ts';
import { secretKey } from '../row-keys/secrets.ts';
import type { Counters } from '../table/counters.ts';
import { allRecords, recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Update, unchangedSince, type Write } from '../table/write.ts';

/** Maximum number of hooks of one project, of one group, and of the instance. */
const MAX_HOOKS = { project: 100, group: 50, system: 500 } as const;

/** The owner has as many hooks as it may. */
export class HooksFull extends Error {
  override readonly name = 'HooksFull';
}

const REFUSED = 'hook';
const FULL = 'hook-count';
const GONE = 'hook-owner';

/** The owner of a hook's secrets, and the name of its token. */
export const secretOwner = (id: number): string => `HOOK#${id}`;
export const HOOK_TOKEN = 'token';

export class Hooks {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  nextId(): Promise<number> {
    return this.#counters.next('hook');
  }

  async get(owner: HookOwner, id: number): Promise<HookRecord | undefined> {
    return recordOf<HookRecord>(await this.#table.get(hookKey(owner, id)));
  }

  /** All hooks of an owner, in the order of ids. */
  async of(owner: HookOwner): Promise<HookRecord[]> {
    const rows = { partition: hooksPartition(owner), prefix: HOOK_PREFIX };
    return allRecords<HookRecord>(this.#table, rows);
  }

  /** The number of the newest issue or merge request of a project, for examples. */
  async newestNumber(kind: 'issue' | 'merge-request', projectId: number): Promise<number | undefined> {
    const { partition, recordPrefix: prefix } = kind === 'issue' ? issueKeys : mergeRequestKeys;
    const { items } = await this.#table.query({
      partition: partition(projectId),
      prefix,
      reverse: true,
      limit: 1,
      only: ['sk'],
    });
    return items[0] && idOf(items[0]['sk'] as string);
  }

  /** @throws HooksFull; Missing when the owner is gone */
  async create(hook: HookRecord, alongside: readonly Write[]): Promise<void> {
    const { owner, id } = hook;
    await this.#transact([
      { put: { ...hookKey(owner, id), ...hook }, if: ABSENT, reason: REFUSED },
      ...counting(owner, 1),
      ...(owner.kind === 'group'
        ? [
            {
              check: groupKey(owner.id),
              if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
              values: { null: 'NULL' },
              reason: GONE,
            },
          ]
        : []),
      ...alongside,
    ]);
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async change(
    hook: HookRecord,
    change: Partial<Omit<HookRecord, 'id' | 'owner' | 'version'>>,
    alongside: readonly Write[],
  ): Promise<HookRecord> {
    const next = { ...hook, ...change, version: hook.version + 1 };
    await this.#transact([
      { put: { ...hookKey(hook.owner, hook.id), ...next }, ...unchanged(hook) },
      ...alongside,
    ]);
    return next;
  }

  /** Deletes a hook with its token. @throws Stale when it was changed or deleted since it was read */
  async remove(hook: HookRecord, alongside: readonly Write[] = []): Promise<void> {
    await this.#transact([
      { delete: hookKey(hook.owner, hook.id), ...unchanged(hook) },
      { delete: secretKey(secretOwner(hook.id), HOOK_TOKEN) },
      ...counting(hook.owner, -1),
      ...alongside,
    ]);
  }

  /** Deletes the hooks of a deleted project or group. @returns whether nothing remains */
  async removeOf(owner: HookOwner, deadline: number): Promise<boolean> {
    for (const hook of await this.of(owner)) {
      if (Date.now() > deadline) return false;
      const { id } = hook;
      await this.#table
        .transact([
          { delete: hookKey(owner, id), if: PRESENT, reason: REFUSED },
          { delete: secretKey(secretOwner(id), HOOK_TOKEN) },
          // The record of a project is about to be deleted, with its count.
          ...(owner.kind === 'project' ? [] : counting(owner, -1)),
        ])
        .catch((error: unknown) => {
          if (!(error instanceof TransactionRefused && error.has(REFUSED))) throw error;
        });
    }
    if (owner.kind === 'group') await this.#table.delete({ delete: hookCountKey(owner) });
    return true;
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has(GONE)) throw new Missing('hook owner');
      const full = error.get(FULL);
      // Without the project's record there is nothing to count in.
      if (full !== undefined)
        throw full.item?.['deletedAt'] === undefined || full.item['deletedAt'] === null
          ? new HooksFull()
          : new Missing('project');
      throw error.has(REFUSED) ? new Stale('hook') : error;
    }
  }
}

/** The writes that count a hook more or less. Projects have their count in the record, which every request reads. */
function counting(owner: HookOwner, by: 1 | -1): Update[] {
  const limited = (attribute: string) =>
    by < 0
      ? {}
      : {
          if: `attribute_not_exists(#${attribute}) OR #${attribute} < :limit`,
          values: { limit: MAX_HOOKS[owner.kind] },
          reason: FULL,
        };
  if (owner.kind === 'project') {
    const alive = `${PRESENT} AND attribute_type(#deletedAt, :null)`;
    const { if: room, values } = limited('hooksCount') as { if?: string; values?: object };
    return [
      {
        update: projectKey(owner.id),
        add: { hooksCount: by },
        if: room === undefined ? alive : `${alive} AND (${room})`,
        values: { ...values, null: 'NULL' },
        reason: FULL,
      },
    ];
  }
  if (owner.kind === 'system')
    return [{ update: hookCountsKey(), add: { system: by }, ...limited('system') }];
  return [
    { update: hookCountKey(owner), add: { hooks: by }, ...limited('hooks') },
    { update: hookCountsKey(), add: { group: by } },
  ];
}

const unchanged = (record: HookRecord) => unchangedSince(record, REFUSED);
