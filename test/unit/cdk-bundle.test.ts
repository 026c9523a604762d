import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bundle, bundle } from '../../cdk/bundle.ts';
import type { Area } from '../../functions/areas.ts';
import { apiDocument } from '../../lib/api/all.ts';

const area = (name: string): Area => ({
  kind: 'command',
  name,
  entry: `${name}.ts`,
  memory: 128,
  timeout: 3,
  rights: {},
});

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
    parameters: `
      import { z } from 'zod';
      const query = () => z.object({ page: z.coerce.number().int().default(1), search: z.string().optional() });
      export const handler = async () => [query().parse({}), query().safeParse({ page: 'x' }).success];`,
    document: `
      export const handler = async () =>
        (await import(${JSON.stringify(join(import.meta.dirname, '../../lib/api/all.ts'))})).apiDocument();`,
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

test('an entry that is not there is left out', () => {
  expect(bundles.map((built) => built.area.name)).toEqual([
    'client',
    'profile',
    'commonjs',
    'lazy',
    'parameters',
    'document',
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

test('CommonJS packages find node’s own modules', async () => {
  expect(await invoke('commonjs')).toBe('function');
});

test('what is loaded when it is called for is a file of its own, and no part of a cold start', async () => {
  expect(await invoke('lazy')).toBe('function');
  const bytesOf = (name: string) => bundles.find((built) => built.area.name === name)!.bytes;
  expect(bytesOf('lazy')).toBeLessThan(bytesOf('commonjs') / 2);
});

test('schemas check without what documents them', async () => {
  expect(await invoke('parameters')).toEqual([{ page: 1 }, false]);
});

test('the OpenAPI document is the one of the build, without the code it was made from', async () => {
  expect(await invoke('document')).toEqual(JSON.parse(JSON.stringify(apiDocument())));
  expect(bundles.find((built) => built.area.name === 'document')?.bytes).toBeLessThan(2000);
});
