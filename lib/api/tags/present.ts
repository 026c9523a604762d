import type { Oid } from '../../git/oid.ts';
import { type CommitRecord, commitBasic } from '../commits/present.ts';

export interface TagRecord {
  readonly name: string;
  /** The annotation without its signature's trailing newline; null for a lightweight tag. */
  readonly message: string | null;
  /** The tag object's id, or the commit's for a lightweight tag. */
  readonly target: Oid;
  /** Null when the tag does not lead to a commit. */
  readonly commit: CommitRecord | null;
}

/** Releases and tag protection do not exist yet. */
export function tag(record: TagRecord, projectUrl: string) {
  return {
    name: record.name,
    message: record.message,
    target: record.target,
    commit: record.commit === null ? null : commitBasic(record.commit, projectUrl),
    release: null,
    protected: false,
  };
}
