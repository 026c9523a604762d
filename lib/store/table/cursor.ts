/**
 * Opaque paging cursors, bound to the query they came from. A cursor holds no secret and grants nothing: the digest
 * detects cursors that were truncated, edited or used with another query, and the position's shape is checked
 * before use.
 */
import { createHash } from 'node:crypto';
import { StoreError } from '../errors.ts';
import { REF_WHOLE } from '../row-keys/key.ts';

/** Where a page ended: the sort key of its last item and its id. */
export interface Position {
  readonly sort: string;
  readonly id: number;
}

const MAX_LENGTH = 4096;

/** @param query all that determines the list: filters, order, direction, viewer */
export function encodeCursor(query: unknown, { sort, id }: Position): string {
  const position = JSON.stringify([sort, id]);
  return Buffer.from(digest(query, position) + position).toString('base64url');
}

/** @throws StoreError `bad-page` when the cursor was not issued for this query, or its sort key is none of the table's */
export function decodeCursor(query: unknown, cursor: string): Position {
  const refuse = () => new StoreError('bad-page', 'the cursor is not valid for this list');
  if (cursor.length > MAX_LENGTH || !/^[A-Za-z0-9_-]+$/.test(cursor)) throw refuse();
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const position = text.slice(DIGEST);
  if (text.slice(0, DIGEST) !== digest(query, position)) throw refuse();
  try {
    const [sort, id] = JSON.parse(position) as unknown[];
    const isSort = typeof sort === 'string' && sort.isWellFormed() && Buffer.byteLength(sort) <= REF_WHOLE;
    if (isSort && typeof id === 'number' && Number.isSafeInteger(id)) return { sort, id };
  } catch {
    // Falls through to the refusal.
  }
  throw refuse();
}

const DIGEST = 16;
const digest = (query: unknown, position: string): string =>
  createHash('sha256')
    .update(`${JSON.stringify(query)}\n${position}`)
    .digest('base64url')
    .slice(0, DIGEST);
