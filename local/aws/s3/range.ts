import { S3Error } from './errors.ts';

/** Bytes `start` to `end`, exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Reads a Range header (RFC 9110, section 14.1.2). S3 serves one range; it ignores a header that it cannot parse or that
 * has several ranges.
 *
 * @returns undefined for the whole object
 * @throws S3Error InvalidRange when it lies outside the object
 */
export function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Number(last);
    if (length === 0 || size === 0) throw invalidRange(header!, size);
    return { start: Math.max(0, size - length), end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) throw invalidRange(header!, size);
  return { start, end: last === '' ? size : Math.min(size, Number(last) + 1) };
}

const invalidRange = (header: string, size: number) =>
  new S3Error('InvalidRange', 'The requested range is not satisfiable', {
    RangeRequested: header,
    ActualObjectSize: size,
  });
