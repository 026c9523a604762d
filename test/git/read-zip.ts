import { crc32 } from 'node:zlib';
import yauzl from 'yauzl';

export interface Zip {
  readonly comment: string;
  readonly entries: { name: string; mode: number; time: number; data: Buffer }[];
}

export async function collected(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Reads a zip archive with an independent library, which verifies checksums; names one character per byte. */
export function readZip(zip: Buffer): Promise<Zip> {
  return new Promise((resolve, reject) => {
    const options = { lazyEntries: true, decodeStrings: false, validateEntrySizes: true };
    yauzl.fromBuffer(zip, options, (error, file) => {
      if (error) return reject(error);
      const entries: Zip['entries'] = [];
      file.on('error', reject);
      file.on('end', () => resolve({ comment: String(file.comment), entries }));
      file.on('entry', (entry: yauzl.Entry) => {
        file.openReadStream(entry, async (failure, stream) => {
          if (failure) return reject(failure);
          const data = await collected(stream);
          if (crc32(data) !== entry.crc32) return reject(new Error(`checksum of ${String(entry.fileName)}`));
          const extra = entry.extraFields.find(({ id }) => id === 0x5455)!;
          const name = (entry.fileName as unknown as Buffer).toString('latin1');
          const time = extra.data.readUInt32LE(1);
          entries.push({ name, mode: entry.externalFileAttributes >>> 16, time, data });
          file.readEntry();
        });
      });
      file.readEntry();
    });
  });
}
