import { asBuffer } from '../bytes/as-buffer.ts';
import { CorruptData } from './corrupt-data.ts';
import { type Oid, parseOid } from './oid.ts';

const SIGNATURE = '# v2 git bundle\n';

export interface BundleRef {
  readonly name: string;
  readonly oid: Oid;
}

/** The header of a bundle without prerequisites (gitformat-bundle, version 2); the pack follows it. */
export function bundleHeader(refs: readonly BundleRef[]): Buffer {
  return Buffer.from(`${SIGNATURE}${refs.map(({ oid, name }) => `${oid} ${name}\n`).join('')}\n`);
}

/**
 * @param begin the first bytes of a bundle
 * @returns undefined when the header does not end within these bytes
 * @throws CorruptData `derived-file`
 */
export function parseBundleHeader(begin: Uint8Array): BundleRef[] | undefined {
  const bytes = asBuffer(begin);
  if (!bytes.subarray(0, SIGNATURE.length).equals(Buffer.from(SIGNATURE).subarray(0, bytes.length)))
    throw new CorruptData('derived-file', 'bundle: not one of version 2');
  const end = bytes.indexOf('\n\n', SIGNATURE.length - 1);
  if (end < 0) return undefined;
  const lines = bytes.toString('latin1', SIGNATURE.length, end).split('\n');
  return lines.filter(Boolean).map((line) => {
    const oid = parseOid(line.slice(0, 40));
    if (oid === undefined || line[40] !== ' ') throw new CorruptData('derived-file', 'bundle: malformed ref');
    return { oid, name: line.slice(41) };
  });
}
