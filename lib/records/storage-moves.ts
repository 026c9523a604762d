/** A move of repositories from one storage to another: of a project with its wiki, of the wiki of a group, or of a snippet. */
export interface StorageMoveRecord {
  readonly kind: MovedKind;
  readonly id: number;
  /** Of the project, the group or the snippet. */
  readonly subjectId: number;
  readonly state: StorageMoveState;
  /** Names of storages. */
  readonly source: string;
  readonly destination: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Why it failed, for administrators. */
  readonly error?: string;
}

export const MOVED_KINDS = ['project', 'group', 'snippet'] as const;
export type MovedKind = (typeof MOVED_KINDS)[number];

export const STORAGE_MOVE_STATES = [
  'initial',
  'scheduled',
  'started',
  'replicated',
  'finished',
  'failed',
  'cleanup failed',
] as const;
export type StorageMoveState = (typeof STORAGE_MOVE_STATES)[number];

/** What is moved. */
export interface MovedSubject {
  readonly kind: MovedKind;
  readonly id: number;
}

/** What of a project, a group or a snippet moves are about. */
export interface StoredSubject extends MovedSubject {
  readonly storagePrefix: string;
  /** The move that is under way. */
  readonly storageMove: number | undefined;
  /** Its repositories; some of them may not have begun. */
  readonly repositories: readonly { readonly repositoryId: string; readonly networkId: string }[];
}
