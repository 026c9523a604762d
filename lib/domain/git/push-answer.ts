import type { Oid } from '../../git/oid.ts';
import { type RefName, shortName } from '../../git/refname.ts';
import type { PushOutcome, ReceivePackOptions } from '../../git/wire/receive-pack.ts';
import type { MergeRequestReference } from '../../records/merge-requests.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { GitAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { PushedPointers } from '../lfs/pushed-pointers.ts';
import { started } from '../started.ts';
import { type MergeRequestOptions, parsePushOptions } from './push-options.ts';
import { pushPolicy } from './push-policy.ts';

/** Branches of one push whose merge requests are told. */
const MAX_TOLD = 5;
/** Merge requests told of one branch. */
const MAX_OF_BRANCH = 5;

/** A branch that was created or moved. */
export interface PushedTip {
  readonly branch: string;
  readonly tip: Oid;
}

/** Does what push options ask for merge requests. @returns those of branches, by name; what could not be done, as lines */
export type Propose = (
  deps: Deps,
  access: GitAccess,
  pushed: readonly PushedTip[],
  options: MergeRequestOptions,
) => Promise<{
  readonly open: ReadonlyMap<string, readonly MergeRequestReference[]>;
  readonly warnings: readonly string[];
}>;

const NOTHING_PROPOSED: Awaited<ReturnType<Propose>> = { open: new Map(), warnings: [] };

const tipsOf = (updated: PushOutcome['updated']): PushedTip[] =>
  updated.flatMap(({ name, kind, to }) =>
    kind !== 'delete' && name.startsWith('refs/heads/') ? [{ branch: shortName(name), tip: to }] : [],
  );

/**
 * What decides about the updates of a push to a project, and what the push is answered with when its refs have moved:
 * options that are not understood, and where its branches are proposed, or can be. Merge requests are looked up while the
 * push is stored.
 * @param propose what does as its options ask; without it they are read alone
 */
export function pushRules(
  deps: Deps,
  access: GitAccess,
  propose?: Propose,
): Required<Pick<ReceivePackOptions, 'authorize' | 'conclude'>> & Pick<ReceivePackOptions, 'onSmallBlob'> {
  const pointers = new PushedPointers();
  const policy = pushPolicy(deps, access, pointers);
  const proposals = new Map<RefName, Promise<readonly MergeRequestReference[]>>();
  const isTold = isToldOf(access);
  return {
    onSmallBlob: (data) => pointers.see(data),
    authorize: (update, push) => {
      if (isTold(update) && proposals.size < MAX_TOLD) {
        const source = { projectId: access.project.project.id, branch: shortName(update.name) };
        proposals.set(update.name, started(deps.store.mergeRequests.openFrom(source, MAX_OF_BRANCH)));
      }
      return policy(update, push);
    },
    conclude: async ({ updated, pushOptions }) => {
      const options = parsePushOptions(pushOptions);
      const { open, warnings } =
        propose === undefined || options.mergeRequest === undefined
          ? NOTHING_PROPOSED
          : await propose(deps, access, tipsOf(updated), options.mergeRequest);
      const told = updated.flatMap(({ name }) => {
        const found = open.get(shortName(name)) ?? proposals.get(name);
        return found === undefined ? [] : [{ branch: shortName(name), found }];
      });
      const lines = await Promise.all(
        told.map(async ({ branch, found }) => linesOf(deps, access, branch, await found)),
      );
      return onTerminal([...options.warnings, ...warnings, ...lines.flat()]);
    },
  };
}

/** Lines for the terminal, with an empty one before and after them. */
const onTerminal = (lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n${lines.join('\n')}\n\n`;

/** Whether an answer tells of the merge requests of a branch: of none of the default branch, into which others go. */
function isToldOf({ actor, project: access }: GitAccess) {
  const { settings, defaultBranch } = access.project;
  const tells =
    settings['printing_merge_request_link_enabled'] !== false &&
    defaultBranch !== null &&
    can(actor, access, 'read_merge_requests');
  return ({ name, kind }: PushOutcome['updated'][number]): boolean =>
    tells && kind !== 'delete' && name.startsWith('refs/heads/') && shortName(name) !== defaultBranch;
}

async function linesOf(
  deps: Deps,
  { actor, project: { project } }: GitAccess,
  branch: string,
  open: readonly MergeRequestReference[],
): Promise<string[]> {
  const baseUrl = actor.origin?.baseUrl ?? deps.environment.baseUrl;
  if (baseUrl === undefined) return [];
  const targetIds = [...new Set(open.map(({ projectId }) => projectId))];
  const targets = targetIds.length === 0 ? [] : await projectAccesses(deps, actor, targetIds);
  const views = open.flatMap(({ projectId, iid }) => {
    const target = targets[targetIds.indexOf(projectId)];
    if (target === undefined || !can(actor, target, 'read_merge_requests')) return [];
    return [`  ${baseUrl}/${target.project.fullPath}/-/merge_requests/${iid}`];
  });
  if (views.length > 0) return [`View merge request for ${branch}:`, ...views];
  const query = new URLSearchParams({ 'merge_request[source_branch]': branch });
  return [
    `To create a merge request for ${branch}, visit:`,
    `  ${baseUrl}/${project.fullPath}/-/merge_requests/new?${query}`,
  ];
}
