import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { PRICE } from '../../cdk/prices.ts';
import { areas, areasOf } from '../../functions/areas.ts';
import { awsClients } from '../../lib/store/clients.ts';
import type { Line } from '../../lib/telemetry/log.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import type { LogLines } from '../harness/log-lines.ts';
import type { MetricLines } from '../harness/metric-lines.ts';
import type { Service } from '../harness/service.ts';

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
  /** GB-seconds of functions, by {@link ASSUMED_MS}. */
  readonly gbSeconds: number;
  /** Of log lines, those of metrics and the runtime's own included. */
  readonly logBytes: number;
  /** Dollars for a million of it. */
  readonly million: number;
}

/** What a call takes is the one thing that cannot be counted here: milliseconds, by kind of function. */
const ASSUMED_MS = { api: 60, repository: 150, git: 400, worker: 200, authorizer: 30 } as const;
/** What Lambda writes of each call: START, END and REPORT. */
const RUNTIME_LOG_BYTES = 330;
/** The gateway's line of each request. */
const ACCESS_LOG_BYTES = 400;
/** Sent, received, deleted; one by one, which is the most. */
const REQUESTS_PER_MESSAGE = 3;

/**
 * Counts an action together with all jobs it enqueued. The host runs no background work.
 *
 * @param warm whether functions have in memory what earlier actions left there
 */
export async function counted(
  service: Service,
  { lines, metrics, warm = false }: { lines: LogLines; metrics: MetricLines; warm?: boolean },
  work: () => Promise<void>,
): Promise<Action> {
  const { dynamo, s3 } = service.host;
  await finish(service);
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
  await work();
  const messages = await finish(service);
  dynamo.onOperation = undefined;
  s3.onOperation = undefined;
  const told = lines.all.slice(from).filter(({ message }) => message === 'request' || message === 'job');
  const requests = told.filter(({ message }) => message === 'request');
  const guarded = requests.filter(({ area }) => area === 'git').length;
  const mails = told.filter(({ job }) => job === 'mail.send').length;
  const units = { ...counts, requests: requests.length, calls: told.length + guarded, messages, mails };
  const gbSeconds = told.reduce((sum, line) => sum + costOfCall(line), 0) + guarded * inGb(512, 'authorizer');
  const logBytes =
    told.reduce((sum, line) => sum + JSON.stringify(line).length, 0) +
    (metrics.bytes - metricBytes) +
    units.calls * RUNTIME_LOG_BYTES +
    units.requests * ACCESS_LOG_BYTES;
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
    (logBytes / 1e9) * PRICE.logsPerGb
  );
}

const inGb = (memory: number, kind: keyof typeof ASSUMED_MS) => (memory / 1024) * (ASSUMED_MS[kind] / 1000);

function costOfCall({ area: name, message }: Line): number {
  const area = areas.find((each) => each.name === name);
  if (area === undefined) throw new Error(`a line of no function: ${name}`);
  if (message === 'job') return inGb(area.memory, 'worker');
  return inGb(area.memory, name === 'git' ? 'git' : area.memory > 512 ? 'repository' : 'api');
}

/** Hands every message to its worker until none is left. @returns how many there were */
export async function finish({ host }: Service): Promise<number> {
  const { sqs } = awsClients();
  let messages = 0;
  for (let before = -1; before < messages; ) {
    before = messages;
    for (const { name, queue } of areasOf('worker')) {
      const QueueUrl = process.env[`QUEUE_URL_${queue.toUpperCase()}`]!;
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
      );
      for (const { MessageId: messageId, Body: body, ReceiptHandle } of Messages) {
        await host.invoke(name, { Records: [{ messageId, body, attributes: {} }] });
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        messages++;
      }
    }
  }
  return messages;
}
