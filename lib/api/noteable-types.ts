import type { NoteableKind } from '../records/notes.ts';

/** The names of kinds of objects in answers. */
export const TYPES = {
  commit: 'Commit',
  issue: 'Issue',
  'merge-request': 'MergeRequest',
  snippet: 'Snippet',
  epic: 'Epic',
  alert: 'AlertManagement::Alert',
} as const satisfies Readonly<Record<NoteableKind, string>>;
