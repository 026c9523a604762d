/** Unique names: each is an item of its own, written in its owner's transaction. */
import { NameTaken, type TransactionRefused } from '../errors.ts';
import { folded } from '../row-keys/key.ts';
import { type NameKind, nameKey } from '../row-keys/names.ts';
import type { Table } from './table.ts';
import { ABSENT, type Check, type Delete, type Item, type Put, type Update, type Write } from './write.ts';

export type NameOwner =
  | { readonly type: 'user'; readonly id: number }
  | { readonly type: 'group'; readonly id: number }
  | { readonly type: 'project'; readonly id: number }
  | { readonly type: 'topic'; readonly id: number };

/** The holder of a name, with what the caller needs to read the holder's records next. */
export interface NameHolder {
  readonly type: NameOwner['type'];
  readonly id: number;
  /** False: the holder was renamed, and the old name redirects to it until another owner takes the name. */
  readonly current: boolean;
  /** False: an email address that its holder has not confirmed. */
  readonly confirmed: boolean;
  /** Ancestor groups, top-level group first. */
  readonly ancestorIds: readonly number[];
  /** Only of a project. */
  readonly repositoryId?: string;
}

const FREE = `${ABSENT} OR #current = :former`;

/**
 * Claims a name that is free or only redirects.
 * @param label name of the field in {@link NameTaken}: `username`, `email`, `path`, `name`
 */
export function claim(kind: NameKind, name: string, owner: NameOwner, label: string, extra: Item = {}): Put {
  return {
    put: { ...nameKey(kind, name), type: owner.type, id: owner.id, name, ...extra },
    if: FREE,
    values: { former: false },
    reason: `taken:${label}`,
  };
}

/** Checks that a name is free, in a transaction that claims another; refused as {@link claim} is. */
export const freeName = (kind: NameKind, name: string, label: string): Check => ({
  check: nameKey(kind, name),
  if: FREE,
  values: { former: false },
  reason: `taken:${label}`,
});

/** Renames a holder. The old name redirects until another owner takes it; a change of case keeps one row. */
export function moveName(
  kind: NameKind,
  previous: string,
  next: string,
  owner: NameOwner,
  label: string,
  extra: Item,
) {
  const claimed = claim(kind, next, owner, label, extra);
  if (!sameName(previous, next)) return [claimed, vacate(kind, previous, owner, label)];
  return [{ ...claimed, if: '#type = :type AND #id = :id', values: { type: owner.type, id: owner.id } }];
}

/** Gives up a name: it redirects to its owner until another owner takes it. */
export function vacate(kind: NameKind, name: string, owner: NameOwner, label: string): Update {
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

/**
 * Replaces a name, without a redirect: the previous one is free at once. A record from before its names were unique may
 * hold none.
 */
export function replaceName(
  kind: NameKind,
  previous: string | undefined,
  next: string | undefined,
  owner: NameOwner,
  label: string,
): Write[] {
  if (previous === next) return [];
  return [
    ...(previous === undefined ? [] : [forgetName(kind, previous, owner, label)]),
    ...(next === undefined ? [] : [claim(kind, next, owner, label)]),
  ];
}

/** Renames a holder. The previous name is free at once; a change of case keeps the row. */
export function renamed(
  kind: NameKind,
  previous: string,
  next: string,
  owner: NameOwner,
  label: string,
): Write[] {
  const claimed = claim(kind, next, owner, label);
  if (!sameName(previous, next)) return [release(kind, previous, owner, label), claimed];
  return [{ ...claimed, if: '#type = :type AND #id = :id', values: { type: owner.type, id: owner.id } }];
}

/** As {@link release}, for a name that this owner may not hold. */
const forgetName = (kind: NameKind, name: string, owner: NameOwner, label: string): Delete => {
  const released = release(kind, name, owner, label);
  return { ...released, if: `${ABSENT} OR (${released.if})` };
};

/** @returns the error that lists the taken names, if these are why a transaction was refused. */
export function takenNames(error: TransactionRefused): NameTaken | undefined {
  const names = error.refusals.flatMap((r) => (r.reason.startsWith('taken:') ? [r.reason.slice(6)] : []));
  return names.length === 0 ? undefined : new NameTaken(names);
}

/** Compares names, ignoring case. */
export const sameName = (a: string, b: string): boolean => folded(a) === folded(b);

export class Names {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns the holder of a name: one strongly consistent read. */
  async holder(kind: NameKind, name: string): Promise<NameHolder | undefined> {
    return holderOf(await this.#table.get(nameKey(kind, name)));
  }

  /** Returns the holders of many names, in their order; one round trip per hundred. */
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
