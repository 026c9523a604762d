import { StoreError } from '../store/errors.ts';
import { decodeCursor, encodeCursor, type Position } from '../store/table/cursor.ts';
import type { Page } from '../store/table/paging.ts';

/**
 * Returns a page with the cursor of the next one, if another may follow.
 * @param which all that determines the list: what it is of, filters, order, viewer
 * @param cursor of the page before
 * @param read reads the page of what follows a position
 * @param isNumbered the page has a number, by which it is found where the cursor is of another list
 * @throws 400 for a cursor of another list
 */
export async function pageByCursor<T>(
  which: readonly unknown[],
  cursor: string | undefined,
  read: (after: { readonly after?: Position }) => Promise<Page<T>>,
  isNumbered = false,
): Promise<Page<T> & { readonly next?: string }> {
  const found = await read(cursor === undefined ? {} : positionOf(which, cursor, isNumbered));
  const goesOn = found.more || found.truncated === true;
  return goesOn && found.last !== undefined ? { ...found, next: encodeCursor(which, found.last) } : found;
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
