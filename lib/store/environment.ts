/**
 * Configuration from environment variables; `cdk` and `local` set the same ones.
 */
import { type RepositoryStorages, readStorages } from './blobs/storages.ts';

export interface StoreEnvironment {
  /** DynamoDB table name. `TABLE_NAME` */
  readonly tableName: string;
  /** Bucket of packs and other objects. `OBJECTS_BUCKET` */
  readonly objectsBucket: string;
  /** Where repositories can lie, `default` among them. `REPOSITORY_STORAGES`: see {@link readStorages} */
  readonly storages: RepositoryStorages;
  /** SQS queue URLs by queue name. `QUEUE_URL_<NAME>`, upper case, `-` as `_` */
  readonly queueUrls: Readonly<Record<string, string>>;
  /** URLs of the queues whose messages may be counted, and of dead letters: `dead`. `COUNTED_QUEUE_URL_<NAME>` */
  readonly countedQueueUrls: Readonly<Record<string, string>>;
  /** Public base URL without a trailing slash, when it is configured. `BASE_URL` */
  readonly baseUrl: string | undefined;
  /** The service's own name in header names (`X-<Name>-...`). `SERVICE_NAME` */
  readonly serviceName: string;
  /** The name HEAD points to in a new repository. `DEFAULT_BRANCH_NAME` */
  readonly defaultBranchName: string;
  /** Base URL for pushes that exceed the gateway's limit, without a trailing slash. `GIT_FRONT_URL` */
  readonly gitFrontUrl: string | undefined;
  /** Whether pushes of any size reach the Git function as a stream, without a gateway. `STREAM_PUSHES=1` */
  readonly streamsPushes: boolean;
  /**
   * Hosts outside the public internet that may be called: names, addresses and ranges, comma-separated.
   * `OUTBOUND_ALLOW`
   */
  readonly outboundAllow: string;
  /** Sender of mail: an address, or `Name <address>`. If not set, no mail is sent. `MAIL_FROM` */
  readonly mailFrom: string | undefined;
  /** SSM parameter that holds the master keys of secrets. `MASTER_KEY_PARAMETER` */
  readonly masterKeyParameter: string;
  /** Days between a request to delete a group, or a project in one, and its deletion. `DELETION_DELAY_DAYS` */
  readonly deletionDelayDays: number;
  /** Larger downloads are fetched from the bucket, by presigned URL; bytes. `MAX_STREAMED_BYTES` */
  readonly maxStreamedBytes: number;
  /** Whether the throttles of the API are on until the settings say otherwise. `CLIENT_THROTTLES=1` */
  readonly clientThrottles: boolean;
  /** Largest pack that a response to a fetch can carry, in bytes. `MAX_FETCH_BYTES`; without it there is no limit */
  readonly maxFetchBytes: number | undefined;
  /** How many long reads of repositories may run at once. `LONG_READS`: see {@link readLongReads} */
  readonly longReads: LongReadLimits;
  /** Maximum size of an imported pack, in bytes. `IMPORT_MAX_BYTES` */
  readonly importMaxBytes: number;
  /** What a process keeps of packs, in bytes. `PACK_CACHE_MB`; three tenths of the memory that Lambda gives a function */
  readonly packCacheBytes: number;
}

/** 0: any number. */
export interface LongReadLimits {
  /** Of one user, or with one deploy token. */
  readonly user: number;
  /** Of callers without a credential, by IP address. */
  readonly address: number;
  /** In one project, of all callers together. Callers without a credential have half of it. */
  readonly project: number;
}

/** Few enough for a process that answers all of one project, many enough for a project's builds. */
const LONG_READS: LongReadLimits = { user: 20, address: 5, project: 50 };

/** @param text `user=20,address=5,project=50`; what it does not name has its default. @throws RangeError */
export function readLongReads(text: string): LongReadLimits {
  const limits: Record<string, number> = { ...LONG_READS };
  for (const pair of text.split(',').filter((part) => part !== '')) {
    const [, name, count] = /^(user|address|project)=(\d{1,3})$/.exec(pair) ?? [];
    if (name === undefined)
      throw new RangeError(`longReads: ${pair} is not user, address or project=0 to 999`);
    limits[name] = Number(count);
  }
  return limits as unknown as LongReadLimits;
}

/** The same as for a push. */
const IMPORT_MAX_BYTES = 2 * 1024 ** 3;

/**
 * A function streams 6 MB freely and the rest at 2 MB/s (Lambda guide, "Response streaming"): these take 5 seconds, where
 * the bucket needs less than one. Without streaming, a response is at most 6 MB, as Base64.
 */
const MAX_STREAMED_BYTES = { streaming: 16 * 1024 ** 2, buffered: 4 * 1024 ** 2 };

export function readEnvironment(
  env: Readonly<Record<string, string | undefined>> = process.env,
): StoreEnvironment {
  const objectsBucket = env['OBJECTS_BUCKET'] ?? 'lemnos-objects';
  return {
    tableName: env['TABLE_NAME'] ?? 'lemnos',
    objectsBucket,
    storages: readStorages(env['REPOSITORY_STORAGES'] ?? '', objectsBucket),
    queueUrls: urlsOf(env, 'QUEUE_URL_'),
    countedQueueUrls: urlsOf(env, 'COUNTED_QUEUE_URL_'),
    baseUrl: env['BASE_URL']?.replace(/\/+$/, ''),
    serviceName: env['SERVICE_NAME'] ?? 'Lemnos',
    defaultBranchName: env['DEFAULT_BRANCH_NAME'] ?? 'main',
    gitFrontUrl: env['GIT_FRONT_URL']?.replace(/\/+$/, '') || undefined,
    streamsPushes: env['STREAM_PUSHES'] === '1',
    outboundAllow: env['OUTBOUND_ALLOW'] ?? '',
    mailFrom: env['MAIL_FROM'] || undefined,
    masterKeyParameter: env['MASTER_KEY_PARAMETER'] ?? '/lemnos/master-key',
    deletionDelayDays: Number(env['DELETION_DELAY_DAYS']) || 0,
    maxStreamedBytes:
      Number(env['MAX_STREAMED_BYTES']) ||
      MAX_STREAMED_BYTES[env['STREAM'] === '1' ? 'streaming' : 'buffered'],
    clientThrottles: env['CLIENT_THROTTLES'] === '1',
    maxFetchBytes: Number(env['MAX_FETCH_BYTES']) || undefined,
    longReads: readLongReads(env['LONG_READS'] ?? ''),
    importMaxBytes: Number(env['IMPORT_MAX_BYTES']) || IMPORT_MAX_BYTES,
    packCacheBytes: readPackCacheBytes(env),
  };
}

/** Outside of Lambda, when nothing is said. */
const PACK_CACHE_MB = 528;
const PACK_CACHE_SHARE = 0.3;

function readPackCacheBytes(env: Readonly<Record<string, string | undefined>>): number {
  const ofFunction = Number(env['AWS_LAMBDA_FUNCTION_MEMORY_SIZE']) * PACK_CACHE_SHARE;
  return (Number(env['PACK_CACHE_MB']) || ofFunction || PACK_CACHE_MB) * 2 ** 20;
}

/** By the rest of the variable's name, in lower case. */
function urlsOf(env: Readonly<Record<string, string | undefined>>, prefix: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined
        ? [[name.slice(prefix.length).toLowerCase().replaceAll('_', '-'), value]]
        : [],
    ),
  );
}
