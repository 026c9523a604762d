/** One file out of a zip archive, and archives that mean harm. */
import { describe, expect, test } from 'vitest';
import { BadZip, contentOf, findEntry, type ZipSource } from '../../../lib/domain/artifacts/zip.ts';
import { zipOf } from '../../harness/zip.ts';

function sourceOf(archive: Buffer): ZipSource & { readonly reads: number[] } {
  const reads: number[] = [];
  const read = async (offset: number, length: number) => {
    reads.push(length);
    return archive.subarray(offset, offset + length);
  };
  return {
    size: archive.length,
    reads,
    read,
    async stream(offset, length) {
      const bytes = await read(offset, length);
      return (async function* () {
        for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
      })();
    },
  };
}

/** An archive behind a gap that has no bytes in memory: what is in it is so much further on. */
function behind(gap: number, archive: Buffer): ZipSource & { readonly reads: number[] } {
  const end = archive.length - 22;
  const directory = archive.readUInt32LE(end + 16);
  for (let at = directory; at < end; ) {
    archive.writeUInt32LE(archive.readUInt32LE(at + 42) + gap, at + 42);
    at += 46 + archive.readUInt16LE(at + 28) + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  archive.writeUInt32LE(directory + gap, end + 16);
  const within = sourceOf(archive);
  return {
    ...within,
    size: gap + archive.length,
    read: (offset, length) => within.read(offset - gap, length),
    stream: (offset, length) => within.stream(offset - gap, length),
  };
}

async function fileOf(source: ZipSource, path: string): Promise<string | undefined> {
  const entry = await findEntry(source, path);
  if (entry === undefined) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of contentOf(source, entry)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const LONG = 'lorem ipsum '.repeat(10_000);

describe('a file is read', () => {
  test.each([
    ['deflated', {}, {}],
    ['stored', { stored: true }, {}],
    ['behind a long local header', { localExtra: 5000 }, {}],
    ['of a zip64 archive', {}, { zip64: true }],
    ['of an archive with a comment', {}, { comment: 'PK\x05\x06 a comment' }],
  ])('%s', async (_what, file, options) => {
    const archive = zipOf(
      [{ name: 'a.txt', content: 'a' }, { name: 'dir/ü.txt', content: LONG, ...file }, { name: 'empty' }],
      options,
    );
    const source = sourceOf(archive);
    expect(await fileOf(source, 'dir/ü.txt')).toBe(LONG);
    expect(await fileOf(source, 'empty')).toBe('');
    for (const path of ['dir', 'dir/', 'ü.txt', 'DIR/ü.txt', ''])
      expect(await fileOf(source, path)).toBe(undefined);
  });

  test('of a large archive with many files by three reads', async () => {
    const files = Array.from({ length: 100_000 }, (_, n) => ({
      name: `directory/file-${n}.txt`,
      content: `${n}`,
      stored: true,
    }));
    const source = sourceOf(zipOf(files));
    expect(await fileOf(source, 'directory/file-77777.txt')).toBe('77777');
    expect(source.reads.length).toBe(3);
    expect(await fileOf(source, 'directory/file-100000.txt')).toBe(undefined);
  });

  test('of an archive of a gigabyte by three reads, of little more than the directory', async () => {
    const files = Array.from({ length: 10_000 }, (_, n) => ({
      name: `directory/file-${n}.txt`,
      content: `${n}`,
    }));
    const source = behind(2 ** 30, zipOf(files));
    expect(await fileOf(source, 'directory/file-7777.txt')).toBe('7777');
    expect(source.reads.length).toBe(3);
    expect(source.reads.reduce((sum, length) => sum + length, 0)).toBeLessThan(2 * 2 ** 20);
  });

  test('the last of one name', async () => {
    const archive = zipOf([
      { name: 'a', content: 'first' },
      { name: 'a', content: 'last' },
    ]);
    expect(await fileOf(sourceOf(archive), 'a')).toBe('last');
  });
});

describe('is not found', () => {
  test.each([
    ['a link', { mode: 0o120777 }],
    ['an encrypted file', { flags: 1 }],
    ['a file that is packed in another way', { method: 93 }],
  ])('%s', async (_what, file) => {
    const archive = zipOf([{ name: 'a', content: '/etc/passwd', ...file }]);
    expect(await fileOf(sourceOf(archive), 'a')).toBe(undefined);
  });
});

describe('an archive is refused', () => {
  const bomb = zipOf([{ name: 'a', content: Buffer.alloc(50_000_000), says: { size: 1000 } }]);
  test.each([
    ['that is no archive', Buffer.from('no archive at all')],
    ['that is empty', Buffer.alloc(0)],
    ['that is cut off', zipOf([{ name: 'a', content: LONG }]).subarray(0, -30)],
    ['with a file that is longer than it says', bomb],
    ['with a file that is shorter than it says', zipOf([{ name: 'a', content: 'x', says: { size: 9 } }])],
    ['with a file that was damaged', zipOf([{ name: 'a', content: 'x', says: { crc: 1 } }])],
    ['with a file that begins elsewhere', zipOf([{ name: 'a', content: 'x', says: { offset: 5 } }])],
    ['with a file beyond its end', zipOf([{ name: 'a', content: 'x', says: { offset: 2 ** 31 } }])],
    ['with a directory of rubbish', Buffer.concat([Buffer.alloc(100, 7), endOf(60, 40)])],
    ['with a directory beyond its end', Buffer.concat([Buffer.alloc(100), endOf(60, 90)])],
    ['with a directory that is too large', Buffer.concat([Buffer.alloc(100), endOf(2 ** 31, 0)])],
    ['with a zip64 end that is elsewhere', elsewhere()],
  ])('%s', async (_what, archive) => {
    await expect(fileOf(sourceOf(archive), 'a')).rejects.toThrow(BadZip);
  });

  test('after at most as many bytes as were promised', async () => {
    const source = sourceOf(bomb);
    let bytes = 0;
    const reading = async () => {
      for await (const piece of contentOf(source, (await findEntry(source, 'a'))!)) bytes += piece.length;
    };
    await expect(reading()).rejects.toThrow(BadZip);
    expect(bytes).toBeLessThanOrEqual(1000);
  });
});

function endOf(length: number, offset: number): Buffer {
  const end = zipOf([]);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}

/** An archive whose zip64 end is said to be where the archive begins. */
function elsewhere(): Buffer {
  const archive = zipOf([{ name: 'a', content: 'x' }], { zip64: true });
  archive.writeBigUInt64LE(0n, archive.length - 22 - 20 + 8);
  return archive;
}
