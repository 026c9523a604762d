import { type AttributeValue, DynamoDBClient, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { type EmbeddedDynamo, openDynamo } from '@lemnos/embedded-aws/dynamodb';
import { ensureTable, type TableDefinition } from '../../local/ensure-table.ts';

export type Item = Record<string, AttributeValue>;

/** A real SDK client on an embedded DynamoDB; by default it does not retry, so that faults are seen. */
export function clientOf(dynamo: EmbeddedDynamo, maxAttempts = 1): DynamoDBClient {
  return new DynamoDBClient({
    region: 'local',
    endpoint: 'http://dynamodb.local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: dynamo.requestHandler,
    maxAttempts,
  });
}

/** Table `main` with string keys pk and sk, and six global indexes of all three projections. */
export const MAIN: TableDefinition = {
  TableName: 'main',
  BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: [
    ...['pk', 'sk', 'h1', 'r1', 'h2', 'h3', 'h4', 'b'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S' as const,
    })),
    { AttributeName: 'n', AttributeType: 'N' },
  ],
  GlobalSecondaryIndexes: [
    index('all', ['h1', 'r1']),
    index('numbers', ['h1', 'n']),
    index('keys', ['h2', 'r1'], { ProjectionType: 'KEYS_ONLY' }),
    index('include', ['h3'], { ProjectionType: 'INCLUDE', NonKeyAttributes: ['title'] }),
    index('inverted', ['sk', 'pk'], { ProjectionType: 'KEYS_ONLY' }),
    index('hash', ['h4']),
  ],
};

function index(
  IndexName: string,
  [hash, range]: [string, string?],
  Projection: object = { ProjectionType: 'ALL' },
) {
  return {
    IndexName,
    KeySchema: [
      { AttributeName: hash, KeyType: 'HASH' as const },
      ...(range ? [{ AttributeName: range, KeyType: 'RANGE' as const }] : []),
    ],
    Projection,
  };
}

export async function openMain(path?: string): Promise<{ dynamo: EmbeddedDynamo; client: DynamoDBClient }> {
  const dynamo = await openDynamo(path === undefined ? {} : { path });
  const client = clientOf(dynamo);
  await ensureTable(client, MAIN);
  return { dynamo, client };
}

/** `{ pk: 'a', n: 1 }` as attribute values: strings, numbers and booleans only. */
export function item(values: Record<string, string | number | boolean>): Item {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string'
        ? { S: value }
        : typeof value === 'number'
          ? { N: String(value) }
          : { BOOL: value },
    ]),
  );
}

/** A query for one partition of the table or an index. */
export function partition(
  attribute: string,
  value: string,
  more: Partial<QueryCommandInput> = {},
): QueryCommandInput {
  return {
    TableName: 'main',
    KeyConditionExpression: '#hash = :hash',
    ...more,
    ExpressionAttributeNames: { '#hash': attribute, ...more.ExpressionAttributeNames },
    ExpressionAttributeValues: { ':hash': { S: value }, ...more.ExpressionAttributeValues },
  };
}
