import { malformed } from './errors.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** @throws HttpFailure 400 for bytes that are not valid UTF-8 */
export function utf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw malformed('the request is not valid UTF-8');
  }
}
