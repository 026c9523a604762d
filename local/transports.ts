import type { Transports } from '../lib/store/clients.ts';

/** The services of AWS that are embedded. */
export const SERVICES = ['dynamodb', 's3', 'sqs', 'ses', 'ssm'] as const;
export type ServiceName = (typeof SERVICES)[number];

type Handler = NonNullable<NonNullable<Transports['dynamodb']>['requestHandler']>;

export const S3_PATH = '/_s3';

/** The transports of the SDK's clients onto the embedded services, from this thread or another. */
export const transportsOf = (
  handlers: Readonly<Record<ServiceName, unknown>>,
  baseUrl: string,
): Transports => {
  const handler = (name: ServiceName) => ({ requestHandler: handlers[name] as Handler });
  return {
    dynamodb: { endpoint: 'http://dynamodb.local', ...handler('dynamodb'), signer: UNSIGNED },
    // No host names per bucket here.
    s3: { endpoint: `${baseUrl}${S3_PATH}`, forcePathStyle: true, ...handler('s3') },
    sqs: { endpoint: 'http://sqs.local', ...handler('sqs'), signer: UNSIGNED },
    ses: { endpoint: 'http://ses.local', ...handler('ses') },
    ssm: { endpoint: 'http://ssm.local', ...handler('ssm') },
  };
};

/** Signing takes half of the time of a small request to the table, and nobody in this process verifies it. */
const UNSIGNED = { sign: async <T>(request: T): Promise<T> => request };
