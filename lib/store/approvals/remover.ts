import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { ApprovalRuleSets } from './rules.ts';

export const remover: Remover<{ readonly approvalRules: ApprovalRuleSets }> = {
  ofProject: {
    rows: ['approval-rules'],
    run: ({ approvalRules }, { id }, deadline) =>
      untilNoneLeft(() => approvalRules.removeOfProject(id), deadline),
  },
};
