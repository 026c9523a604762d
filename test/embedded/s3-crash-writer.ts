/** The process that the crash test kills: `node s3-crash-writer.ts <dir> <round>`. Prints a line per acknowledged write. */
import { writeSync } from 'node:fs';
import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { openS3 } from '@lemnos/embedded-aws/s3';

const [dir, round] = process.argv.slice(2);
const s3 = await openS3({ dir: dir! });
const client = new S3Client({
  region: 'us-east-1',
  endpoint: 'http://127.0.0.1:8080/_s3',
  forcePathStyle: true,
  credentials: s3.credentials,
  requestHandler: s3.requestHandler,
});
const Bucket = 'crash';
await client.send(new CreateBucketCommand({ Bucket })).catch(() => {});

/** Each writer has its own keys, so that there is one last acknowledged write per key. */
async function write(writer: number): Promise<void> {
  for (let i = 0; ; i++) {
    const Key = `writer ${writer}/key ${i % 5}`;
    const text = `${round}:${writer}:${i}\n`;
    const Body = text.repeat(1 + ((i * 7919) % 20_000));
    writeSync(1, `begin ${Key}=${text}`);
    if (i % 11 === 10) {
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
      writeSync(1, `deleted ${Key}=${text}`);
    } else {
      await client.send(new PutObjectCommand({ Bucket, Key, Body, Metadata: { text: text.trim() } }));
      writeSync(1, `stored ${Key}=${text}`);
    }
  }
}

await Promise.all([0, 1, 2, 3].map(write));
