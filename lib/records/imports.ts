/** How far a repository is that is filled with the content of another: `none` when it never was. */
const IMPORT_STATUSES = ['none', 'scheduled', 'started', 'finished', 'failed'] as const;

export type ImportStatus = (typeof IMPORT_STATUSES)[number];

export interface ImportSource {
  /** ULID: of the import, and of what is staged for it. */
  readonly id: string;
  readonly type: 'git';
  /** Without credentials. */
  readonly url: string;
}
