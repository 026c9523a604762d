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
  | 'environment'
  | 'deployment'
  | 'release'
  | 'release-link'
  | 'release-evidence'
  | 'package'
  | 'package-file'
  | 'epic'
  | 'iteration'
  | 'snippet'
  | 'storage-move'
  | 'topic'
  | 'todo'
  | 'award'
  | 'ci-variable'
  | 'runner'
  | 'hook'
  | 'pipeline-schedule'
  | 'trigger'
  | 'client-key'
  | 'tracked-error'
  | 'alert-integration';

export const counterKey = (kind: CounterKind): Key => ({ pk: `COUNTER#${kind}`, sk: 'COUNTER' });

export const rowKinds = [
  { name: 'counter', partitions: ['COUNTER#'], keys: { counterKey }, of: ['instance'] },
] as const satisfies readonly RowKind[];
