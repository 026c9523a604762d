import { isOidLike, newBranchRef } from '../../git/refname.ts';
import { byId } from '../../records/by-id.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Visibility } from '../../records/visibility.ts';
import { LimitReached, Missing, NameTaken, Stale } from '../../store/errors.ts';
import { type ListedProject, onlyRows, type ProjectQuery } from '../../store/projects/query.ts';
import type { Page } from '../../store/table/paging.ts';
import { defaultVisibility, restrictionProblems } from '../access/instance-visibility.ts';
import { canInGroup } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { viewerOf, visibleProjects } from '../access/visibility-filter.ts';
import type { Actor } from '../actor.ts';
import { requesterOf } from '../audit-events/event.ts';
import { creationEvents } from '../audit-events/setting-changes.ts';
import { type AvatarFile, newAvatar } from '../avatars/avatars.ts';
import { removeWhole } from '../deletion/mark-and-delete.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, invalid, notFound, takenProblems } from '../errors.ts';
import { prepareActivity } from '../events/record.ts';
import { projectEvent } from '../hook-events/records.ts';
import { prepareHooks } from '../hook-events/tell.ts';
import { type ImportOrder, planImport } from '../imports/plan.ts';
import {
  descriptionProblems,
  pathFromName,
  problemsOf,
  projectNameProblems,
  projectPathProblems,
} from '../name-rules.ts';
import {
  boundBy,
  type Namespace,
  placeIn,
  visibilityProblems,
  visibleNamespace,
} from '../namespaces/place.ts';
import { limitError } from '../namespaces/project-limit.ts';
import { PROJECT_IMPORTS, requireRate } from '../rate-limits/action-limits.ts';
import { newStorage } from '../repository/choose-storage.ts';
import { defaultBranchName } from '../repository/default-branch-name.ts';
import { starredByActor } from '../stars/stars.ts';
import { assignTopics, topicNames, topicsOfList } from '../topics/assign.ts';
import { newProjectSettings } from './defaults.ts';

export interface NewProjectInput {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly description: string | null;
  readonly visibility: Visibility;
  readonly topics: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly avatar?: AvatarFile | null | undefined;
  /** Branch that HEAD points to until the first push. */
  readonly defaultBranch?: string | undefined;
  /** Name of the storage; default: by the weights of the settings. */
  readonly storage?: string | undefined;
  /** Source to import the repository from; the project is empty until the import ends. */
  readonly importOrder?: ImportOrder | undefined;
}

const MAX_TOPICS = 100;

/**
 * Returns a namespace where the actor may create projects; their own without an ID.
 * @throws 400 `{ namespace: ["is not valid"] }`
 */
export async function namespaceToCreateIn(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  id: number | undefined,
): Promise<Namespace> {
  if (id === undefined) return { kind: 'user', owner: actor.user };
  const namespace = await visibleNamespace(deps, actor, id);
  const may =
    namespace?.kind === 'user' || (namespace && canInGroup(actor, namespace.access, 'create_projects'));
  if (namespace === undefined || !may) throw invalid({ namespace: ['is not valid'] });
  return namespace;
}

/**
 * Returns the visibility of a new project: the chosen one, else the instance's default, limited by that of the group.
 * @throws 400 for a visibility level that is restricted to administrators
 */
export async function visibilityToCreateWith(
  deps: Deps,
  actor: Actor,
  namespace: Namespace,
  chosen: Visibility | undefined,
): Promise<Visibility> {
  if (chosen === undefined) {
    const most = namespace.kind === 'user' ? 'public' : namespace.access.group.visibility;
    return defaultVisibility(deps, actor, 'project', most);
  }
  const problems = await restrictionProblems(deps, actor, chosen);
  if (problems.length > 0) throw invalid({ visibility_level: problems });
  return chosen;
}

/**
 * Creates a project with an empty repository in a namespace. `creator` may differ from the requesting `actor`.
 * @throws 400 by field (also for a taken name), 403 at the project limit of a personal namespace's owner, 409 when the
 *   group changed concurrently
 */
export async function createProject(
  deps: Deps,
  actor: Actor,
  creator: UserRecord,
  namespace: Namespace,
  input: NewProjectInput,
): Promise<ProjectRecord> {
  const path = input.path ?? pathFromName(input.name ?? '');
  const name = input.name ?? path;
  const problems = problemsOf({
    name: projectNameProblems(name),
    path: projectPathProblems(path),
    description: descriptionProblems(input.description),
    topics: topicProblems(input.topics),
    visibility_level: visibilityProblems(namespace, input.visibility),
    default_branch:
      input.defaultBranch === undefined ||
      (newBranchRef(input.defaultBranch) && !isOidLike(input.defaultBranch))
        ? []
        : ['is not a valid branch name'],
  });
  if (problems !== undefined) throw invalid(problems);
  const order = input.importOrder;
  if (order !== undefined) await requireRate(deps, PROJECT_IMPORTS, creator);
  const [plan, activity, tell, ...record] = await Promise.all([
    order && planImport(deps, order),
    prepareActivity(deps),
    prepareHooks(deps, actor),
    ...creationEvents(deps, actor, namespace, order !== undefined),
  ]);
  const avatar = newAvatar(input.avatar);
  const topics = await topicNames(deps, input.topics);
  try {
    const created = await deps.store.projects.create(
      {
        name,
        path,
        ...placeIn(namespace, creator),
        creatorId: creator.id,
        visibility: input.visibility,
        description: input.description,
        archived: false,
        defaultBranch: null,
        topics,
        settings: await newProjectSettings(deps, input.settings),
        ...(avatar && { avatar: avatar.avatar }),
        ...(await newStorage(deps, input.storage)),
        ...(order === undefined ? {} : { importStatus: 'scheduled', importSource: order.source }),
      },
      {
        now: deps.now(),
        headBranch: input.defaultBranch ?? (await defaultBranchName(deps)),
        ...boundBy(namespace),
        about: (project) => {
          const planned = plan?.(project);
          const shown = avatar?.writes({ kind: 'project', id: project.id }) ?? [];
          const created = { authorId: creator.id, projectId: project.id, action: 'created' } as const;
          const events = [
            ...record.map((event) => event(project)),
            activity({ ...created, imported: order !== undefined }),
          ];
          return {
            ...planned,
            alongside: [...(planned?.alongside ?? []), ...shown, ...events],
            messages: [
              ...(planned?.messages ?? []),
              ...tell({ kind: 'system' }, [projectEvent('create', project)]),
            ],
          };
        },
      },
    );
    await assignTopics(deps, created);
    return created;
  } catch (error) {
    if (error instanceof NameTaken) throw invalid(takenProblems(error));
    if (error instanceof LimitReached) throw limitError(error.limit);
    if (error instanceof Missing) throw notFound(namespace.kind === 'user' ? 'User' : 'Namespace');
    throw error instanceof Stale ? conflict('409 Conflict: Resource lock') : error;
  }
}

/** @throws 400: no template is known */
export function requireNoTemplate(input: {
  readonly template_name?: string;
  readonly template_project_id?: number;
}): void {
  const { template_name: name, template_project_id: id } = input;
  if (name !== undefined && name !== '') {
    throw invalid({ template_name: [`'${name.slice(0, 255)}' is unknown or invalid`] });
  }
  if (id !== undefined) throw invalid({ template_project_id: ['is unknown or invalid'] });
}

export const topicProblems = (topics: readonly string[]): string[] =>
  topics.length > MAX_TOPICS ? ['is too long (maximum is 100 topics)'] : [];

/** Filters of a list of projects. */
export interface ProjectListInput extends Omit<ProjectQuery, 'viewer' | 'filter'> {
  /** Only those the actor has starred. */
  readonly starred?: boolean;
  /** Only projects that have all of these topics. */
  readonly topics?: readonly string[];
  /** Only projects that have the topic with this id. */
  readonly topicId?: number;
}

/** Lists projects the actor can see, each with the actor's level. */
export async function listProjects(
  deps: Deps,
  actor: Actor,
  { starred, topics = [], topicId, ...query }: ProjectListInput,
): Promise<Omit<Page<ListedProject>, 'items'> & { items: readonly ProjectAccess[] }> {
  const viewer = viewerOf(actor);
  const filter = visibleProjects(deps, actor, { many: true });
  // Anonymous callers have no memberships or projects.
  const ofMine = query.membership || query.owned || query.minAccessLevel !== undefined || starred;
  if (actor.kind === 'anonymous' && ofMine) return { items: [], total: 0, more: false };
  const assigned =
    topics.length > 0 || topicId !== undefined
      ? await topicsOfList(deps, { names: topics, id: topicId })
      : { names: [] };
  if (assigned === undefined) return { items: [], total: 0, more: false };
  const { names, ofTopic } = assigned;
  const where = allOf([
    query.where,
    names.length === 0 ? undefined : ({ project }) => names.every((name) => project.topics.includes(name)),
  ]);
  const filtered = { ...query, ...(where && { where }) };
  return deps.store.projects.list({
    ...filtered,
    // Other lists of rows are shorter, or follow their own index.
    ...(ofTopic === undefined || starred || onlyRows({ ...filtered, viewer, filter }) ? {} : { ofTopic }),
    ...(starred ? await starredByActor(deps, actor, filtered) : {}),
    viewer,
    filter,
  });
}

/** A condition that is all of these; undefined when there are none. */
function allOf(conditions: readonly ProjectQuery['where'][]): ProjectQuery['where'] {
  const given = conditions.filter((each) => each !== undefined);
  return given.length === 0 ? undefined : (listed) => given.every((passes) => passes(listed));
}

/** Deletes a project with immediate effect; a worker deletes its rows and objects. @throws 404 when it is already deleted */
export async function deleteProject(deps: Deps, actor: Actor, { project }: ProjectAccess): Promise<void> {
  try {
    await removeWhole(deps, project, requesterOf(actor));
  } catch (error) {
    if (error instanceof Missing) throw notFound('Project');
    if (error instanceof Stale) throw new DomainError('conflict', '409 Conflict: Resource lock');
    throw error;
  }
}

/** Returns the owners of personal projects, by user ID. */
export async function ownersOf(
  deps: Deps,
  projects: readonly ProjectRecord[],
): Promise<Map<number, UserRecord>> {
  const ids = new Set(
    projects.filter((project) => project.namespaceKind === 'user').map((project) => project.ownerId),
  );
  const users = await deps.store.users.getMany([...ids]);
  return byId(users);
}

/**
 * Returns the groups that projects are directly in, by id. Those of several projects are read eventually consistent, at half
 * the cost: a list shows them.
 */
export async function groupsOf(
  deps: Deps,
  projects: readonly ProjectRecord[],
): Promise<Map<number, GroupRecord>> {
  const inGroups = projects.filter(({ namespaceKind }) => namespaceKind === 'group');
  const ids = [...new Set(inGroups.map(({ namespaceId }) => namespaceId))];
  const consistent = projects.length === 1;
  return byId(ids.length === 0 ? [] : await deps.store.groups.getMany(ids, { consistent }));
}
