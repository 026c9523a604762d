import type { Item } from './attribute.ts';
import { type Database, stage } from './operation.ts';
import type { Changes } from './storage.ts';
import { type Expiry, encodeValue, type Table } from './table.ts';

/** An item whose time lies further in the past than this is kept: the service ignores such values. */
const MAX_AGE_SECONDS = 5 * 365 * 24 * 3600;

/**
 * Deletes the items whose time to live attribute, in seconds since 1970, has passed, and their index rows.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html
 * @returns how many
 */
export async function expireItems(database: Database, now: Date): Promise<number> {
  let expired = 0;
  for (const table of database.catalog.tables()) {
    if (table.expiry) expired += await expireTable(database, table, table.expiry, now.getTime() / 1000);
  }
  return expired;
}

async function expireTable(database: Database, table: Table, expiry: Expiry, now: number): Promise<number> {
  const { storage } = database;
  const row = (seconds: number) =>
    expiry.prefix + encodeValue({ N: String(seconds) }, { name: expiry.attribute, type: 'N' });
  let expired = 0;
  for await (const rows of storage.rows({
    gte: row(Math.floor(now - MAX_AGE_SECONDS)),
    lt: `${row(Math.floor(now))}/~`,
  })) {
    const changes: Changes = new Map();
    for (const [, itemKey] of rows) {
      // The item's time may have been extended since: decide on the value that the next batch will find.
      const text = storage.peek(itemKey);
      if (text === undefined) continue;
      const item = JSON.parse(text) as Item;
      if (!(Number(item[expiry.attribute]?.N) <= now)) continue;
      table.change(itemKey, item, undefined, changes);
      expired++;
    }
    stage(database, changes);
  }
  await storage.flushed();
  return expired;
}
