/** Runners as people see and change them. */
import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { RunnerRecord, RunnerType } from '../../records/runners.ts';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../store/errors.ts';
import { MAX_PROJECTS_OF_RUNNER, MAX_RUNNERS, type RunnerChange } from '../../store/runners/runners.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { MAINTAINER, OWNER } from '../access/levels.ts';
import { groupAccess } from '../access/open-request.ts';
import { can, canInGroup } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import { viewerOf, visibleGroups, visibleProjects } from '../access/visibility-filter.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { audited, auditedResource } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, invalid, notFound } from '../errors.ts';
import { auditedRunner, entityOfPlace, kindOf, placeOf } from './audit.ts';
import { fits } from './fits.ts';
import { removeRunner } from './registration.ts';
import { requireValid, tagsOf } from './rules.ts';

/** States that lists filter by. The first two are of the setting, the others of its last contact. */
export const RUNNER_STATUSES = [
  'active',
  'paused',
  'online',
  'offline',
  'not_connected',
  'never_contacted',
  'stale',
] as const;
export type RunnerStatus = (typeof RUNNER_STATUSES)[number];

export interface RunnerListInput extends PageRequest {
  readonly type?: RunnerType | undefined;
  readonly status?: RunnerStatus | undefined;
  readonly paused?: boolean | undefined;
  /** All of these. */
  readonly tags?: readonly string[] | undefined;
}

/** Of its last contact: this long a runner counts as online, and after that time as stale. */
const ONLINE_FOR = 2 * 3_600_000;
const STALE_AFTER = 90 * 86_400_000;
/** Maximum number of projects, and of groups, whose runners count as a user's own. */
const MAX_OWN = 500;
/** Maximum number of those among them that have runners. */
const MAX_MERGED = 100;

export const isOnline = ({ contactedAt }: Pick<RunnerRecord, 'contactedAt'>, now: Date): boolean =>
  contactedAt !== null && now.getTime() - Date.parse(contactedAt) < ONLINE_FOR;

/** The one word for a runner's state. */
export function statusOf(runner: RunnerRecord, now: Date): 'not_connected' | 'paused' | 'online' | 'offline' {
  if (runner.contactedAt === null) return 'not_connected';
  if (runner.paused) return 'paused';
  return isOnline(runner, now) ? 'online' : 'offline';
}

/** All runners of the instance. */
export const listAllRunners = (deps: Deps, { type, ...input }: RunnerListInput) =>
  deps.store.runners.list({ ...pageOf(input), ...typed(type), where: filterOf(deps, input) });

/** The runners of the projects that the actor maintains, and of the groups that they own. */
export async function listOwnRunners(
  deps: Deps,
  actor: Actor & { readonly kind: 'user' },
  { type, ...input }: RunnerListInput,
): Promise<Page<RunnerRecord>> {
  const page = { page: 1, perPage: MAX_OWN };
  const viewer = viewerOf(actor);
  const [projects, groups] = await Promise.all([
    deps.store.projects.list({
      ...page,
      viewer,
      filter: visibleProjects(deps, actor, { many: true }),
      order: 'id',
      membership: true,
      minAccessLevel: MAINTAINER,
    }),
    deps.store.groupList.page({
      ...page,
      viewer,
      filter: visibleGroups(deps, actor, { many: true }),
      order: 'id',
      all: false,
      minAccessLevel: OWNER,
    }),
  ]);
  const own: MemberSource[] = [
    ...projects.items.map(({ project }) => ({ kind: 'project' as const, id: project.id })),
    ...groups.items.map(({ group }) => ({ kind: 'group' as const, id: group.id })),
  ];
  const of = (await deps.store.runners.withRunners(own)).slice(0, MAX_MERGED);
  const types = type === undefined ? OWNED : OWNED.filter((each) => each === type);
  return deps.store.runners.list({ ...pageOf(input), of, types, where: filterOf(deps, input) });
}

const OWNED: readonly RunnerType[] = ['group_type', 'project_type'];

/** The runners that take jobs of a project: its own, those of the groups above, and those of the instance. */
export const listProjectRunners = (
  deps: Deps,
  { project }: ProjectAccess,
  { type, ...input }: RunnerListInput,
): Promise<Page<RunnerRecord>> =>
  deps.store.runners.list({
    ...pageOf(input),
    of: [{ kind: 'project', id: project.id }, ...groups(project.ancestorIds)],
    types: allowed(type, sharesRunners(project)),
    where: filterOf(deps, input),
  });

/** Runners of a project, of which none may be there for a job. */
const MAX_ONLINE = 1000;

/** Says of jobs of a project whether a runner that takes them, and is not paused, asked lately. */
export async function onlineFor(
  { store, now }: Deps,
  project: ProjectRecord,
): Promise<(job: Pick<JobRecord, 'tags' | 'protected'>) => boolean> {
  const inGroups = project.settings['group_runners_enabled'] === false ? [] : groups(project.ancestorIds);
  const { items, more } = await store.runners.list({
    ...{ page: 1, perPage: MAX_ONLINE, count: false },
    of: [{ kind: 'project', id: project.id }, ...inGroups],
    types: allowed(undefined, sharesRunners(project)),
    where: (runner) => !runner.paused && isOnline(runner, now()),
  });
  return (job) => more || items.some((runner) => fits(runner, job));
}

/** The runners of a group, of those above it, and of the instance. */
export const listGroupRunners = (
  deps: Deps,
  { group }: GroupAccess,
  { type, ...input }: RunnerListInput,
): Promise<Page<RunnerRecord>> =>
  deps.store.runners.list({
    ...pageOf(input),
    of: groups([...group.ancestorIds, group.id]),
    types: allowed(type, sharesRunnersBelow(group)),
    where: filterOf(deps, input),
  });

/** Whether runners of the instance take jobs of the project. */
export const sharesRunners = ({ settings }: Pick<ProjectRecord, 'settings'>): boolean =>
  settings['shared_runners_enabled'] !== false;

const sharesRunnersBelow = ({ settings }: GroupRecord): boolean =>
  (settings['shared_runners_setting'] ?? 'enabled') === 'enabled';

const groups = (ids: readonly number[]): MemberSource[] => ids.map((id) => ({ kind: 'group', id }));

const allowed = (type: RunnerType | undefined, shared: boolean): RunnerType[] => {
  const types: RunnerType[] = [...(shared ? (['instance_type'] as const) : []), ...OWNED];
  return type === undefined ? types : types.filter((each) => each === type);
};

const pageOf = ({ page, perPage, count, rows }: PageRequest): PageRequest => ({
  page,
  perPage,
  ...(count === undefined ? {} : { count }),
  ...(rows === undefined ? {} : { rows }),
});

const typed = (type: RunnerType | undefined) => (type === undefined ? {} : { types: [type] });

function filterOf(
  deps: Deps,
  { status, paused, tags = [] }: Omit<RunnerListInput, keyof PageRequest>,
): ((runner: RunnerRecord) => boolean) | undefined {
  const wanted = tagsOf(tags);
  if (status === undefined && paused === undefined && wanted.length === 0) return undefined;
  const now = deps.now();
  return (runner) =>
    (paused === undefined || runner.paused === paused) &&
    (status === undefined || isIn(status, runner, now)) &&
    wanted.every((tag) => runner.tags.includes(tag));
}

function isIn(status: RunnerStatus, runner: RunnerRecord, now: Date): boolean {
  const { contactedAt, createdAt, paused } = runner;
  switch (status) {
    case 'active':
      return !paused;
    case 'paused':
      return paused;
    case 'online':
      return isOnline(runner, now);
    case 'offline':
      return contactedAt !== null && !isOnline(runner, now);
    case 'stale':
      return now.getTime() - Date.parse(contactedAt ?? createdAt) > STALE_AFTER;
    default:
      return contactedAt === null;
  }
}

/** A runner with what the actor may know of where it takes jobs. */
export interface ShownRunner {
  readonly runner: RunnerRecord;
  readonly projects: readonly ProjectRecord[];
  readonly groups: readonly GroupRecord[];
}

/** @throws `404 Runner Not Found`; 403 for those who may not see it */
export async function getRunner(deps: Deps, actor: Actor, id: number): Promise<ShownRunner> {
  const runner = await runnerOfId(deps, id);
  if (runner.type !== 'instance_type') await requireOwned(deps, actor, runner);
  return shown(deps, actor, runner);
}

/** @throws `404 Runner Not Found`; 403 for those who do not own it; 400 with problems by field; 409 */
export async function changeRunner(
  deps: Deps,
  actor: Actor,
  id: number,
  given: RunnerChange,
): Promise<ShownRunner> {
  const runner = await runnerOfId(deps, id);
  await requireOwned(deps, actor, runner);
  const change = { ...given, ...(given.tags === undefined ? {} : { tags: tagsOf(given.tags) }) };
  requireValid({ ...runner, ...change });
  const entity = await entityOfPlace(deps, placeOf(runner));
  const text = `Updated ${kindOf(runner)}: ${Object.keys(change).join(', ')}`;
  const event = await audited(deps, actor, auditedRunner(entity, runner, text));
  try {
    return await shown(deps, actor, await deps.store.runners.change(runner, change, [event]));
  } catch (error) {
    throw raceError(error);
  }
}

/** @throws `404 Runner Not Found`; 403 for those who do not own it, and for a runner of several projects; 409 */
export async function deleteRunner(
  deps: Deps,
  actor: Actor,
  id: number,
  check: (runner: RunnerRecord) => void = () => {},
): Promise<void> {
  const runner = await runnerOfId(deps, id);
  if (!isAdministrator(actor) && runner.projectIds.length > 1 && (await owns(deps, actor, runner)))
    throw forbidden('Runner associated with more than one project');
  await requireOwned(deps, actor, runner);
  check(runner);
  try {
    await removeRunner(deps, actor, runner);
  } catch (error) {
    throw raceError(error);
  }
}

/**
 * Lets a runner of other projects take the jobs of this one.
 * @throws 404; 403 for a runner of a group or the instance, for a locked one, and for those who do not own it; 400 where
 *   it does already
 */
export async function enableRunner(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  id: number,
): Promise<RunnerRecord> {
  const runner = await runnerOfId(deps, id);
  if (runner.type === 'group_type') throw forbidden('Runner is a group runner');
  if (runner.type === 'instance_type') throw forbidden('Runner is an instance runner');
  if (!isAdministrator(actor)) {
    await requireOwned(deps, actor, runner);
    if (runner.locked) throw forbidden('Runner is locked');
  }
  const event = await audited(
    deps,
    actor,
    auditedRunner(auditedResource('Project', project), runner, 'Assigned CI runner to project'),
  );
  try {
    return await deps.store.runners.enable(runner, project.id, [event]);
  } catch (error) {
    if (error instanceof AlreadyExists) throw invalid({ runner: ['has already been taken'] });
    if (error instanceof Missing) throw notFound('Project');
    if (error instanceof LimitReached) {
      const most =
        error.limit === MAX_RUNNERS
          ? `Maximum number of ci registered project runners (${MAX_RUNNERS}) exceeded`
          : `A runner takes jobs of ${MAX_PROJECTS_OF_RUNNER} projects at most`;
      throw invalid({ base: [most] });
    }
    throw raceError(error);
  }
}

/** @throws 404 where the project does not have the runner; 403 where no other project has */
export async function disableRunner(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  id: number,
): Promise<void> {
  const runner = await deps.store.runners.get(id);
  if (runner?.projectIds.includes(project.id) !== true) throw notFound('Runner');
  if (runner.projectIds.length === 1) {
    const why = 'Only one project associated with the runner. Please remove the runner instead';
    throw forbidden(why);
  }
  const event = await audited(
    deps,
    actor,
    auditedRunner(auditedResource('Project', project), runner, 'Unassigned CI runner from project'),
  );
  try {
    await deps.store.runners.disable(runner, project.id, [event]);
  } catch (error) {
    throw raceError(error);
  }
}

/** @throws `404 Runner Not Found` */
export async function runnerOfId({ store }: Deps, id: number): Promise<RunnerRecord> {
  const runner = await store.runners.get(id);
  if (runner === undefined) throw notFound('Runner');
  return runner;
}

/** @throws 403 */
export async function requireOwned(deps: Deps, actor: Actor, runner: RunnerRecord): Promise<void> {
  if (!(await owns(deps, actor, runner))) throw forbidden('No access granted');
}

/** Whether the actor maintains one of its projects, or owns its group. */
async function owns(deps: Deps, actor: Actor, { groupId, projectIds }: RunnerRecord): Promise<boolean> {
  if (isAdministrator(actor)) return true;
  if (groupId !== null) {
    const group = await deps.store.groups.get(groupId);
    const access = group && (await groupAccess(actor, group, new MembershipCache(deps)));
    return access !== undefined && canInGroup(actor, access, 'admin_runners');
  }
  const accesses = await projectAccesses(deps, actor, projectIds);
  return accesses.some((access) => access !== undefined && can(actor, access, 'admin_runners'));
}

async function shown(deps: Deps, actor: Actor, runner: RunnerRecord): Promise<ShownRunner> {
  const { groupId, projectIds } = runner;
  const [accesses, group] = await Promise.all([
    projectAccesses(deps, actor, projectIds),
    groupId === null ? undefined : deps.store.groups.get(groupId),
  ]);
  return {
    runner,
    projects: accesses.flatMap((access) =>
      access !== undefined && can(actor, access, 'admin_runners') ? [access.project] : [],
    ),
    // Who sees the runner owns the group.
    groups: group === undefined ? [] : [group],
  };
}

function raceError(error: unknown): unknown {
  return error instanceof Stale ? conflict('The runner was changed by another request: try again') : error;
}
