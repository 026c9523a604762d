import type { Node } from 'constructs';
import { areas } from '../functions/areas.ts';
import { parseAllowList } from '../lib/outbound/allow-list.ts';
import { type ConfiguredStorage, parseStorages } from '../lib/store/blobs/storages.ts';
import { readLongReads } from '../lib/store/environment.ts';
import { SHIFT_MINUTES } from './traffic-shift.ts';

/** The deployment settings of an instance: `cdk deploy -c name=value`. */
export interface Settings {
  /** Prefix of the stacks' names, so that one account can hold several instances. `instance` */
  readonly instance: string;
  /** Whether the gateway streams responses; buffered ones are limited to 6 MB and 29 s. `stream` */
  readonly stream: boolean;
  /** The service's name in header names and in Git's password prompt. `serviceName` */
  readonly serviceName: string;
  /** Name of the default branch of new repositories. `defaultBranchName` */
  readonly defaultBranchName: string;
  /** Host name of the gateway, with the ARN of its certificate in this region. `domain`, `domainCertificate` */
  readonly domain: { readonly name: string; readonly certificate: string } | undefined;
  /** Public base URL: that of the domain, or of what is in front of the gateway. `baseUrl` */
  readonly baseUrl: string | undefined;
  /**
   * Hosts and networks that may be called although they are not public: `lib/outbound/allow-list.ts`. Functions are in no
   * VPC and reach public addresses only, so it serves names whose addresses are refused by kind. `outboundAllow`
   */
  readonly outboundAllow: string | undefined;
  /** URL of the Git front, which pushes too large for the gateway are redirected to. `gitFrontUrl` */
  readonly gitFrontUrl: string | undefined;
  /** ARN of the certificate for that URL; if set, the front is deployed too. `gitFrontCertificate` */
  readonly gitFrontCertificate: string | undefined;
  /** Sender of mails, verified in SES: an address, or `Name <address>`. Without it no mail is sent. `mailFrom` */
  readonly mailFrom: string | undefined;
  /**
   * Concurrent runs reserved for functions, which are also their maximum: `name=count,name=count`. Lambda keeps 100 of an
   * account's runs for functions without a reservation, and a new account may have fewer than that in all (Lambda
   * developer guide, "Configuring reserved concurrency"; "Lambda quotas"): so none by default. `reservedConcurrency`
   */
  readonly reservedConcurrency: ReadonlyMap<string, number>;
  /** Requests a second that the stage accepts, and how many at once beyond it: a limit of cost. `requestRate`, `requestBurst` */
  readonly requestRate: number;
  readonly requestBurst: number;
  /** Requests of one address in five minutes, above which AWS WAF refuses it; without it there is no WAF. `wafRateLimit` */
  readonly wafRateLimit: number | undefined;
  /**
   * Minutes for which a release serves a tenth of the calls, before it serves all; alarms take it back. 0: all at once.
   * `shiftMinutes`
   */
  readonly shiftMinutes: number;
  /** Whether the throttles of the API by user and address are on until an administrator says otherwise. `clientThrottles` */
  readonly clientThrottles: boolean;
  /** How many long reads of repositories may run at once: `user=count,address=count,project=count`. `longReads` */
  readonly longReads: string | undefined;
  /**
   * Storages of repositories beside `default`: `name` has a bucket of the data stack, `name=bucket` and `name=bucket/path`
   * are in a bucket that exists. `repositoryStorages`
   */
  readonly repositoryStorages: readonly ConfiguredStorage[];
  /** Days between the request to delete a group, or a project in one, and its deletion. `deletionDelayDays` */
  readonly deletionDelayDays: number;
  /** Email address notified by alarms; without it alarms are visible in CloudWatch only. `alarmEmail` */
  readonly alarmEmail: string | undefined;
  /** Name of a table restored from a backup, used instead of the stack's own. `restoredTable` */
  readonly restoredTable: string | undefined;
  /** Minimum level of log lines: `info`, `warn`, `error`, `silent`. `logLevel` */
  readonly logLevel: string;
  /** Whether to create a dashboard; an account has three for free, further ones cost 3 $ a month each. `dashboard` */
  readonly dashboard: boolean;
  /** Whether each endpoint and job type has metrics of its own; for their cost see `docs/operations.md`. `endpointMetrics` */
  readonly endpointMetrics: boolean;
  /** Tags of every resource, for cost allocation: `name=value,name=value`. `tags` */
  readonly tags: Readonly<Record<string, string>>;
}

/** @throws RangeError for an invalid setting */
export function readSettings(node: Node): Settings {
  const read = (name: string): string | undefined => {
    const value: unknown = node.tryGetContext(name);
    if (value === undefined || value === '') return undefined;
    return String(value);
  };
  const choice = (name: string): boolean => {
    const text = read(name) ?? 'true';
    if (text !== 'true' && text !== 'false') throw new RangeError(`${name} must be true or false`);
    return text === 'true';
  };
  const count = (name: string, otherwise: number): number => {
    const text = read(name) ?? String(otherwise);
    if (!/^[1-9]\d{0,5}$/.test(text)) throw new RangeError(`${name} must be a whole number from 1 to 999999`);
    return Number(text);
  };
  const logLevel = read('logLevel') ?? 'info';
  if (!/^(info|warn|error|silent)$/.test(logLevel)) {
    throw new RangeError('logLevel must be info, warn, error or silent');
  }
  const serviceName = read('serviceName') ?? 'Lemnos';
  // Used in header names and in a quoted string in a header.
  if (!/^[A-Za-z][A-Za-z0-9-]{0,31}$/.test(serviceName)) {
    throw new RangeError('serviceName must consist of letters, digits and "-", at most 32');
  }
  const [name, certificate] = [read('domain'), read('domainCertificate')];
  if ((name === undefined) !== (certificate === undefined))
    throw new RangeError('domain and domainCertificate need each other');
  if (name !== undefined && !/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/.test(name))
    throw new RangeError('domain must be a host name in lower case');
  const domain = name === undefined || certificate === undefined ? undefined : { name, certificate };
  const gitFrontUrl = read('gitFrontUrl')?.replace(/\/+$/, '');
  const gitFrontCertificate = read('gitFrontCertificate');
  // A redirected push sends its credentials to this host.
  if (gitFrontUrl !== undefined && !/^https:\/\/[a-z0-9.-]+(:\d+)?$/i.test(gitFrontUrl)) {
    throw new RangeError('gitFrontUrl must be https:// and a host');
  }
  if (gitFrontCertificate !== undefined && gitFrontUrl === undefined) {
    throw new RangeError('gitFrontCertificate needs gitFrontUrl');
  }
  const outboundAllow = read('outboundAllow');
  // An invalid entry would stop every import. @throws RangeError
  parseAllowList(outboundAllow ?? '');
  const mailFrom = read('mailFrom');
  if (mailFrom !== undefined && !/^([^<>\r\n"]+ <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/.test(mailFrom)) {
    throw new RangeError('mailFrom must be an address, or "Name <address>"');
  }
  const longReads = read('longReads');
  // @throws RangeError
  readLongReads(longReads ?? '');
  return {
    instance: read('instance') ?? 'Lemnos',
    stream: choice('stream'),
    serviceName,
    defaultBranchName: read('defaultBranchName') ?? 'main',
    domain,
    baseUrl: read('baseUrl') ?? (domain && `https://${domain.name}`),
    outboundAllow,
    gitFrontUrl,
    gitFrontCertificate,
    mailFrom,
    reservedConcurrency: readReservations(read('reservedConcurrency') ?? ''),
    requestRate: count('requestRate', 500),
    requestBurst: count('requestBurst', 1000),
    wafRateLimit: readWafRateLimit(read('wafRateLimit')),
    shiftMinutes: readShiftMinutes(read('shiftMinutes') ?? '0'),
    clientThrottles: choice('clientThrottles'),
    longReads,
    repositoryStorages: parseStorages(read('repositoryStorages') ?? ''),
    deletionDelayDays: readDays(read('deletionDelayDays') ?? '0'),
    alarmEmail: read('alarmEmail'),
    restoredTable: read('restoredTable'),
    logLevel,
    dashboard: choice('dashboard'),
    endpointMetrics: choice('endpointMetrics'),
    tags: readPairs('tags', read('tags') ?? ''),
  };
}

function readDays(text: string): number {
  if (!/^\d{1,3}$/.test(text))
    throw new RangeError('deletionDelayDays must be a number of days, at most 999');
  return Number(text);
}

/** The least and the most that WAF takes (AWS WAF API reference, RateBasedStatement). */
const WAF_LIMITS = { least: 10, most: 2_000_000_000 };

function readWafRateLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (limit < WAF_LIMITS.least || limit > WAF_LIMITS.most)
    throw new RangeError(`wafRateLimit must be from ${WAF_LIMITS.least} to ${WAF_LIMITS.most} requests`);
  return limit;
}

function readShiftMinutes(text: string): number {
  const minutes = SHIFT_MINUTES.find((choice) => String(choice) === text);
  if (minutes === undefined) throw new RangeError(`shiftMinutes must be one of ${SHIFT_MINUTES.join(', ')}`);
  return minutes;
}

function readReservations(list: string): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(readPairs('reservedConcurrency', list)).map(([name, runs]) => {
      if (!areas.some((area) => area.name === name))
        throw new RangeError(`reservedConcurrency: no function is named ${name}`);
      if (!/^[1-9]\d{0,4}$/.test(runs))
        throw new RangeError(`reservedConcurrency: ${name} needs at least one run`);
      return [name, Number(runs)];
    }),
  );
}

/** `name=value,name=value` */
function readPairs(setting: string, list: string): Record<string, string> {
  const pairs = list.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new RangeError(`${setting} must be name=value,name=value: "${pair}" is invalid`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}
