/** Names that must be unique are items of their own, written in their owner's transaction. */
import { NameTaken, type TransactionRefused } from '../errors.ts';
import { folded } from '../row-keys/key.ts';
import { type NameKind, nameKey } from '../row-keys/names.ts';
import type { Table } from './table.ts';
import { ABSENT, type Check, type Delete, type Item, type Put, type Update } from './write.ts';

export type NameOwner =
  | { readonly type: 'user'; readonly id: number }
  | { readonly type: 'group'; readonly id: number }
  | { readonly type: 'project'; readonly id: number };

/** Who holds a name, with what the next round trip needs to know. */
export interface NameHolder {
  readonly type: NameOwner['type'];
  readonly id: number;
  /** False when the holder has another name by now: then this leads to it, until somebody else takes the name. */
  readonly current: boolean;
  /** False of an address that its holder has not shown to be theirs yet. */
  readonly confirmed: boolean;
  /** Groups above a project, outermost first. */
  readonly ancestorIds: readonly number[];
  /** Of a project. */
  readonly repositoryId?: string;
}

const FREE = `${ABSENT} OR #current = :former`;

/**
 * Takes a name that nobody has, or nobody has any more.
 * @param label how the name is called when it is taken: `username`, `email`, `path`
 */
export function claim(kind: NameKind, name: string, owner: NameOwner, label: string, extra: Item = {}): Put {
  return {
    put: { ...nameKey(kind, name), type: owner.type, id: owner.id, name, ...extra },
    if: FREE,
    values: { former: false },
    reason: `taken:${label}`,
  };
}

/** That nobody has a name, for a transaction that takes another; refused as if it took this one. */
export const freeName = (kind: NameKind, name: string, label: string): Check => ({
  check: nameKey(kind, name),
  if: FREE,
  values: { former: false },
  reason: `taken:${label}`,
});

/** Takes a name or another form of it for its holder: the old one leads on, until somebody else takes it. */
export function moveName(
  kind: NameKind,
  was: string,
  is: string,
  owner: NameOwner,
  label: string,
  extra: Item,
) {
  const taken = claim(kind, is, owner, label, extra);
  if (!sameName(was, is)) return [taken, leave(kind, was, owner, label)];
  return [{ ...taken, if: '#type = :type AND #id = :id', values: { type: owner.type, id: owner.id } }];
}

/** Leaves a name to whoever wants it; until then it leads to where its owner is. */
export function leave(kind: NameKind, name: string, owner: NameOwner, label: string): Update {
  return {
    update: nameKey(kind, name),
    set: { current: false },
    if: '#type = :type AND #id = :id',
    values: { type: owner.type, id: owner.id },
    reason: `held:${label}`,
  };
}

/** Frees a name that this owner holds. */
export function release(kind: NameKind, name: string, owner: NameOwner, label: string): Delete {
  return {
    delete: nameKey(kind, name),
    if: '#type = :type AND #id = :id',
    values: { type: owner.type, id: owner.id },
    reason: `held:${label}`,
  };
}

/** @returns the error that tells which names were taken, when that is why a transaction was refused. */
export function takenNames(error: TransactionRefused): NameTaken | undefined {
  const names = error.refusals.flatMap((r) => (r.reason.startsWith('taken:') ? [r.reason.slice(6)] : []));
  return names.length === 0 ? undefined : new NameTaken(names);
}

/** Compared as names are: without regard to case. */
export const sameName = (a: string, b: string): boolean => folded(a) === folded(b);

export class Names {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** One strongly consistent read. */
  async holder(kind: NameKind, name: string): Promise<NameHolder | undefined> {
    return holderOf(await this.#table.get(nameKey(kind, name)));
  }

  /** Of many names, in their order; one round trip for a hundred. */
  async holders(kind: NameKind, names: readonly string[]): Promise<(NameHolder | undefined)[]> {
    return (await this.#table.batchGet(names.map((name) => nameKey(kind, name)))).map(holderOf);
  }
}

function holderOf(item: Item | undefined): NameHolder | undefined {
  if (item === undefined) return undefined;
  const repositoryId = item['repositoryId'] as string | undefined;
  return {
    type: item['type'] as NameHolder['type'],
    id: item['id'] as number,
    current: item['current'] !== false,
    confirmed: item['confirmed'] !== false,
    ancestorIds: (item['ancestorIds'] as number[] | undefined) ?? [],
    ...(repositoryId === undefined ? {} : { repositoryId }),
  };
}
