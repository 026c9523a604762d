import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DeleteObjectCommand, ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { openS3 } from '@lemnos/embedded-aws/s3';
import type { JobArtifact } from '../lib/records/artifacts.ts';
import { type RepositoryOwner, repositoryIdOf } from '../lib/records/repository-owner.ts';
import { Blobs } from '../lib/store/blobs/blobs.ts';
import { type AwsClients, awsClients, makeClients, useTransport } from '../lib/store/clients.ts';
import { readEnvironment, type StoreEnvironment } from '../lib/store/environment.ts';
import { LFS } from '../lib/store/lfs/objects.ts';
import { packObjectKeys } from '../lib/store/repository/pack-objects.ts';
import { artifactsPartition } from '../lib/store/row-keys/artifacts.ts';
import { JOB_PREFIX } from '../lib/store/row-keys/jobs.ts';
import { idOf } from '../lib/store/row-keys/key.ts';
import { LFS_OBJECT, lfsPartition } from '../lib/store/row-keys/lfs.ts';
import { DERIVED, PACK } from '../lib/store/row-keys/repository.ts';
import { openDataDirectory, TABLE_DIR } from './data-directory.ts';

/**
 * `npm run check:data [-- --bring-back]`: checks that a table and a bucket match, for example after one of them was restored
 * to a point in time. Every object that the packs of existing repositories need, and every object of Git LFS of existing projects, must be in the bucket, with the size that
 * the table says. `--bring-back` undoes deletions in a versioned bucket. Checks `TABLE_NAME` and `OBJECTS_BUCKET`, with the
 * credentials that the SDK finds; without `TABLE_NAME`, the data in `DATA_DIR`, whose host must be stopped: then the checksums
 * of all rows too. Reads the whole table once: half a read unit per 4 KB.
 */
export interface DataReport {
  readonly repositories: number;
  /** Objects that the table lists for existing repositories and projects. */
  readonly objects: number;
  readonly missing: readonly string[];
  /** Objects of another size than the table says. */
  readonly wrong: readonly string[];
  readonly broughtBack: readonly string[];
}

interface ListedObject {
  /** The repository's id; of an object of Git LFS, and of a job's file, the partition of its project. */
  readonly repositoryId: string;
  readonly key: string;
  /** Bytes, if the table has them. */
  readonly size: number | undefined;
}

const CONCURRENCY = 32;

export async function checkData(
  clients: AwsClients,
  {
    tableName,
    objectsBucket,
    storages,
  }: Pick<StoreEnvironment, 'tableName' | 'objectsBucket'> & Partial<Pick<StoreEnvironment, 'storages'>>,
  bringBack = false,
): Promise<DataReport> {
  const blobs = new Blobs(clients.s3, objectsBucket, storages);
  const living = new Set<string>();
  /** Of snippets, and of wikis: those that exist if they were ever written to. Of projects, where they list objects of Git LFS, and count files of jobs. */
  const beside = new Set<string>();
  const listed: ListedObject[] = [];
  for await (const row of rowsOf(clients, tableName)) {
    const { pk, sk, repositoryId, deletedAt } = row as Record<string, string | null>;
    if (sk === 'PROJECT' && typeof repositoryId === 'string' && deletedAt == null) living.add(repositoryId);
    for (const owner of ownersOf(row)) beside.add(repositoryIdOf(owner));
    if (sk === 'PROJECT' && deletedAt == null)
      for (const partition of [lfsPartition, artifactsPartition]) beside.add(partition(idOf(pk!)));
    if (pk!.startsWith('REPO#')) listed.push(...objectsOf(row));
    if (sk!.startsWith(LFS_OBJECT)) listed.push(largeFileOf(row));
    if (pk!.startsWith('PIPELINE_JOBS#') && sk!.startsWith(JOB_PREFIX)) listed.push(...artifactsOf(row));
  }
  const needed = listed.filter(({ repositoryId }) => living.has(repositoryId) || beside.has(repositoryId));
  const missing: string[] = [];
  const wrong: string[] = [];
  const broughtBack: string[] = [];
  const sizeOf = async (key: string) => (await blobs.head(key))?.size;
  await forEachConcurrently(needed, async ({ key, size }) => {
    let found = await sizeOf(key);
    if (found === undefined && bringBack && (await undelete(clients, blobs.locate(key)))) {
      broughtBack.push(key);
      found = await sizeOf(key);
    }
    if (found === undefined) missing.push(key);
    else if (size !== undefined && found !== size) wrong.push(`${key}: ${found} bytes instead of ${size}`);
  });
  return { repositories: living.size, objects: needed.length, missing, wrong, broughtBack };
}

/** The repositories beside code that this row gives a right to exist. */
function ownersOf({ pk, sk, deletedAt }: Record<string, unknown>): RepositoryOwner[] {
  const kind = deletedAt == null ? BESIDE.get(`${(pk as string).split('#')[0]} ${sk}`) : undefined;
  return kind === undefined ? [] : [{ kind, id: idOf(pk as string) }];
}

const BESIDE = new Map<string, RepositoryOwner['kind']>([
  ['PROJECT PROJECT', 'project-wiki'],
  ['GROUP GROUP', 'group-wiki'],
  ['SNIPPET SNIPPET', 'snippet'],
]);

async function* rowsOf({ dynamodb }: AwsClients, TableName: string): AsyncGenerator<Record<string, unknown>> {
  const client = DynamoDBDocumentClient.from(dynamodb);
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName,
        ProjectionExpression:
          'pk, sk, repositoryId, deletedAt, #location, layout, #state, packSize, indexSize, #size, projectId, artifacts',
        ExpressionAttributeNames: { '#location': 'location', '#state': 'state', '#size': 'size' },
        ...(ExclusiveStartKey && { ExclusiveStartKey }),
      }),
    );
    yield* page.Items ?? [];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
}

/** The objects that a row needs. None for a superseded pack: its objects are deleted before its row. */
function objectsOf(row: Record<string, unknown>): ListedObject[] {
  const { pk, sk, location, layout, state } = row as Record<string, string>;
  const repositoryId = pk!.slice('REPO#'.length);
  if (sk!.startsWith(DERIVED)) return [{ repositoryId, key: location!, size: undefined }];
  if (!sk!.startsWith(PACK) || state !== 'active') return [];
  const { packSize, indexSize } = row as Record<string, number>;
  const sizes = layout === 'joined' ? [packSize! + indexSize!] : [packSize, indexSize];
  return packObjectKeys(row as never).map((key, index) => ({ repositoryId, key, size: sizes[index] }));
}

function largeFileOf(row: Record<string, unknown>): ListedObject {
  const { pk, location, size } = row as { pk: string; location: string; size: number };
  return { repositoryId: pk, key: `${LFS}${location}`, size };
}

/** The files that a job has left. */
function artifactsOf({ projectId, artifacts = [] }: Record<string, unknown>): ListedObject[] {
  const repositoryId = artifactsPartition(projectId as number);
  return (artifacts as readonly JobArtifact[]).map(({ blob, size }) => ({ repositoryId, key: blob, size }));
}

/** Undoes the deletion of an object in a versioned bucket. @returns whether there was one */
async function undelete({ s3 }: AwsClients, { Bucket, Key }: ReturnType<Blobs['locate']>): Promise<boolean> {
  const { DeleteMarkers = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket, Prefix: Key }));
  const marker = DeleteMarkers.find((candidate) => candidate.Key === Key && candidate.IsLatest === true);
  if (marker?.VersionId === undefined) return false;
  await s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId: marker.VersionId }));
  return true;
}

async function forEachConcurrently<T>(items: readonly T[], visit: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values();
  const worker = async () => {
    for (const item of remaining) await visit(item);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

/** Opens the embedded services of a data directory without a host. @throws Error while a host has it open */
export async function openStoppedHost(
  dataDir: string,
): Promise<{ clients: AwsClients; damaged(): AsyncGenerator<string>; close(): Promise<void> }> {
  if (!existsSync(join(dataDir, TABLE_DIR))) throw new Error(`${dataDir} has no data`);
  const data = await openDataDirectory(dataDir);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const s3 = await openS3({ dir: join(dataDir, 'objects'), credentials, endpointPath: '/_s3' });
  const config = { region: 'local', credentials };
  const clients = makeClients({
    dynamodb: { ...config, endpoint: 'http://dynamodb.local', requestHandler: data.table.requestHandler },
    s3: {
      ...config,
      endpoint: 'http://s3.local/_s3',
      forcePathStyle: true,
      requestHandler: s3.requestHandler,
    },
    sqs: config,
  });
  return {
    clients,
    damaged: () => data.table.damaged(),
    async close() {
      await s3.close();
      await data.close();
    },
  };
}

if (import.meta.main) {
  const environment = readEnvironment();
  const bringBack = process.argv.includes('--bring-back');
  if (process.env['AWS_S3_FORCE_PATH_STYLE'] === '1') useTransport({ s3: { forcePathStyle: true } });
  const local = process.env['TABLE_NAME'] === undefined;
  if (local && bringBack)
    throw new Error('the embedded bucket has no versions: deleted objects cannot be brought back');
  const opened = local ? await openStoppedHost(resolve(process.env['DATA_DIR'] ?? '.data')) : undefined;
  let damaged = 0;
  for await (const problem of opened?.damaged() ?? []) {
    damaged += 1;
    console.log(`damaged   ${problem}`);
  }
  if (damaged > 0) {
    await opened?.close();
    console.log(`${damaged} rows of the table are damaged: restore a copy. The bucket was not compared`);
    process.exit(1);
  }
  const report = await checkData(opened?.clients ?? awsClients(), environment, bringBack);
  await opened?.close();
  for (const key of report.missing) console.log(`missing   ${key}`);
  for (const difference of report.wrong) console.log(`wrong     ${difference}`);
  const { repositories, objects, missing, wrong, broughtBack } = report;
  console.log(
    `${repositories} repositories list ${objects} objects: ${missing.length} missing, ${wrong.length} of another size, ${broughtBack.length} brought back`,
  );
  process.exitCode = missing.length + wrong.length > 0 ? 1 : 0;
}
