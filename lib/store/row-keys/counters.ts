import type { Key } from './key.ts';
import type { RowKind } from './row-kind.ts';

export type CounterKind =
  | 'user'
  | 'project'
  | 'token'
  | 'namespace'
  | 'branch-rule'
  | 'approval-rule'
  | 'note'
  | 'issue'
  | 'issue-link'
  | 'merge-request'
  | 'diff-version'
  | 'pipeline'
  | 'ssh-key'
  | 'gpg-key'
  | 'gpg-subkey'
  | 'email'
  | 'commit-status'
  | 'project-share'
  | 'deploy-token'
  | 'invitation'
  | 'audit-event'
  | 'event'
  | 'label'
  | 'milestone'
  | 'epic'
  | 'iteration'
  | 'topic'
  | 'todo'
  | 'award';

export const counterKey = (kind: CounterKind): Key => ({ pk: `COUNTER#${kind}`, sk: 'COUNTER' });

export const rowKinds = [
  { name: 'counter', partitions: ['COUNTER#'], keys: { counterKey }, of: ['instance'] },
] as const satisfies readonly RowKind[];
