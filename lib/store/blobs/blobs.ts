/** Bytes in one bucket. Keys are ours (`keys.ts`, `git-objects.ts`), never a caller's text. */
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { AlreadyExists, Missing, StoreUnavailable } from '../errors.ts';

export interface BlobInfo {
  readonly size: number;
  readonly etag: string;
  readonly modified: Date;
}

export interface PutOptions {
  readonly contentType?: string;
  /** Refuses when the key is in use; a write of one's own whose answer was lost is not told apart. */
  readonly ifAbsent?: boolean;
}

/** Above this a file is uploaded in parts: a part that fails is sent again alone. */
const PART_BYTES = 16 * 1024 * 1024;
const PARTS_AT_ONCE = 4;
const DELETE_BATCH = 1000;

/** Bytes on their way into one object, which nobody sees before {@link BlobWriter.finish}. */
export interface BlobWriter {
  /** Waits while a part is sent: what is held in memory is bounded. @throws StoreUnavailable */
  write(bytes: Uint8Array): Promise<void>;
  /** @throws AlreadyExists when the key is in use, StoreUnavailable */
  finish(): Promise<void>;
  /** Gives up; never fails. */
  abort(): Promise<void>;
}

export class Blobs {
  readonly bucket: string;
  readonly #client: S3Client;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.bucket = bucket;
  }

  /** @throws AlreadyExists with `ifAbsent`, StoreUnavailable */
  async put(key: string, bytes: Uint8Array, options: PutOptions = {}): Promise<{ etag: string }> {
    const command = new PutObjectCommand({
      Bucket: this.bucket,
      Key: key,
      Body: bytes,
      ContentLength: bytes.length,
      ...(options.contentType === undefined ? {} : { ContentType: options.contentType }),
      ...(options.ifAbsent === true ? { IfNoneMatch: '*' } : {}),
    });
    const answer = await translated(() => this.#client.send(command));
    return { etag: answer.ETag ?? '' };
  }

  /** Stores a file of any size without holding it in memory. */
  async putFile(key: string, path: string, size: number): Promise<void> {
    if (size <= PART_BYTES) {
      const command = new PutObjectCommand({
        Bucket: this.bucket,
        Key: key,
        // A stream cannot be sent twice: what fits one part is read whole, so that a retry can.
        Body: await readRange(path, 0, size),
        ContentLength: size,
      });
      await translated(() => this.#client.send(command));
      return;
    }
    const target = { Bucket: this.bucket, Key: key };
    const { UploadId } = await translated(() => this.#client.send(new CreateMultipartUploadCommand(target)));
    try {
      const parts = await this.#uploadParts(target, UploadId!, path, size);
      const done = new CompleteMultipartUploadCommand({
        ...target,
        UploadId,
        MultipartUpload: { Parts: parts },
      });
      await translated(() => this.#client.send(done));
    } catch (error) {
      // What is left is swept by the bucket's rule for unfinished uploads.
      await this.#client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => {});
      throw error;
    }
  }

  /** Writes an object of unknown size, unless its key is in use by the time it is complete. */
  writer(key: string): BlobWriter {
    const target = { Bucket: this.bucket, Key: key };
    const parts: { ETag: string; PartNumber: number }[] = [];
    let uploadId: string | undefined;
    let waiting: Uint8Array[] = [];
    let held = 0;
    const sendPart = async () => {
      const Body = Buffer.concat(waiting, held);
      waiting = [];
      held = 0;
      uploadId ??= (await translated(() => this.#client.send(new CreateMultipartUploadCommand(target))))
        .UploadId!;
      const part = { ...target, UploadId: uploadId, PartNumber: parts.length + 1 };
      const { ETag } = await translated(() => this.#client.send(new UploadPartCommand({ ...part, Body })));
      parts.push({ ETag: ETag!, PartNumber: part.PartNumber });
    };
    return {
      write: async (bytes) => {
        waiting.push(bytes);
        held += bytes.length;
        if (held >= PART_BYTES) await sendPart();
      },
      finish: async () => {
        if (uploadId === undefined) {
          await this.put(key, Buffer.concat(waiting, held), { ifAbsent: true });
          return;
        }
        if (held > 0) await sendPart();
        const done = new CompleteMultipartUploadCommand({
          ...target,
          UploadId: uploadId,
          MultipartUpload: { Parts: parts },
          IfNoneMatch: '*',
        });
        await translated(() => this.#client.send(done));
      },
      abort: async () => {
        waiting = [];
        if (uploadId === undefined) return;
        // What is left is swept by the bucket's rule for unfinished uploads.
        const abort = new AbortMultipartUploadCommand({ ...target, UploadId: uploadId });
        await this.#client.send(abort).catch(() => {});
      },
    };
  }

  /**
   * Exactly `length` bytes from `offset`, fewer only at the end; empty behind it.
   * @throws Missing, StoreUnavailable
   */
  async read(key: string, offset: number, length: number): Promise<Uint8Array> {
    if (length <= 0) return new Uint8Array(0);
    const Range = `bytes=${offset}-${offset + length - 1}`;
    try {
      // The body is part of the attempt: a connection that breaks inside it is tried again.
      return await translated(async () => {
        const answer = await this.#client.send(
          new GetObjectCommand({ Bucket: this.bucket, Key: key, Range }),
        );
        return answer.Body!.transformToByteArray();
      }, READ_ATTEMPTS);
    } catch (error) {
      if ((error as { cause?: { name?: string } }).cause?.name === 'InvalidRange') return new Uint8Array(0);
      throw error;
    }
  }

  /** The whole object as a stream. @throws Missing */
  async stream(key: string): Promise<AsyncIterable<Uint8Array>> {
    const answer = await translated(() =>
      this.#client.send(new GetObjectCommand({ Bucket: this.bucket, Key: key })),
    );
    return answer.Body as Readable;
  }

  async head(key: string): Promise<BlobInfo | undefined> {
    try {
      const answer = await translated(() =>
        this.#client.send(new HeadObjectCommand({ Bucket: this.bucket, Key: key })),
      );
      return {
        size: answer.ContentLength ?? 0,
        etag: answer.ETag ?? '',
        modified: answer.LastModified ?? new Date(0),
      };
    } catch (error) {
      if (error instanceof Missing) return undefined;
      throw error;
    }
  }

  /** Absent keys are no error. */
  async delete(keys: readonly string[]): Promise<void> {
    if (keys.length === 1) {
      await translated(() =>
        this.#client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key: keys[0]! })),
      );
      return;
    }
    for (let i = 0; i < keys.length; i += DELETE_BATCH) {
      const Objects = keys.slice(i, i + DELETE_BATCH).map((Key) => ({ Key }));
      const command = new DeleteObjectsCommand({ Bucket: this.bucket, Delete: { Objects, Quiet: true } });
      const { Errors } = await translated(() => this.#client.send(command));
      if (Errors !== undefined && Errors.length > 0) {
        throw new StoreUnavailable(true, new Error(`${Errors[0]!.Key}: ${Errors[0]!.Code}`));
      }
    }
  }

  /** One page of keys under a prefix, in the order of their bytes. */
  async list(
    prefix: string,
    options: { after?: string; limit?: number } = {},
  ): Promise<{ keys: readonly string[]; more: boolean }> {
    const command = new ListObjectsV2Command({
      Bucket: this.bucket,
      Prefix: prefix,
      MaxKeys: options.limit ?? 1000,
      ...(options.after === undefined ? {} : { StartAfter: options.after }),
    });
    const answer = await translated(() => this.#client.send(command));
    return { keys: (answer.Contents ?? []).map((entry) => entry.Key!), more: answer.IsTruncated === true };
  }

  /** A URL that reads the object for `seconds`, served under `fileName` when given. */
  presignedGet(key: string, seconds: number, fileName?: string): Promise<string> {
    const command = new GetObjectCommand({
      Bucket: this.bucket,
      Key: key,
      ...(fileName === undefined
        ? {}
        : { ResponseContentDisposition: `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}` }),
    });
    return getSignedUrl(this.#client, command, { expiresIn: seconds });
  }

  /** A URL that writes the object once within `seconds`. */
  presignedPut(key: string, seconds: number): Promise<string> {
    return getSignedUrl(this.#client, new PutObjectCommand({ Bucket: this.bucket, Key: key }), {
      expiresIn: seconds,
    });
  }

  async #uploadParts(target: { Bucket: string; Key: string }, UploadId: string, path: string, size: number) {
    const count = Math.ceil(size / PART_BYTES);
    const parts = new Array<{ ETag: string; PartNumber: number }>(count);
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < count; index = next++) {
        const offset = index * PART_BYTES;
        const Body = await readRange(path, offset, Math.min(PART_BYTES, size - offset));
        const PartNumber = index + 1;
        const { ETag } = await translated(() =>
          this.#client.send(new UploadPartCommand({ ...target, UploadId, PartNumber, Body })),
        );
        parts[index] = { ETag: ETag!, PartNumber };
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARTS_AT_ONCE, count) }, worker));
    return parts;
  }
}

const READ_ATTEMPTS = 3;
const ABSENT_NAMES = new Set(['NoSuchKey', 'NotFound', 'NoSuchBucket']);

/** The SDK's exceptions end here. Its own retries are over when one arrives; `attempts` adds whole repetitions. */
export async function translated<T>(send: () => Promise<T>, attempts = 1): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const { name, $metadata } = error as { name: string; $metadata?: { httpStatusCode?: number } };
      if (ABSENT_NAMES.has(name)) throw new Missing('object');
      if (name === 'PreconditionFailed' || name === 'ConditionalRequestConflict')
        throw new AlreadyExists('object');
      const status = $metadata?.httpStatusCode ?? 0;
      if (status >= 400 && status < 500 && status !== 429) throw new StoreUnavailable(false, error);
      if (attempt >= attempts) throw new StoreUnavailable(true, error);
    }
  }
}

async function readRange(path: string, offset: number, length: number): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const { bytesRead } = await file.read(bytes, done, length - done, offset + done);
      if (bytesRead === 0) throw new Error('the file is shorter than it was');
      done += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}
