/**
 * The SDK's clients, one of each per process. The embedded host and the tests replace their transport
 * (`useTransport`), never the clients themselves.
 */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { SESv2ClientConfig } from '@aws-sdk/client-sesv2';
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import type { SSMClientConfig } from '@aws-sdk/client-ssm';

export interface Transports {
  readonly dynamodb?: DynamoDBClientConfig;
  readonly s3?: S3ClientConfig;
  readonly sqs?: SQSClientConfig;
  /** For the client in `mail/transport.ts`. */
  readonly ses?: SESv2ClientConfig;
  /** For the client in `secrets/master-key.ts`. */
  readonly ssm?: SSMClientConfig;
}

export interface AwsClients {
  readonly dynamodb: DynamoDBClient;
  readonly s3: S3Client;
  readonly sqs: SQSClient;
}

let chosen: Transports = {};
let clients: AwsClients | undefined;

/** Sets the transport of the clients. Existing clients are dropped and created again. */
export function useTransport(transport: Transports): void {
  chosen = transport;
  clients = undefined;
}

export const transports = (): Transports => chosen;

/** Region and credentials come from the environment, as everywhere in Lambda. */
export function awsClients(): AwsClients {
  clients ??= makeClients(chosen);
  return clients;
}

/** Milliseconds; a slower request is retried. */
const TABLE_TIMEOUTS = { connectionTimeout: 1000, requestTimeout: 4000, throwOnRequestTimeout: true };

export function makeClients(transport: Transports): AwsClients {
  return {
    // `retry.ts` retries: it can tell a lost response from a failed condition, the SDK's strategy cannot.
    dynamodb: new DynamoDBClient({ maxAttempts: 1, requestHandler: TABLE_TIMEOUTS, ...transport.dynamodb }),
    s3: new S3Client({
      maxAttempts: 4,
      retryMode: 'standard',
      // A presigned PUT must not carry the checksum of an empty body.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...transport.s3,
    }),
    sqs: new SQSClient({ maxAttempts: 4, retryMode: 'standard', ...transport.sqs }),
  };
}
