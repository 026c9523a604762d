import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CreateBucketCommand,
  paginateListObjectsV2,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { type EmbeddedS3, openS3, type S3Options } from '@lemnos/embedded-aws/s3';

export const Bucket = 'lemnos-test';

export interface Fixture extends AsyncDisposable {
  s3: EmbeddedS3;
  client: S3Client;
  /** A client whose requests have to be signed and go through a socket; starts the server. */
  overHttp(config?: Partial<S3ClientConfig>): Promise<S3Client>;
}

export async function openFixture(options: S3Options = {}): Promise<Fixture> {
  const s3 = await openS3(options);
  const base = { region: 'us-east-1', forcePathStyle: true, credentials: s3.credentials, maxAttempts: 1 };
  const client = new S3Client({
    ...base,
    endpoint: 'http://127.0.0.1:8080/_s3',
    requestHandler: s3.requestHandler,
  });
  await client.send(new CreateBucketCommand({ Bucket })).catch((error: Error) => {
    if (error.name !== 'BucketAlreadyOwnedByYou') throw error;
  });
  let server: Server | undefined;
  return {
    s3,
    client,
    async overHttp(config = {}) {
      server ??= await listen(s3);
      const { port } = server.address() as AddressInfo;
      return new S3Client({ ...base, endpoint: `http://127.0.0.1:${port}/_s3`, ...config });
    },
    async [Symbol.asyncDispose]() {
      server?.closeAllConnections();
      server?.close();
      await s3.close();
    },
  };
}

async function listen(s3: EmbeddedS3): Promise<Server> {
  const server = createServer((req, res) => s3.httpHandler(req, res, '/_s3'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** The name and status of the error an operation ends with. */
export async function failure(
  operation: Promise<unknown>,
): Promise<{ name: string; status: number | undefined }> {
  try {
    await operation;
  } catch (error) {
    const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    return { name, status: $metadata?.httpStatusCode };
  }
  throw new Error('expected a failure');
}

/** Keys in the order they were listed. */
export async function listAll(client: S3Client, Bucket: string, query = {}): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of paginateListObjectsV2({ client }, { Bucket, ...query })) {
    for (const { Key } of page.Contents ?? []) keys.push(Key!);
  }
  return keys;
}
