/** What is sent to the table, and what becomes of answers, beside what the SDK's own commands do. */
import { Readable } from 'node:stream';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, expect, test, vi } from 'vitest';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { fromWire, toWire } from '../../lib/store/table/wire.ts';

interface Sent {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

const CREDENTIALS = { accessKeyId: 'a', secretAccessKey: 's', sessionToken: 't' };
const ITEM = { pk: { S: 'P' }, n: { N: '1' } };

/** A client whose requests are kept, and answered with these. */
function client(
  answers: { statusCode?: number; headers?: Record<string, string>; body: string }[] = [],
  options = {},
) {
  const sent: Sent[] = [];
  const handle = async (request: Sent) => {
    sent.push(request);
    const { statusCode = 200, headers = {}, body } = answers.shift() ?? { body: '{}' };
    return { response: { statusCode, headers, body: Readable.from([Buffer.from(body)]) } };
  };
  const requestHandler = { handle } as never;
  const sdk = new DynamoDBClient({
    region: 'eu-central-1',
    credentials: CREDENTIALS,
    requestHandler,
    maxAttempts: 1,
    ...options,
  });
  return { sdk, table: new TableClient(sdk), sent };
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const textOf = ({ body }: Sent) => Buffer.from(body as string).toString();
const KEY = { TableName: 'rows', Key: { pk: { S: 'P' } } };

/** What both ways of asking send, at the same moment. */
async function bothSend(options = {}): Promise<[ours: Sent, theirs: Sent]> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 2) });
  const { sdk, table, sent } = client([], options);
  await table.call('GetItem', KEY);
  await sdk.send(new GetItemCommand(KEY));
  return [sent[0]!, sent[1]!];
}

test.each([
  ['a region', {}],
  ['a region and dual stack', { useDualstackEndpoint: true }],
  ['an endpoint that is given', { endpoint: 'http://127.0.0.1:8000' }],
])('with %s, a request goes where the SDK sends it', async (_, options) => {
  const [ours, theirs] = await bothSend(options);
  const place = ({ protocol, hostname, port, path }: Sent) => ({ protocol, hostname, port, path });
  expect(place(ours)).toEqual(place(theirs));
  for (const name of ['host', 'content-type', 'content-length', 'x-amz-target'])
    expect(ours.headers[name], name).toBe(theirs.headers[name]);
  expect(JSON.parse(textOf(ours))).toEqual(JSON.parse(textOf(theirs)));
});

test('with an endpoint of the environment, a request goes there', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:8001');
  const [ours, theirs] = await bothSend();
  expect([ours.hostname, ours.port]).toEqual([theirs.hostname, theirs.port]);
  expect(ours.port).toBe(8001);
});

test('a request is signed with the credentials of the SDK’s client, for the table’s service and region', async () => {
  const [ours, theirs] = await bothSend();
  const scope = ({ headers }: Sent) => /Credential=[^,]+/.exec(headers['authorization']!)?.[0];
  expect(scope(ours)).toBe('Credential=a/20260102/eu-central-1/dynamodb/aws4_request');
  expect(scope(ours)).toBe(scope(theirs));
  expect(ours.headers['x-amz-security-token']).toBe('t');
  const signed = /SignedHeaders=([^,]+)/.exec(ours.headers['authorization']!)?.[1]?.split(';');
  expect(signed).toEqual(
    expect.arrayContaining(['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-target']),
  );
});

test('a refusal has the service’s name of it, its text, and the items that it tells', async () => {
  const reasons = [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item: ITEM }];
  const body = JSON.stringify({
    __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
    Message: 'because',
    CancellationReasons: reasons,
  });
  const { table } = client([{ statusCode: 400, body }]);
  const error = await table.call('TransactWriteItems', {}).catch((e: unknown) => e);
  expect(error).toMatchObject({
    name: 'TransactionCanceledException',
    message: 'because',
    CancellationReasons: reasons,
    $metadata: { httpStatusCode: 400 },
  });
});

test.each(['<html>', 'null', '"no"', ''])(
  'an answer that is not an object is an error with its status: %s',
  async (body) => {
    const { table } = client([{ statusCode: 502, body }]);
    await expect(table.call('GetItem', KEY)).rejects.toMatchObject({ $metadata: { httpStatusCode: 502 } });
  },
);

test('what decides where requests go is asked again after it failed', async () => {
  const region = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error('not now'));
  region.mockResolvedValue('eu-central-1');
  const { table, sent } = client([], { region });
  await expect(table.call('GetItem', KEY)).rejects.toThrow('not now');
  await table.call('GetItem', KEY);
  expect(sent[0]?.hostname).toBe('dynamodb.eu-central-1.amazonaws.com');
});

test('after a refusal requests are signed at the time of the service', async () => {
  const ahead = new Date(Date.now() + 3_600_000);
  const date = ahead.toUTCString();
  const { table, sent } = client([{ statusCode: 400, headers: { date }, body: '{}' }]);
  await table.call('GetItem', KEY).catch(() => {});
  await table.call('GetItem', KEY);
  const hours = sent.map(({ headers }) => headers['x-amz-date']!.slice(0, 11));
  expect(hours[1]).toBe(ahead.toISOString().replaceAll('-', '').slice(0, 11));
  expect(hours[0]).not.toBe(hours[1]);
});

test('a date that is none leaves the time at which requests are signed alone', async () => {
  const { table, sent } = client([{ statusCode: 502, headers: { date: 'today' }, body: '' }]);
  await table.call('GetItem', KEY).catch(() => {});
  await table.call('GetItem', KEY);
  expect(sent).toHaveLength(2);
});

const ROW = {
  text: 'é',
  empty: '',
  number: -1.5,
  small: 1e-9,
  most: Number.MAX_SAFE_INTEGER,
  yes: true,
  nothing: null,
  list: [1, 'a', [null], { a: 1 }],
  map: { a: { b: [] } },
  bytes: new Uint8Array([0, 1, 255]),
  texts: new Set(['a', 'b']),
  numbers: new Set([1, 2]),
};

test('values have the form that the SDK gives them, and come back as they were', async () => {
  const { sdk, sent } = client();
  const document = DynamoDBDocumentClient.from(sdk, { marshallOptions: { removeUndefinedValues: true } });
  const item = { ...ROW, absent: undefined };
  await document.send(new PutCommand({ TableName: 'rows', Item: item }));
  expect(toWire(item)).toEqual(JSON.parse(textOf(sent[0]!)).Item);
  expect(fromWire(toWire(item))).toEqual(ROW);
});

test('a member of a map may be named __proto__', () => {
  const row = { map: JSON.parse('{"__proto__":{"a":1},"constructor":2}') };
  const back = fromWire(JSON.parse(JSON.stringify(toWire(row))));
  expect(JSON.stringify(back)).toBe(JSON.stringify(row));
  expect(back['map']).not.toHaveProperty('a');
});

test.each([
  ['a number that is not exact', 2 ** 53],
  ['no number', Number.NaN],
  ['an endless number', Number.POSITIVE_INFINITY],
  ['an empty set', new Set()],
  ['a set of several types', new Set([1, 'a'])],
  ['an object of a class', new Date()],
  ['a function', () => {}],
])('%s is refused, not stored as something else', (_, value) => {
  expect(() => toWire({ value })).toThrow();
});
