import type { Branch } from '../../domain/branches.ts';
import { commitBasic } from '../commits/present.ts';

/** Protection rules do not exist yet: `protected` is false and pushing asks for the role alone. */
export function branch(record: Branch, projectUrl: string, canPush: boolean) {
  return {
    name: record.name,
    commit: commitBasic(record.tip, projectUrl),
    merged: record.merged,
    protected: false,
    developers_can_push: false,
    developers_can_merge: false,
    can_push: canPush,
    default: record.isDefault,
    web_url: `${projectUrl}/-/tree/${record.name.split('/').map(encodeURIComponent).join('/')}`,
  };
}
