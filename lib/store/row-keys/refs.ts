import { type Key, wholeOrDigest } from './key.ts';
import { projectKey } from './projects.ts';
import type { RowKind } from './row-kind.ts';

export type RuleKind = 'branch' | 'tag' | 'environment';

export const RULE = 'RULE#';

export const rulePrefix = (kind: RuleKind): string => `${RULE}${kind}#`;

/** A rule that protects the branches or tags of a name or pattern, or the environment of a name. */
export const ruleKey = (projectId: number, kind: RuleKind, name: string): Key => ({
  pk: projectKey(projectId).pk,
  sk: rulePrefix(kind) + wholeOrDigest(name),
});

/** Number of rules of a project; sorts after them. */
export const ruleCountKey = (projectId: number): Key => ({ pk: projectKey(projectId).pk, sk: 'RULES' });

export const rowKinds = [
  { name: 'protection-rule', partitions: ['PROJECT#'], keys: { ruleKey }, of: ['project'] },
  { name: 'protection-rule-count', partitions: ['PROJECT#'], keys: { ruleCountKey }, of: ['project'] },
] as const satisfies readonly RowKind[];
