/** The settings of approvals. What a group restricts is restricted in all groups and projects below it. */

import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { parentsOf } from '../members/list.ts';

/** By the names that groups store them with. */
export interface ApprovalSwitches {
  readonly allow_author_approval: boolean;
  /** Whether the authors and committers of its commits may approve a merge request. */
  readonly allow_committer_approval: boolean;
  /** Whether merge requests may have rules of their own. */
  readonly allow_overrides_to_approver_list_per_merge_request: boolean;
  /** Whether approvals stay when the source branch is pushed to. */
  readonly retain_approvals_on_push: boolean;
  readonly require_password_to_approve: boolean;
  /** Whether a push takes back those approvals alone whose givers are code owners of what it changes. No group restricts it. */
  readonly selective_code_owner_removals: boolean;
}

export type ApprovalSwitch = keyof ApprovalSwitches;

/** What applies in a project. */
export interface ApprovalSettings extends ApprovalSwitches {
  /** Approvals that each merge request needs, by anybody who may approve. */
  readonly approvals_before_merge: number;
}

/** A switch as an answer shows it. */
export interface ShownSwitch {
  readonly value: boolean;
  /** Whether a group above decides it. */
  readonly locked: boolean;
}

export type ShownSwitches = Readonly<Record<ApprovalSwitch, ShownSwitch>>;

interface SwitchRule {
  /** The value that restricts, and is inherited; null: none does. */
  readonly strict: boolean | null;
  /** The name of the project's setting, which may say the opposite, and its value where it was never set. */
  readonly ofProject: { readonly name: string; readonly opposite: boolean; readonly unset: boolean };
}

const SWITCHES: Readonly<Record<ApprovalSwitch, SwitchRule>> = {
  allow_author_approval: {
    strict: false,
    ofProject: { name: 'merge_requests_author_approval', opposite: false, unset: false },
  },
  allow_committer_approval: {
    strict: false,
    ofProject: { name: 'merge_requests_disable_committers_approval', opposite: true, unset: false },
  },
  allow_overrides_to_approver_list_per_merge_request: {
    strict: false,
    ofProject: { name: 'disable_overriding_approvers_per_merge_request', opposite: true, unset: false },
  },
  retain_approvals_on_push: {
    strict: false,
    ofProject: { name: 'reset_approvals_on_push', opposite: true, unset: true },
  },
  require_password_to_approve: {
    strict: true,
    ofProject: { name: 'require_password_to_approve', opposite: false, unset: false },
  },
  selective_code_owner_removals: {
    strict: null,
    ofProject: { name: 'selective_code_owner_removals', opposite: false, unset: false },
  },
};

const NAMES = Object.keys(SWITCHES) as readonly ApprovalSwitch[];

/** What applies in a project: its own settings, and what groups above restrict. */
export async function approvalSettings(
  deps: Deps,
  access: Pick<ProjectAccess, 'project'>,
): Promise<ApprovalSettings> {
  const shown = await projectSwitches(deps, access);
  const values = Object.fromEntries(NAMES.map((name) => [name, shown[name].value]));
  return {
    ...(values as unknown as ApprovalSwitches),
    approvals_before_merge: approvalsBeforeMerge(access.project),
  };
}

const approvalsBeforeMerge = ({ settings }: Pick<ProjectRecord, 'settings'>): number =>
  (settings['approvals_before_merge'] as number | undefined) ?? 0;

export const projectSwitches = async (
  deps: Deps,
  { project }: Pick<ProjectAccess, 'project'>,
): Promise<ShownSwitches> => shownUnder(ofProject(project), await parentsOf(deps, { project, level: 0 }));

export const groupSwitches = ({ group, parents }: GroupAccess): ShownSwitches =>
  shownUnder(ofGroup(group), parents);

/**
 * The settings of a project that make the change, for its record.
 * @throws 400 by field for what a group above has decided, and where approvals of code owners alone would be reset beside
 *   all others
 */
export async function projectSettingsFor(
  deps: Deps,
  { project }: ProjectAccess,
  change: Partial<ApprovalSettings>,
): Promise<Readonly<Record<string, unknown>>> {
  const { approvals_before_merge, ...switches } = change;
  const parents = await parentsOf(deps, { project, level: 0 });
  requireUnlocked(switches, parents);
  const next = { ...ofProject(project), ...given(switches) };
  if (next.selective_code_owner_removals && !shownUnder(next, parents).retain_approvals_on_push.value)
    throw invalid({
      selective_code_owner_removals: ['can only be enabled where approvals are kept on a push'],
    });
  const stored = Object.entries(given(switches)).map(([name, value]) => {
    const rule = SWITCHES[name as ApprovalSwitch].ofProject;
    return [rule.name, value !== rule.opposite];
  });
  return {
    ...Object.fromEntries(stored),
    ...(approvals_before_merge === undefined ? {} : { approvals_before_merge }),
  };
}

/** The same of a group. @throws 400 by field for what a group above has decided */
export function groupSettingsFor(
  { parents }: GroupAccess,
  change: Partial<ApprovalSwitches>,
): Readonly<Record<string, unknown>> {
  requireUnlocked(change, parents);
  return given(change);
}

const given = (change: Partial<ApprovalSwitches>): Partial<ApprovalSwitches> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

function requireUnlocked(change: Partial<ApprovalSwitches>, parents: readonly GroupRecord[]): void {
  const refused = NAMES.filter(
    (name) => change[name] !== undefined && isLocked(name, parents) && change[name] !== SWITCHES[name].strict,
  );
  if (refused.length === 0) return;
  throw invalid(Object.fromEntries(refused.map((name) => [name, ['is decided by a group above']])));
}

const isLocked = (name: ApprovalSwitch, parents: readonly GroupRecord[]): boolean => {
  const { strict } = SWITCHES[name];
  return strict !== null && parents.some((parent) => ofGroup(parent)[name] === strict);
};

function shownUnder(own: ApprovalSwitches, parents: readonly GroupRecord[]): ShownSwitches {
  const shown = NAMES.map((name) => {
    const locked = isLocked(name, parents);
    return [name, { value: locked ? SWITCHES[name].strict : own[name], locked }];
  });
  return Object.fromEntries(shown) as ShownSwitches;
}

const ofProject = ({ settings }: Pick<ProjectRecord, 'settings'>): ApprovalSwitches => {
  const values = NAMES.map((name) => {
    const { name: stored, opposite, unset } = SWITCHES[name].ofProject;
    return [name, ((settings[stored] as boolean | undefined) ?? unset) !== opposite];
  });
  return Object.fromEntries(values) as unknown as ApprovalSwitches;
};

/** A group that never decided restricts nothing. */
const ofGroup = ({ settings }: Pick<GroupRecord, 'settings'>): ApprovalSwitches => {
  const values = NAMES.map((name) => {
    const { strict } = SWITCHES[name];
    return [name, (settings[name] as boolean | undefined) ?? strict === false];
  });
  return Object.fromEntries(values) as unknown as ApprovalSwitches;
};
