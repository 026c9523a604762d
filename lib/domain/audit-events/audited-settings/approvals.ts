import type { AuditedSettings } from './types.ts';

export const approvals: AuditedSettings = {
  groups: {
    allow_author_approval: true,
    allow_committer_approval: true,
    allow_overrides_to_approver_list_per_merge_request: true,
    require_password_to_approve: false,
    retain_approvals_on_push: true,
  },
  projects: {
    approvals_before_merge: 0,
    disable_overriding_approvers_per_merge_request: false,
    merge_requests_author_approval: false,
    merge_requests_disable_committers_approval: false,
    require_password_to_approve: false,
    reset_approvals_on_push: true,
    selective_code_owner_removals: false,
  },
};
