import * as settings from '../../domain/approvals/settings.ts';
import { updateGroup } from '../../domain/groups/groups.ts';
import { updateProject } from '../../domain/projects/update.ts';
import { group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json } from '../../http/reply.ts';
import { MAX_APPROVALS } from '../../records/approvals.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'approvals';
const maintainers = project('admin_project');
const owners = group('admin_group');

const concurrent = { status: 409, description: 'Changed by concurrent requests' };
const lockedErrors = [
  { status: 400, description: 'A group above has decided a setting, or two settings contradict each other' },
  concurrent,
];

const configuration = (shown: settings.ApprovalSettings) => ({
  approvers: [],
  approver_groups: [],
  approvals_before_merge: shown.approvals_before_merge,
  reset_approvals_on_push: !shown.retain_approvals_on_push,
  selective_code_owner_removals: shown.selective_code_owner_removals,
  disable_overriding_approvers_per_merge_request: !shown.allow_overrides_to_approver_list_per_merge_request,
  merge_requests_author_approval: shown.allow_author_approval,
  merge_requests_disable_committers_approval: !shown.allow_committer_approval,
  require_password_to_approve: shown.require_password_to_approve,
});

const getConfiguration = endpoint({
  method: 'GET',
  path: '/projects/:id/approvals',
  area,
  summary: 'Get the approval configuration of a project',
  description: 'Shows what applies, with what groups above decide.',
  access: maintainers,
  returns: { body: shapes.configuration },
  handle: async ({ project: access }, deps) => configuration(await settings.approvalSettings(deps, access)),
});

const not = (value: boolean | undefined): boolean | undefined => (value === undefined ? undefined : !value);

const changeConfiguration = endpoint({
  method: 'POST',
  path: '/projects/:id/approvals',
  area,
  summary: 'Update the approval configuration of a project',
  access: maintainers,
  body: () =>
    p.params({
      approvals_before_merge: p.integer({
        min: 0,
        max: MAX_APPROVALS,
        description: 'Number of approvals that each merge request needs, by anybody who may approve',
      }),
      disable_overriding_approvers_per_merge_request: p.boolean({
        description: 'Ignore approval rules of merge requests, and refuse to change them',
      }),
      merge_requests_author_approval: p.boolean({
        description: 'Let authors approve their own merge requests',
      }),
      merge_requests_disable_committers_approval: p.boolean({
        description:
          'Refuse approvals of users who are authors or committers of commits of the merge request',
      }),
      require_password_to_approve: p.boolean({ description: 'Ask approvers for their password' }),
      reset_approvals_on_push: p.boolean({
        description: 'Remove all approvals when commits are pushed to the source branch',
      }),
      selective_code_owner_removals: p.boolean({
        description:
          'Remove approvals of code owners whose files changed when commits are pushed to the source branch. Only without `reset_approvals_on_push`',
      }),
    }),
  returns: { status: 201, body: shapes.configuration },
  errors: lockedErrors,
  handle: async ({ actor, project: access, body }, deps) => {
    const change = await settings.projectSettingsFor(deps, access, {
      ...(body.approvals_before_merge === undefined
        ? {}
        : { approvals_before_merge: body.approvals_before_merge }),
      ...given({
        allow_author_approval: body.merge_requests_author_approval,
        allow_committer_approval: not(body.merge_requests_disable_committers_approval),
        allow_overrides_to_approver_list_per_merge_request: not(
          body.disable_overriding_approvers_per_merge_request,
        ),
        retain_approvals_on_push: not(body.reset_approvals_on_push),
        require_password_to_approve: body.require_password_to_approve,
        selective_code_owner_removals: body.selective_code_owner_removals,
      }),
    });
    const updated = await updateProject(deps, actor, access, { settings: change });
    const shown = configuration(await settings.approvalSettings(deps, { project: updated }));
    return json(shown, { status: 201 });
  },
});

const asAnswer = (shown: settings.ShownSwitches) => {
  const each = ({ value, locked }: settings.ShownSwitch) => ({
    value,
    locked,
    inherited_from: locked ? ('group' as const) : null,
  });
  return {
    allow_author_approval: each(shown.allow_author_approval),
    allow_committer_approval: each(shown.allow_committer_approval),
    allow_overrides_to_approver_list_per_merge_request: each(
      shown.allow_overrides_to_approver_list_per_merge_request,
    ),
    retain_approvals_on_push: each(shown.retain_approvals_on_push),
    selective_code_owner_removals: each(shown.selective_code_owner_removals),
    require_password_to_approve: each(shown.require_password_to_approve),
    require_reauthentication_to_approve: each(shown.require_password_to_approve),
  };
};

const switchFields = () => ({
  allow_author_approval: p.boolean({ description: 'Let authors approve their own merge requests' }),
  allow_committer_approval: p.boolean({
    description: 'Let authors and committers of commits approve merge requests with these',
  }),
  allow_overrides_to_approver_list_per_merge_request: p.boolean({
    description: 'Let merge requests have approval rules of their own',
  }),
  retain_approvals_on_push: p.boolean({
    description: 'Keep approvals when commits are pushed to the source branch',
  }),
  require_password_to_approve: p.boolean({ description: 'Ask approvers for their password' }),
  require_reauthentication_to_approve: p.boolean({
    description: 'The same as `require_password_to_approve`, and comes first',
  }),
});

type GivenSwitches = Partial<Record<settings.ApprovalSwitch, boolean | undefined>>;

const given = (switches: GivenSwitches): Partial<settings.ApprovalSwitches> =>
  Object.fromEntries(Object.entries(switches).filter(([, value]) => value !== undefined));

const switchesOf = ({
  require_reauthentication_to_approve: again,
  ...body
}: GivenSwitches & { readonly require_reauthentication_to_approve?: boolean }) =>
  given({ ...body, require_password_to_approve: again ?? body.require_password_to_approve });

const PROJECT = '/projects/:id/merge_request_approval_setting';
const GROUP = '/groups/:id/merge_request_approval_setting';

const getOfProject = endpoint({
  method: 'GET',
  path: PROJECT,
  area,
  summary: 'Get the approval settings of a project',
  access: maintainers,
  returns: { body: shapes.settings },
  handle: async ({ project: access }, deps) => asAnswer(await settings.projectSwitches(deps, access)),
});

const changeOfProject = endpoint({
  method: 'PUT',
  path: PROJECT,
  area,
  summary: 'Update the approval settings of a project',
  access: maintainers,
  body: () =>
    p.params({
      ...switchFields(),
      selective_code_owner_removals: p.boolean({
        description:
          'Remove approvals of code owners whose files changed when commits are pushed to the source branch. Only with `retain_approvals_on_push`',
      }),
    }),
  returns: { body: shapes.settings },
  errors: lockedErrors,
  handle: async ({ actor, project: access, body }, deps) => {
    const change = await settings.projectSettingsFor(deps, access, switchesOf(body));
    const updated = await updateProject(deps, actor, access, { settings: change });
    return asAnswer(await settings.projectSwitches(deps, { project: updated }));
  },
});

const getOfGroup = endpoint({
  method: 'GET',
  path: GROUP,
  area,
  summary: 'Get the approval settings of a group',
  access: owners,
  returns: { body: shapes.settings },
  handle: async ({ group: access }) => asAnswer(settings.groupSwitches(access)),
});

const changeOfGroup = endpoint({
  method: 'PUT',
  path: GROUP,
  area,
  summary: 'Update the approval settings of a group',
  description: 'What it restricts is restricted in all groups and projects below it.',
  access: owners,
  body: () => p.params(switchFields()),
  returns: { body: shapes.settings },
  errors: lockedErrors,
  handle: async ({ actor, group: access, body }, deps) => {
    const change = settings.groupSettingsFor(access, switchesOf(body));
    const updated = await updateGroup(deps, actor, access, { settings: change });
    return asAnswer(settings.groupSwitches({ ...access, group: updated }));
  },
});

export const approvalSettingEndpoints = [
  getConfiguration,
  changeConfiguration,
  getOfProject,
  changeOfProject,
  getOfGroup,
  changeOfGroup,
];
