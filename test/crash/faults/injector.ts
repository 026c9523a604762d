import type { Fault as TableFault } from '@lemnos/embedded-aws/dynamodb';
import type { Host } from '../../../local/host.ts';
import { type AwsCall, forgetEverything, interpose, keysIn } from '../../harness/aws-calls.ts';

/** What may befall a call. The last two befall every later call of the same site too: repeating does not help. */
const FAULTS = [
  /** The service answers that something went wrong inside it; nothing is done. */
  'error',
  /** No answer, and nothing is done. */
  'timeout',
  'throttling',
  /** Done, and the answer does not arrive. */
  'lost answer',
  /** Another request writes the same. */
  'conflict',
  /** Of a batch, a part is left undone. */
  'part undone',
  'down',
  /** Done each time, and no answer ever arrives. */
  'deaf',
] as const;
export type FaultKind = (typeof FAULTS)[number];

/** A place in the code that calls AWS, as it is seen from outside: which call it is of those that look alike. */
export interface Site {
  readonly service: AwsCall['service'];
  readonly operation: string;
  /** The operation and the kinds of keys; ids, numbers and digests are left out. */
  readonly name: string;
  readonly occurrence: number;
  /** Another write at the same time can make it fail. */
  readonly contended: boolean;
}

/** So that what fails for good fails soon. */
const RETRIES = { attempts: 3, base: 1, cap: 4 };

/** Records what a running service asks of AWS, and lets one of the calls fail. */
export class Injector {
  readonly #host: Host;
  #seen: Map<string, number> | undefined;
  #sites: Site[] = [];
  #plan: { readonly site: Site; readonly fault: FaultKind; struck: number } | undefined;

  constructor(host: Host) {
    this.#host = host;
    interpose(
      host,
      (call, send) => {
        // The table is asked below: there the fault meets exactly this call.
        if (call.service !== 'D') this.#strike(call);
        return send();
      },
      RETRIES,
    );
    host.dynamo.faults.onRequest = ({ operation, input }) => {
      const fault = this.#meet({ service: 'D', operation, subject: keysIn(input) });
      return fault && TABLE_FAULTS[fault];
    };
  }

  /** The calls of a piece of work that nothing befalls, on a service that has nothing in memory. */
  async record(work: () => Promise<void>): Promise<readonly Site[]> {
    await this.#watch(work);
    return this.#sites;
  }

  /** @returns whether the fault struck: another order of things may not come by the site */
  async inject(site: Site, fault: FaultKind, work: () => Promise<void>): Promise<boolean> {
    const plan = { site, fault, struck: 0 };
    this.#plan = plan;
    try {
      await this.#watch(work);
    } finally {
      this.#plan = undefined;
      this.#host.s3.faults.clear();
      this.#host.sqs.faults.clear();
    }
    return plan.struck > 0;
  }

  async #watch(work: () => Promise<void>): Promise<void> {
    forgetEverything(RETRIES);
    this.#seen = new Map();
    this.#sites = [];
    try {
      await work();
    } finally {
      this.#seen = undefined;
    }
  }

  /** The fault that this call meets. */
  #meet(call: AwsCall): FaultKind | undefined {
    if (this.#seen === undefined) return undefined;
    const name = nameOf(call);
    const occurrence = this.#seen.get(name) ?? 0;
    this.#seen.set(name, occurrence + 1);
    const { service, operation, conditional } = call;
    const contended = service === 'D' || conditional === true;
    this.#sites.push({ service, operation, name, occurrence, contended });
    const plan = this.#plan;
    if (plan?.site.name !== name || occurrence < plan.site.occurrence) return undefined;
    const lasts = plan.fault === 'down' || plan.fault === 'deaf';
    if (!lasts && plan.struck > 0) return undefined;
    plan.struck++;
    return plan.fault;
  }

  #strike(call: AwsCall): void {
    const fault = this.#meet(call);
    if (fault === undefined) return;
    if (call.service === 'S') this.#host.s3.faults.inject({ fault: BUCKET_FAULTS[fault]! });
    else this.#host.sqs.faults.inject({ fault: QUEUE_FAULTS[fault]!, operation: call.operation });
  }
}

const TABLE_FAULTS: Readonly<Record<FaultKind, TableFault>> = {
  error: { fail: 'internal-error' },
  timeout: { fail: 'unreachable' },
  throttling: { fail: 'throttling' },
  'lost answer': { loseAnswer: true },
  conflict: { fail: 'transaction-conflict' },
  'part undone': { unprocessed: 1 },
  down: { fail: 'internal-error' },
  deaf: { loseAnswer: true },
};
const BUCKET_FAULTS = {
  error: { kind: 'error', code: 'InternalError' },
  timeout: { kind: 'timeout' },
  throttling: { kind: 'error', code: 'SlowDown' },
  'lost answer': { kind: 'lostAnswer' },
  conflict: { kind: 'error', code: 'ConditionalRequestConflict' },
  'part undone': { kind: 'error', code: 'InternalError' },
  down: { kind: 'error', code: 'InternalError' },
  deaf: { kind: 'lostAnswer' },
} as const;
const QUEUE_FAULTS = {
  error: { kind: 'error', code: 'InternalFailure' },
  timeout: { kind: 'timeout' },
  throttling: { kind: 'error', code: 'RequestThrottled' },
  'lost answer': { kind: 'lostAnswer' },
  conflict: { kind: 'error', code: 'InternalFailure' },
  'part undone': { kind: 'error', code: 'InternalFailure' },
  down: { kind: 'error', code: 'InternalFailure' },
  deaf: { kind: 'lostAnswer' },
} as const;

const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'TransactGetItems', 'GET', 'HEAD']);
export const isRead = ({ operation }: Site): boolean => READS.has(operation.split(' ')[0]!);

/** What can befall a call there. */
export function faultsOf(site: Site): readonly FaultKind[] {
  const anywhere: readonly FaultKind[] = ['error', 'timeout', 'throttling', 'down'];
  if (site.operation === 'BatchGetItem') return [...anywhere, 'part undone'];
  // A read whose answer is lost is a read that was not answered.
  if (isRead(site)) return anywhere;
  return [...anywhere, 'lost answer', 'deaf', ...(site.contended ? (['conflict'] as const) : [])];
}

function nameOf({ service, operation, subject }: AwsCall): string {
  const kinds = subject
    .replace(/\b[0-9A-HJKMNP-TV-Z]{26}\b|\b[0-9a-f]{40,64}\b/g, '')
    .replace(/(#(?:username|user|path|email)?)[\w/.-]*/g, '$1')
    .replace(/\d+/g, '');
  const parts = [...new Set(kinds.split(', '))].sort().join(', ').slice(0, 400);
  return `${service} ${operation} ${parts}`.trim();
}
