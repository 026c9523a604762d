/**
 * Variables of the instance, of groups, projects and schedules. Each is one row, with its value sealed in it: what a job
 * gets of an owner is one read, and no value is ever seen with the properties of an earlier one.
 */
import type { CiVariable, VariableOwner } from '../../records/ci-variables.ts';
import { AlreadyExists, LimitReached, Missing, Stale, StoreError, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import {
  variableCountKey,
  variableKey,
  variablesOfKey,
  variablesPartition,
  variablesPrefix,
} from '../row-keys/ci-variables.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, type Item, type Put, unchangedSince, type Write } from '../table/write.ts';

/** Maximum number of variables. */
const MAX_VARIABLES = { instance: 25, group: 200, project: 200, schedule: 50 } as const;

/** Bytes of all values of an owner: every job loads them, with those of all groups above. */
export const MAX_VARIABLE_BYTES = 400 * 1024;

/** The values of an owner would be larger than {@link MAX_VARIABLE_BYTES}. */
export class TooManyBytes extends StoreError {
  override readonly name = 'TooManyBytes';
  constructor() {
    super('limit', `the values of variables would have more than ${MAX_VARIABLE_BYTES} bytes`);
  }
}

const NO_CHECKS: readonly Write[] = [];

export class CiVariables {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  nextId(): Promise<number> {
    return this.#counters.next('ci-variable');
  }

  /** In the order of ids; strongly consistent. */
  of(secrets: Secrets, owner: VariableOwner): Promise<CiVariable[]> {
    return this.#opened(secrets, owner, variablesPrefix(owner));
  }

  /** Those of a key, of any scope. */
  ofKey(secrets: Secrets, owner: VariableOwner, key: string): Promise<CiVariable[]> {
    return this.#opened(secrets, owner, variablesOfKey(owner, key));
  }

  /**
   * @param checks that a schedule exists, for one of its variables; projects and groups are checked anyway
   * @throws AlreadyExists for a taken key and scope; LimitReached, TooManyBytes; Missing when the owner is gone
   */
  async create(
    secrets: Secrets,
    variable: CiVariable,
    alongside: readonly Write[] = NO_CHECKS,
  ): Promise<void> {
    const { owner } = variable;
    await this.#transact(owner, [
      { ...(await rowOf(secrets, variable)), if: ABSENT, reason: 'taken' },
      {
        update: variableCountKey(owner),
        add: { total: 1, bytes: bytesOf(variable) },
        if: `(attribute_not_exists(#total) OR #total < :limit) AND (attribute_not_exists(#bytes) OR #bytes <= :room)`,
        values: { limit: MAX_VARIABLES[owner.kind], room: MAX_VARIABLE_BYTES - bytesOf(variable) },
        reason: 'count',
      },
      ...ownerExists(owner),
      ...alongside,
    ]);
  }

  /** @throws Stale when it was changed or deleted since it was read; AlreadyExists, TooManyBytes, Missing */
  async change(
    secrets: Secrets,
    previous: CiVariable,
    change: Partial<Omit<CiVariable, 'id' | 'owner' | 'key'>>,
    now: Date,
    alongside: readonly Write[] = NO_CHECKS,
  ): Promise<CiVariable> {
    const { owner } = previous;
    const version = previous.version + 1;
    const next: CiVariable = { ...previous, ...change, updatedAt: now.toISOString(), version };
    const row = await rowOf(secrets, next);
    const more = bytesOf(next) - bytesOf(previous);
    await this.#transact(owner, [
      ...(next.environmentScope === previous.environmentScope
        ? [{ ...row, ...unchanged(previous) }]
        : [
            { delete: keyOf(previous), ...unchanged(previous) },
            { ...row, if: ABSENT, reason: 'taken' },
          ]),
      ...(more === 0 ? [] : [bytesChange(owner, more)]),
      ...ownerExists(owner),
      ...alongside,
    ]);
    return next;
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async remove(previous: CiVariable, alongside: readonly Write[] = NO_CHECKS): Promise<void> {
    const { owner } = previous;
    await this.#transact(owner, [
      { delete: keyOf(previous), ...unchanged(previous) },
      { update: variableCountKey(owner), add: { total: -1, bytes: -bytesOf(previous) } },
      ...alongside,
    ]);
  }

  /** Deletes up to `limit` variables of a deleted owner, at the end their count. @returns whether any are left */
  async removeOf(owner: VariableOwner, limit = 200): Promise<boolean> {
    const rows = { partition: variablesPartition(owner), prefix: variablesPrefix(owner), limit };
    if (await deletePage(this.#table, rows)) return true;
    await this.#table.delete({ delete: variableCountKey(owner) });
    return false;
  }

  async #opened(secrets: Secrets, owner: VariableOwner, prefix: string): Promise<CiVariable[]> {
    const rows = { partition: variablesPartition(owner), prefix };
    const items: Item[] = [];
    for await (const item of this.#table.queryAll(rows)) items.push(item);
    const variables = await Promise.all(
      items.map(async (item) => ({ ...(item['variable'] as CiVariable), value: await secrets.opened(item) })),
    );
    return variables.sort((a, b) => a.id - b.id);
  }

  async #transact(owner: VariableOwner, writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['project', 'group', 'schedule']) if (error.has(what)) throw new Missing(what);
      if (error.has('taken')) throw new AlreadyExists('variable');
      if (error.has('variable')) throw new Stale('variable');
      const count = error.get('count');
      if (count === undefined) throw error;
      const limit = MAX_VARIABLES[owner.kind];
      const full = ((count.item?.['total'] as number | undefined) ?? 0) >= limit;
      throw full ? new LimitReached('variables', limit) : new TooManyBytes();
    }
  }
}

/**
 * Deletes all variables of an owner, of few. Refused as `variables` where there are more or fewer by now.
 * @param variables all that there are
 */
export const wholeRemoval = (owner: VariableOwner, variables: readonly CiVariable[]): Write[] => [
  ...variables.map((variable) => ({ delete: keyOf(variable) })),
  {
    delete: variableCountKey(owner),
    if: variables.length === 0 ? `${ABSENT} OR #total = :total` : '#total = :total',
    values: { total: variables.length },
    reason: 'variables',
  },
];

const bytesOf = ({ value }: CiVariable): number => Buffer.byteLength(value);

const keyOf = ({ owner, key, environmentScope }: CiVariable) => variableKey(owner, key, environmentScope);

async function rowOf(secrets: Secrets, variable: CiVariable): Promise<Put> {
  const { value, ...shown } = variable;
  const key = keyOf(variable);
  const row = { ...key, variable: shown, version: variable.version };
  return { put: { ...row, ...(await secrets.sealed(key, value)) } };
}

const unchanged = (record: CiVariable) => unchangedSince(record, 'variable');

const bytesChange = (owner: VariableOwner, more: number): Write => ({
  update: variableCountKey(owner),
  add: { bytes: more },
  ...(more < 0
    ? {}
    : { if: '#bytes <= :room', values: { room: MAX_VARIABLE_BYTES - more }, reason: 'count' }),
});

const ownerExists = (owner: VariableOwner): Check[] =>
  owner.kind === 'project' || owner.kind === 'group'
    ? [checkSourceExists({ kind: owner.kind, id: owner.id })]
    : [];
