/** Many refs of a repository at once: all, or those under a prefix. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ref } from '../git/ports.ts';
import type { RefName } from '../git/refname.ts';
import { Missing, StoreUnavailable } from './errors.ts';
import { guardKey, headKey, REF, refNamesKey, refPrefixSort, repositoryPartition } from './keys.ts';
import { type RefLooks, refOfRow } from './ref-looks.ts';
import { refsInTable } from './ref-table.ts';
import { type Guard, guardOf, randomStripe } from './repository-state.ts';
import { compareText } from './text-order.ts';
import type { Item } from './write.ts';

const SNAPSHOTS = 30;

export class RefViews {
  readonly #looks: RefLooks;
  constructor(looks: RefLooks) {
    this.#looks = looks;
  }

  /**
   * One view of every ref: transactions of several refs raise `multi`, which is read before the refs and again
   * after them. When it moved meanwhile, part of such a transaction may have been seen, so it is read again. It sorts
   * behind all refs, so backwards it comes before them, with one query.
   */
  async snapshot(prefix: string): Promise<{ head: RefName; refs: Ref[] }> {
    const partition = repositoryPartition(this.#looks.id);
    const range = {
      partition,
      from: prefix === '' ? REF : refPrefixSort(prefix),
      to: refNamesKey(this.#looks.id).sk,
    };
    for (let n = 0; n < SNAPSHOTS; n++) {
      if (n > 3) await sleep(Math.random() * 5 * n);
      const [[guardItem, head], [before, ...rows]] = await Promise.all([
        this.#looks.table.batchGet([guardKey(this.#looks.id, randomStripe()), headKey(this.#looks.id)]),
        collect(this.#looks.table.queryAll({ ...range, reverse: true })),
      ]);
      const guard = this.#looks.note(guardItem);
      if (guard.state === 'deleted') throw new Missing('repository');
      const [stored, [guardAfter, after]] = await Promise.all([
        this.#inTable(prefix, guard),
        this.#looks.table.batchGet([guardKey(this.#looks.id, randomStripe()), refNamesKey(this.#looks.id)]),
      ]);
      if (after?.['multi'] !== before?.['multi'] || guardOf(guardAfter)?.refTable !== guard.refTable)
        continue;
      const refs = amended(stored, rows, guard, prefix);
      return {
        head: head!['target'] as RefName,
        refs: [...refs.values()].toSorted((a, b) => compareText(a.name, b.name)),
      };
    }
    throw new StoreUnavailable(false, new Error('the refs keep changing'));
  }

  /** Refs under a prefix, as they stand while they are read. */
  async rows(prefix: string, guard: Guard): Promise<Map<RefName, Ref>> {
    const partition = repositoryPartition(this.#looks.id);
    const [stored, rows] = await Promise.all([
      this.#inTable(prefix, guard),
      collect(this.#looks.table.queryAll({ partition, prefix: refPrefixSort(prefix) })),
    ]);
    return amended(stored, rows, guard, prefix);
  }

  async #inTable(prefix: string, { refTable }: Guard): Promise<readonly Ref[]> {
    return refTable === '' ? [] : refsInTable(this.#looks.table, this.#looks.id, refTable, prefix);
  }
}

/** The refs of the table in force, amended by the rows that name it. */
function amended(
  stored: readonly Ref[],
  rows: readonly Item[],
  { refTable }: Guard,
  prefix: string,
): Map<RefName, Ref> {
  const refs = new Map(stored.map((ref) => [ref.name, ref]));
  for (const row of rows) {
    const name = row['name'] as RefName;
    if (row['table'] !== refTable || !name.startsWith(prefix)) continue;
    const ref = refOfRow(row);
    if (ref === undefined) refs.delete(name);
    else refs.set(name, ref);
  }
  return refs;
}

async function collect(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
