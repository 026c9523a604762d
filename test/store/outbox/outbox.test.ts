import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Processed } from '../../../lib/store/outbox/idempotency.ts';
import {
  type MessageSender,
  message,
  messageText,
  Outbox,
  outboxWrite,
  parseMessage,
  writtenAt,
} from '../../../lib/store/outbox/outbox.ts';
import {
  OUTBOX_SHARDS,
  outboxKey,
  outboxPartition,
  processedKey,
} from '../../../lib/store/row-keys/outbox.ts';
import { openTestStore, type TestStore } from '../table/store-fixture.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.close());

/** Records the messages sent, and can be made to fail. */
class Recorded implements MessageSender {
  readonly sent: string[] = [];
  failing = false;
  async send(queue: string, messages: readonly { id: string; body: string }[]): Promise<void> {
    if (this.failing) throw new Error('the queue is not there');
    for (const { id, body } of messages) {
      expect(parseMessage(body)?.id).toBe(id);
      this.sent.push(`${queue}:${id}`);
    }
  }
}

const waiting = async () => {
  const ids: string[] = [];
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++)
    for await (const row of opened.store.table.queryAll({ partition: outboxPartition(shard) }))
      ids.push(row['sk'] as string);
  return ids.toSorted();
};
let sender: Recorded;
let outbox: Outbox;
beforeEach(async () => {
  sender = new Recorded();
  outbox = new Outbox(opened.store.table, sender);
});
const key = (pk: string) => ({ pk, sk: 'A' });
const later = () => new Date(Date.now() + 120_000);

describe('a message in the outbox', () => {
  test('is sent after the commit, and its row is deleted', async () => {
    const promised = [message('maintenance', 'a', { n: 1 }), message('maintenance', 'b', {})];
    await outbox.commit([{ put: key('committed') }], promised);
    expect(sender.sent).toEqual(promised.map((m) => `maintenance:${m.id}`));
    expect(await waiting()).toEqual([]);
    expect(await opened.store.table.get(key('committed'))).toBeDefined();
  });

  test('of a refused transaction is never sent', async () => {
    const write = { put: key('taken'), if: 'attribute_not_exists(#pk)', reason: 'x' };
    await outbox.commit([write]);
    await expect(outbox.commit([write], [message('maintenance', 'a', {})])).rejects.toMatchObject({
      code: 'refused',
    });
    expect(sender.sent).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  test('that could not be sent waits for the sweep, which leaves young rows alone', async () => {
    sender.failing = true;
    const promised = Array.from({ length: 20 }, (_, i) => message('maintenance', 'late', { i }));
    await outbox.commit([], promised);
    expect(await waiting()).toEqual(promised.map((m) => m.id).toSorted());
    sender.failing = false;
    expect(await outbox.sweep(new Date(), 60_000)).toEqual({ sent: 0, more: false });
    expect(await outbox.sweep(later(), 60_000)).toEqual({ sent: 20, more: false });
    expect(sender.sent.toSorted()).toEqual(promised.map((m) => `maintenance:${m.id}`).toSorted());
    expect(await waiting()).toEqual([]);
    expect(await outbox.sweep(later(), 60_000)).toEqual({ sent: 0, more: false });
  });

  test('written in the same millisecond is sent by a sweep of all due messages', async () => {
    const promise = message('maintenance', 'a', {});
    await opened.store.table.put(outboxWrite(promise));
    expect(await outbox.sweep(writtenAt(promise.id), 0)).toMatchObject({ sent: 1 });
    expect(await waiting()).toEqual([]);
  });

  test('is kept when the sweep fails, and the sweep reports the failure', async () => {
    const promised = message('maintenance', 'kept', {});
    await new Outbox(opened.store.table).commit([], [promised]);
    sender.failing = true;
    await expect(outbox.sweep(later(), 0)).rejects.toThrow('the queue is not there');
    expect(await waiting()).toEqual([promised.id]);
    sender.failing = false;
    expect(await outbox.sweep(later(), 0)).toMatchObject({ sent: 1 });
  });

  test('that the queue refuses blocks only its own shard', async () => {
    const shardOf = ({ id }: { id: string }) => outboxKey(id).pk;
    const messages = Array.from({ length: 40 }, () => message('mail', 'test', {}));
    const [poison] = messages;
    await new Outbox(opened.store.table).commit([], messages);
    const choosy: MessageSender = {
      send: async (queue, some) => {
        if (some.some(({ id }) => id === poison!.id)) throw new Error('refused');
        await sender.send(queue, some);
      },
    };
    await expect(new Outbox(opened.store.table, choosy).sweep(later(), 0)).rejects.toThrow('refused');
    const left = messages.filter((each) => shardOf(each) === shardOf(poison!)).map(({ id }) => id);
    expect(new Set(await waiting())).toEqual(new Set(left));
    expect(await outbox.sweep(later(), 0)).toMatchObject({ sent: left.length });
  });

  test('beyond the limit of one sweep is left for the next one', async () => {
    await new Outbox(opened.store.table).commit(
      [],
      Array.from({ length: 60 }, () => message('maintenance', 'm', {})),
    );
    let sent = 0;
    let sweeps = 0;
    for (let more = true; more; sweeps++) {
      const report = await outbox.sweep(later(), 0, 16);
      sent += report.sent;
      more = report.more;
    }
    expect(sent).toBe(60);
    expect(sweeps).toBeGreaterThan(2);
    expect(new Set(sender.sent).size).toBe(60);
  });
});

test('the text of a message is parsed back, and any other text is refused', () => {
  const sent = message('maintenance', 'project.delete', { projectId: 1 });
  expect(parseMessage(messageText(sent))).toEqual({ id: sent.id, type: sent.type, body: sent.body });
  expect(Math.abs(writtenAt(sent.id).getTime() - Date.now())).toBeLessThan(5000);
  for (const text of [
    '',
    '{}',
    'null',
    '[]',
    '{"id":1,"type":"x","body":{}}',
    '{"id":"x","type":"x","body":null}',
  ])
    expect(parseMessage(text)).toBeUndefined();
});

test('any text is encoded in characters that a queue accepts', () => {
  // The characters that SQS documents for `SendMessage`.
  const taken = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
  const odd = fc.string({
    unit: fc.oneof(fc.constantFrom('\ufffe', '\uffff', '\ud800', '\0', '\\', '"'), fc.string()),
  });
  fc.assert(
    fc.property(odd, (text) => {
      const promised = message('mail', 'test', { text });
      expect(messageText(promised)).toMatch(taken);
      expect(parseMessage(messageText(promised))!.body).toEqual({ text });
    }),
  );
});

test('a message is handled once, however often it is delivered', async () => {
  const processed = new Processed(opened.store.table);
  const id = message('maintenance', 'x', {}).id;
  expect(await processed.has('mail', id)).toBe(false);
  const now = new Date();
  const begin = (at = now) => processed.begin('mail', id, at, 1000);
  const firsts = await Promise.all(Array.from({ length: 8 }, () => begin()));
  expect(firsts.sort()).toEqual(['begun', ...Array.from({ length: 7 }, () => 'under way')]);
  // Given up, or presumed dead.
  await processed.release('mail', id);
  expect(await begin()).toBe('begun');
  expect(await begin(new Date(now.getTime() + 999))).toBe('under way');
  expect(await begin(new Date(now.getTime() + 1000))).toBe('begun');
  await processed.end('mail', id);
  await processed.end('mail', id);
  expect(await begin(new Date(now.getTime() + 100_000))).toBe('done');
  const again = opened.store.table.transact([processed.endWrite('mail', id)]);
  await expect(again).rejects.toMatchObject({ refusals: [{ reason: 'processed' }] });
  expect(await processed.has('mail', id)).toBe(true);
  expect(await processed.has('hooks', id)).toBe(false);
  const work = opened.store.table.transact([{ put: key('work') }, processed.mark('mail', id)]);
  await expect(work).rejects.toMatchObject({ refusals: [{ reason: 'processed' }] });
  const row = await opened.store.table.get(processedKey('mail', id));
  expect(row!['ttl']).toBeGreaterThan(Date.now() / 1000 + 14 * 24 * 3600);
});
