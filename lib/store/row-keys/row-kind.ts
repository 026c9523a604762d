import type { Key } from './key.ts';

/** What a row belongs to: when that is deleted, the row is deleted. A row of the instance stays. */
export type RowOwner = 'project' | 'group' | 'user' | 'repository' | 'instance';

/**
 * A kind of row of the table. Each file of this folder declares its own as `rowKinds`, `all.ts` collects them, and
 * `test/unit/row-kinds.test.ts` holds every kind against what deletes it, what checks it and the manual.
 */
export interface RowKind {
  readonly name: string;
  /** Beginnings of its partition keys, up to the first `#`. */
  readonly partitions: readonly string[];
  /** The functions that build its keys. Kinds may share one. */
  readonly keys: Readonly<Record<string, (...args: never[]) => Key>>;
  readonly of: readonly RowOwner[];
  /** It has a `ttl`. One that belongs to something is then not deleted with it, unless a remover names it. */
  readonly expires?: true;
  /** Why it stays when what it belongs to is deleted. */
  readonly stays?: string;
}
