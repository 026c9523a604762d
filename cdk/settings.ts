import type { Node } from 'constructs';

/** What one instance chooses when it is deployed: `cdk deploy -c name=value`. */
export interface Settings {
  /** Prefix of the stacks' names, so that one account can hold several instances. `instance` */
  readonly instance: string;
  /** Whether answers stream through the gateway; buffered ones end at 6 MB and 29 s. `stream` */
  readonly stream: boolean;
  /** The service's own name, in header names and in Git's password prompt. `serviceName` */
  readonly serviceName: string;
  /** The name HEAD points to in a new repository. `defaultBranchName` */
  readonly defaultBranchName: string;
  /** Public base URL where a custom domain stands before the gateway. `baseUrl` */
  readonly baseUrl: string | undefined;
  /** What may be called although it is not on the public internet: `lib/outbound/allow-list.ts`. `outboundAllow` */
  readonly outboundAllow: string | undefined;
  /** Where pushes are sent on to that the gateway could not hold: the Git front's address. `gitFrontUrl` */
  readonly gitFrontUrl: string | undefined;
  /** ARN of the certificate for that address: with it the front is deployed here. `gitFrontCertificate` */
  readonly gitFrontCertificate: string | undefined;
  /** Whom mail comes from, one that SES may send for: an address, or `Name <address>`. Without it none is sent. `mailFrom` */
  readonly mailFrom: string | undefined;
  /** Days between a request to delete a group, or a project in one, and its deletion. `deletionDelayDays` */
  readonly deletionDelayDays: number;
  /** Who is told when an alarm goes off; without it the alarms only show in CloudWatch. `alarmEmail` */
  readonly alarmEmail: string | undefined;
  /** A table that was restored to a moment, to be used in place of the stack's own. `restoredTable` */
  readonly restoredTable: string | undefined;
  /** The least that is written down: `info`, `warn`, `error`, `silent`. `logLevel` */
  readonly logLevel: string;
  /** Whether there is a dashboard; an account has three for nothing, the next cost 3 $ a month each. `dashboard` */
  readonly dashboard: boolean;
  /** Whether each endpoint and kind of job has metrics of its own: `docs/operations.md` says what they cost. `endpointMetrics` */
  readonly endpointMetrics: boolean;
  /** Put on every resource, for who divides the bill: `name=value,name=value`. `tags` */
  readonly tags: Readonly<Record<string, string>>;
}

/** @throws RangeError when a setting has a value that would deploy something else than was meant. */
export function readSettings(node: Node): Settings {
  const read = (name: string): string | undefined => {
    const value: unknown = node.tryGetContext(name);
    if (value === undefined || value === '') return undefined;
    return String(value);
  };
  const choice = (name: string): boolean => {
    const text = read(name) ?? 'true';
    if (text !== 'true' && text !== 'false') throw new RangeError(`${name} is true or false`);
    return text === 'true';
  };
  const logLevel = read('logLevel') ?? 'info';
  if (!/^(info|warn|error|silent)$/.test(logLevel)) {
    throw new RangeError('logLevel is info, warn, error or silent');
  }
  const serviceName = read('serviceName') ?? 'Lemnos';
  // It becomes part of header names and of a quoted string in a header.
  if (!/^[A-Za-z][A-Za-z0-9-]{0,31}$/.test(serviceName)) {
    throw new RangeError('serviceName is letters, digits and "-", at most 32');
  }
  const gitFrontUrl = read('gitFrontUrl')?.replace(/\/+$/, '');
  const gitFrontCertificate = read('gitFrontCertificate');
  // Credentials follow a push to where it is sent.
  if (gitFrontUrl !== undefined && !/^https:\/\/[a-z0-9.-]+(:\d+)?$/i.test(gitFrontUrl)) {
    throw new RangeError('gitFrontUrl is https:// and a host');
  }
  if (gitFrontCertificate !== undefined && gitFrontUrl === undefined) {
    throw new RangeError('gitFrontCertificate is for the host of gitFrontUrl, which is missing');
  }
  const mailFrom = read('mailFrom');
  if (mailFrom !== undefined && !/^([^<>\r\n"]+ <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/.test(mailFrom)) {
    throw new RangeError('mailFrom is an address, or "Name <address>"');
  }
  return {
    instance: read('instance') ?? 'Lemnos',
    stream: choice('stream'),
    serviceName,
    defaultBranchName: read('defaultBranchName') ?? 'main',
    baseUrl: read('baseUrl'),
    outboundAllow: read('outboundAllow'),
    gitFrontUrl,
    gitFrontCertificate,
    mailFrom,
    deletionDelayDays: readDays(read('deletionDelayDays') ?? '0'),
    alarmEmail: read('alarmEmail'),
    restoredTable: read('restoredTable'),
    logLevel,
    dashboard: choice('dashboard'),
    endpointMetrics: choice('endpointMetrics'),
    tags: readTags(read('tags') ?? ''),
  };
}

function readDays(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new RangeError('deletionDelayDays is a number of days, 999 at most');
  return Number(text);
}

function readTags(list: string): Record<string, string> {
  const pairs = list.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new RangeError(`tags is name=value,name=value; "${pair}" is not`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}
