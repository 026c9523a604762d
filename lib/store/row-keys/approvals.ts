import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** The approval rules of a project and of its merge requests. */
export const approvalsPartition = (projectId: number): string => `APPROVALS#${padded(projectId)}`;

/** @param iid number of a merge request; null: the project itself */
export const approvalRulesKey = (projectId: number, iid: number | null): Key => ({
  pk: approvalsPartition(projectId),
  sk: iid === null ? 'PROJECT' : `MR#${padded(iid)}`,
});

export const rowKinds = [
  { name: 'approval-rules', partitions: ['APPROVALS#'], keys: { approvalRulesKey }, of: ['project'] },
] as const satisfies readonly RowKind[];
