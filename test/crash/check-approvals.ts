import type { ApprovalRules } from '../../lib/records/approvals.ts';
import { approvalRulesKey } from '../../lib/store/row-keys/approvals.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Rules are where their project and merge request say, their names differ, and no id is there twice. */
export const approvals = rowCheck(['approval-rules'], function* (rows) {
  const seen = new Set<number>();
  for (const set of rows.of('APPROVALS#') as unknown as readonly (Row & ApprovalRules)[]) {
    const { projectId, iid, rules } = set;
    if (keyText(approvalRulesKey(projectId, iid)) !== keyText(set)) yield `${keyText(set)} stands wrongly`;
    if (rows.get(projectKey(projectId)) === undefined) yield `${keyText(set)}: the project does not exist`;
    if (new Set(rules.map(({ name }) => name)).size < rules.length) yield `${keyText(set)} has a name twice`;
    for (const { id } of rules) {
      if (seen.has(id)) yield `there are two approval rules ${id}`;
      seen.add(id);
    }
  }
});
