/**
 * A request that changes nothing reads the records that decide about access once: several of its parts need them, as of one
 * moment. The next request reads them anew.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Key } from '../row-keys/key.ts';
import type { Item } from './write.ts';

interface Reads {
  readonly rows: Map<string, Row>;
  /** Whether the request has written one of these records after all; then it reads all of them as they are. */
  wrote: boolean;
}

interface Row {
  readonly item: Item | undefined;
}

const reads = new AsyncLocalStorage<Reads>();

/** Partitions of users, groups and projects, with memberships. Others may have to be read again until they agree. */
const KEPT = /^(?:USER|GROUP|PROJECT)#/;

/** Rows of one request. What decides about access is read first; a long list is not to be held in memory. */
const MAX_ROWS = 1000;

export const readingOnce = <T>(work: () => T): T => reads.run({ rows: new Map(), wrote: false }, work);

/** For work whose result outlives the request: it reads the records as they are now. */
export const readingAnew = <T>(work: () => T): T => reads.exit(work);

/** Whether the request changes nothing, as far as it has come. */
export const readsOnly = (): boolean => reads.getStore()?.wrote === false;

/** A row that the request has read before. */
export function knownRow({ pk, sk }: Key): Row | undefined {
  return reads.getStore()?.rows.get(`${pk}\n${sk}`);
}

/** Keeps a row that was read as a whole, strongly consistent. */
export function keepRow({ pk, sk }: Key, item: Item | undefined): void {
  const store = reads.getStore();
  if (store === undefined || store.wrote || store.rows.size >= MAX_ROWS || !KEPT.test(pk)) return;
  store.rows.set(`${pk}\n${sk}`, { item });
}

/** To be called before a row is written. */
export function forgetRows({ pk }: Key): void {
  const store = reads.getStore();
  if (store === undefined || !KEPT.test(pk)) return;
  store.wrote = true;
  store.rows.clear();
}
