import type { VersionCommits } from '../../records/merge-requests.ts';
import type { NotePosition } from '../../records/notes.ts';

/** Whether a position is in another version of the merge request than the latest one. */
export const isFormer = (position: NotePosition | undefined, { baseSha, headSha }: VersionCommits): boolean =>
  position !== undefined && (position.headSha !== headSha || position.baseSha !== baseSha);
