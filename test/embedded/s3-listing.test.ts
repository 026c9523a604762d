import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyIndex } from '../../local/aws/s3/key-index.ts';
import { Bucket, failure, listAll, openFixture } from './s3-fixture.ts';

const keysOf = async (client: Awaited<ReturnType<typeof openFixture>>['client'], keys: string[]) => {
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
};

/** The definition: sort by UTF-8, filter by prefix, group by delimiter. */
function expected(keys: string[], prefix: string, delimiter: string, after: string): string[] {
  const bytes = (text: string) => Buffer.from(text);
  const folded = [...new Set(keys)]
    .sort((a, b) => Buffer.compare(bytes(a), bytes(b)))
    .filter((key) => key.startsWith(prefix) && Buffer.compare(bytes(key), bytes(after)) > 0)
    .map((key) => {
      const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
      return end === -1 ? key : key.slice(0, end + delimiter.length);
    });
  return [...new Set(folded)];
}

const letters = fc.constantFrom('a', 'b', '/', '-', '\u{10000}', '\uffff', 'ü', '\u0000');
const key = fc.array(letters, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));

describe('the key index', () => {
  it('lists by the definition, for any page size, prefix and delimiter', () => {
    fc.assert(
      fc.property(
        fc.array(key, { maxLength: 30 }),
        fc.array(key, { maxLength: 10 }),
        fc.constantFrom('', 'a', 'a/', 'ü', '\u{10000}'),
        fc.constantFrom('', '/', '-', '/-'),
        fc.integer({ min: 1, max: 5 }),
        (keys, removed, prefix, delimiter, limit) => {
          const index = new KeyIndex(new Set(keys.slice(0, 10)));
          for (const added of keys) index.add(added);
          for (const gone of removed) index.delete(gone);
          const left = keys.filter((other) => !removed.includes(other));
          const found: string[] = [];
          for (let after = ''; ; ) {
            const page = index.list({ prefix, delimiter, after, limit });
            for (const entry of page.entries) found.push((after = 'key' in entry ? entry.key : entry.prefix));
            if (!page.truncated) break;
            expect(page.entries).toHaveLength(limit);
          }
          expect(found).toEqual(expected(left, prefix, delimiter, ''));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('starts after any string', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 30 }), key, (keys, after) => {
        const page = new KeyIndex(new Set(keys)).list({ prefix: '', delimiter: '', after, limit: 1000 });
        expect(page.entries.map((entry) => Object.values(entry)[0])).toEqual(expected(keys, '', '', after));
      }),
    );
  });
});

describe('ListObjectsV2', () => {
  it('groups by delimiter and lists page by page', async () => {
    await using fixture = await openFixture();
    const { client } = fixture;
    await keysOf(client, ['a', 'a-b', 'a/1', 'a/2', 'b/', 'b/3', 'c\u{1f3db}', 'c\uffee', 'd']);
    const pages: unknown[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket, Delimiter: '/', MaxKeys: 2, ContinuationToken }),
      );
      pages.push([
        page.Contents?.map(({ Key }) => Key),
        page.CommonPrefixes?.map(({ Prefix }) => Prefix),
        page.KeyCount,
      ]);
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    expect(pages).toEqual([
      [['a', 'a-b'], undefined, 2],
      [undefined, ['a/', 'b/'], 2],
      [['c\uffee', 'c\u{1f3db}'], undefined, 2],
      [['d'], undefined, 1],
    ]);
    expect(await listAll(client, Bucket, { StartAfter: 'b', Prefix: 'b' })).toEqual(['b/', 'b/3']);
    expect(await listAll(client, Bucket, { StartAfter: 'a/1', MaxKeys: 1, Prefix: 'a/' })).toEqual(['a/2']);
    expect(await listAll(client, Bucket, { MaxKeys: 0 })).toEqual([]);
    const encoded = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'c', EncodingType: 'url' }));
    expect(encoded.Contents?.map(({ Key }) => Key)).toEqual(['c%EF%BF%AE', 'c%F0%9F%8F%9B']);
    const bad = new ListObjectsV2Command({ Bucket, ContinuationToken: 'made up' });
    expect(await failure(client.send(bad))).toMatchObject({ name: 'InvalidArgument' });
  });

  it('shows every acknowledged write and deletion', async () => {
    await using fixture = await openFixture();
    const { client } = fixture;
    expect(await listAll(client, Bucket)).toEqual([]);
    await Promise.all([keysOf(client, ['x', 'y']), keysOf(client, ['z'])]);
    expect(await listAll(client, Bucket)).toEqual(['x', 'y', 'z']);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'y' }));
    expect(await listAll(client, Bucket)).toEqual(['x', 'z']);
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket }));
    expect(Contents?.[0]).toMatchObject({
      Key: 'x',
      Size: 1,
      ETag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
    });
  });
});
