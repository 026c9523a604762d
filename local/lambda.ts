import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { Context } from 'aws-lambda';

/** The status and headers at the start of a streamed answer. */
export interface ResponseMetadata {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly cookies?: readonly string[];
}

/** The stream that a function writes its answer to. Bytes before {@link begin} are an error, as in Lambda. */
export class ResponseStream extends Writable {
  readonly #sink: ResponseSink;
  #begun = false;

  constructor(sink: ResponseSink) {
    super({ highWaterMark: 256 * 1024 });
    this.#sink = sink;
  }

  begin(metadata: ResponseMetadata): void {
    this.#begun = true;
    this.#sink.begin(metadata);
  }

  setContentType(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (!this.#begun) done(new Error('the function wrote bytes before its metadata'));
    else this.#sink.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#sink.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (error !== null) this.#sink.abort(error);
    done(error);
  }
}

export interface ResponseSink {
  begin(metadata: ResponseMetadata): void;
  write(chunk: Buffer, done: (error?: Error | null) => void): void;
  end(done: (error?: Error | null) => void): void;
  abort(error: Error): void;
}

/** Defines the `awslambda` global of Lambda's Node runtime, so that the same entries stream here too. */
export function installLambdaGlobal(): void {
  (globalThis as { awslambda?: unknown }).awslambda = {
    streamifyResponse: (handler: unknown) => handler,
    HttpResponseStream: {
      from(stream: ResponseStream, metadata: ResponseMetadata) {
        stream.begin(metadata);
        return stream;
      },
    },
  };
}

/** The context of an invocation. */
export function lambdaContext(name: string, timeoutSeconds: number): Context {
  const deadline = Date.now() + timeoutSeconds * 1000;
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${name}`,
    memoryLimitInMB: '2048',
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${name}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}
