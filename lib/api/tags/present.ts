import type { TagRecord } from '../../domain/tags.ts';
import { commitBasic } from '../commits/present.ts';

/** Releases and tag protection do not exist yet. */
export function tag(record: TagRecord, projectUrl: string) {
  return {
    name: record.name,
    message: record.message,
    target: record.target,
    commit: commitBasic(record.commit, projectUrl),
    release: null,
    protected: false,
  };
}
