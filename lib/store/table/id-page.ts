import { idOf } from '../row-keys/key.ts';
import type { QueryPage } from './table.ts';

/** Some ids, ascending. */
export interface IdPage {
  readonly ids: readonly number[];
  /** The id that was looked at last; absent when there is nothing behind it. */
  readonly until?: number;
}

/** Of rows whose sort keys end in ids. */
export function idPage({ items, next }: QueryPage): IdPage {
  const ids = items.map(({ sk }) => idOf(sk as string));
  return next === undefined ? { ids } : { ids, until: idOf(next['sk'] as string) };
}
