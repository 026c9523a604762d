import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { DamagedRow, type EmbeddedDynamo, openDynamo } from '@lemnos/embedded-aws/dynamodb';
import { ClassicLevel } from 'classic-level';
import { afterEach, beforeEach, expect, test } from 'vitest';

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'lemnos-damage-'));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const clientOf = ({ requestHandler }: EmbeddedDynamo) =>
  new DynamoDBClient({
    region: 'local',
    endpoint: 'http://dynamodb.local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
    requestHandler,
  });

/** A table of items `a` and `b`, closed. */
async function stored(): Promise<void> {
  const dynamo = await openDynamo({ path });
  const client = clientOf(dynamo);
  await client.send(
    new CreateTableCommand({
      TableName: 'main',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  for (const pk of ['a', 'b'])
    await client.send(
      new PutItemCommand({ TableName: 'main', Item: { pk: { S: pk }, text: { S: `the text of ${pk}` } } }),
    );
  await dynamo.close();
}

/** Changes one letter in the text of `a`, in whichever file of LevelDB holds it. */
function damage(ending: string): void {
  const file = readdirSync(path)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(path, name))
    .find((name) => statSync(name).size > 0 && readFileSync(name).includes('the text of a'))!;
  const bytes = readFileSync(file);
  bytes[bytes.indexOf('the text of a') + 5]! ^= 1;
  writeFileSync(file, bytes);
}

/** Has LevelDB move what is in its log to a sorted table, uncompressed. */
async function compacted(): Promise<void> {
  const level = new ClassicLevel(path, { compression: false });
  await level.open();
  await level.compactRange('', '~');
  await level.close();
}

const get = (dynamo: EmbeddedDynamo, pk: string) =>
  clientOf(dynamo).send(new GetItemCommand({ TableName: 'main', Key: { pk: { S: pk } } }));

test('an item whose bytes changed on the disk is an error, and its neighbours are read', async () => {
  await stored();
  await compacted();
  damage('.ldb');
  const dynamo = await openDynamo({ path });
  const errors: unknown[] = [];
  dynamo.onError = (error) => errors.push(error);
  const refused = { name: 'InternalServerError' };
  await expect(get(dynamo, 'a')).rejects.toMatchObject(refused);
  expect(errors).toEqual([expect.any(DamagedRow)]);
  const scan = new ScanCommand({ TableName: 'main' });
  await expect(clientOf(dynamo).send(scan)).rejects.toMatchObject(refused);
  expect((await get(dynamo, 'b')).Item?.['text']).toEqual({ S: 'the text of b' });
  const damaged: string[] = [];
  for await (const row of dynamo.damaged()) damaged.push(row);
  expect(damaged).toHaveLength(1);
  await dynamo.close();
});

test('changes that the log of the database has lost are told once, before any is served', async () => {
  await stored();
  damage('.log');
  await expect(openDynamo({ path })).rejects.toThrow(/is damaged: \d+ bytes of its latest changes/);
  const dynamo = await openDynamo({ path });
  await dynamo.close();
});

test('a row of a release that knew no checksums is read', async () => {
  await stored();
  const level = new ClassicLevel(path);
  await level.open();
  for await (const [key, value] of level.iterator()) await level.put(key, value.slice('#01234567'.length));
  await level.close();
  const dynamo = await openDynamo({ path });
  expect((await get(dynamo, 'a')).Item?.['text']).toEqual({ S: 'the text of a' });
  await dynamo.close();
});
