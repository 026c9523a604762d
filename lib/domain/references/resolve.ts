/** Finds what the references of a text lead to, as far as its reader may see it. */

import { type MentionedPlace, placeOf } from '../../store/notes/mentions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { visibleGroups } from '../access/visibility-filter.ts';
import type { Deps } from '../deps.ts';
import type { FoundIssue } from '../issues/related.ts';
import type { ContainerAccess } from '../labels/containers.ts';
import type { ReferenceLink } from '../markdown/html.ts';
import type { CommitReference, NumberedReference, Reference } from '../markdown/references.ts';
import { EVERYBODY } from '../notifications/mentions.ts';
import { type EpicTarget, epicsAt, findEpics } from './epics.ts';
import {
  findIssues,
  findLabels,
  findMergeRequests,
  findMilestones,
  findSnippets,
  issuesAt,
  mergeRequestsAt,
} from './finders.ts';
import type { Finder, Reading, Targets } from './reading.ts';

/** Different projects and users of one text that are looked up; the references beyond stay text. */
const MAX_NAMES = 100;

/** What finds the references to things in projects, by kind. Kinds that are not here stay text. */
const FINDERS: { readonly [K in Reference['kind']]?: Finder<Extract<Reference, { kind: K }>> } = {
  commit: async (...found) => (await import('./commits.ts')).findCommits(...found),
  issue: findIssues,
  label: findLabels,
  'merge-request': findMergeRequests,
  milestone: findMilestones,
  snippet: findSnippets,
};

/**
 * Returns where references lead, by what was written. What the reader may not see is absent, as what does not exist.
 * Reads names, then projects and memberships, then one batch per kind of reference, however many there are.
 */
export async function resolveReferences(
  deps: Deps,
  references: readonly Reference[],
  reading: Reading,
): Promise<ReadonlyMap<string, ReferenceLink>> {
  const known = references.filter(({ kind }) => kind === 'mention' || kind === 'epic' || kind in FINDERS);
  const named = await holdersOf(deps, known, reading);
  const inGroups = epicTargets(known, named.holding, reading);
  const [mentions, epics, projects] = await Promise.all([
    mentioned(deps, reading, known, named.holding),
    inGroups.length === 0 ? [] : findEpics(deps, inGroups, reading),
    accesses(deps, reading, named.projectIds),
  ]);
  const found = await Promise.all(
    Object.entries(FINDERS).map(([kind, find]) => {
      const ofKind = known.filter((reference) => reference.kind === kind);
      const targets = targetsOf(ofKind, named.holding, projects, reading);
      return targets.length === 0 ? new Map() : (find as Finder<Reference>)(deps, targets, reading);
    }),
  );
  return new Map([...mentions, ...epics, ...found.flatMap((links) => [...links])]);
}

/** Returns the issues that references name, each once and in order, as far as the reader may see them. */
export async function referredIssues(
  deps: Deps,
  references: readonly NumberedReference[],
  reading: Reading,
): Promise<FoundIssue[]> {
  const { targets } = await numberedTargets(deps, references, reading);
  const found = await issuesAt(deps, targets, reading);
  return inOrder(references, found, ({ issue }) => issue.id);
}

/** What a text names: an issue, a merge request, a commit or an epic. */
export interface Named {
  readonly at: MentionedPlace;
  /** What it is in. */
  readonly access: ContainerAccess;
}

/** A reference to what can be told where it is named. */
export type NamingReference = NumberedReference | CommitReference;

/** The same for all that can be told. Commits are read in repositories, one after the other. */
export async function referred(
  deps: Deps,
  references: readonly NamingReference[],
  reading: Reading,
): Promise<Named[]> {
  const { targets, holding } = await numberedTargets(deps, references, reading);
  const ofKind = <R extends NamingReference>(wanted: R['kind']) =>
    targets.flatMap(({ access, references: all }) => {
      const some = all.filter((each): each is R => each.kind === wanted);
      return some.length === 0 ? [] : [{ access, references: some }];
    });
  const inGroups = epicTargets(references, holding, reading);
  const [issues, mergeRequests, epics, commits] = await Promise.all([
    issuesAt(deps, ofKind<NumberedReference>('issue'), reading),
    mergeRequestsAt(deps, ofKind<NumberedReference>('merge-request'), reading),
    inGroups.length === 0 ? [] : epicsAt(deps, inGroups, reading),
    commitPlaces(deps, ofKind<CommitReference>('commit'), reading),
  ]);
  const found = [
    ...issues.map(({ issue, ...rest }) => ({ at: placeOf('issue', issue), ...rest })),
    ...mergeRequests.map(({ mergeRequest, ...rest }) => ({
      at: placeOf('merge-request', mergeRequest),
      ...rest,
    })),
    ...epics.map(({ epic: { id, iid, container }, ...rest }) => ({
      at: { projectId: 0, iid, noteable: { kind: 'epic', id, groupId: container.id } } as const,
      ...rest,
    })),
    ...commits,
  ];
  return inOrder(
    references,
    found,
    ({ at: { projectId, noteable } }) => `${noteable.kind} ${projectId} ${noteable.id}`,
  );
}

async function commitPlaces(
  deps: Deps,
  targets: readonly Targets<CommitReference>[],
  reading: Reading,
): Promise<(Named & { readonly reference: CommitReference })[]> {
  if (targets.length === 0) return [];
  const { commitsAt } = await import('./commits.ts');
  const found: (Named & { readonly reference: CommitReference })[] = [];
  for await (const { commit, access, reference } of commitsAt(deps, targets, reading)) {
    const at = { projectId: access.project.id, noteable: { kind: 'commit', id: commit } } as const;
    found.push({ at, access, reference });
  }
  return found;
}

async function numberedTargets<R extends NamingReference>(
  deps: Deps,
  references: readonly R[],
  reading: Reading,
) {
  const { holding, projectIds } = await holdersOf(deps, references, reading);
  const projects = await accesses(deps, reading, projectIds);
  return { targets: targetsOf(references, holding, projects, reading), holding };
}

/** What was found for references, each once, in the order of these. */
function inOrder<T extends { readonly reference: Reference }>(
  references: readonly Reference[],
  found: readonly T[],
  idOf: (found: T) => number | string,
): T[] {
  const bySource = new Map(found.map((each) => [each.reference.source, each]));
  const all = references.flatMap(({ source }) => bySource.get(source) ?? []);
  return [...new Map(all.map((each) => [idOf(each), each])).values()];
}

/** Looks up the names in references: what holds them, by what was written, and the projects among it. */
async function holdersOf(deps: Deps, references: readonly Reference[], reading: Reading) {
  const paths = new Map<string, string | undefined>();
  for (const reference of references) {
    if (reference.kind === 'mention') paths.set(reference.source, reference.name);
    else if (reference.container !== undefined) {
      const { kind, container } = reference;
      paths.set(reference.source, kind === 'epic' ? container : fullPath(container, reading));
    }
  }
  const names = [...new Set([...paths.values()].filter((path) => path !== undefined))].slice(0, MAX_NAMES);
  const holders = names.length === 0 ? [] : await deps.store.names.holders('path', names);
  const holderOf = new Map(names.map((name, i) => [name, holders[i]]));
  return {
    holding: (source: string): Holder | undefined => holderOf.get(paths.get(source) ?? ''),
    projectIds: [...new Set(holders.flatMap((holder) => (holder?.type === 'project' ? [holder.id] : [])))],
  };
}

/** References by the project that they are to; those to projects that the reader does not see are left out. */
function targetsOf<R extends Reference>(
  references: readonly R[],
  holding: (source: string) => Holder | undefined,
  projects: ReadonlyMap<number, ProjectAccess>,
  reading: Reading,
): Targets<R>[] {
  const targets = new Map<number, { access: ProjectAccess; references: R[] }>();
  for (const reference of references) {
    if (reference.kind === 'mention' || reference.kind === 'epic') continue;
    const { source, container } = reference;
    const holder = holding(source);
    const named = holder?.type === 'project' ? projects.get(holder.id) : undefined;
    const access = container === undefined ? reading.project : named;
    if (access === undefined) continue;
    const { id } = access.project;
    if (!targets.has(id)) targets.set(id, { access, references: [] });
    targets.get(id)!.references.push(reference);
  }
  return [...targets.values()];
}

/** References to epics with their groups; without one it is the text's, or that which its project is directly in. */
const epicTargets = (
  references: readonly Reference[],
  holding: (source: string) => Holder | undefined,
  { project, group }: Reading,
): EpicTarget[] =>
  references.flatMap((reference) => {
    if (reference.kind !== 'epic') return [];
    const holder = reference.container === undefined ? undefined : holding(reference.source);
    const named = holder?.type === 'group' ? holder.id : undefined;
    const own = group?.group.id ?? project?.project.ancestorIds.at(-1);
    const groupId = reference.container === undefined ? own : named;
    return groupId === undefined ? [] : [{ reference, groupId }];
  });

/** A name without a slash is that of a project beside the text's own, or in its group. */
function fullPath(container: string, { project, group }: Reading): string | undefined {
  if (container.includes('/')) return container;
  const own = project?.project.fullPath;
  const namespace = group?.group.fullPath ?? own?.slice(0, own.lastIndexOf('/'));
  return namespace === undefined ? undefined : `${namespace}/${container}`;
}

async function accesses(deps: Deps, { actor }: Reading, ids: readonly number[]) {
  const found = ids.length === 0 ? [] : await projectAccesses(deps, actor, ids);
  return new Map(found.flatMap((access) => (access === undefined ? [] : [[access.project.id, access]])));
}

type Holder = { readonly type: string; readonly id: number; readonly current: boolean };

async function mentioned(
  deps: Deps,
  { actor, baseUrl, project }: Reading,
  references: readonly Reference[],
  holding: (source: string) => Holder | undefined,
): Promise<Map<string, ReferenceLink>> {
  const { store } = deps;
  const names = references.filter(({ kind }) => kind === 'mention');
  const ids = (type: string) => [
    ...new Set(
      names.flatMap(({ source }) => {
        const holder = holding(source);
        return holder?.type === type && holder.current ? [holder.id] : [];
      }),
    ),
  ];
  const groupIds = ids('group');
  const filter = visibleGroups(deps, actor);
  const [users, groups] = await Promise.all([
    store.users.getMany(ids('user')),
    store.groups.getMany(groupIds),
    groupIds.length === 0 ? undefined : filter.prefetch(groupIds),
  ]);
  const levels = groupIds.length === 0 ? [] : await filter.levels(groups);
  const links = new Map<string, ReferenceLink>();
  for (const reference of names) {
    const { source } = reference;
    const holder = holding(source);
    if (reference.kind === 'mention' && reference.name.toLowerCase() === EVERYBODY && project !== undefined) {
      const { id, fullPath, name } = project.project;
      links.set(source, member(`${baseUrl}/${fullPath}`, name, { project: id }));
    }
    const user = holder?.type === 'user' ? users.find((each) => each?.id === holder.id) : undefined;
    if (user !== undefined)
      links.set(source, member(`${baseUrl}/${user.username}`, user.name, { user: user.id }));
    const at = holder?.type === 'group' ? groups.findIndex((each) => each?.id === holder.id) : -1;
    const group = groups[at];
    if (group !== undefined && levels[at] !== undefined) {
      links.set(source, member(`${baseUrl}/groups/${group.fullPath}`, group.name, { group: group.id }));
    }
  }
  return links;
}

const member = (href: string, title: string, data: Readonly<Record<string, number>>): ReferenceLink => ({
  href,
  title,
  class: 'project_member',
  data: { ...data, 'reference-type': 'user' },
});
