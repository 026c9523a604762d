import { idOf } from '../row-keys/key.ts';
import type { QueryPage } from './table.ts';

/** A page of ids, ascending. */
export interface IdPage {
  readonly ids: readonly number[];
  /** The last id that was read; absent at the end of the list. */
  readonly until?: number;
}

/** Returns the ids of rows whose sort keys end in ids. */
export function idPage({ items, next }: QueryPage): IdPage {
  const ids = items.map(({ sk }) => idOf(sk as string));
  return next === undefined ? { ids } : { ids, until: idOf(next['sk'] as string) };
}
