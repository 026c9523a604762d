/**
 * A table that many creations write to at once: what each would write in a transaction of its own goes out in batches.
 * The stores that decide what is written are the real ones (`lib/store`), so the rows are; conditions are not looked at,
 * because the caller makes nothing twice.
 */
import type { EmbeddedDynamo } from '@lemnos/embedded-aws/dynamodb';
import type { Key } from '../../lib/store/row-keys/key.ts';
import { Table } from '../../lib/store/table/table.ts';
import type { TableClient } from '../../lib/store/table/table-client.ts';
import { toWire } from '../../lib/store/table/wire.ts';
import type { Delete, Item, Put, Update, Write } from '../../lib/store/table/write.ts';

/** What the service says of BatchWriteItem. */
const BATCH = 25;
/** Batches that wait for one sync of the disk. */
const AT_ONCE = 80;

/** What transactions of different creations change: read once, written when all is done. */
const SHARED = new Set(['COUNTER', 'USER']);

export class BulkTable extends Table {
  readonly #dynamo: EmbeddedDynamo;
  /** Keys of partitions that are left out. */
  readonly #skip: RegExp;
  readonly #shared = new Map<string, Item & Key>();
  #waiting = new Map<string, Item & Key>();
  written = 0;

  /** @param skip partitions that nothing will read: promises that were kept, and what the caller can do without */
  constructor(client: TableClient, name: string, dynamo: EmbeddedDynamo, skip = /^OUTBOX#/) {
    super(client, name);
    this.#dynamo = dynamo;
    this.#skip = skip;
  }

  override async get(key: Key, options: { consistent?: boolean } = {}): Promise<Item | undefined> {
    const id = identity(key);
    const known = this.#shared.get(id) ?? this.#waiting.get(id);
    if (known !== undefined) return { ...known };
    // Whatever else is read, is read to see that it is not there.
    if (!SHARED.has(key.sk)) return undefined;
    return super.get(key, options);
  }

  override async put({ put }: Put): Promise<void> {
    await this.#put(put);
  }

  override async putAll(items: readonly (Item & Key)[]): Promise<void> {
    for (const item of items) await this.#put(item);
  }

  override async update({ update, set = {}, add = {}, remove = [] }: Update): Promise<Item> {
    const before = (await this.get(update)) ?? (await super.get(update));
    const item: Item & Key = { ...before, pk: update.pk, sk: update.sk };
    for (const [name, value] of Object.entries(set)) if (value !== undefined) item[name] = value;
    for (const [name, value] of Object.entries(add)) item[name] = ((item[name] as number) ?? 0) + value;
    for (const name of remove) delete item[name];
    await this.#put(item);
    return item;
  }

  /** Only what was just made can be taken away: the rest is not there. */
  override async delete({ delete: key }: Delete): Promise<void> {
    this.#waiting.delete(identity(key));
  }

  override async transact(writes: readonly Write[]): Promise<void> {
    for (const write of writes) {
      if ('put' in write) await this.#put(write.put);
      else if ('update' in write) await this.update(write);
      else if ('delete' in write) await this.delete(write);
    }
  }

  /** Writes what is still held. */
  async flush(): Promise<void> {
    for (const item of this.#shared.values()) this.#waiting.set(identity(item), item);
    this.#shared.clear();
    await this.#send();
  }

  async #put(item: Item & Key): Promise<void> {
    if (this.#skip.test(item.pk)) return;
    (SHARED.has(item.sk) ? this.#shared : this.#waiting).set(identity(item), item);
    if (this.#waiting.size >= BATCH * AT_ONCE) await this.#send();
  }

  async #send(): Promise<void> {
    const items = [...this.#waiting.values()];
    this.#waiting = new Map();
    this.written += items.length;
    const batches: (Item & Key)[][] = [];
    for (let i = 0; i < items.length; i += BATCH) batches.push(items.slice(i, i + BATCH));
    await Promise.all(batches.map((batch) => this.#batch(batch)));
  }

  async #batch(batch: readonly Item[]): Promise<void> {
    const requests = batch.map((item) => ({ PutRequest: { Item: toWire(item) } }));
    const handler = this.#dynamo.requestHandler as unknown as {
      handle(request: object): Promise<{ response: { statusCode: number; body: Uint8Array } }>;
    };
    const { response } = await handler.handle({
      headers: { 'x-amz-target': 'DynamoDB_20120810.BatchWriteItem' },
      body: JSON.stringify({ RequestItems: { [this.name]: requests } }),
    });
    const answer = JSON.parse(new TextDecoder().decode(response.body));
    if (response.statusCode !== 200 || Object.keys(answer.UnprocessedItems).length > 0)
      throw new Error(`a batch was refused: ${JSON.stringify(answer)}`);
  }
}

const identity = ({ pk, sk }: Key): string => `${pk}\n${sk}`;
