/** The drills of docs/operations.md, "Backups": a copy is put back; table and bucket meet again as of a moment. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateTableCommand,
  RestoreTableToPointInTimeCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClients } from '../../lib/store/clients.ts';
import { tableDefinition } from '../../lib/store/table/schema.ts';
import { checkData, openStoppedHost } from '../../local/check-data.ts';
import { GitCli } from '../clients/git-cli.ts';
import { check } from '../crash/checker.ts';
import { openData } from '../crash/data.ts';
import { ExpectedState } from '../crash/expected-state.ts';
import { type Emulator, startEmulator } from '../deploy/emulator.ts';
import { startProcess } from '../harness/process.ts';
import { Replica } from './replica.ts';

const ROOT_TOKEN = 'root-token-for-drills-only';
const token = ROOT_TOKEN;
let folder: string;
let git: GitCli;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lemnos-restore-'));
  git = new GitCli();
  await git.run(['init', '--quiet', '--initial-branch=main', 'work']);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  git[Symbol.dispose]();
});

/** Commits and pushes a file of that name and content. @returns the commit */
async function push(url: string, project: string, file: string): Promise<string> {
  const cwd = git.path('work');
  const remote = new URL(`${url}/root/${project}.git`);
  remote.username = 'root';
  remote.password = token;
  await git.run(['commit', '--quiet', '--allow-empty', '-m', file], { cwd });
  const pushed = await git.run(['push', '--quiet', remote.href, 'HEAD:refs/heads/main'], { cwd });
  if (pushed.code !== 0) throw new Error(pushed.stderr);
  return (await git.run(['rev-parse', 'HEAD'], { cwd })).stdout.toString().trim();
}

async function clone(url: string, project: string, into: string) {
  const remote = new URL(`${url}/root/${project}.git`);
  remote.username = 'root';
  remote.password = token;
  const { code, stderr } = await git.run(['clone', '--quiet', remote.href, into]);
  if (code !== 0) return { code, stderr, tip: '' };
  const fsck = await git.run(['fsck', '--full', '--strict'], { cwd: git.path(into) });
  const tip = (await git.run(['rev-parse', 'HEAD'], { cwd: git.path(into) })).stdout.toString().trim();
  return { code: fsck.code, stderr: fsck.stderr, tip };
}

describe('a backup of the embedded host’s data', () => {
  test('restores everything as it was at that time, and nothing later', async () => {
    const DATA_DIR = join(folder, 'data');
    const copy = join(folder, 'copy');
    let host = await startProcess({ DATA_DIR, ROOT_TOKEN });
    for (const name of ['kept', 'doomed'])
      expect((await host.call('POST', '/projects', { token, json: { name } })).status).toBe(201);
    const kept = await push(host.url, 'kept', 'one');
    const wiki = '/projects/root%2Fkept/wikis';
    const page = { title: 'home', content: 'as it was' };
    expect((await host.call('POST', wiki, { token, json: page })).status).toBe(201);
    const files = [{ file_path: 'a.txt', content: 'as it was' }];
    const snippet = { title: 'x', visibility: 'private', files };
    const { body: made } = await host.call('POST', '/snippets', { token, json: snippet });
    await push(host.url, 'doomed', 'one');
    await host.stop();
    cpSync(DATA_DIR, copy, { recursive: true });

    host = await startProcess({ DATA_DIR, ROOT_TOKEN });
    await push(host.url, 'kept', 'two');
    await host.call('PUT', `${wiki}/home`, { token, json: { content: 'later' } });
    await host.call('DELETE', `/snippets/${made.id}`, { token });
    expect((await host.call('DELETE', '/projects/root%2Fdoomed', { token })).status).toBe(202);
    expect((await host.call('POST', '/projects', { token, json: { name: 'later' } })).status).toBe(201);
    await host.stop();

    rmSync(DATA_DIR, { recursive: true });
    cpSync(copy, DATA_DIR, { recursive: true });
    const { clients, close } = await openStoppedHost(DATA_DIR);
    const environment = { tableName: 'lemnos', objectsBucket: 'lemnos-objects' };
    expect(await checkData(clients, environment)).toMatchObject({
      repositories: 2,
      objects: 4,
      missing: [],
      wrong: [],
    });
    await close();

    host = await startProcess({ DATA_DIR, ROOT_TOKEN });
    expect(await clone(host.url, 'kept', 'kept-again')).toMatchObject({ code: 0, tip: kept });
    expect(await clone(host.url, 'doomed', 'doomed-again')).toMatchObject({ code: 0 });
    expect((await host.call('GET', '/projects/root%2Flater', { token })).status).toBe(404);
    expect((await host.call('GET', `${wiki}/home`, { token })).body).toMatchObject(page);
    expect((await host.call('GET', `/snippets/${made.id}/raw`, { token })).body).toBe('as it was');
    expect(await clone(host.url, 'kept.wiki', 'wiki-again')).toMatchObject({ code: 0 });
    await host.stop();
    await using data = await openData(DATA_DIR);
    expect((await check(data, new ExpectedState(), false)).problems).toEqual([]);
  });

  test('restored without some objects reports which are lost', async () => {
    const environment = { tableName: 'lemnos', objectsBucket: 'lemnos-objects' };
    const Bucket = environment.objectsBucket;
    const { clients, close } = await openStoppedHost(join(folder, 'copy'));
    const { Contents = [] } = await clients.s3.send(
      new ListObjectsV2Command({ Bucket, Prefix: 'networks/' }),
    );
    const [lost, cut] = Contents.map(({ Key }) => Key!);
    await clients.s3.send(new DeleteObjectCommand({ Bucket, Key: lost }));
    await clients.s3.send(new PutObjectCommand({ Bucket, Key: cut, Body: 'PACK' }));
    expect(await checkData(clients, environment)).toMatchObject({
      repositories: 2,
      objects: Contents.length,
      missing: [lost],
      wrong: [expect.stringContaining(`${cut}: 4 bytes instead of `)],
    });
    await close();
  });
});

describe('a table restored to a point in time on an emulated AWS', () => {
  let emulator: Emulator;
  const replicas: Replica[] = [];
  beforeAll(async () => {
    emulator = await startEmulator();
  });
  afterAll(async () => {
    for (const replica of replicas) replica.kill();
    await emulator?.[Symbol.asyncDispose]();
  });

  test('finds its packs in the bucket, and deleted ones among the object versions', async () => {
    const config = {
      region: 'us-east-1',
      endpoint: emulator.endpoint,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    };
    const clients = makeClients({ dynamodb: config, s3: { ...config, forcePathStyle: true }, sqs: config });
    const { dynamodb, s3 } = clients;
    await dynamodb.send(new CreateTableCommand(tableDefinition('live')));
    const Bucket = 'objects-of-the-drill';
    await s3.send(new CreateBucketCommand({ Bucket }));
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }));
    const serve = async (TABLE_NAME: string) => {
      const replica = await Replica.start({
        ...emulator.environment,
        TABLE_NAME,
        OBJECTS_BUCKET: Bucket,
        ROOT_TOKEN,
      });
      replicas.push(replica);
      return replica;
    };
    const live = await serve('live');
    for (const name of ['kept', 'doomed'])
      expect((await live.call('POST', '/projects', { token, json: { name } })).status).toBe(201);
    const before = {
      kept: await push(live.url, 'kept', 'three'),
      doomed: await push(live.url, 'doomed', 'four'),
    };
    await live.work();

    // The moment. The emulator restores the table as it is now, whatever time is named.
    const TableName = 'restored';
    await dynamodb.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: 'live',
        TargetTableName: TableName,
        UseLatestRestorableTime: true,
      }),
    );
    await waitUntilTableExists({ client: dynamodb, maxWaitTime: 30 }, { TableName });

    // Later writes followed, and a project was deleted by mistake, with its bytes.
    await push(live.url, 'kept', 'five');
    expect((await live.call('DELETE', '/projects/root%2Fdoomed', { token })).status).toBe(202);
    expect(await live.work()).toContain('project.delete');
    await live.stop();

    const restored = { tableName: TableName, objectsBucket: Bucket };
    const lost = await checkData(clients, restored);
    expect(lost.repositories).toBe(2);
    expect(lost.missing.length).toBeGreaterThan(0);
    const mended = await checkData(clients, restored, true);
    expect(mended).toMatchObject({ repositories: 2, missing: [], wrong: [] });
    expect(mended.broughtBack.toSorted()).toEqual(lost.missing.toSorted());

    const again = await serve(TableName);
    expect(await clone(again.url, 'kept', 'kept-restored')).toMatchObject({ code: 0, tip: before.kept });
    expect(await clone(again.url, 'doomed', 'doomed-restored')).toMatchObject({
      code: 0,
      tip: before.doomed,
    });
    // And what it is given from now on stays.
    const next = await push(again.url, 'doomed', 'six');
    expect(await clone(again.url, 'doomed', 'doomed-next')).toMatchObject({ code: 0, tip: next });
    await again.stop();
  });
});
