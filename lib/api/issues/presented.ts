import type { Actor } from '../../domain/actor.ts';
import { conversationOf } from '../../domain/issues/conversation.ts';
import type { IssueScope } from '../../domain/issues/list.ts';
import { type FoundIssue, shownIssues } from '../../domain/issues/related.ts';
import { isSubscribed } from '../../domain/notes/subscriptions.ts';
import type { ApiDeps } from '../endpoint.ts';
import { presentedIterations } from '../iterations/present.ts';
import { presentedMilestones } from '../milestones/presented.ts';
import { type AskedIn, groupAskedIn } from '../tracked/present.ts';
import { presentIssue } from './present.ts';

/** Issues as responses show them, in their order. @throws 413 when their descriptions are too long together */
export async function presentedIssues(
  deps: ApiDeps,
  actor: Actor,
  found: readonly FoundIssue[],
  baseUrl: string,
  askedIn: AskedIn,
  options: { readonly labelDetails?: boolean } = {},
) {
  const shown = await shownIssues(deps, actor, found);
  const records = new Map(shown.flatMap(({ milestone }) => (milestone ? [[milestone.id, milestone]] : [])));
  const known = { projects: found.map(({ access }) => access.project), groups: groupAskedIn(askedIn) };
  const inIterations = new Map(
    shown.flatMap(({ iteration }) => (iteration ? [[iteration.id, iteration]] : [])),
  );
  const [ofMilestones, ofIterations] = await Promise.all([
    records.size === 0 ? [] : presentedMilestones(deps, [...records.values()], baseUrl, known),
    inIterations.size === 0 ? [] : presentedIterations(deps, [...inIterations.values()], baseUrl),
  ]);
  const milestones = new Map(ofMilestones.map((milestone) => [milestone.id, milestone]));
  const iterations = new Map(ofIterations.map((iteration) => [iteration.id, iteration]));
  return shown.map((issue) => presentIssue(issue, baseUrl, askedIn, { ...options, milestones, iterations }));
}

/** One issue, as it is shown when it is asked for alone. @param askedIn by default its project */
export async function presentedIssue(
  deps: ApiDeps,
  actor: Actor,
  found: FoundIssue,
  baseUrl: string,
  askedIn?: AskedIn,
) {
  const inProject = { kind: 'project', id: found.issue.projectId } as const;
  const [[shown], subscribed] = await Promise.all([
    presentedIssues(deps, actor, [found], baseUrl, askedIn ?? inProject),
    isSubscribed(deps, actor, conversationOf(found)),
  ]);
  return { ...shown!, subscribed };
}

export const askedIn = (scope: IssueScope): AskedIn =>
  scope.kind === 'project'
    ? { kind: 'project', id: scope.access.project.id }
    : scope.kind === 'group'
      ? { kind: 'group', group: scope.access.group }
      : scope;
