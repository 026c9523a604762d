import { asBuffer } from '../bytes/as-buffer.ts';

export interface SignedCommit {
  /** The armored texts of its `gpgsig` headers; git writes at most one. */
  readonly signatures: readonly string[];
  /** What was signed: the object without these headers, byte for byte. */
  readonly payload: Buffer;
}

/**
 * Separates a commit's signature from its payload (git's `Documentation/gitformat-signature`). The payload contains
 * neither the signature header for SHA-1 nor that for SHA-256.
 */
export function signedCommit(bytes: Uint8Array): SignedCommit {
  const data = asBuffer(bytes);
  const kept: Buffer[] = [];
  const signatures: string[] = [];
  let at = 0;
  let keptFrom = 0;
  while (at < data.length && data[at] !== LF) {
    const end = headerEnd(data, at);
    // A commit may have a hundred thousand headers, and seldom one with this letter.
    const name =
      data[at] === G ? NAMES.find((one) => data.toString('latin1', at, at + one.length) === one) : undefined;
    if (name !== undefined) {
      kept.push(data.subarray(keptFrom, at));
      keptFrom = end;
    }
    if (name === NAMES[0]) {
      const value = data.subarray(at + name.length, end).toString('latin1');
      signatures.push(value.replace(/\n /g, '\n'));
    }
    at = end;
  }
  kept.push(data.subarray(keptFrom));
  return { signatures, payload: Buffer.concat(kept) };
}

const LF = 0x0a;
const G = 0x67;
const NAMES = ['gpgsig ', 'gpgsig-sha256 '] as const;

/** The end of the header that starts at `at`, including its continuation lines. */
function headerEnd(data: Buffer, at: number): number {
  for (let end = at; ; ) {
    const newline = data.indexOf(LF, end);
    if (newline < 0) return data.length;
    end = newline + 1;
    if (data[end] !== 0x20) return end;
  }
}
