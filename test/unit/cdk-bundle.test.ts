import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bundle, bundle } from '../../cdk/bundle.ts';
import type { Area } from '../../functions/areas.ts';
import { apiDocument } from '../../lib/api/all.ts';
import { packViewer } from '../../lib/api/meta/viewer/pack.ts';
import * as shapes from '../../lib/api/projects/shapes.ts';

/** Of entries with less than others. */
const RIGHTS: Readonly<Record<string, Area['rights']>> = {
  refusals: { table: 'write' },
  counts: { table: 'read', countsMessages: true },
};

const area = (name: string): Area => ({
  kind: 'command',
  name,
  entry: `${name}.ts`,
  memory: 128,
  timeout: 3,
  rights: RIGHTS[name] ?? { table: 'write', objects: 'write', sends: ['maintenance'] },
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

/** Which endpoints the SDK's rules give, or which error, for every combination of what an instance may be set to. */
const endpoints = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
  import { S3Client } from '@aws-sdk/client-s3';
  const rules = (Client) => new Client({ region: 'us-east-1' }).config.endpointProvider;
  const combinations = (options) => Object.entries(options).reduce(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))), [{}]);
  const decided = (Client, options) => combinations(options).map((parameters) => {
    try { return { parameters, ...rules(Client)(parameters) }; } catch ({ message }) { return { parameters, message }; }
  });
  const everywhere = {
    Region: ['us-east-1', 'eu-central-1', 'us-gov-west-1', 'cn-north-1', 'aws-global', 'no/region', undefined],
    UseFIPS: [false, true], UseDualStack: [false, true],
  };
  const endpoint = [undefined, 'https://objects.example/path'];
  export const handler = () => [
    ...decided(S3Client, { ...everywhere, Endpoint: endpoint, ForcePathStyle: [false, true],
      Bucket: ['objects', 'with.dots', 'With_Capitals', 'a-name-of-more-than-fifty-characters-as-templates-make-them', undefined] }),
    ...decided(S3Client, { ...everywhere, Endpoint: ['http://127.0.0.1:9000'], ForcePathStyle: [false, true], Bucket: ['objects'] }),
    ...decided(DynamoDBClient, { ...everywhere, Endpoint: endpoint, AccountId: [undefined, '123456789012'],
      AccountIdEndpointMode: [undefined, 'preferred', 'required', 'disabled'], ResourceArn: ['lemnos', undefined] }),
  ];
  export const refused = () => [
    ...decided(S3Client, { Region: ['us-east-1'], Bucket: ['objects--use1-az4--x-s3', 'point--use1-az4--xa-s3',
      'arn:aws:s3:us-east-1:123456789012:accesspoint/name', 'arn:aws:s3::123456789012:accesspoint:name.mrap'] }),
    ...decided(S3Client, { Region: ['us-east-1'], Bucket: ['objects'], Accelerate: [true] }),
    ...decided(S3Client, { Region: ['us-east-1'], UseObjectLambdaEndpoint: [true] }),
    ...decided(DynamoDBClient, { Region: ['us-east-1'], AccountIdEndpointMode: ['preferred'],
      ResourceArn: ['arn:aws:dynamodb:us-east-1:123456789012:table/t'] }),
  ];`;

/** Requests that the SDK signs, and URLs that it presigns. */
const signatures = `
  import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
  import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
  const signingDate = new Date('2026-01-02T03:04:05Z');
  export const handler = async () => {
    const sent = [];
    const client = new S3Client({
      region: 'eu-central-1', credentials: { accessKeyId: 'a', secretAccessKey: 's', sessionToken: 't' },
      requestChecksumCalculation: 'WHEN_REQUIRED', systemClockOffset: signingDate.getTime() - Date.now(),
      requestHandler: { handle: async ({ hostname, path, headers }) => {
        sent.push({ hostname, path, signed: headers.authorization.replace(/Signature=.*/, ''), token: headers['x-amz-security-token'] });
        return { response: { statusCode: 200, headers: {}, body: undefined } };
      } },
    });
    await client.send(new PutObjectCommand({ Bucket: 'b', Key: 'k/é', Body: 'text' }));
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'b', Key: 'k' }), { expiresIn: 60, signingDate });
    return { sent, url };
  };`;

/** Calls of services that the area has no rights to, and what they answer. */
const refusals = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
  import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
  import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
  import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
  const s3 = new S3Client({ region: 'us-east-1' });
  const get = new GetObjectCommand({ Bucket: 'b', Key: 'k' });
  const send = new SendMessageCommand({ QueueUrl: 'https://sqs.us-east-1.amazonaws.com/1/q', MessageBody: 'm' });
  const calls = [() => s3.send(get), () => getSignedUrl(s3, get), () => new SQSClient({ region: 'us-east-1' }).send(send)];
  export const handler = async () => [
    typeof new DynamoDBClient({ region: 'us-east-1' }).config.endpointProvider,
    ...await Promise.all(calls.map((call) => call().catch(({ message }) => message))),
  ];`;

/** Asks a queue for its number of messages, and answers which call was sent. */
const counts = `
  import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
  const client = new SQSClient({
    region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 's' },
    requestHandler: { handle: async ({ headers }) => { throw new Error(headers['x-amz-target']); } },
  });
  const ask = new GetQueueAttributesCommand({ QueueUrl: 'https://sqs.us-east-1.amazonaws.com/1/q' });
  export const handler = () => client.send(ask).catch(({ message }) => message);`;

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
    endpoints,
    signatures,
    refusals,
    counts,
    parameters: `
      import { z } from 'zod';
      const query = () => z.object({ page: z.coerce.number().int().default(1), search: z.string().optional() });
      export const handler = async () => [query().parse({}), query().safeParse({ page: 'x' }).success];`,
    shapes: `
      import * as shapes from ${JSON.stringify(join(import.meta.dirname, '../../lib/api/projects/shapes.ts'))};
      export const handler = async () => [typeof shapes.project, typeof shapes.projectShown];`,
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

async function invoke(name: string, exported = 'handler'): Promise<unknown> {
  const found = bundles.find((built) => built.area.name === name)!;
  const module = await import(/* @vite-ignore */ pathToFileURL(join(found.directory, 'index.mjs')).href);
  return module[exported]();
}

const bytesOf = (name: string) => bundles.find((built) => built.area.name === name)!.bytes;

/** The same module's answer with the complete SDK. */
async function unbundled(name: string, text: string): Promise<unknown> {
  writeFileSync(join(folder, `${name}.mjs`), text);
  const whole = await import(/* @vite-ignore */ pathToFileURL(join(folder, `${name}.mjs`)).href);
  return whole.handler();
}

test('a missing entry is left out of the bundle', () => {
  expect(bundles.map((built) => built.area.name)).toEqual([
    'client',
    'profile',
    'commonjs',
    'lazy',
    'failures',
    'endpoints',
    'signatures',
    'refusals',
    'counts',
    'parameters',
    'shapes',
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
  const expected = (await unbundled('failures', failures)) as { name: string; Item?: object }[];
  expect(new Set(expected.map(({ name }) => name)).size).toBe(expected.length);
  expect(expected.filter(({ Item }) => Item !== undefined)).toHaveLength(1);
  expect(await invoke('failures')).toEqual(expected);
});

test('endpoints of buckets and tables are the same as with the complete SDK', async () => {
  const expected = (await unbundled('endpoints', endpoints)) as { url?: URL; message?: string }[];
  const hosts = new Set(expected.map(({ url }) => url?.host));
  expect([...hosts]).toEqual(
    expect.arrayContaining([
      'objects.s3.eu-central-1.amazonaws.com',
      's3.cn-north-1.amazonaws.com.cn',
      'objects.s3-fips.us-gov-west-1.amazonaws.com',
      'objects.objects.example',
      '123456789012.ddb.us-east-1.amazonaws.com',
    ]),
  );
  expect(expected.some(({ message }) => message?.startsWith('Invalid region'))).toBe(true);
  expect(await invoke('endpoints')).toEqual(expected);
});

test('endpoints that bundles have no rules for are refused by an error that says so', async () => {
  const refused = (await invoke('endpoints', 'refused')) as { message?: string }[];
  expect(refused.map(({ message }) => message)).toEqual(
    refused.map(() => 'the rules for this endpoint are not part of this bundle'),
  );
});

test('requests and presigned URLs are signed as with the complete SDK', async () => {
  const expected = (await unbundled('signatures', signatures)) as { url: string };
  expect(expected.url).toContain('X-Amz-Signature=');
  expect(await invoke('signatures')).toEqual(expected);
});

test('an area without rights to the bucket and to queues carries none of their clients', async () => {
  const [bucket, queues] = ['the bucket', 'queues'].map(
    (service) => `this function has no rights to ${service}`,
  );
  expect(await invoke('refusals')).toEqual(['function', bucket, bucket, queues]);
  expect(bytesOf('refusals')).toBeLessThan(bytesOf('client') + 1000);
});

test('an area that may count messages has the client of queues', async () => {
  expect(await invoke('counts')).toBe('AmazonSQS.GetQueueAttributes');
});

test('CommonJS packages find node’s own modules', async () => {
  expect(await invoke('commonjs')).toBe('function');
});

test('code loaded on demand is a separate file, and not part of a cold start', async () => {
  expect(await invoke('lazy')).toBe('function');
  expect(bytesOf('lazy')).toBeLessThan(bytesOf('commonjs') / 2);
});

test('schemas validate without their documentation', async () => {
  expect(await invoke('parameters')).toEqual([{ page: 1 }, false]);
});

test('the shapes of answers are left out', async () => {
  expect(await invoke('shapes')).toEqual(['undefined', 'undefined']);
  const { directory } = bundles.find((built) => built.area.name === 'shapes')!;
  expect(Object.keys(shapes.project().shape)).toContain('ssh_url_to_repo');
  expect(readFileSync(join(directory, 'index.mjs'), 'utf8')).not.toContain('ssh_url_to_repo');
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
