import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bundle, bundle } from '../../cdk/bundle.ts';
import type { Area } from '../../functions/areas.ts';
import { apiDocument } from '../../lib/api/all.ts';
import { packViewer } from '../../lib/api/meta/viewer/pack.ts';

const area = (name: string): Area => ({
  kind: 'command',
  name,
  entry: `${name}.ts`,
  memory: 128,
  timeout: 3,
  rights: {},
});

/** What the SDK makes of failures, of those that it knows and of others, of those with more to say than a message. */
const failures = `
  import { Readable } from 'node:stream';
  import { DynamoDBClient, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
  import { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
  import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
  const client = (Client, statusCode, body, headers = {}) => new Client({
    credentials, region: 'us-east-1', maxAttempts: 1,
    requestHandler: { handle: async () => ({ response: { statusCode, headers, body: Readable.from([body]) } }) },
  });
  const json = (type, more = {}) => JSON.stringify({ __type: 'com.amazonaws.x#' + type, message: 'because', ...more });
  const xml = (code) => '<?xml version="1.0"?><Error><Code>' + code + '</Code><Message>because</Message></Error>';
  const put = new PutItemCommand({ TableName: 't', Item: { k: { S: 'v' } } });
  const get = new GetObjectCommand({ Bucket: 'b', Key: 'k' });
  const send = new SendMessageCommand({ QueueUrl: 'https://sqs.us-east-1.amazonaws.com/1/q', MessageBody: 'm' });
  const Item = { k: { S: 'v' } };
  const tried = [
    [DynamoDBClient, 400, json('ProvisionedThroughputExceededException'), put],
    [DynamoDBClient, 400, json('ResourceNotFoundException'), put],
    [DynamoDBClient, 400, json('ReplicatedWriteConflictException'), put],
    [DynamoDBClient, 400, json('ConditionalCheckFailedException', { Item }), put],
    [DynamoDBClient, 400, json('TransactionCanceledException', { Message: 'because',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item }] }),
      new TransactWriteItemsCommand({ TransactItems: [] })],
    [DynamoDBClient, 400, json('NobodyKnowsThis'), put],
    [DynamoDBClient, 500, json('InternalServerError'), put],
    [S3Client, 404, xml('NoSuchKey'), get],
    [S3Client, 412, xml('PreconditionFailed'), get],
    [S3Client, 403, xml('InvalidObjectState'), get],
    [S3Client, 404, '', new HeadObjectCommand({ Bucket: 'b', Key: 'k' })],
    [S3Client, 503, xml('SlowDown'), get],
    [SQSClient, 400, json('QueueDoesNotExist'), send],
    [SQSClient, 403, json('RequestThrottled'), send],
  ];
  export const handler = () => Promise.all(tried.map(async ([Client, status, body, command]) => {
    try { await client(Client, status, body).send(command); return 'no error'; } catch (error) {
      const { name, message, $fault, $retryable, $metadata, Item, CancellationReasons } = error;
      return { name, message, $fault, $retryable, status: $metadata?.httpStatusCode, Item, CancellationReasons };
    }
  }));`;

let folder: string;
let bundles: Bundle[];

beforeAll(async () => {
  // Inside the project, so that entries find its packages.
  folder = mkdtempSync(join(import.meta.dirname, '../../node_modules/.cdk-bundle-'));
  const entries = {
    client: `
      import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
      export const handler = async () => (await new DynamoDBClient({}).config.credentials()).accessKeyId;`,
    profile: `
      import { S3Client } from '@aws-sdk/client-s3';
      export const handler = () => new S3Client({ profile: 'somebody' }).config.credentials();`,
    commonjs: `
      import busboy from '@fastify/busboy';
      export const handler = async () => typeof busboy;`,
    lazy: `
      export const handler = async () => typeof (await import('@fastify/busboy')).default;`,
    failures,
    parameters: `
      import { z } from 'zod';
      const query = () => z.object({ page: z.coerce.number().int().default(1), search: z.string().optional() });
      export const handler = async () => [query().parse({}), query().safeParse({ page: 'x' }).success];`,
    document: `
      export const handler = async () =>
        (await import(${JSON.stringify(join(import.meta.dirname, '../../lib/api/all.ts'))})).apiDocument();`,
    viewer: `
      import { viewerContent, viewerNames } from ${JSON.stringify(join(import.meta.dirname, '../../lib/api/meta/viewer/files.ts'))};
      export const handler = async () => {
        const names = await viewerNames();
        const content = await Promise.all(Object.values(names).map(viewerContent));
        return { names, content, other: await viewerContent('index.mjs') };
      };`,
  };
  for (const [name, text] of Object.entries(entries)) writeFileSync(join(folder, `${name}.ts`), text);
  const areas = [...Object.keys(entries), 'absent'].map(area);
  bundles = await bundle(areas, { entries: folder, output: join(folder, 'dist') });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function invoke(name: string): Promise<unknown> {
  const found = bundles.find((built) => built.area.name === name)!;
  const module = await import(/* @vite-ignore */ pathToFileURL(join(found.directory, 'index.mjs')).href);
  return module.handler();
}

test('a missing entry is left out of the bundle', () => {
  expect(bundles.map((built) => built.area.name)).toEqual([
    'client',
    'profile',
    'commonjs',
    'lazy',
    'failures',
    'parameters',
    'document',
    'viewer',
  ]);
  for (const { bytes } of bundles) expect(bytes).toBeGreaterThan(150);
});

test('clients take the credentials of the environment', async () => {
  process.env['AWS_ACCESS_KEY_ID'] = 'of-the-role';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
  process.env['AWS_REGION'] = 'us-east-1';
  expect(await invoke('client')).toBe('of-the-role');
});

test('other credentials are refused by name, not missed silently', async () => {
  delete process.env['AWS_ACCESS_KEY_ID'];
  await expect(invoke('profile')).rejects.toThrow(/credential-provider-\w+ is not part of this bundle/);
});

test('errors are the same as with the complete SDK', async () => {
  writeFileSync(join(folder, 'failures.mjs'), failures);
  const whole = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'failures.mjs')).href);
  const expected = (await whole.handler()) as { name: string; Item?: object }[];
  expect(new Set(expected.map(({ name }) => name)).size).toBe(expected.length);
  expect(expected.filter(({ Item }) => Item !== undefined)).toHaveLength(1);
  expect(await invoke('failures')).toEqual(expected);
});

test('CommonJS packages find node’s own modules', async () => {
  expect(await invoke('commonjs')).toBe('function');
});

test('code loaded on demand is a separate file, and not part of a cold start', async () => {
  expect(await invoke('lazy')).toBe('function');
  const bytesOf = (name: string) => bundles.find((built) => built.area.name === name)!.bytes;
  expect(bytesOf('lazy')).toBeLessThan(bytesOf('commonjs') / 2);
});

test('schemas validate without their documentation', async () => {
  expect(await invoke('parameters')).toEqual([{ page: 1 }, false]);
});

test('the OpenAPI document is the one of the build, without the code it was made from', async () => {
  expect(await invoke('document')).toEqual(JSON.parse(JSON.stringify(apiDocument())));
  expect(bundles.find((built) => built.area.name === 'document')?.bytes).toBeLessThan(2000);
});

test('the documentation viewer is beside the bundle, and is read on demand', async () => {
  const { names, files } = await packViewer();
  expect(await invoke('viewer')).toMatchObject({ names, other: undefined });
  const { content } = (await invoke('viewer')) as { content: Uint8Array[] };
  expect(content.map((one, index) => Buffer.compare(one, files[index]!.gzip))).toEqual([0, 0, 0]);
  expect(bundles.find((built) => built.area.name === 'viewer')!.bytes).toBeLessThan(2000);
});
