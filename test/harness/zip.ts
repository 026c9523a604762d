/** Zip archives of the tests' own, which may say what is not so. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZippedFile {
  readonly name: string;
  readonly content?: string | Uint8Array;
  readonly stored?: boolean;
  /** The file's kind and mode, as Unix has them. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  /** What the directory says instead of what is so. */
  readonly says?: { readonly size?: number; readonly crc?: number; readonly offset?: number };
  /** Bytes of the extra field of the local header, which the directory does not have. */
  readonly localExtra?: number;
}

/** @param zip64 whether every number is where large ones are */
export function zipOf(files: readonly ZippedFile[], { zip64 = false, comment = '' } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const {
      name,
      content = '',
      stored = false,
      mode = 0o100644,
      flags = 0,
      says = {},
      localExtra = 0,
    } = file;
    const bytes = Buffer.from(content as string);
    const packed = stored ? bytes : deflateRawSync(bytes);
    const method = file.method ?? (stored ? 0 : 8);
    const path = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(flags, 6);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(path.length, 26);
    local.writeUInt16LE(localExtra, 28);
    parts.push(local, path, Buffer.alloc(localExtra), packed);
    const size = says.size ?? bytes.length;
    const place = says.offset ?? offset;
    const extra = zip64 ? Buffer.alloc(28) : Buffer.alloc(0);
    if (zip64) {
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(24, 2);
      for (const [i, n] of [size, packed.length, place].entries())
        extra.writeBigUInt64LE(BigInt(n), 4 + 8 * i);
    }
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt8(20, 4);
    entry.writeUInt8(3, 5);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(says.crc ?? crc32(bytes), 16);
    entry.writeUInt32LE(zip64 ? 0xffffffff : packed.length, 20);
    entry.writeUInt32LE(zip64 ? 0xffffffff : size, 24);
    entry.writeUInt16LE(path.length, 28);
    entry.writeUInt16LE(extra.length, 30);
    entry.writeUInt32LE(((mode << 16) >>> 0) as number, 38);
    entry.writeUInt32LE(zip64 ? 0xffffffff : place, 42);
    directory.push(entry, path, extra);
    offset += 30 + path.length + localExtra + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(zip64 ? 0xffff : files.length & 0xffff, 8);
  end.writeUInt16LE(zip64 ? 0xffff : files.length & 0xffff, 10);
  end.writeUInt32LE(zip64 ? 0xffffffff : listed.length, 12);
  end.writeUInt32LE(zip64 ? 0xffffffff : offset, 16);
  end.writeUInt16LE(comment.length, 20);
  const large: Buffer[] = [];
  if (zip64) {
    const end64 = Buffer.alloc(56);
    end64.writeUInt32LE(0x06064b50, 0);
    end64.writeBigUInt64LE(44n, 4);
    end64.writeBigUInt64LE(BigInt(files.length), 24);
    end64.writeBigUInt64LE(BigInt(files.length), 32);
    end64.writeBigUInt64LE(BigInt(listed.length), 40);
    end64.writeBigUInt64LE(BigInt(offset), 48);
    const locator = Buffer.alloc(20);
    locator.writeUInt32LE(0x07064b50, 0);
    locator.writeBigUInt64LE(BigInt(offset + listed.length), 8);
    locator.writeUInt32LE(1, 16);
    large.push(end64, locator);
  }
  return Buffer.concat([...parts, listed, ...large, end, Buffer.from(comment)]);
}
