import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { APPROVAL_RULE_TYPES } from '../../records/approvals.ts';
import { protectedBranches } from '../branches/shapes.ts';
import { group } from '../groups/shapes.ts';
import { userBasic } from '../users/shapes.ts';

export const configuration = shape(() =>
  z
    .object({
      approvers: z.array(z.unknown()).describe('Always empty: see the approval rules'),
      approver_groups: z.array(z.unknown()).describe('Always empty: see the approval rules'),
      approvals_before_merge: z.int(),
      reset_approvals_on_push: z.boolean(),
      selective_code_owner_removals: z.boolean(),
      disable_overriding_approvers_per_merge_request: z.boolean(),
      merge_requests_author_approval: z.boolean(),
      merge_requests_disable_committers_approval: z.boolean(),
      require_password_to_approve: z.boolean(),
    })
    .meta({ id: 'ApprovalConfiguration' }),
);

const setting = shape(() =>
  z
    .object({
      value: z.boolean().describe('What applies'),
      locked: z.boolean().describe('Whether a group above decides it'),
      inherited_from: z.enum(['group']).nullable(),
    })
    .meta({ id: 'ApprovalSetting' }),
);

export const settings = shape(() =>
  z
    .object({
      allow_author_approval: setting(),
      allow_committer_approval: setting(),
      allow_overrides_to_approver_list_per_merge_request: setting(),
      retain_approvals_on_push: setting(),
      selective_code_owner_removals: setting(),
      require_password_to_approve: setting(),
      require_reauthentication_to_approve: setting(),
    })
    .meta({ id: 'ApprovalSettings' }),
);

export const ruleFields = () => ({
  id: z.int(),
  name: z.string(),
  rule_type: z.enum(APPROVAL_RULE_TYPES),
  report_type: z.null(),
  eligible_approvers: z
    .array(userBasic())
    .describe(
      'The users of the rule and members of its groups, the first 100; empty where anybody may approve',
    ),
  approvals_required: z.int(),
  users: z.array(userBasic()),
  groups: z.array(group()),
  contains_hidden_groups: z.boolean().describe('Whether it names groups that the caller cannot see'),
});

export const projectRule = shape(() =>
  z
    .object({
      ...ruleFields(),
      protected_branches: protectedBranches().describe('Empty: the rule is for every branch'),
      applies_to_all_protected_branches: z.boolean(),
    })
    .meta({ id: 'ProjectApprovalRule' }),
);
export const projectRules = shape(() => z.array(projectRule()));
