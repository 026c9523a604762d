/** Parameters that rules of projects and of merge requests have in common. */
import { MAX_GROUPS, MAX_USERS } from '../../domain/approvals/rules.ts';
import * as p from '../../http/params.ts';
import { MAX_APPROVALS } from '../../records/approvals.ts';

export const approvalsRequired = <const R extends { required?: true }>(rule: R) =>
  p.integer({ ...rule, min: 0, max: MAX_APPROVALS, description: 'Number of approvals required' });

export const approverFields = () => ({
  user_ids: p.list(p.integer(), {
    maxItems: MAX_USERS,
    description: 'IDs of members of the project who may approve',
  }),
  usernames: p.list(p.string(), {
    maxItems: MAX_USERS,
    description: 'Usernames of members of the project, besides `user_ids`',
  }),
  group_ids: p.list(p.integer(), {
    maxItems: MAX_GROUPS,
    description: 'IDs of groups whose direct members may approve',
  }),
});

export const approversOf = (body: {
  readonly user_ids?: readonly number[];
  readonly usernames?: readonly string[];
  readonly group_ids?: readonly number[];
}) => ({ userIds: body.user_ids, usernames: body.usernames, groupIds: body.group_ids });
