export type CorruptionCode =
  | 'pack-header'
  | 'pack-truncated'
  | 'pack-checksum'
  | 'pack-trailing'
  | 'pack-entry'
  | 'object-size'
  | 'object-inflate'
  | 'object-too-large'
  | 'delta-base'
  | 'delta-malformed'
  | 'delta-too-deep'
  | 'index-malformed'
  | 'hash-mismatch'
  | 'object-malformed'
  | 'collision'
  /** a file derived from packs is not what was written */
  | 'derived-file'
  | 'limit';

/** Bytes that Git's formats do not allow, or that exceed a limit. Parsers throw this; they never crash or hang. */
export class CorruptData extends Error {
  readonly code: CorruptionCode;
  constructor(code: CorruptionCode, message: string) {
    super(message);
    this.name = 'CorruptData';
    this.code = code;
  }
}
