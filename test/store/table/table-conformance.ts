/**
 * What the store requires of a DynamoDB implementation: the embedded one, an emulator, or the
 * service itself. Every suite creates its own table with the clients passed to it.
 */
import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DeleteTableCommand,
  type DynamoDBClient,
  TransactWriteItemsCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConditionFailed, TransactionRefused } from '../../../lib/store/errors.ts';
import { tableDefinition } from '../../../lib/store/table/schema.ts';
import { Table } from '../../../lib/store/table/table.ts';
import { TableClient } from '../../../lib/store/table/table-client.ts';
import { ABSENT, type Item, PRESENT } from '../../../lib/store/table/write.ts';
import { TWO_OPERATIONS_ON_ONE_ITEM } from './strict-tests.ts';

export interface ConformanceTarget {
  readonly client: DynamoDBClient;
  close(): Promise<void>;
}

export function tableConformance(name: string, open: () => Promise<ConformanceTarget>): void {
  describe(`the table over ${name}`, () => {
    const tableName = `conformance-${randomUUID()}`;
    let target: ConformanceTarget;
    let table: Table;

    beforeAll(async () => {
      target = await open();
      await target.client.send(new CreateTableCommand(tableDefinition(tableName)));
      await waitUntilTableExists(
        { client: target.client, maxWaitTime: 60, minDelay: 1, maxDelay: 2 },
        { TableName: tableName },
      );
      table = new Table(new TableClient(target.client), tableName);
    });
    afterAll(async () => {
      await target?.client.send(new DeleteTableCommand({ TableName: tableName })).catch(() => undefined);
      await target?.close();
    });

    /** A partition for one test only. */
    const partition = () => `P#${randomUUID()}`;
    const key = (pk: string, sk: string | number = 'A') => ({ pk, sk: String(sk) });

    test('returns stored values of every type', async () => {
      const pk = partition();
      const item = {
        ...key(pk),
        text: 'ü 😀',
        empty: '',
        n: 12.5,
        big: 9007199254740991,
        yes: true,
        nothing: null,
        items: [1, 'a', [null]],
        map: { a: { b: [] } },
      };
      await table.put({ put: { ...item, left: undefined } as never });
      expect(await table.get(key(pk))).toEqual(item);
      expect(await table.get(key(pk, 'B'))).toBeUndefined();
    });

    test('a failed condition returns the existing item', async () => {
      const pk = partition();
      await table.put({ put: { ...key(pk), n: 1 }, if: ABSENT });
      const refused = await table.put({ put: { ...key(pk), n: 2 }, if: ABSENT }).catch((e: unknown) => e);
      expect(refused).toBeInstanceOf(ConditionFailed);
      expect((refused as ConditionFailed).item).toMatchObject({ n: 1, pk });
      expect(await table.get(key(pk))).toMatchObject({ n: 1 });
      await expect(table.delete({ delete: key(pk, 'B'), if: PRESENT })).rejects.toBeInstanceOf(
        ConditionFailed,
      );
      await table.delete({ delete: key(pk), if: '#n = :n', values: { n: 1 } });
      expect(await table.get(key(pk))).toBeUndefined();
      await table.delete({ delete: key(pk) });
    });

    test('an update sets, removes and adds in one step', async () => {
      const pk = partition();
      await table.put({ put: { ...key(pk), a: 1, b: 2, count: 5 } });
      const after = await table.update({
        update: key(pk),
        set: { a: 'x', skipped: undefined },
        remove: ['b'],
        add: { count: -2, fresh: 3 },
        if: '#a = :a',
        values: { a: 1 },
      });
      expect(after).toMatchObject({ a: 'x', count: 3, fresh: 3 });
      expect(after).not.toHaveProperty('b');
      expect(after).not.toHaveProperty('skipped');
    });

    test('reads batches of more than 100 keys in the requested order, with gaps for missing items', async () => {
      const pk = partition();
      const sks = Array.from({ length: 230 }, (_, i) => i);
      await Promise.all(
        sks.filter((i) => i % 7 !== 0).map((i) => table.put({ put: { ...key(pk, i), i, ballast: 'x' } })),
      );
      const items = await table.batchGet([...sks, 3, 3].map((i) => key(pk, i)));
      expect(items.map((item) => item?.['i'])).toEqual([...sks, 3, 3].map((i) => (i % 7 ? i : undefined)));
      const [narrow] = await table.batchGet([key(pk, 1)], { only: ['i'] });
      expect(narrow).toEqual({ ...key(pk, 1), i: 1 });
      expect(await table.batchGet([])).toEqual([]);
    });

    test('reads of a map in an item the names that are asked for, and no map where there is none', async () => {
      const pk = partition();
      await table.put({ put: { ...key(pk, 1), map: { a: 1, b: [2], c: null }, other: true } });
      await table.put({ put: { ...key(pk, 2), other: true } });
      const found = await table.batchGet([key(pk, 1), key(pk, 2)], { only: ['map.a', 'map.c'] });
      expect(found).toEqual([{ ...key(pk, 1), map: { a: 1, c: null } }, key(pk, 2)]);
    });

    describe('a query', () => {
      const pk = partition();
      const sks = ['A#01', 'A#02', 'A#03', 'A#10', 'B#01', 'B#é', 'B#\uffee', 'B#😀', 'C'];
      beforeAll(() => Promise.all(sks.map((sk, n) => table.put({ put: { ...key(pk, sk), n } }))));
      const found = async (options: Partial<Parameters<Table['query']>[0]>) =>
        (await table.query({ partition: pk, ...options })).items.map((item) => item['sk']);

      test('sorts by the bytes of UTF-8', async () => expect(await found({})).toEqual(sks));
      test('finds keys by prefix', async () =>
        expect(await found({ prefix: 'A#0' })).toEqual(sks.slice(0, 3)));
      test('finds keys between bounds, inclusive', async () =>
        expect(await found({ from: 'A#02', to: 'A#10' })).toEqual(['A#02', 'A#03', 'A#10']));
      test('finds keys from a key on, and up to a key', async () => {
        expect(await found({ from: 'B#😀' })).toEqual(['B#😀', 'C']);
        expect(await found({ to: 'A#01' })).toEqual(['A#01']);
      });
      test('finds nothing between reversed bounds', async () =>
        expect(await found({ from: 'B', to: 'A' })).toEqual([]));
      test('can read backwards', async () =>
        expect(await found({ reverse: true, limit: 2 })).toEqual(['C', 'B#😀']));
      test('returns each item once, page by page', async () => {
        const seen: unknown[] = [];
        for await (const item of table.queryAll({ partition: pk, limit: 2 })) seen.push(item['sk']);
        expect(seen).toEqual(sks);
      });
      test('applies a filter after the limit', async () => {
        const page = await table.query({ partition: pk, limit: 3, where: '#n > :n', values: { n: 1 } });
        expect(page.items.map((item) => item['n'])).toEqual([2]);
        expect(page.next).toBeDefined();
      });
      test('counts up to a maximum', async () => {
        expect(await table.count({ partition: pk }, 9)).toBe(9);
        expect(await table.count({ partition: pk, prefix: 'A' }, 9)).toBe(4);
        expect(await table.count({ partition: pk }, 8)).toBeUndefined();
        expect(await table.count({ partition: partition() }, 8)).toBe(0);
      });
    });

    test('an index contains the items that have its keys, with its projection', async () => {
      const list = partition();
      const who = partition();
      await table.put({ put: { ...key(partition()), list, byName: 'b', who, what: 'M#1', accessLevel: 30 } });
      await table.put({ put: { ...key(partition()), list, byName: 'a', byId: '1', ballast: 'x' } });
      await table.put({ put: { ...key(partition()), list, byId: '2' } });
      const eventually = async (check: () => Promise<void>) => {
        for (let n = 0; ; n++) {
          try {
            return await check();
          } catch (error) {
            if (n >= 20) throw error;
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }
      };
      const names = async () =>
        (await table.query({ partition: list, index: 'byName' })).items.map((item) => item['byName']);
      await eventually(async () => expect(await names()).toEqual(['a', 'b']));
      const [keysOnly] = (await table.query({ partition: list, index: 'byName' })).items;
      expect(Object.keys(keysOnly!).toSorted()).toEqual(['byName', 'list', 'pk', 'sk']);
      const [row] = (await table.query({ partition: who, index: 'byUser', prefix: 'M#' })).items;
      expect(row).toMatchObject({ accessLevel: 30, what: 'M#1' });
      await table.update({ update: key(keysOnly!['pk'] as string), remove: ['list'] });
      await eventually(async () => expect(await names()).toEqual(['b']));
    });

    describe('a transaction', () => {
      test('writes all or nothing, and reports every failed condition with the existing item', async () => {
        const pk = partition();
        await table.put({ put: { ...key(pk, 'taken'), owner: 'somebody' } });
        const refused = await table
          .transact([
            { put: { ...key(pk, 'new') }, if: ABSENT, reason: 'new' },
            { put: { ...key(pk, 'taken') }, if: ABSENT, reason: 'name' },
            { update: key(pk, 'counter'), add: { n: 1 } },
            { check: key(pk, 'absent'), if: PRESENT, reason: 'parent' },
          ])
          .catch((e: unknown) => e);
        expect(refused).toBeInstanceOf(TransactionRefused);
        const { refusals } = refused as TransactionRefused;
        expect(refusals.map((r) => r.reason)).toEqual(['name', 'parent']);
        expect(refusals[0]!.item).toMatchObject({ owner: 'somebody' });
        expect(refusals[1]!.item).toBeUndefined();
        const rest = await table.query({ partition: pk });
        expect(rest.items.map((item) => item['sk'])).toEqual(['taken']);
      });

      test('may have a hundred items', async () => {
        const pk = partition();
        const writes = Array.from({ length: 100 }, (_, i) => ({ put: key(pk, i), if: ABSENT }));
        await table.transact(writes);
        expect(await table.count({ partition: pk }, 200)).toBe(100);
        await expect(table.transact([...writes, { put: key(pk, 100) }])).rejects.toBeInstanceOf(RangeError);
      });

      test('can put, update, delete and check different items', async () => {
        const pk = partition();
        await table.put({ put: { ...key(pk, 1), n: 1 } });
        await table.put({ put: { ...key(pk, 2) } });
        await table.transact([
          { put: { ...key(pk, 0) } },
          { update: key(pk, 1), set: { a: 1 }, add: { n: 1 }, if: '#n = :n', values: { n: 1 }, reason: 'n' },
          { delete: key(pk, 2) },
          { check: key(pk, 3), if: ABSENT, reason: 'absent' },
        ]);
        const { items } = await table.query({ partition: pk });
        expect(items).toEqual([key(pk, 0), { ...key(pk, 1), n: 2, a: 1 }]);
      });

      test('repeated with the same token is executed once', async () => {
        const pk = partition();
        const token = randomUUID();
        const writes = [{ update: key(pk), add: { n: 1 } }];
        await table.transact(writes, { token });
        await table.transact(writes, { token });
        expect(await table.get(key(pk))).toMatchObject({ n: 1 });
      });

      test('with the token of a different transaction is refused', async () => {
        const pk = partition();
        const token = randomUUID();
        await table.transact([{ put: key(pk, 1) }], { token });
        await expect(table.transact([{ put: key(pk, 2) }], { token })).rejects.toMatchObject({
          name: 'IdempotentParameterMismatchException',
        });
        expect(await table.get(key(pk, 2))).toBeUndefined();
      });

      test(TWO_OPERATIONS_ON_ONE_ITEM, async () => {
        const pk = partition();
        const same = [{ put: key(pk) }, { check: key(pk), if: ABSENT, reason: 'x' }];
        await expect(table.transact(same)).rejects.toMatchObject({ name: 'ValidationException' });
      });

      test('that competes for a name with others succeeds once', async () => {
        const pk = partition();
        const claims = Array.from({ length: 12 }, (_, owner) =>
          table
            .transact([
              { put: { ...key(pk, 'name'), owner }, if: ABSENT, reason: 'name' },
              { put: { ...key(pk, `owner-${owner}`) } },
            ])
            .then(() => owner)
            .catch((error: unknown) => {
              expect((error as TransactionRefused).has('name')).toBe(true);
              return undefined;
            }),
        );
        const winners = (await Promise.all(claims)).filter((owner) => owner !== undefined);
        expect(winners).toHaveLength(1);
        const { items } = await table.query({ partition: pk });
        expect(items.map((item) => item['sk'])).toEqual(['name', `owner-${winners[0]}`]);
      });

      test('is retried after a conflict, so that no addition is lost', async () => {
        const pk = partition();
        await Promise.all(
          Array.from({ length: 15 }, () =>
            table.transact([
              { update: key(pk, 'a'), add: { n: 1 } },
              { update: key(pk, 'b'), add: { n: 1 } },
            ]),
          ),
        );
        expect(await table.batchGet([key(pk, 'a'), key(pk, 'b')])).toMatchObject([{ n: 15 }, { n: 15 }]);
      });

      test('that is refused gets a raw response with a code for each position and the old items', async () => {
        const pk = partition();
        await table.put({ put: { ...key(pk), n: 1 } });
        const command = new TransactWriteItemsCommand({
          TransactItems: [
            { Put: { TableName: tableName, Item: { pk: { S: pk }, sk: { S: 'Z' } } } },
            {
              ConditionCheck: {
                TableName: tableName,
                Key: { pk: { S: pk }, sk: { S: 'A' } },
                ConditionExpression: 'attribute_not_exists(pk)',
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
          ],
        });
        const error = (await target.client.send(command).catch((e: unknown) => e)) as {
          name: string;
          CancellationReasons: { Code: string; Item?: Item }[];
        };
        expect(error.name).toBe('TransactionCanceledException');
        expect(error.CancellationReasons.map((r) => r.Code)).toEqual(['None', 'ConditionalCheckFailed']);
        expect(error.CancellationReasons[1]!.Item).toEqual({ pk: { S: pk }, sk: { S: 'A' }, n: { N: '1' } });
      });
    });

    test('an item past its time to live may still be returned, so readers must filter', async () => {
      const pk = partition();
      const past = Math.floor(Date.now() / 1000) - 60;
      await table.put({ put: { ...key(pk, 1), ttl: past } });
      await table.put({ put: { ...key(pk, 2), ttl: past + 3600 } });
      const where = { where: '#ttl > :now', values: { now: Math.floor(Date.now() / 1000) } };
      const { items } = await table.query({ partition: pk, ...where });
      expect(items.map((item) => item['sk'])).toEqual(['2']);
    });
  });
}
