import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionFailure, Faults } from '../faults.ts';
import { abortError, requestHandler, type SdkRequestHandler, textOf } from '../request-handler.ts';
import { actions, type Input, queueName } from './actions.ts';
import { Broker } from './broker.ts';
import { SqsError } from './errors.ts';

/** A failure that the real service may show. A rule's `on` is the queue's name. */
export type SqsFault =
  /** Answered with an error; nothing is done. */
  | { kind: 'error'; code: 'InternalFailure' | 'RequestThrottled' }
  /** Never answered; nothing is done. The caller sees a timeout after `ms`. */
  | { kind: 'timeout'; ms?: number }
  /** Done, but the connection breaks before the answer. */
  | { kind: 'lostAnswer' }
  /** Done and answered, after `ms`. */
  | { kind: 'latency'; ms: number }
  /** ReceiveMessage: delivered messages stay visible, and are delivered again at once. */
  | { kind: 'duplicate' }
  /** ReceiveMessage: newest first. */
  | { kind: 'outOfOrder' };

/** Standard SQS queues in this process, stored in a directory. README.md of the package says what differs from SQS. */
export interface EmbeddedSqs {
  /** For `new SQSClient({ requestHandler, ... })`. */
  requestHandler: SdkRequestHandler;
  faults: Faults<SqsFault>;
  /** Ends long polls with an empty answer, and waits for writes under way. Later requests fail. */
  close(): Promise<void>;
}

export interface SqsOptions {
  /** Where messages are stored: an acknowledged one is on disk. If absent, messages end with the process. */
  dir?: string;
  region?: string;
  account?: string;
  /** Called with what is answered as an internal error; by default it is printed. */
  onError?: (error: unknown) => void;
}

interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body: object;
}

/** Opens a directory, which only one process may have open at a time. */
export async function openSqs(options: SqsOptions = {}): Promise<EmbeddedSqs> {
  const { dir, region = 'us-east-1', account = '000000000000' } = options;
  const onError = options.onError ?? ((error: unknown) => console.error('sqs:', error));
  const broker = await Broker.open(dir, `arn:aws:sqs:${region}:${account}`);
  // A host that does not exist: with another client these URLs must not reach a real queue.
  const urlPrefix = `http://sqs.local/${account}/`;
  const faults = new Faults<SqsFault>();
  let closed = false;

  async function perform(name: string, input: Input, signal: AbortSignal | undefined): Promise<Answer> {
    const fault = faults.take(name, queueName(input));
    if (fault?.kind === 'latency') await delay(fault.ms);
    if (fault?.kind === 'timeout') {
      await delay(fault.ms ?? 0);
      throw new ConnectionFailure('timeout');
    }
    if (fault?.kind === 'error' && fault.code === 'InternalFailure')
      return failed(500, fault.code, 'Internal failure.');
    const answer = await answerTo(name, input, signal, fault);
    if (fault?.kind === 'lostAnswer') throw new ConnectionFailure('lostAnswer');
    return answer;
  }

  async function answerTo(
    name: string,
    input: Input,
    signal: AbortSignal | undefined,
    fault: SqsFault | undefined,
  ): Promise<Answer> {
    try {
      if (fault?.kind === 'error') throw new SqsError('RequestThrottled', 'Rate exceeded.');
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
      if (action === undefined) throw new SqsError('UnsupportedOperation', `${name} is not implemented.`);
      const delivery = fault?.kind === 'duplicate' || fault?.kind === 'outOfOrder' ? fault.kind : undefined;
      const body = await action(input, { broker, urlPrefix, signal, delivery });
      return { statusCode: 200, headers: {}, body };
    } catch (error) {
      if (error instanceof SqsError) return failed(400, error.code, error.message, error.queryCode);
      onError(error);
      return failed(500, 'InternalFailure', 'Internal failure.');
    }
  }

  return {
    requestHandler: requestHandler(async (request, { abortSignal } = {}) => {
      const signal = abortSignal instanceof AbortSignal ? abortSignal : undefined;
      if (signal?.aborted) throw abortError();
      if (closed) throw new Error('the queues are closed');
      const name = (request.headers['x-amz-target'] ?? '').replace('AmazonSQS.', '');
      const input = JSON.parse(textOf(request.body)) as Input;
      const { statusCode, headers, body } = await perform(name, input, signal);
      if (signal?.aborted) throw abortError();
      return {
        response: {
          statusCode,
          headers: {
            ...headers,
            'content-type': 'application/x-amz-json-1.0',
            'x-amzn-requestid': randomUUID(),
          },
          body: Readable.from([Buffer.from(JSON.stringify(body))]),
        },
      };
    }),
    faults,
    async close() {
      closed = true;
      await broker.close();
    },
  };
}

function failed(statusCode: number, code: string, message: string, queryCode = code): Answer {
  const party = statusCode < 500 ? 'Sender' : 'Receiver';
  return {
    statusCode,
    headers: { 'x-amzn-query-error': `${queryCode};${party}` },
    body: { __type: `com.amazonaws.sqs#${code}`, message },
  };
}
