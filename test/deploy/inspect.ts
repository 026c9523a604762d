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
