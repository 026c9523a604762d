import { StoreError } from '../store/errors.ts';
import { decodeCursor, encodeCursor, type Position } from '../store/table/cursor.ts';
import type { Page, PageRequest } from '../store/table/paging.ts';

/** What is known of a page that is asked for. */
export interface AskedPage {
  /** Of the page before. */
  readonly cursor?: string | undefined;
  /** Whether it has a number and a total: where the cursor is of another list, it is found by its number. */
  readonly count?: boolean;
  /** Takes the cursor of the next page as soon as it is known. */
  readonly ended?: (next: string) => void;
}

/**
 * Returns a page with the cursor of the next one, if another may follow.
 * @param which all that determines the list: what it is of, filters, order, viewer
 * @param read reads the page of what follows a position
 * @throws 400 for a cursor of another list
 */
export async function pageByCursor<T>(
  which: readonly unknown[],
  { cursor, count = false, ended }: AskedPage,
  read: (after: { readonly after?: Position }) => Promise<Page<T>>,
): Promise<Page<T> & { readonly next?: string }> {
  const found = await read(cursor === undefined ? {} : positionOf(which, cursor, count));
  const goesOn = found.more || found.truncated === true;
  if (!goesOn || found.last === undefined) return found;
  const next = encodeCursor(which, found.last);
  ended?.(next);
  return { ...found, next };
}

function positionOf(
  which: readonly unknown[],
  cursor: string,
  isNumbered: boolean,
): { readonly after?: Position } {
  try {
    return { after: decodeCursor(which, cursor) };
  } catch (error) {
    if (isNumbered && error instanceof StoreError && error.code === 'bad-page') return {};
    throw error;
  }
}

/**
 * Where a page of rows begins, and who takes where it ended. The cursor is bound to no list: it is only a place, which
 * the store looks for among the list's rows.
 * @throws StoreError `bad-page`
 */
export const rowsAt = (
  cursor: string | undefined,
  ended: (next: string) => void,
): NonNullable<PageRequest['rows']> => ({
  ...(cursor === undefined ? {} : { after: decodeCursor(ROWS, cursor) }),
  ended: (last) => ended(encodeCursor(ROWS, last)),
});

const ROWS = 'rows';
