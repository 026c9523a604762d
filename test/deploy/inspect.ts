import { ListBucketsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { CreateEmailIdentityCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import type { Emulator } from './emulator.ts';

const account = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
};

/** What an account has to have done before mail leaves: it may send from, and to, addresses of this domain. */
export async function verifyDomain({ endpoint }: Emulator, domain: string): Promise<void> {
  const client = new SESv2Client({ ...account, endpoint });
  try {
    await client.send(new CreateEmailIdentityCommand({ EmailIdentity: domain }));
  } finally {
    client.destroy();
  }
}

/** Keys of the stored objects that are parts of repositories. */
export async function storedPacks({ endpoint }: Emulator): Promise<string[]> {
  const client = new S3Client({ ...account, endpoint, forcePathStyle: true });
  try {
    const { Buckets = [] } = await client.send(new ListBucketsCommand({}));
    const keys: string[] = [];
    for (const { Name } of Buckets) {
      const { Contents = [] } = await client.send(
        new ListObjectsV2Command({ Bucket: Name, Prefix: 'networks/' }),
      );
      keys.push(...Contents.map(({ Key }) => String(Key)));
    }
    return keys;
  } finally {
    client.destroy();
  }
}

/** Texts of the mails that left for an address, as the emulator shows them. */
export async function sentTo({ endpoint }: Emulator, address: string): Promise<string[]> {
  const answer = await fetch(`${endpoint}/_ministack/ses/messages`);
  const { messages } = (await answer.json()) as { messages: Record<string, SentMail[]> };
  const sent = Object.values(messages).flat();
  return sent.filter(({ To }) => To.includes(address)).map(({ BodyText }) => BodyText);
}

interface SentMail {
  readonly To: readonly string[];
  readonly BodyText: string;
}

/** What functions wrote to their log groups under a request's id: every line is JSON from its first character. */
export async function linesOf(emulator: Emulator, requestId: string): Promise<Record<string, unknown>[]> {
  const groups: string[] = [];
  // A page has at most 50 (CloudWatch Logs, DescribeLogGroups).
  for (let nextToken: unknown, first = true; first || nextToken !== undefined; first = false) {
    const page = await logs(emulator, 'DescribeLogGroups', nextToken === undefined ? {} : { nextToken });
    groups.push(...(page['logGroups'] as { logGroupName: string }[]).map((group) => group.logGroupName));
    nextToken = page['nextToken'] ?? undefined;
  }
  const found = await Promise.all(
    groups.map((logGroupName) =>
      logs(emulator, 'FilterLogEvents', { logGroupName, filterPattern: `"${requestId}"` }),
    ),
  );
  return found
    .flatMap(({ events }) => events as { message: string }[])
    .map(({ message }) => JSON.parse(message) as Record<string, unknown>);
}

async function logs(
  { endpoint }: Emulator,
  operation: string,
  asked: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.1',
      'X-Amz-Target': `Logs_20140328.${operation}`,
      // Where it goes to is all that is looked at.
      Authorization:
        'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/logs/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(asked),
  });
  if (answer.status !== 200) throw new Error(`${operation}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}
