import { createHash, randomUUID } from 'node:crypto';
import { closeSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Algorithm, type Checksums, createDigest, parseAlgorithm } from './checksum.ts';
import { noSuchKey, noSuchUpload } from './errors.ts';
import type { S3Request } from './message.ts';
import { readFully } from './object-body.ts';
import { type Draft, type ObjectMeta, openObject, readMeta } from './object-file.ts';
import { describeObject } from './object-headers.ts';
import { type Bucket, isCode } from './store.ts';

/**
 * A multipart upload is a directory `uploads/<id>/` with `upload.json` and one object file per part, named by its number.
 * Parts survive a restart; uploading a part again replaces it.
 */
export interface UploadRecord {
  id: string;
  key: string;
  /** Milliseconds since the epoch. */
  initiated: number;
  headers: ObjectMeta['headers'];
  metadata: ObjectMeta['metadata'];
  /** Declared at creation: the completed object then has a checksum of the parts' checksums. */
  algorithm?: Algorithm;
}

const RECORD_NAME = 'upload.json';
const CHUNK_BYTES = 1024 * 1024;

export async function beginUpload(bucket: Bucket, key: string, request: S3Request): Promise<UploadRecord> {
  const declared = request.headers['x-amz-checksum-algorithm'];
  const record: UploadRecord = {
    id: randomUUID().replaceAll('-', ''),
    key,
    initiated: Date.now(),
    ...describeObject(request.headers),
    ...(declared === undefined ? {} : { algorithm: parseAlgorithm(declared) }),
  };
  const { tmpDir, directories, durable } = bucket.store;
  const draft = join(tmpDir, record.id);
  await mkdir(draft);
  const file = await open(join(draft, RECORD_NAME), 'wx', 0o600);
  await file.writeFile(JSON.stringify(record));
  if (durable) await file.sync();
  await file.close();
  await directories.sync(draft);
  await rename(draft, directoryOf(bucket, record.id));
  await directories.sync(bucket.uploadsDir);
  return record;
}

/** @throws S3Error NoSuchUpload, also when the id belongs to another key */
export async function readUpload(bucket: Bucket, id: string, key: string): Promise<UploadRecord> {
  const record = await readRecord(bucket, id);
  if (record?.key !== key) throw noSuchUpload(id);
  return record;
}

/** All uploads in S3's order: by key, then by time. */
export async function readUploads(bucket: Bucket): Promise<UploadRecord[]> {
  const records = await Promise.all((await readdir(bucket.uploadsDir)).map((id) => readRecord(bucket, id)));
  return records
    .filter((record) => record !== undefined)
    .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) || a.initiated - b.initiated);
}

async function readRecord(bucket: Bucket, id: string): Promise<UploadRecord | undefined> {
  if (!/^[0-9a-f]{32}$/.test(id)) return undefined;
  try {
    return JSON.parse(await readFile(join(directoryOf(bucket, id), RECORD_NAME), 'utf8')) as UploadRecord;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** @throws S3Error NoSuchUpload when the upload was completed or aborted meanwhile */
export async function commitPart(
  bucket: Bucket,
  upload: UploadRecord,
  number: number,
  draft: Draft,
  part: { md5Hex: string; checksums: Checksums },
): Promise<ObjectMeta> {
  try {
    const meta = await draft.seal({
      key: upload.key,
      etag: `"${part.md5Hex}"`,
      lastModified: Date.now(),
      headers: {},
      metadata: {},
      checksums: part.checksums,
    });
    await rename(draft.path, partPath(bucket, upload.id, number));
    await bucket.store.directories.sync(directoryOf(bucket, upload.id));
    return meta;
  } catch (error) {
    await draft.discard();
    if (isCode(error, 'ENOENT')) throw noSuchUpload(upload.id);
    throw error;
  }
}

export interface Part extends ObjectMeta {
  number: number;
}

export async function readParts(bucket: Bucket, upload: UploadRecord): Promise<Part[]> {
  let names: string[];
  try {
    names = await readdir(directoryOf(bucket, upload.id));
  } catch (error) {
    if (isCode(error, 'ENOENT')) throw noSuchUpload(upload.id);
    throw error;
  }
  return names
    .filter((name) => name !== RECORD_NAME)
    .map(Number)
    .sort((a, b) => a - b)
    .flatMap((number) => {
      const meta = readMeta(partPath(bucket, upload.id, number));
      return meta === undefined ? [] : [{ ...meta, number }];
    });
}

/** Concatenates the parts in a draft. */
export async function joinParts(bucket: Bucket, upload: UploadRecord, parts: Part[]): Promise<Draft> {
  const draft = await bucket.createDraft();
  try {
    for (const part of parts) {
      const file = openObject(partPath(bucket, upload.id, part.number));
      if (file === undefined) throw noSuchUpload(upload.id);
      try {
        if (file.meta.etag !== part.etag) throw new Error('part replaced during completion');
        for await (const chunk of chunks(file.fd, 0, file.meta.size)) await draft.write(chunk);
      } finally {
        closeSync(file.fd);
      }
    }
    return draft;
  } catch (error) {
    await draft.discard();
    throw error;
  }
}

/** Reads a range of another object, for UploadPartCopy. */
export async function* readObject(
  bucket: Bucket,
  key: string,
  choose: (meta: ObjectMeta) => { start: number; end: number },
): AsyncGenerator<Buffer> {
  const object = bucket.openObject(key);
  if (object === undefined) throw noSuchKey(key);
  try {
    const { start, end } = choose(object.meta);
    yield* chunks(object.fd, start, end);
  } finally {
    closeSync(object.fd);
  }
}

/** The ETag and checksum of the whole: the MD5 of the parts' MD5s with their number, and likewise the declared checksum. */
export function summarize(
  upload: UploadRecord,
  parts: Part[],
): Pick<ObjectMeta, 'etag' | 'checksums' | 'parts'> {
  const md5 = createHash('md5');
  for (const part of parts) md5.update(Buffer.from(part.etag.replaceAll('"', ''), 'hex'));
  const checksums: Checksums = {};
  const { algorithm } = upload;
  if (algorithm !== undefined && parts.every((part) => part.checksums[algorithm] !== undefined)) {
    const digest = createDigest(algorithm);
    for (const part of parts) digest.update(Buffer.from(part.checksums[algorithm]!, 'base64'));
    checksums[algorithm] = `${digest.base64()}-${parts.length}`;
  }
  return { etag: `"${md5.digest('hex')}-${parts.length}"`, checksums, parts: parts.length };
}

/** Removes an upload with one rename into `tmp`, where its files are then deleted. */
export async function removeUpload(bucket: Bucket, upload: UploadRecord): Promise<void> {
  const trash = join(bucket.store.tmpDir, randomUUID());
  try {
    await rename(directoryOf(bucket, upload.id), trash);
  } catch (error) {
    if (isCode(error, 'ENOENT')) throw noSuchUpload(upload.id);
    throw error;
  }
  await bucket.store.directories.sync(bucket.uploadsDir);
  await rm(trash, { recursive: true, force: true });
}

async function* chunks(fd: number, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end; position += CHUNK_BYTES) {
    yield await readFully(fd, position, Math.min(end, position + CHUNK_BYTES));
  }
}

const directoryOf = (bucket: Bucket, id: string) => join(bucket.uploadsDir, id);
const partPath = (bucket: Bucket, id: string, number: number) =>
  join(directoryOf(bucket, id), String(number));
