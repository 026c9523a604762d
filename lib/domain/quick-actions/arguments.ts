/** What stands behind quick actions: users, labels, milestones, iterations, epics, issues, merge requests. */

import type { EpicRecord } from '../../records/epics.ts';
import type { LabelRecord } from '../../records/labels.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { UserRecord } from '../../records/users.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import type { Actor } from '../actor.ts';
import { dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { numberedEpic } from '../epics/for-issues.ts';
import type { FoundIssue } from '../issues/related.ts';
import { iterationFor, iterationGroups } from '../iterations/iterations.ts';
import { sameContainer, withAbove } from '../labels/containers.ts';
import { type Reference, referencesOf } from '../markdown/references.ts';

/** Names of one action; one with more finds nothing. */
const MAX_NAMES = 100;

/** The references of an action, each once. Beside text in code, an action may have any. */
const referencesIn = (argument: string, baseUrl?: string): Reference[] => [
  ...new Map(
    [...referencesOf(argument, baseUrl)].flatMap((each) =>
      each === undefined ? [] : [[each.reference.source, each.reference]],
    ),
  ).values(),
];

/** The users whom an argument names: `@one and @two`, `one two`, `me`. */
export async function usersIn(
  { store }: Deps,
  { user }: Extract<Actor, { kind: 'user' }>,
  argument: string,
): Promise<UserRecord[]> {
  const words = argument.split(/[\s,]+/).filter((word) => word !== '' && word !== 'and');
  const names = [...new Set(words.map((word) => (word === 'me' ? user.username : word.replace(/^@/, ''))))];
  if (names.length === 0 || names.length > MAX_NAMES) return [];
  const holders = await store.names.holders('path', names);
  const ids = holders.flatMap((holder) => (holder?.type === 'user' && holder.current ? [holder.id] : []));
  const users = await store.users.getMany([...new Set(ids)]);
  return users.filter((each) => each !== undefined);
}

/** The labels of a project, or inherited by it, that an argument names: `~one ~"one more" ~3`, or `one "one more"`. */
export async function labelsIn(
  { store }: Deps,
  access: ProjectAccess,
  argument: string,
): Promise<LabelRecord[]> {
  const named = argument.includes('~')
    ? referencesIn(argument).filter((each) => each.kind === 'label' && each.container === undefined)
    : [...argument.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, word]) => ({ title: quoted ?? word }));
  const titles = named.flatMap((each) => ('title' in each && each.title !== undefined ? [each.title] : []));
  const numbers = named.flatMap((each) =>
    'number' in each && each.number !== undefined ? [each.number] : [],
  );
  if (named.length === 0 || named.length > MAX_NAMES) return [];
  const containers = withAbove(access);
  const byTitle = titles.length === 0 ? [] : await store.labels.idsOf(containers, titles);
  const ids = [...new Set([...byTitle, ...numbers].filter((id) => id !== undefined))];
  const labels = ids.length === 0 ? [] : await store.labels.getMany(ids);
  return labels.filter(
    (label) =>
      label !== undefined && containers.some((container) => sameContainer(container, label.container)),
  ) as LabelRecord[];
}

export const labelReference = ({ title }: LabelRecord): string =>
  /^[\p{L}\p{N}_?&.:-]+$/u.test(title) ? `~${title}` : `~"${title}"`;

/** The milestone that an argument names: `%title`, `%"a title"`, `%3`, or `a title`. */
export async function milestoneIn(
  { store }: Deps,
  access: ProjectAccess,
  argument: string,
): Promise<MilestoneRecord | undefined> {
  const reference = referencesIn(argument).find((each) => each.kind === 'milestone');
  const containers = withAbove(access);
  const own = containers.slice(0, 1);
  const ids =
    reference?.kind !== 'milestone'
      ? await store.milestones.titled(containers, argument)
      : reference.title === undefined
        ? await store.milestones.numbered(own, [reference.number!])
        : await store.milestones.titled(containers, reference.title);
  return ids[0] === undefined ? undefined : store.milestones.get(ids[0]);
}

export const milestoneReference = ({ title }: MilestoneRecord): string => `%"${title}"`;

/** The epic that an argument names: `&1` of the project's group, `group&1` of one above it, a URL of an epic. */
export async function epicIn(
  deps: Deps,
  actor: Actor,
  { project: { fullPath, ancestorIds } }: ProjectAccess,
  argument: string,
): Promise<EpicRecord | undefined> {
  const reference = referencesIn(argument, deps.environment.baseUrl).find((each) => each.kind === 'epic');
  if (reference?.kind !== 'epic') return undefined;
  const names = fullPath.toLowerCase().split('/').slice(0, -1);
  const paths = ancestorIds.map((_, i) => names.slice(0, i + 1).join('/'));
  const { container, number } = reference;
  const at = container === undefined ? ancestorIds.length - 1 : paths.indexOf(container.toLowerCase());
  return numberedEpic(deps, actor, ancestorIds[at], number);
}

/** The id of the iteration that an argument names: `*iteration:3`, `*iteration:"a title"`, `a title`, `--current`. */
export async function iterationIn(
  deps: Deps,
  access: ProjectAccess,
  argument: string,
): Promise<number | undefined> {
  const groups = iterationGroups(access);
  const text = argument.trim();
  if (text === '--current') return (await deps.store.iterations.onDay(groups, dayOf(deps.now())))[0];
  const number = /^\*iteration:(\d{1,12})$/.exec(text)?.[1];
  if (number !== undefined) return (await iterationFor(deps, access, Number(number)))?.id;
  const title = /^(?:\*iteration:)?"([^"]+)"$/.exec(text)?.[1] ?? text;
  return (await deps.store.iterations.titled(groups, title))[0];
}

/** Issues of one action; one with more finds nothing. */
const MAX_ISSUES = 20;

/** The issues that an argument names and the actor may see: `#1`, `project#1`, `group/project#1`, URLs of issues. */
export async function issuesIn(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  argument: string,
): Promise<FoundIssue[]> {
  const references = referencesIn(argument, deps.environment.baseUrl).flatMap((each) =>
    each.kind === 'issue' ? [each] : [],
  );
  if (references.length === 0 || references.length > MAX_ISSUES) return [];
  const { fullPath } = access.project;
  const pathOf = ({ container = fullPath }: { readonly container?: string }) =>
    container.includes('/') ? container : `${fullPath.slice(0, fullPath.lastIndexOf('/'))}/${container}`;
  const paths = [...new Set(references.map(pathOf).filter((path) => path !== fullPath))];
  const others = await projectsAt(deps, actor, paths);
  const found = references.flatMap((reference) => {
    const at = pathOf(reference) === fullPath ? access : others[paths.indexOf(pathOf(reference))];
    return at === undefined ? [] : [{ access: at, iid: reference.number }];
  });
  const issues = await deps.store.issues.getMany(
    found.map(({ access: { project }, iid }) => ({ projectId: project.id, iid })),
  );
  return found.flatMap(({ access: at }, i) => {
    const issue = issues[i];
    return issue !== undefined && maySeeIssue(actor, at, issue) ? [{ issue, access: at }] : [];
  });
}

/** The projects at these paths, in their order; undefined for what the actor does not see. */
export async function projectsAt(
  deps: Deps,
  actor: Actor,
  paths: readonly string[],
): Promise<(ProjectAccess | undefined)[]> {
  if (paths.length === 0) return [];
  const holders = await deps.store.names.holders('path', paths);
  const ids = holders.map((holder) => (holder?.type === 'project' ? holder.id : 0));
  return projectAccesses(deps, actor, ids);
}

/** The merge requests that an argument names and the actor may see, of this project: `!1`, their URLs. */
export async function mergeRequestsIn(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  argument: string,
): Promise<MergeRequestRecord[]> {
  const { id: projectId, fullPath } = access.project;
  const iids = referencesIn(argument, deps.environment.baseUrl).flatMap((each) =>
    each.kind === 'merge-request' && (each.container ?? fullPath) === fullPath ? [each.number] : [],
  );
  if (iids.length === 0 || iids.length > MAX_ISSUES || !can(actor, access, 'read_merge_requests')) return [];
  const found = await deps.store.mergeRequests.getMany(iids.map((iid) => ({ projectId, iid })));
  return found.filter((each) => each !== undefined);
}

/** `#1`, as text of a project names it; with its path for an issue of another project. */
export const issueReference = ({ issue, access }: FoundIssue, from: ProjectAccess): string =>
  `${access.project.id === from.project.id ? '' : access.project.fullPath}#${issue.iid}`;
