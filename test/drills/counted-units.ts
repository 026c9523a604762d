import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { PRICE } from '../../cdk/prices.ts';
import { areas, areasOf } from '../../functions/areas.ts';
import { awsClients } from '../../lib/store/clients.ts';
import type { Line } from '../../lib/telemetry/log.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import type { LogLines } from '../harness/log-lines.ts';
import type { MetricLines } from '../harness/metric-lines.ts';
import type { Service } from '../harness/service.ts';
import type { Waits } from '../harness/waits.ts';
import { DocumentedPart } from './documented-table.ts';

/** What one action uses of AWS, including the jobs that it enqueues. */
interface Units {
  /** To the gateway. */
  readonly requests: number;
  /** Of functions: for requests, Git's authorizer, jobs. */
  readonly calls: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly objectWrites: number;
  readonly objectReads: number;
  readonly messages: number;
  readonly mails: number;
}

export interface Action extends Units {
  /** GB-seconds of functions. */
  readonly gbSeconds: number;
  /** Of log lines of functions, those of metrics included. */
  readonly logBytes: number;
  /** Dollars for a million of it. */
  readonly million: number;
}

/** With so many MB a function has a whole processor; with fewer it has their share of it, and more help one thread no further. */
const PROCESSOR_MB = 1769;
/** What a round trip takes, in milliseconds, by service: typical of functions and tables of one region. */
const TRIP_MS = { D: 5, S: 25, Q: 10 } as const;
/** What is paid of each call besides: it is rounded up, and the runtime ends it after the answer. */
const CALL_MS = 2;
/** The processor time of each kind of request, with its jobs, as `npm run bench load` measured it. */
const CPU_MS = new DocumentedPart('cpu').rows();
/** The gateway's line of each request. */
const ACCESS_LOG_BYTES = 400;
/** Sent, received, deleted; one by one, which is the most. */
const REQUESTS_PER_MESSAGE = 3;

/** What counts an action. */
export interface Counting {
  readonly lines: LogLines;
  readonly metrics: MetricLines;
  readonly waits: Waits;
}

/**
 * Counts an action together with all jobs it enqueued. The host runs no background work.
 *
 * @param like the kind of request of the mix whose processor time it has; absent: it is no request, and has only that of its jobs
 * @param warm whether functions have in memory what earlier actions left there
 */
export async function counted(
  service: Service,
  { lines, metrics, waits }: Counting,
  { like, warm = false }: { like?: string; warm?: boolean },
  work: () => Promise<void>,
): Promise<Action> {
  const { dynamo, s3 } = service.host;
  await finish(service, waits);
  if (!warm) forgetEverything();
  const counts = { readUnits: 0, writeUnits: 0, objectWrites: 0, objectReads: 0 };
  dynamo.onOperation = ({ readUnits, writeUnits }) => {
    counts.readUnits += readUnits;
    counts.writeUnits += writeUnits;
  };
  s3.onOperation = ({ operation }) => {
    const name = String((operation as { name?: string }).name ?? operation);
    if (/^(Get|Head)Object$/.test(name)) counts.objectReads++;
    else if (!/^Delete|^Abort/.test(name)) counts.objectWrites++;
  };
  const from = lines.all.length;
  const metricBytes = metrics.bytes;
  const asked = await waits.of(work);
  const done = await finish(service, waits);
  dynamo.onOperation = undefined;
  s3.onOperation = undefined;
  const told = lines.all.slice(from).filter(({ message }) => message === 'request' || message === 'job');
  const requests = told.filter(({ message }) => message === 'request');
  const guarded = requests.filter(({ area }) => area === 'git').length;
  const mails = told.filter(({ job }) => job === 'mail.send').length;
  const { messages } = done;
  const units = { ...counts, requests: requests.length, calls: told.length + guarded, messages, mails };
  // Git's authorizer is paid for, but the host does not run it: what it reads and waits for is not in these figures.
  const memory = Math.max(0, ...requests.map(memoryOf));
  const gbSeconds =
    (like === undefined ? 0 : inGb(Math.max(memory, PROCESSOR_MB), CPU_MS.get(like)![0]!)) +
    inGb(memory, msOf(asked) + (requests.length + guarded) * CALL_MS) +
    done.gbSeconds;
  const logBytes =
    told.reduce((sum, line) => sum + JSON.stringify(line).length, 0) + (metrics.bytes - metricBytes);
  return { ...units, gbSeconds, logBytes, million: 1e6 * dollars(units, gbSeconds, logBytes) };
}

function dollars(units: Units, gbSeconds: number, logBytes: number): number {
  return (
    units.requests * PRICE.gatewayRequest +
    units.calls * PRICE.invocation +
    gbSeconds * PRICE.gbSecond +
    units.readUnits * PRICE.readUnit +
    units.writeUnits * PRICE.writeUnit +
    units.objectWrites * PRICE.objectWrite +
    units.objectReads * PRICE.objectRead +
    units.messages * REQUESTS_PER_MESSAGE * PRICE.queueRequests +
    units.mails * PRICE.mail +
    (logBytes / 1e9) * PRICE.logsPerGb +
    ((units.requests * ACCESS_LOG_BYTES) / 1e9) * PRICE.rareLogsPerGb
  );
}

const inGb = (memory: number, ms: number) => (memory / 1024) * (ms / 1000);

/** Calls of several services at once take as long as the slowest. */
const msOf = (steps: Awaited<ReturnType<Waits['of']>>): number =>
  steps.reduce((sum, step) => sum + Math.max(...[...step].map((service) => TRIP_MS[service])), 0);

function memoryOf({ area: name }: Line): number {
  const area = areas.find((each) => each.name === name);
  if (area === undefined) throw new Error(`a line of no function: ${name}`);
  return area.memory;
}

/** Hands every message to its worker until none is left. @returns how many there were, and what the workers waited */
export async function finish(
  { host }: Service,
  waits: Waits,
): Promise<{ messages: number; gbSeconds: number }> {
  const { sqs } = awsClients();
  let [messages, gbSeconds] = [0, 0];
  for (let before = -1; before < messages; ) {
    before = messages;
    for (const { name, queue, memory } of areasOf('worker')) {
      const QueueUrl = process.env[`QUEUE_URL_${queue.toUpperCase()}`]!;
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
      );
      for (const { MessageId: messageId, Body: body, ReceiptHandle } of Messages) {
        const job = await waits.of(() =>
          host.invoke(name, { Records: [{ messageId, body, attributes: {} }] }),
        );
        gbSeconds += inGb(memory, msOf(job) + CALL_MS);
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        messages++;
      }
    }
  }
  return { messages, gbSeconds };
}
