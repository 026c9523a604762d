/** Updating projects. */

import { RefConflict } from '../../git/ports.ts';
import { branchRef } from '../../git/refname.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import { Missing, NameTaken, Stale, TransactionRefused } from '../../store/errors.ts';
import { refusedUpdate } from '../../store/projects/projects.ts';
import { type ProjectChange, type ProjectUpdate, projectUpdate } from '../../store/projects/update.ts';
import { restrictionProblems } from '../access/instance-visibility.ts';
import { requireAbility } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { auditedResourceEvent, projectChanged } from '../audit-events/setting-changes.ts';
import { type AvatarFile, newAvatar } from '../avatars/avatars.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound, takenProblems } from '../errors.ts';
import { unlinkMessages } from '../forks/visibility.ts';
import { projectEvent } from '../hook-events/records.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { descriptionProblems, problemsOf, projectNameProblems, projectPathProblems } from '../name-rules.ts';
import { movedProjectMail } from '../notifications/enqueue.ts';
import { isImporting } from '../repository/import-state.ts';
import { protectionWrites } from '../repository/open.ts';
import { assignTopics, topicNames } from '../topics/assign.ts';
import { isBelow } from '../visibility.ts';
import { topicProblems } from './projects.ts';

export interface ProjectInput {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly description?: string | null | undefined;
  /** Only owners may change it. */
  readonly visibility?: Visibility | undefined;
  /** Name of an existing branch, which HEAD will point to. */
  readonly defaultBranch?: string | undefined;
  /** Replaces the existing topics. */
  readonly topics?: readonly string[] | undefined;
  /** Merged with the existing settings. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly avatar?: AvatarFile | null | undefined;
}

/** Attempts when other requests change the project, or move or protect the branch. */
const ATTEMPTS = 5;

/**
 * Updates a project atomically. Concurrent changes of other attributes are kept.
 * @throws 400 by field, 403 when the actor must not change the visibility, 409 while its namespace is moving, or when
 *   the project itself has moved
 */
export async function updateProject(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: ProjectInput,
): Promise<ProjectRecord> {
  let current = access;
  for (let tries = 1; ; tries++) {
    try {
      const updated = await change(deps, actor, current, input);
      if (input.topics !== undefined || input.visibility !== undefined)
        await assignTopics(deps, updated, current.project.topics);
      return updated;
    } catch (error) {
      const now =
        isStale(error) && tries < ATTEMPTS ? await deps.store.projects.get(access.project.id) : undefined;
      // In another namespace the actor may have another level.
      if (now?.namespaceId !== access.project.namespaceId) throw projectChangeError(error);
      current = { ...access, project: now };
    }
  }
}

const isStale = (error: unknown): boolean =>
  error instanceof Stale || (error instanceof TransactionRefused && error.has('version'));

async function change(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  input: ProjectInput,
): Promise<ProjectRecord> {
  const { project } = access;
  const { name, path, description, visibility, topics, settings } = input;
  if (visibility !== undefined) requireAbility(actor, access, 'change_visibility_level');
  const rises = visibility !== undefined && isBelow(project.visibility, visibility);
  const [parent, source] = await Promise.all([
    project.namespaceKind === 'group' && (rises || (path !== undefined && path !== project.path))
      ? deps.store.groups.get(project.namespaceId)
      : undefined,
    rises && project.forkedFromId !== undefined ? deps.store.projects.get(project.forkedFromId) : undefined,
  ]);
  const chosen = visibility !== undefined && visibility !== project.visibility ? visibility : undefined;
  const restricted = chosen === undefined ? [] : await restrictionProblems(deps, actor, chosen);
  const problems = problemsOf({
    name: name === undefined ? [] : projectNameProblems(name),
    path: path === undefined || path === project.path ? [] : projectPathProblems(path),
    description: descriptionProblems(description ?? null),
    topics: topicProblems(topics ?? []),
    visibility_level: [...restricted, ...(rises ? visibilityProblems(visibility, parent, source) : [])],
  });
  if (problems !== undefined) throw invalid(problems);
  const avatar = newAvatar(input.avatar);
  const named = topics === undefined ? undefined : await topicNames(deps, topics);
  const changed: ProjectChange = {
    ...(avatar && { avatar: avatar.avatar }),
    ...(name === undefined ? {} : { name }),
    ...(path === undefined ? {} : { path }),
    ...(description === undefined ? {} : { description }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(named === undefined ? {} : { topics: named }),
    settings: { ...project.settings, ...settings },
  };
  const events = await projectChanged(deps, actor, project, {
    ...project,
    ...changed,
    fullPath: `${project.namespacePath}/${changed.path ?? project.path}`,
  });
  const options = {
    parent,
    now: deps.now(),
    alongside: [...(avatar?.writes({ kind: 'project', id: project.id }) ?? []), ...events],
    messages: [
      ...(visibility === undefined ? [] : unlinkMessages(deps, actor, project, visibility)),
      ...(path === undefined || path === project.path ? [] : [movedProjectMail(deps, actor, project)]),
      ...(await toldOfProject(deps, actor, project, { ...project, ...changed })),
    ],
  };
  const { defaultBranch: branch } = input;
  if (branch === undefined || branch === project.defaultBranch)
    return deps.store.projects.update(project, changed, options);
  const plan = projectUpdate(project, { ...changed, defaultBranch: branch }, options);
  const moved = await auditedResourceEvent(deps, actor, 'Project', plan.updated, {
    custom_message: `Default branch changed from ${project.defaultBranch} to ${branch}`,
  });
  await moveHead(deps, actor, project, branch, {
    ...plan,
    writes: [...plan.writes, ...options.alongside, moved],
    messages: [...plan.messages, ...options.messages],
  });
  return plan.updated;
}

/** Hooks of the instance hear of projects. */
async function toldOfProject(deps: Deps, actor: Actor, before: ProjectRecord, after: ProjectRecord) {
  const renamed = after.path !== before.path;
  const fullPath = `${before.namespacePath}/${after.path}`;
  const event = projectEvent(
    renamed ? 'rename' : 'update',
    { ...after, fullPath },
    renamed ? before.fullPath : undefined,
  );
  return tellHooks(deps, actor, { kind: 'system' }, [event]);
}

/** Translates an error of the store about a change of a project. */
export function projectChangeError(error: unknown): unknown {
  const known = (error instanceof TransactionRefused && refusedUpdate(error)) || error;
  if (known instanceof NameTaken) return invalid(takenProblems(known));
  if (known instanceof Missing) return notFound('Project');
  return known instanceof Stale ? conflict('409 Conflict: Resource lock') : known;
}

/** A project must not be more visible than its group or the project it was forked from. */
function visibilityProblems(
  visibility: Visibility,
  group: GroupRecord | undefined,
  source: ProjectRecord | undefined,
): string[] {
  if (group !== undefined && isBelow(group.visibility, visibility))
    return [`${visibility} is not allowed in a ${group.visibility} group.`];
  return source !== undefined && isBelow(source.visibility, visibility)
    ? [`${visibility} is not allowed since the fork source project has lower visibility.`]
    : [];
}

/** Changes HEAD and the record in one transaction, on condition that the branch exists. */
async function moveHead(
  deps: Deps,
  actor: Actor,
  project: ProjectRecord,
  branch: string,
  { writes, messages }: ProjectUpdate,
): Promise<void> {
  const name = branchRef(branch);
  const failed = (why: string) => invalid({ base: [`Could not change HEAD: ${why}`] });
  for (let tries = 1; ; tries++) {
    const refs = deps.store.repositories.open(project.repositoryId);
    const found = name && !isImporting(project) ? (await refs.get([name])).get(name) : undefined;
    if (name === undefined || found === undefined) throw failed(`branch '${branch}' does not exist`);
    const alongside = [...writes, ...(await protectionWrites(deps, project, branch, actor))];
    try {
      const there = { name, from: found.oid, to: found.oid };
      return await refs.compareAndSwap([there], { head: name, alongside, messages });
    } catch (error) {
      if (error instanceof RefConflict && error.rejections.some(({ reason }) => reason === 'read-only'))
        throw failed('the repository is read-only');
      const moved =
        error instanceof RefConflict || (error instanceof TransactionRefused && error.has('rule'));
      if (!moved || tries === ATTEMPTS) throw error instanceof RefConflict ? new Stale('branch') : error;
    }
  }
}
