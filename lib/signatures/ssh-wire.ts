import { asBuffer } from '../bytes/as-buffer.ts';
import { MalformedSignature } from './malformed.ts';

/** Reads the data types of the SSH protocol (RFC 4251 §5) from untrusted bytes. */
export class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = asBuffer(bytes);
  }

  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** @throws MalformedSignature, as all reads do, when there are not enough bytes */
  take(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) throw new MalformedSignature('it ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  uint32(): number {
    return this.take(4).readUInt32BE();
  }

  string(): Buffer {
    return this.take(this.uint32());
  }

  text(): string {
    return this.string().toString('latin1');
  }

  /** A positive number in the shortest form, without its sign. */
  number(): Buffer {
    const bytes = this.string();
    if (bytes.length === 0 || bytes[0]! >= 0x80) throw new MalformedSignature('a number is not positive');
    if (bytes[0] !== 0) return bytes;
    if (bytes.length === 1 || bytes[1]! < 0x80)
      throw new MalformedSignature('a number is not in its shortest form');
    return bytes.subarray(1);
  }
}

export function sshString(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
