import { MalformedSignature } from './malformed.ts';

export interface Armored {
  /** `PGP SIGNATURE`, `SSH SIGNATURE`, ... */
  readonly label: string;
  readonly data: Buffer;
}

/**
 * Decodes a text that consists of one armored block (RFC 9580 §6, RFC 7468). Ignores header lines; verifies the
 * checksum, if there is one.
 * @throws MalformedSignature
 */
export function unarmored(text: string): Armored {
  if (text.length > MAX_LENGTH) throw new MalformedSignature('it is too long');
  const lines = text.trim().split(/\r?\n/);
  const label = /^-----BEGIN ([A-Z0-9 ]+)-----[ \t]*$/.exec(lines[0] ?? '')?.[1];
  if (label === undefined || (lines.at(-1) ?? '').trimEnd() !== `-----END ${label}-----`) {
    throw new MalformedSignature('it is not one armored block');
  }
  const inner = lines.slice(1, -1).map((line) => line.trim());
  // Headers end with an empty line; SSH and X.509 have no headers, and some programs omit the empty line.
  const blank = inner.indexOf('');
  const headers = blank >= 0 && inner.slice(0, blank).every((line) => /^[A-Za-z0-9-]+: ?/.test(line));
  const body = (headers ? inner.slice(blank + 1) : inner).filter((line) => line !== '');
  const checksum =
    label.startsWith('PGP ') && /^=[A-Za-z0-9+/]{4}$/.test(body.at(-1) ?? '') ? body.pop()! : undefined;
  const base64 = body.join('');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new MalformedSignature('it is not base64');
  const data = Buffer.from(base64, 'base64');
  if (checksum !== undefined && crc24(data) !== Buffer.from(checksum.slice(1), 'base64').readUIntBE(0, 3)) {
    throw new MalformedSignature('its checksum is wrong');
  }
  return { label, data };
}

/** Maximum length of an armored text. Keys and signatures are a few kilobytes, with certificates about ten. */
const MAX_LENGTH = 200_000;

function crc24(data: Uint8Array): number {
  let crc = 0xb704ce;
  for (const byte of data) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if (crc & 0x1000000) crc ^= 0x1864cfb;
    }
  }
  return crc & 0xffffff;
}
