/** Forks: projects made from others, and the relation between the two. */

import type { ProjectRecord } from '../../records/projects.ts';
import { storageOf, storagePrefix } from '../../records/storages.ts';
import type { Visibility } from '../../records/visibility.ts';
import { LimitReached, Missing, NameTaken, Stale, TransactionRefused } from '../../store/errors.ts';
import { addForkRows, forkRoot } from '../../store/forks/forks.ts';
import { inheritedVisibility } from '../access/instance-visibility.ts';
import { can, canInGroup } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { creationEvents } from '../audit-events/setting-changes.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, invalid, notFound, takenProblems } from '../errors.ts';
import { prepareActivity } from '../events/record.ts';
import { descriptionProblems, problemsOf, projectNameProblems, projectPathProblems } from '../name-rules.ts';
import { boundBy, type Namespace, namespaceId, placeIn, visibleNamespace } from '../namespaces/place.ts';
import { limitError } from '../namespaces/project-limit.ts';
import { moverOf } from '../notifications/enqueue.ts';
import { defaultBranchName } from '../repository/default-branch-name.ts';
import { networkMember } from '../repository/open.ts';
import { assignTopics } from '../topics/assign.ts';
import { isBelow, lower } from '../visibility.ts';
import { forkMessages } from './content.ts';
import { unrelate } from './visibility.ts';

export interface ForkInput {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly description?: string | null | undefined;
  /** At maxVisibility the source's. */
  readonly visibility?: Visibility | undefined;
  /** The target namespace by ID or path. Several values must name the same one. Default: the caller's own. */
  readonly namespaces: readonly (string | number)[];
}

/**
 * Creates a fork in the caller's namespace, or in a group where they may create projects; for administrators in any
 * namespace. A worker copies the content.
 * @throws 404 if the caller may not fork the project, or not into that namespace; 409 for a name that is taken; 400 by
 *   field; 403 at the caller's project limit
 */
export async function forkProject(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  source: ProjectAccess,
  input: ForkInput,
): Promise<ProjectRecord> {
  requireForkAbility(actor, source);
  const namespace = await namespaceToForkInto(deps, actor, input.namespaces);
  const [toActivity, record] = await Promise.all([
    prepareActivity(deps),
    ...creationEvents(deps, actor, namespace, false),
  ]);
  const { project: parent } = source;
  const path = input.path ?? parent.path;
  const name = input.name ?? parent.name;
  const description = input.description === undefined ? parent.description : input.description;
  const problems = problemsOf({
    name: projectNameProblems(name),
    path: projectPathProblems(path),
    description: descriptionProblems(description),
  });
  if (problems !== undefined) throw invalid(problems);
  const owner = actor.user;
  try {
    const fork = await deps.store.projects.create(
      {
        name,
        path,
        ...placeIn(namespace, owner),
        creatorId: owner.id,
        visibility: await inheritedVisibility(
          deps,
          actor,
          lower(lower(parent.visibility, input.visibility ?? parent.visibility), maxVisibility(namespace)),
        ),
        description,
        archived: false,
        defaultBranch: null,
        topics: parent.topics,
        settings: inheritedSettings(parent.settings),
        networkId: networkMember(parent).networkId,
        ...storageBeside(parent),
        forkedFromId: parent.id,
        forkRootId: forkRoot(parent),
        importStatus: 'scheduled',
      },
      {
        now: deps.now(),
        // In another user's namespace its owner has every right, and the administrator needs none.
        member: namespace.kind === 'group' || namespace.owner.id === owner.id,
        headBranch: parent.defaultBranch ?? (await defaultBranchName(deps)),
        ...boundBy(namespace),
        about: (fork) => {
          const { id } = fork;
          const { messages, alongside } = forkMessages(deps, { projectId: id, sourceId: parent.id });
          const created = toActivity({ authorId: owner.id, projectId: id, action: 'created' });
          return {
            messages,
            alongside: [...alongside, ...addForkRows(parent, id), record!(fork), created],
          };
        },
      },
    );
    await assignTopics(deps, fork);
    return fork;
  } catch (error) {
    throw forkError(error, namespace);
  }
}

/** @throws 404 if the actor may not fork the project */
function requireForkAbility(actor: Actor, access: ProjectAccess): void {
  if (!can(actor, access, 'fork_project')) throw notFound();
}

/** Returns the namespace that all texts name. @throws 404 if the caller may not see it or fork into it, or they differ */
async function namespaceToForkInto(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  texts: readonly (string | number)[],
): Promise<Namespace> {
  let target: Namespace | undefined;
  for (const text of texts) {
    const namespace =
      (await visibleNamespace(deps, actor, text)) ??
      (isAdministrator(actor) ? await personalNamespaceOf(deps, String(text)) : undefined);
    // Other users' namespaces are hidden.
    if (namespace === undefined) throw notFound('Namespace');
    if (namespace.kind === 'group' && !canInGroup(actor, namespace.access, 'create_projects'))
      throw notFound('Target Namespace');
    if (target !== undefined && namespaceId(target) !== namespaceId(namespace))
      throw notFound('Target Namespace');
    target = namespace;
  }
  return target ?? { kind: 'user', owner: actor.user };
}

/** Another user's namespace, by path. */
async function personalNamespaceOf(deps: Deps, username: string): Promise<Namespace | undefined> {
  const owner = await deps.store.users.byUsername(username);
  return owner && { kind: 'user', owner };
}

/** In the storage of the source, whose packs it lists. */
function storageBeside({ storagePrefix: prefix }: ProjectRecord): Pick<ProjectRecord, 'storagePrefix'> {
  const own = storagePrefix(storageOf(prefix));
  return own === '' ? {} : { storagePrefix: own };
}

/** The highest visibility that a namespace allows. */
const maxVisibility = (namespace: Namespace): Visibility =>
  namespace.kind === 'user' ? 'public' : namespace.access.group.visibility;

/** A fork inherits the access levels of the source's features. */
const inheritedSettings = (settings: ProjectRecord['settings']) =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => name.endsWith('_access_level')));

function forkError(error: unknown, namespace: Namespace): unknown {
  if (error instanceof NameTaken) return new DomainError('conflict', takenProblems(error));
  if (error instanceof LimitReached) return limitError(error.limit);
  // The source was deleted or its visibility changed during the request; or the group was deleted or moved.
  if (error instanceof TransactionRefused && error.has('parent')) return notFound('Project');
  if (error instanceof Stale) return conflict('409 Conflict: Resource lock');
  if (!(error instanceof Missing)) return error;
  return notFound(namespace.kind === 'user' ? 'User' : 'Target Namespace');
}

/**
 * Makes a project a fork of another. Their repositories are not changed.
 * @throws 404 for a source that the caller may not see or fork, 409 if the project is a fork already, 400 for a cycle or
 *   a source with lower visibility
 */
export async function relateFork(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  parentId: number,
): Promise<ProjectRecord> {
  const [access] = await projectAccesses(deps, actor, [parentId]);
  if (access === undefined) throw notFound('Project');
  const { project: parent } = access;
  requireForkAbility(actor, access);
  if (project.forkedFromId !== undefined) throw conflict('Project already forked');
  if (forkRoot(parent) === project.id) throw invalid({ forked_from_project_id: ['is invalid'] });
  if (isBelow(parent.visibility, project.visibility)) {
    throw invalid({
      visibility_level: [
        `${project.visibility} is not allowed since the fork source project has lower visibility.`,
      ],
    });
  }
  try {
    await deps.store.forks.relate(project, parent);
  } catch (error) {
    if (error instanceof Stale) throw conflict('Project already forked');
    throw error instanceof Missing ? notFound('Project') : error;
  }
  return (await deps.store.projects.get(project.id)) ?? project;
}

/** Ends a fork relation. A worker closes what is open between both. @returns false if the project is no fork */
export async function endFork(deps: Deps, actor: Actor, { project }: ProjectAccess): Promise<boolean> {
  if (project.forkedFromId === undefined) return false;
  try {
    await unrelate(deps, project, moverOf(deps, actor));
    return true;
  } catch (error) {
    // A concurrent request ended it.
    if (error instanceof Stale) return false;
    throw error instanceof Missing ? notFound('Project') : error;
  }
}

/** Returns the fork sources that the actor may see, by the IDs of the forks. */
export async function parentsOf(
  deps: Deps,
  actor: Actor,
  projects: readonly ProjectRecord[],
): Promise<Map<number, ProjectAccess>> {
  const ids = [...new Set(projects.flatMap(({ forkedFromId }) => forkedFromId ?? []))];
  if (ids.length === 0) return new Map();
  const accesses = await projectAccesses(deps, actor, ids);
  const byId = new Map(ids.map((id, i) => [id, accesses[i]]));
  return new Map(
    projects.flatMap(({ id, forkedFromId }) => {
      const access = forkedFromId === undefined ? undefined : byId.get(forkedFromId);
      return access === undefined ? [] : [[id, access] as const];
    }),
  );
}
