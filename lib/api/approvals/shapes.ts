import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { SHOWN_RULE_TYPES } from '../../records/approvals.ts';
import { protectedBranches } from '../branches/shapes.ts';
import { group } from '../groups/shapes.ts';
import { time, userBasic } from '../users/shapes.ts';

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

const ruleFields = () => ({
  id: z.int(),
  name: z.string(),
  rule_type: z.enum(SHOWN_RULE_TYPES),
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

const merged = () => ({
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.string(),
  created_at: time(),
  updated_at: time(),
});

export const approvals = shape(() =>
  z
    .object({
      ...merged(),
      merge_status: z.string(),
      approved: z.boolean().describe('Whether it has all approvals that it needs'),
      approvals_required: z.int().describe('The sum of all rules'),
      approvals_left: z.int(),
      require_password_to_approve: z.boolean(),
      approved_by: z
        .array(z.object({ user: userBasic() }))
        .describe('Everybody who approved, earliest first'),
      suggested_approvers: z.array(z.unknown()).describe('Always empty'),
      approvers: z.array(z.unknown()).describe('Always empty: see the approval rules'),
      approver_groups: z.array(z.unknown()).describe('Always empty: see the approval rules'),
      user_has_approved: z.boolean(),
      user_can_approve: z.boolean(),
      approval_rules_left: z.array(
        z.object({ id: z.int().nullable(), name: z.string(), rule_type: z.enum(SHOWN_RULE_TYPES) }),
      ),
      has_approval_rules: z.boolean(),
      merge_request_approvers_available: z.boolean(),
      multiple_approval_rules_available: z.boolean(),
    })
    .meta({ id: 'MergeRequestApprovals' }),
);

export const ownRule = shape(() =>
  z
    .object({
      ...ruleFields(),
      section: z.string().nullable().describe('Of CODEOWNERS'),
      source_rule: z
        .object({ id: z.int(), name: z.string(), approvals_required: z.int() })
        .nullable()
        .describe('The rule of the project that it stands for'),
      overridden: z.boolean().describe('Whether it differs from that rule'),
    })
    .meta({ id: 'MergeRequestApprovalRule' }),
);
export const ownRules = shape(() => z.array(ownRule()));

export const approvalState = shape(() =>
  z
    .object({
      approval_rules_overwritten: z.boolean().describe('Whether the merge request has rules of its own'),
      rules: z.array(
        z
          .object({
            ...ruleFields(),
            id: z.int().nullable().describe('Null: what `approvals_before_merge` asks for'),
            source_rule: z.object({ id: z.int(), name: z.string(), approvals_required: z.int() }).nullable(),
            overridden: z.boolean(),
            section: z.string().nullable().describe('Of CODEOWNERS'),
            code_owner: z.boolean(),
            approved: z.boolean(),
            approved_by: z.array(userBasic()).describe('Those whose approvals count for the rule'),
          })
          .meta({ id: 'ApprovalRuleState' }),
      ),
    })
    .meta({ id: 'ApprovalState' }),
);
