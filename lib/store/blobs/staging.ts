/**
 * The staging area, for uploads that are too large for a request: the client writes them to the bucket through
 * presigned URLs, whole or in parts; a worker reads and deletes them. A lifecycle rule of the bucket deletes unfinished
 * uploads. The embedded host has no such rules and calls {@link Staging.sweep}.
 */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { decodeTime, ulid } from 'ulid';
import { Missing, StoreError, StoreUnavailable } from '../errors.ts';
import { STAGING } from '../table/schema.ts';
import { type Blobs, translated } from './blobs.ts';

/** One upload. Plain data, which the subject that began the upload stores in a row of its own. */
export interface StagedUpload {
  /** ULID; contains the time at which the upload began. */
  readonly id: string;
  /** Declared size of the whole in bytes; an upload of another size cannot be completed. */
  readonly size: number;
  /** Size of every part but the last, in bytes. */
  readonly partSize: number;
  /** S3's id of the multipart upload; undefined when the whole is written by one PUT. */
  readonly uploadId?: string;
}

interface StagedPart {
  /** From 1. */
  readonly number: number;
  readonly size: number;
}

export interface UploadedPart extends StagedPart {
  /** The MD5 in quotes, if the bucket encrypts with S3's own keys. */
  readonly etag: string;
}

export interface PresignedPart extends StagedPart {
  /** Accepts one PUT of exactly `size` bytes, because the length is signed. */
  readonly url: string;
}

/** Parts are missing or have the wrong size. Names the first hundred of them. */
export class IncompleteUpload extends StoreError {
  override readonly name = 'IncompleteUpload';
  readonly parts: readonly number[];
  constructor(parts: readonly number[]) {
    super('refused', `the upload is not complete: parts ${parts.join(', ')}`);
    this.parts = parts;
  }
}

const MIB = 1024 * 1024;
/** S3 requires parts of at least 5 MiB; on an unreliable connection, small parts are cheaper to send again. */
const PART_BYTES = 8 * MIB;
/** S3 allows 10,000; fewer parts make shorter lists. */
const MAX_PARTS = 1000;
const READ_BYTES = 8 * MIB;
const READS_AHEAD = 2;
const MAX_NAMED = 100;

export const partCount = ({ size, partSize }: StagedUpload): number =>
  Math.max(1, Math.ceil(size / partSize));

export class Staging {
  readonly #client: S3Client;
  readonly #blobs: Blobs;

  constructor(client: S3Client, blobs: Blobs) {
    this.#client = client;
    this.#blobs = blobs;
  }

  /**
   * Begins an upload of `size` bytes. The caller checks whether that size is allowed.
   * @throws StoreUnavailable
   */
  async create(size: number, now = new Date()): Promise<StagedUpload> {
    const id = ulid(now.getTime());
    const partSize = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS / MIB) * MIB);
    if (size <= partSize) return { id, size, partSize };
    const command = new CreateMultipartUploadCommand(this.#target(id));
    const { UploadId } = await translated(() => this.#client.send(command));
    return { id, size, partSize, uploadId: UploadId! };
  }

  /** Returns the URL that accepts the whole, for an upload without parts. */
  async presignWhole(upload: StagedUpload, seconds: number): Promise<string> {
    if (upload.uploadId !== undefined) throw new RangeError('an upload in parts has no single URL');
    const command = new PutObjectCommand({ ...this.#target(upload.id), ContentLength: upload.size });
    return getSignedUrl(this.#client, command, { expiresIn: seconds });
  }

  /** Returns the URLs of the given parts; for an upload without parts, number 1 is the whole. */
  presignParts(
    upload: StagedUpload,
    numbers: readonly number[],
    seconds: number,
  ): Promise<readonly PresignedPart[]> {
    return Promise.all(
      numbers.map(async (number) => {
        const size = partSizeOf(upload, number);
        if (upload.uploadId === undefined) {
          return { number, size, url: await this.presignWhole(upload, seconds) };
        }
        const command = new UploadPartCommand({
          ...this.#target(upload.id),
          UploadId: upload.uploadId,
          PartNumber: number,
          ContentLength: size,
        });
        return { number, size, url: await getSignedUrl(this.#client, command, { expiresIn: seconds }) };
      }),
    );
  }

  /**
   * Returns a URL that accepts the whole of an upload whose size is not known in advance. `id` is a ULID of now;
   * {@link parts} returns what was uploaded.
   */
  presignUnsized(id: string, seconds: number): Promise<string> {
    return this.#blobs.presignedPut(contentKey(id), seconds);
  }

  /** Returns a URL that writes a {@link note} of any size: check {@link noteSize} before reading it. */
  presignNote(id: string, name: string, seconds: number): Promise<string> {
    return this.#blobs.presignedPut(noteKey(id, name), seconds);
  }

  /** Returns a URL that reads a note. */
  presignNoted(id: string, name: string, seconds: number): Promise<string> {
    return this.#blobs.presignedGet(noteKey(id, name), seconds);
  }

  /** Returns the size of a note in bytes; undefined when there is none. */
  async noteSize(id: string, name: string): Promise<number | undefined> {
    return (await this.#blobs.head(noteKey(id, name)))?.size;
  }

  /**
   * Returns the uploaded parts with numbers greater than `after`, in order. For a completed upload these are all parts,
   * each with the etag of the whole.
   * @param limit at most 1,000
   */
  async parts(upload: StagedUpload, { after = 0, limit = 1000 } = {}): Promise<readonly UploadedPart[]> {
    if (upload.uploadId === undefined) {
      const whole = await this.#blobs.head(contentKey(upload.id));
      return whole === undefined || after > 0 ? [] : [{ number: 1, size: whole.size, etag: whole.etag }];
    }
    const command = new ListPartsCommand({
      ...this.#target(upload.id),
      UploadId: upload.uploadId,
      MaxParts: limit,
      ...(after === 0 ? {} : { PartNumberMarker: String(after) }),
    });
    try {
      const { Parts } = await translated(() => this.#client.send(command));
      return (Parts ?? []).map(({ PartNumber, Size, ETag }) => ({
        number: PartNumber!,
        size: Size!,
        etag: ETag!,
      }));
    } catch (error) {
      if (!isNoSuchUpload(error)) throw error;
    }
    // The upload may have been completed by a call that did not report it: then all parts are there.
    const whole = await this.#blobs.head(contentKey(upload.id));
    if (whole === undefined) return [];
    const last = Math.min(partCount(upload), after + limit);
    return Array.from({ length: Math.max(0, last - after) }, (_, index) => {
      const number = after + 1 + index;
      return { number, size: partSizeOf(upload, number), etag: whole.etag };
    });
  }

  /**
   * Checks the size of every part and combines them into one object. Idempotent.
   * @param etag of the whole, if the caller knows it
   * @throws IncompleteUpload; Missing when the upload was aborted or has expired
   */
  async complete(upload: StagedUpload, etag?: string): Promise<{ size: number; etag: string }> {
    if (upload.uploadId !== undefined) await this.#join(upload, upload.uploadId);
    const whole = await this.#blobs.head(contentKey(upload.id));
    if (whole === undefined) {
      throw upload.uploadId === undefined ? new IncompleteUpload([1]) : new Missing('upload');
    }
    if (whole.size !== upload.size || (etag !== undefined && bare(etag) !== bare(whole.etag))) {
      throw new IncompleteUpload([1]);
    }
    return { size: whole.size, etag: whole.etag };
  }

  async #join(upload: StagedUpload, UploadId: string): Promise<void> {
    const uploaded: UploadedPart[] = [];
    for (;;) {
      const page = await this.parts(upload, { after: uploaded.at(-1)?.number ?? 0 });
      uploaded.push(...page);
      if (page.length < 1000) break;
    }
    const sizes = new Map(uploaded.map((part) => [part.number, part.size]));
    const wrong: number[] = [];
    const count = partCount(upload);
    for (let number = 1; number <= count && wrong.length < MAX_NAMED; number++) {
      if (sizes.get(number) !== partSizeOf(upload, number)) wrong.push(number);
    }
    if (wrong.length > 0) throw new IncompleteUpload(wrong);
    const Parts = uploaded
      .filter(({ number }) => number <= count)
      .map(({ number, etag }) => ({ PartNumber: number, ETag: etag }));
    const command = new CompleteMultipartUploadCommand({
      ...this.#target(upload.id),
      UploadId,
      MultipartUpload: { Parts },
    });
    try {
      await translated(() => this.#client.send(command));
    } catch (error) {
      // A concurrent call has completed it, or the answer to an earlier attempt was lost.
      if (!isNoSuchUpload(error)) throw error;
    }
  }

  /** Returns the uploaded bytes as a stream that survives broken connections. @throws Missing, StoreUnavailable */
  async *read(upload: Pick<StagedUpload, 'id' | 'size'>): AsyncGenerator<Uint8Array, void, undefined> {
    const key = contentKey(upload.id);
    const ahead: Promise<Uint8Array>[] = [];
    let requested = 0;
    const ask = () => {
      if (requested >= upload.size) return;
      const read = this.#blobs.read(key, requested, Math.min(READ_BYTES, upload.size - requested));
      // The error is reported where the promise is awaited; this only avoids an unhandled rejection.
      read.catch(() => {});
      ahead.push(read);
      requested += READ_BYTES;
    };
    for (let n = 0; n < READS_AHEAD; n++) ask();
    for (let piece = ahead.shift(); piece !== undefined; piece = ahead.shift()) {
      const bytes = await piece;
      ask();
      yield bytes;
    }
  }

  /** Stores a small object beside the upload: instructions for the worker, or the result. */
  async note(id: string, name: string, bytes: Uint8Array): Promise<void> {
    await this.#blobs.put(noteKey(id, name), bytes);
  }

  async noted(id: string, name: string): Promise<Uint8Array | undefined> {
    const key = noteKey(id, name);
    const known = await this.#blobs.head(key);
    return known && this.#blobs.read(key, 0, known.size);
  }

  /** Deletes notes before they expire. */
  async forget(id: string, names: readonly string[]): Promise<void> {
    await this.#blobs.delete(names.map((name) => noteKey(id, name)));
  }

  /** Deletes the uploaded bytes, complete or not; notes remain until they expire. Idempotent. */
  async discard(upload: StagedUpload): Promise<void> {
    await Promise.all([
      this.#blobs.delete([contentKey(upload.id)]),
      upload.uploadId === undefined ? undefined : this.#abort(contentKey(upload.id), upload.uploadId),
    ]);
  }

  /**
   * Deletes everything that was begun before a moment, as the bucket's lifecycle rule does.
   * @returns the number of deleted objects and uploads
   */
  async sweep(before: Date): Promise<number> {
    let swept = 0;
    const old = (key: string) => startedAt(key) < before.getTime();
    for (let after: string | undefined; ; ) {
      const page = await this.#blobs.list(STAGING, after === undefined ? {} : { after });
      const keys = page.keys.filter(old);
      if (keys.length > 0) await this.#blobs.delete(keys);
      swept += keys.length;
      after = page.keys.at(-1);
      // Ids are sorted by time.
      if (!page.more || after === undefined || !old(after)) break;
    }
    for (let marker: { KeyMarker?: string; UploadIdMarker?: string } = {}; ; ) {
      const command = new ListMultipartUploadsCommand({
        Bucket: this.#blobs.bucket,
        Prefix: STAGING,
        ...marker,
      });
      const page = await translated(() => this.#client.send(command));
      for (const { Key, UploadId } of page.Uploads ?? []) {
        if (!old(Key!)) continue;
        await this.#abort(Key!, UploadId!);
        swept++;
      }
      if (page.IsTruncated !== true) return swept;
      marker = { KeyMarker: page.NextKeyMarker!, UploadIdMarker: page.NextUploadIdMarker! };
    }
  }

  async #abort(Key: string, UploadId: string): Promise<void> {
    const command = new AbortMultipartUploadCommand({ Bucket: this.#blobs.bucket, Key, UploadId });
    try {
      await translated(() => this.#client.send(command));
    } catch (error) {
      if (!isNoSuchUpload(error)) throw error;
    }
  }

  #target(id: string) {
    return { Bucket: this.#blobs.bucket, Key: contentKey(id) };
  }
}

const contentKey = (id: string) => `${STAGING}${id}/content`;
const noteKey = (id: string, name: string) => `${STAGING}${id}/${name}`;

function partSizeOf(upload: StagedUpload, number: number): number {
  const count = partCount(upload);
  if (!Number.isInteger(number) || number < 1 || number > count) throw new RangeError(`no part ${number}`);
  return number < count ? upload.partSize : upload.size - (count - 1) * upload.partSize;
}

/** Returns when the upload of a key began; for a key of another form, a time that no sweep reaches. */
function startedAt(key: string): number {
  try {
    return decodeTime(key.slice(STAGING.length, STAGING.length + 26));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

const bare = (etag: string) => etag.replaceAll('"', '');

const isNoSuchUpload = (error: unknown) =>
  error instanceof StoreUnavailable && (error.cause as { name?: string }).name === 'NoSuchUpload';
