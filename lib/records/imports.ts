/** Progress of importing another repository's content; `none`: never imported. */
const IMPORT_STATUSES = ['none', 'scheduled', 'started', 'finished', 'failed'] as const;

export type ImportStatus = (typeof IMPORT_STATUSES)[number];

export interface ImportSource {
  /** ULID of the import and of its staged files. */
  readonly id: string;
  readonly type: 'git';
  /** Without credentials. */
  readonly url: string;
}
