/**
 * Bytes in the instance's bucket, and in those of other repository storages (`storages.ts`). The service chooses the keys;
 * they never contain a caller's text.
 */
import type { Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
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
import { storageOf } from '../../records/storages.ts';
import { AlreadyExists, Missing, StoreUnavailable } from '../errors.ts';
import type { RepositoryStorages } from './storages.ts';

export interface BlobInfo {
  readonly size: number;
  readonly etag: string;
  readonly modified: Date;
}

export interface PutOptions {
  readonly contentType?: string;
  /**
   * Refuses when the key is in use. After a write whose answer was lost, this also refuses the repetition: the two
   * cases are not distinguished.
   */
  readonly ifAbsent?: boolean;
}

/** Larger files are uploaded in parts, so that only a part that fails is sent again. Bytes. */
const PART_BYTES = 16 * 1024 * 1024;
const CONCURRENT_PARTS = 4;
const DELETE_BATCH = 1000;

/** Writes an object piece by piece. The object is not visible before {@link BlobWriter.finish}. */
export interface BlobWriter {
  /** Waits while a part is sent, so that memory use is bounded. @throws StoreUnavailable */
  write(bytes: Uint8Array): Promise<void>;
  /** @throws AlreadyExists when the key is in use, StoreUnavailable */
  finish(): Promise<void>;
  /** Discards what was written. Never fails. */
  abort(): Promise<void>;
}

export class Blobs {
  readonly bucket: string;
  readonly #client: S3Client;
  readonly #storages: RepositoryStorages;

  constructor(client: S3Client, bucket: string, storages: RepositoryStorages = {}) {
    this.#client = client;
    this.bucket = bucket;
    this.#storages = storages;
  }

  /** Where an object is. @throws StoreUnavailable for a storage that is not configured */
  locate(key: string): { readonly Bucket: string; readonly Key: string } {
    if (!key.startsWith('@')) return { Bucket: this.bucket, Key: key };
    const name = storageOf(key);
    const storage = Object.hasOwn(this.#storages, name) ? this.#storages[name] : undefined;
    if (storage === undefined)
      throw new StoreUnavailable(false, new Error(`the repository storage ${name} is not configured`));
    return { Bucket: storage.bucket, Key: storage.prefix + key.slice(name.length + 2) };
  }

  /** @throws AlreadyExists with `ifAbsent` when the key is in use, StoreUnavailable */
  async put(key: string, bytes: Uint8Array, options: PutOptions = {}): Promise<{ etag: string }> {
    const command = new PutObjectCommand({
      ...this.locate(key),
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
        ...this.locate(key),
        // A stream cannot be sent twice: a file that fits one part is read whole, so that a retry can send it again.
        Body: await readRange(path, 0, size),
        ContentLength: size,
      });
      await translated(() => this.#client.send(command));
      return;
    }
    const target = this.locate(key);
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
      // If this fails, the bucket's lifecycle rule for unfinished uploads deletes the parts.
      await this.#client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => {});
      throw error;
    }
  }

  /** Writes an object of unknown size. `finish` refuses when the key is in use by then, unless `ifAbsent` is false. */
  writer(key: string, { ifAbsent = true }: Pick<PutOptions, 'ifAbsent'> = {}): BlobWriter {
    const target = this.locate(key);
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
          await this.put(key, Buffer.concat(waiting, held), { ifAbsent });
          return;
        }
        if (held > 0) await sendPart();
        const done = new CompleteMultipartUploadCommand({
          ...target,
          UploadId: uploadId,
          MultipartUpload: { Parts: parts },
          ...(ifAbsent ? { IfNoneMatch: '*' } : {}),
        });
        await translated(() => this.#client.send(done));
      },
      abort: async () => {
        waiting = [];
        if (uploadId === undefined) return;
        // If this fails, the bucket's lifecycle rule for unfinished uploads deletes the parts.
        const abort = new AbortMultipartUploadCommand({ ...target, UploadId: uploadId });
        await this.#client.send(abort).catch(() => {});
      },
    };
  }

  /**
   * Writes content that comes in pieces, without holding it, under a name under which nobody else writes: a condition would
   * only refuse what is sent again because an answer was lost.
   * @param digests are given all of it
   * @returns its size in bytes
   * @throws what reading the pieces throws, StoreUnavailable
   */
  async writePieces(
    key: string,
    content: AsyncIterable<Uint8Array>,
    digests: readonly Hash[],
  ): Promise<number> {
    const writer = this.writer(key, { ifAbsent: false });
    let size = 0;
    try {
      for await (const piece of content) {
        size += piece.length;
        for (const digest of digests) digest.update(piece);
        await writer.write(piece);
      }
      await writer.finish();
    } catch (error) {
      await writer.abort();
      throw error;
    }
    return size;
  }

  /**
   * Returns `length` bytes from `offset`; fewer only at the end of the object, none beyond it.
   * @throws Missing, StoreUnavailable
   */
  async read(key: string, offset: number, length: number): Promise<Uint8Array> {
    if (length <= 0) return new Uint8Array(0);
    const Range = `bytes=${offset}-${offset + length - 1}`;
    try {
      // Reading the body is part of the attempt: if the connection breaks during it, the request is repeated.
      return await translated(async () => {
        const answer = await this.#client.send(new GetObjectCommand({ ...this.locate(key), Range }));
        return answer.Body!.transformToByteArray();
      }, READ_ATTEMPTS);
    } catch (error) {
      if ((error as { cause?: { name?: string } }).cause?.name === 'InvalidRange') return new Uint8Array(0);
      throw error;
    }
  }

  /** Returns the whole object as a stream. @throws Missing */
  async stream(key: string): Promise<AsyncIterable<Uint8Array>> {
    return (await this.open(key)).body;
  }

  /** Returns the whole object as a stream, which is to be read or destroyed, with its size in bytes. @throws Missing */
  async open(key: string): Promise<{ readonly size: number; readonly body: Readable }> {
    const answer = await translated(() => this.#client.send(new GetObjectCommand(this.locate(key))));
    return { size: answer.ContentLength ?? 0, body: answer.Body as Readable };
  }

  /** At most `length` bytes from `offset`, as they come; nothing is read after the caller stops. @throws Missing */
  async streamRange(key: string, offset: number, length: number): Promise<AsyncIterable<Uint8Array>> {
    const Range = `bytes=${offset}-${offset + length - 1}`;
    const answer = await translated(() =>
      this.#client.send(new GetObjectCommand({ ...this.locate(key), Range })),
    );
    return answer.Body as Readable;
  }

  async head(key: string): Promise<BlobInfo | undefined> {
    try {
      const answer = await translated(() => this.#client.send(new HeadObjectCommand(this.locate(key))));
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

  /** Copies an object of at most 5 GB (S3, `CopyObject`) without reading it. @throws Missing, StoreUnavailable */
  async copy(from: string, to: string): Promise<void> {
    const CopySource = copySource(this.locate(from));
    await translated(() => this.#client.send(new CopyObjectCommand({ ...this.locate(to), CopySource })));
  }

  /** Deletes objects. Keys without an object are not an error. */
  async delete(keys: readonly string[]): Promise<void> {
    if (keys.length === 1) {
      await translated(() => this.#client.send(new DeleteObjectCommand(this.locate(keys[0]!))));
      return;
    }
    const located = Map.groupBy(
      keys.map((key) => this.locate(key)),
      ({ Bucket }) => Bucket,
    );
    for (const [Bucket, objects] of located) {
      for (let i = 0; i < objects.length; i += DELETE_BATCH) {
        const Objects = objects.slice(i, i + DELETE_BATCH).map(({ Key }) => ({ Key }));
        const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
        const { Errors } = await translated(() => this.#client.send(command));
        if (Errors !== undefined && Errors.length > 0) {
          throw new StoreUnavailable(true, new Error(`${Errors[0]!.Key}: ${Errors[0]!.Code}`));
        }
      }
    }
  }

  /** Returns one page of the keys under a prefix, sorted by their bytes. */
  async list(
    prefix: string,
    options: { after?: string; limit?: number } = {},
  ): Promise<{ keys: readonly string[]; more: boolean }> {
    const { Bucket, Key: Prefix } = this.locate(prefix);
    const command = new ListObjectsV2Command({
      Bucket,
      Prefix,
      MaxKeys: options.limit ?? 1000,
      ...(options.after === undefined ? {} : { StartAfter: this.locate(options.after).Key }),
    });
    const answer = await translated(() => this.#client.send(command));
    const keys = (answer.Contents ?? []).map(({ Key }) => prefix + Key!.slice(Prefix.length));
    return { keys, more: answer.IsTruncated === true };
  }

  /** Returns a URL that reads the object for `seconds`, with these headers if given. */
  presignedGet(
    key: string,
    seconds: number,
    as?: { readonly type: string; readonly disposition: string },
  ): Promise<string> {
    const command = new GetObjectCommand({
      ...this.locate(key),
      ...(as === undefined
        ? {}
        : {
            ResponseContentType: as.type,
            ResponseContentDisposition: as.disposition,
            ResponseCacheControl: 'private, no-store',
          }),
    });
    return getSignedUrl(this.#client, command, { expiresIn: seconds });
  }

  /** Returns a URL that writes the object once within `seconds`. */
  presignedPut(key: string, seconds: number): Promise<string> {
    return getSignedUrl(this.#client, new PutObjectCommand(this.locate(key)), {
      expiresIn: seconds,
    });
  }

  /**
   * Returns a URL that, with these headers, writes an object of exactly this size and content within `seconds`: S3 refuses
   * other headers by the signature, and other content by the checksum.
   * @param sha256 hexadecimal
   */
  async presignedPutOf(
    key: string,
    { size, sha256 }: { readonly size: number; readonly sha256: string },
    seconds: number,
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
    const checksum = Buffer.from(sha256, 'hex').toString('base64');
    const command = new PutObjectCommand({
      ...this.locate(key),
      ContentLength: size,
      ChecksumSHA256: checksum,
    });
    const signed = new Set(['x-amz-checksum-sha256', 'content-length']);
    const url = await getSignedUrl(this.#client, command, {
      expiresIn: seconds,
      signableHeaders: new Set(['host', ...signed]),
      unhoistableHeaders: signed,
    });
    return { url, headers: { 'x-amz-checksum-sha256': checksum } };
  }

  /**
   * Returns a URL that, with these headers, writes an object of exactly this size within `seconds`, and never replaces one: S3
   * refuses other headers by the signature.
   */
  async presignedPutOnce(
    key: string,
    size: number,
    seconds: number,
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
    const command = new PutObjectCommand({
      ...this.locate(key),
      ContentLength: size,
      IfNoneMatch: '*',
    });
    const signed = new Set(['if-none-match', 'content-length']);
    const url = await getSignedUrl(this.#client, command, {
      expiresIn: seconds,
      signableHeaders: new Set(['host', ...signed]),
      unhoistableHeaders: signed,
    });
    return { url, headers: { 'If-None-Match': '*' } };
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
    await Promise.all(Array.from({ length: Math.min(CONCURRENT_PARTS, count) }, worker));
    return parts;
  }
}

/** The source of a copy, as its header names it. */
export const copySource = ({ Bucket, Key }: ReturnType<Blobs['locate']>): string =>
  `${Bucket}/${Key.split('/').map(encodeURIComponent).join('/')}`;

const READ_ATTEMPTS = 3;
const ABSENT_NAMES = new Set(['NoSuchKey', 'NotFound', 'NoSuchBucket']);

/**
 * Translates the SDK's exceptions into the store's. The SDK has already retried when one arrives; `attempts` is how
 * often the whole operation is tried.
 */
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
