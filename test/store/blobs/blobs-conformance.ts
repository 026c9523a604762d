/**
 * What the store requires of an S3 implementation: the embedded one, an emulator, or the service itself.
 * The suite creates its own bucket with the client passed to it.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Blobs } from '../../../lib/store/blobs/blobs.ts';
import { ObjectCopies } from '../../../lib/store/blobs/object-copies.ts';
import { AlreadyExists, Missing, StoreUnavailable } from '../../../lib/store/errors.ts';

export interface BlobTarget {
  readonly client: S3Client;
  close(): Promise<void>;
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

export function blobConformance(name: string, open: () => Promise<BlobTarget>): void {
  describe(`blobs in ${name}`, () => {
    const bucket = `conformance-${randomBytes(6).toString('hex')}`;
    let target: BlobTarget;
    let blobs: Blobs;
    beforeAll(async () => {
      target = await open();
      await target.client.send(new CreateBucketCommand({ Bucket: bucket }));
      blobs = new Blobs(target.client, bucket);
    });
    afterAll(() => target?.close());

    test('reads ranges: shorter ones at the end, none after it', async () => {
      await blobs.put('ranges', Buffer.from('0123456789'));
      expect(text(await blobs.read('ranges', 2, 3))).toBe('234');
      expect(text(await blobs.read('ranges', 8, 100))).toBe('89');
      expect(text(await blobs.read('ranges', 10, 5))).toBe('');
      expect((await blobs.head('ranges'))?.size).toBe(10);
    });

    test('reports missing files', async () => {
      await expect(blobs.read('absent', 0, 1)).rejects.toThrow(Missing);
      await expect(blobs.stream('absent')).rejects.toThrow(Missing);
      expect(await blobs.head('absent')).toBeUndefined();
      await blobs.delete(['absent']);
    });

    test('of concurrent writes that require the file to be absent one succeeds', async () => {
      const writers = Array.from({ length: 8 }, (_, n) =>
        blobs.put('race', Buffer.from(`writer ${n}`), { ifAbsent: true }),
      );
      const outcomes = await Promise.allSettled(writers);
      const won = outcomes.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
      expect(won).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(AlreadyExists);
      }
      expect(text(await blobs.read('race', 0, 100))).toBe(`writer ${won[0]}`);
    });

    test('lists by prefix in byte order, page by page', async () => {
      const keys = ['list/A', 'list/a', 'list/a/b', 'list/é', 'list/😀'];
      await Promise.all([...keys, 'listless'].map((key) => blobs.put(key, Buffer.from('x'))));
      expect(await blobs.list('list/')).toEqual({ keys, more: false });
      expect(await blobs.list('list/', { limit: 2 })).toEqual({ keys: keys.slice(0, 2), more: true });
      expect(await blobs.list('list/', { after: keys[1]! })).toEqual({ keys: keys.slice(2), more: false });
      await blobs.delete(keys);
      expect((await blobs.list('list/')).keys).toEqual([]);
    });

    test('a file uploaded in parts is read back whole', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'lemnos-parts-'));
      try {
        const bytes = randomBytes(20 * 1024 * 1024 + 1);
        writeFileSync(join(folder, 'file'), bytes);
        await blobs.putFile('parts', join(folder, 'file'), bytes.length);
        const parts: Uint8Array[] = [];
        for await (const part of await blobs.stream('parts')) parts.push(part);
        expect(Buffer.concat(parts).equals(bytes)).toBe(true);
        // Across the boundary between two parts.
        const offset = 16 * 1024 * 1024 - 5;
        expect(text(await blobs.read('parts', offset, 10))).toBe(text(bytes.subarray(offset, offset + 10)));
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    test('presigned URLs write and read without credentials', async () => {
      const disposition = "attachment; filename*=UTF-8''%C3%BC%20b.txt";
      const put = await fetch(await blobs.presignedPut('signed', 60), { method: 'PUT', body: 'by URL' });
      expect(put.status).toBe(200);
      const got = await fetch(
        await blobs.presignedGet('signed', 60, { type: 'text/x-y; charset=utf-8', disposition }),
      );
      expect(await got.text()).toBe('by URL');
      expect(got.headers.get('content-type')).toBe('text/x-y; charset=utf-8');
      expect(got.headers.get('content-disposition')).toBe(disposition);
      expect(got.headers.get('cache-control')).toBe('private, no-store');
    });

    test('objects of other storages are in their buckets, below their prefixes', async () => {
      const other = `${bucket}-other`;
      await target.client.send(new CreateBucketCommand({ Bucket: other }));
      const all = new Blobs(target.client, bucket, {
        default: { bucket, prefix: '' },
        cold: { bucket: other, prefix: 'in/here/' },
      });
      const plain = new Blobs(target.client, other);
      await all.put('@cold/a/1', Buffer.from('one'));
      await all.put('@cold/a/2', Buffer.from('two'));
      await all.put('@default/m/a', Buffer.from('here'));
      expect(text(await plain.read('in/here/a/1', 0, 9))).toBe('one');
      expect(text(await blobs.read('m/a', 0, 9))).toBe('here');
      expect(await all.list('@cold/a/')).toEqual({ keys: ['@cold/a/1', '@cold/a/2'], more: false });
      expect(await all.list('@cold/a/', { after: '@cold/a/1' })).toEqual({
        keys: ['@cold/a/2'],
        more: false,
      });
      await all.copy('@cold/a/1', 'copied');
      expect(text(await blobs.read('copied', 0, 9))).toBe('one');
      await all.delete(['@cold/a/1', 'copied', '@cold/a/2', '@default/m/a']);
      expect((await plain.list('')).keys).toEqual([]);
      expect(await blobs.head('copied')).toBeUndefined();
      await expect(all.put('@warm/a', Buffer.from('x'))).rejects.toThrow(StoreUnavailable);
    });

    test('copies objects of any size to another bucket, in parts above a size', async () => {
      const other = `${bucket}-copies`;
      await target.client.send(new CreateBucketCommand({ Bucket: other }));
      const all = new Blobs(target.client, bucket, { cold: { bucket: other, prefix: '' } });
      const copies = new ObjectCopies(target.client, all, 5 * 1024 * 1024);
      const bytes = randomBytes(11 * 1024 * 1024 + 1);
      await all.put('whole', bytes);
      await copies.copy('whole', '@cold/parts', bytes.length);
      expect(bytes.equals(await all.read('@cold/parts', 0, bytes.length + 1))).toBe(true);
      await all.put('small', bytes.subarray(0, 100));
      await copies.copy('small', '@cold/small', 100);
      expect(bytes.subarray(0, 100).equals(await all.read('@cold/small', 0, 101))).toBe(true);
      await expect(copies.copy('absent', '@cold/absent', 6 * 1024 * 1024)).rejects.toThrow(Missing);
    });
  });
}
