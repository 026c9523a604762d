/** Environments: places that a project is deployed to. */

import { createHash } from 'node:crypto';
import { environmentNameProblem } from '../../ci/environment-names.ts';
import type {
  DeploymentRecord,
  EnvironmentRecord,
  EnvironmentState,
  EnvironmentTier,
} from '../../records/environments.ts';
import { DELETE_ENVIRONMENT_JOB } from '../../store/environments/environments.ts';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../store/errors.ts';
import { MAINTENANCE, messageAt } from '../../store/outbox/outbox.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, type FieldProblems, forbidden, invalid, notFound, recordNotFound } from '../errors.ts';
import { closedTo, requireOpen } from './protected.ts';

/** Characters. */
const MAX_TEXT = 255;
const DAY_MS = 86_400_000;
/** Review apps are deleted so long after the request. */
const GRACE_MS = 7 * DAY_MS;
/** Environments that are marked in one transaction. */
const MARKED_TOGETHER = 40;

export interface EnvironmentQuery extends PageRequest {
  readonly name?: string | undefined;
  /** Part of the name, case-insensitive. */
  readonly search?: string | undefined;
  readonly state?: EnvironmentState | undefined;
}

/** In the order of ids. */
export async function listEnvironments(
  { store }: Deps,
  { project }: ProjectAccess,
  { name, search, state, ...request }: EnvironmentQuery,
): Promise<Page<EnvironmentRecord>> {
  const ofState = (each: EnvironmentRecord) => state === undefined || each.state === state;
  if (name !== undefined) {
    const found = await store.environments.named(project.id, name);
    const items = found !== undefined && ofState(found) ? [found] : [];
    return { items: request.page === 1 ? items : [], total: items.length, more: false };
  }
  const term = search?.trim().toLowerCase() ?? '';
  const where =
    term === '' && state === undefined
      ? undefined
      : (each: EnvironmentRecord) => ofState(each) && each.name.toLowerCase().includes(term);
  return store.environments.page(project.id, request, where);
}

/** @throws `404 Not found` */
export async function getEnvironment(
  { store }: Deps,
  { project }: ProjectAccess,
  id: number,
): Promise<EnvironmentRecord> {
  const found = await store.environments.get(project.id, id);
  if (found === undefined) throw recordNotFound();
  return found;
}

/** What an environment has: its newest successful deployment. */
export const lastDeployment = (
  { store }: Deps,
  { projectId, id }: EnvironmentRecord,
): Promise<DeploymentRecord | undefined> => store.deployments.lastSuccess(projectId, id);

export interface EnvironmentInput {
  readonly name: string;
  readonly externalUrl?: string | null | undefined;
  readonly tier?: EnvironmentTier | undefined;
}

/** @throws 400 by field; 409 */
export async function createEnvironment(
  deps: Deps,
  { project }: ProjectAccess,
  input: EnvironmentInput,
): Promise<EnvironmentRecord> {
  const environment = await newEnvironment(deps, project.id, input);
  try {
    await deps.store.environments.create(environment);
    return environment;
  } catch (error) {
    throw failed(error);
  }
}

/** A new environment that is not stored yet. @throws 400 by field */
export async function newEnvironment(
  { store, now }: Deps,
  projectId: number,
  { name, externalUrl, tier }: EnvironmentInput,
): Promise<EnvironmentRecord> {
  requireValid({ name, externalUrl: externalUrl || null });
  const at = now().toISOString();
  return {
    id: await store.environments.nextId(),
    projectId,
    name,
    slug: slugOf(name),
    externalUrl: externalUrl || null,
    state: 'available',
    tier: tier ?? tierOf(name),
    deletedOn: null,
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
}

/** @throws 400 by field; 403 where its name, or the new one, is protected; `404 Not found`; 409 for a concurrent change */
export async function changeEnvironment(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  input: Partial<EnvironmentInput>,
): Promise<EnvironmentRecord> {
  const environment = await getEnvironment(deps, access, id);
  const change = {
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(input.externalUrl === undefined ? {} : { externalUrl: input.externalUrl || null }),
    ...(input.tier === undefined ? {} : { tier: input.tier }),
  };
  requireValid({ ...environment, ...change });
  await requireOpen(deps, actor, access, environment.name, input.name ?? environment.name);
  try {
    return await deps.store.environments.change(environment, change, deps.now());
  } catch (error) {
    throw failed(error);
  }
}

/** What stopping changes. */
export const STOPPED = { state: 'stopped', autoStopAt: null } as const;

/** Stops an environment; one that is stopped already stays as it is. @throws `404 Not found`; 409 */
export async function stopEnvironment(
  deps: Deps,
  access: ProjectAccess,
  id: number,
): Promise<EnvironmentRecord> {
  const environment = await getEnvironment(deps, access, id);
  if (environment.state === 'stopped') return environment;
  try {
    return await deps.store.environments.change(environment, STOPPED, deps.now());
  } catch (error) {
    throw failed(error);
  }
}

/**
 * Deletes a stopped environment with its deployments.
 * @param unchanged called with the time of the last change; throws if that is later than the caller allows
 * @throws 403 while it is available, and where it is protected; `404 Not found`; 409
 */
export async function removeEnvironment(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
  unchanged: (changed: string) => void,
): Promise<void> {
  const environment = await getEnvironment(deps, access, id);
  unchanged(environment.updatedAt);
  if (environment.state !== 'stopped') throw forbidden();
  await requireOpen(deps, actor, access, environment.name);
  try {
    await deps.store.environments.remove(environment);
  } catch (error) {
    throw failed(error);
  }
}

export interface ReviewAppDeletion {
  readonly scheduled: readonly EnvironmentRecord[];
  /** Changed by another request at that moment, or protected from the caller. */
  readonly unprocessable: readonly EnvironmentRecord[];
}

/**
 * Schedules stopped review apps for deletion in a week: environments below `review/` that were created before a time.
 * @param dryRun only tells which
 */
export async function removeReviewApps(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  {
    before,
    limit,
    dryRun,
  }: { readonly before?: Date | undefined; readonly limit: number; readonly dryRun: boolean },
): Promise<ReviewAppDeletion> {
  const now = deps.now();
  const until = (before ?? new Date(now.getTime() - 30 * DAY_MS)).toISOString();
  const { environments } = deps.store;
  const isDue = (each: EnvironmentRecord) =>
    each.state === 'stopped' &&
    each.name.startsWith('review/') &&
    each.createdAt < until &&
    each.deletedOn === null;
  const { items: due } = await environments.page(access.project.id, { page: 1, perPage: limit }, isDue);
  const names = due.map(({ name }) => name);
  const closed = await closedTo(deps, actor, access, names);
  const items = due.filter(({ name }) => !closed.has(name));
  const unprocessable = due.filter(({ name }) => closed.has(name));
  if (dryRun) return { scheduled: items, unprocessable };
  const at = new Date(now.getTime() + GRACE_MS);
  const scheduled: EnvironmentRecord[] = [];
  for (let i = 0; i < items.length; i += MARKED_TOGETHER) {
    const batch = items.slice(i, i + MARKED_TOGETHER);
    const messages = batch.map(({ projectId, id: environmentId }) =>
      messageAt(MAINTENANCE, DELETE_ENVIRONMENT_JOB, { projectId, environmentId }, at),
    );
    try {
      await environments.schedule(batch, at.toISOString(), now, messages);
      scheduled.push(...batch);
    } catch (error) {
      if (!(error instanceof Stale)) throw failed(error);
      unprocessable.push(...batch);
    }
  }
  return { scheduled, unprocessable };
}

/**
 * Deletes an environment that is due, and the deployments of one that is deleted.
 * @returns whether nothing remains
 */
export async function removeDue(
  { store, now }: Deps,
  projectId: number,
  environmentId: number,
  deadline: number,
): Promise<boolean> {
  const environment = await store.environments.get(projectId, environmentId);
  if (environment !== undefined) {
    const { state, deletedOn } = environment;
    // It was made available again, or scheduled anew.
    if (state !== 'stopped' || deletedOn === null || deletedOn > now().toISOString()) return true;
    // Its own message deletes the deployments.
    await store.environments.remove(environment).catch((error: unknown) => {
      if (!(error instanceof Stale)) throw error;
    });
    return true;
  }
  while (await store.deployments.removeOf(projectId, environmentId)) if (Date.now() > deadline) return false;
  return true;
}

const TOO_LONG = `is too long (maximum is ${MAX_TEXT} characters)`;

/** What is wrong with the address of an environment. */
export const addressProblems = (address: string): readonly string[] => [
  ...([...address].length > MAX_TEXT ? [TOO_LONG] : []),
  ...(/^https?:$/.test(URL.parse(address)?.protocol ?? '')
    ? []
    : ['is blocked: Only allowed schemes are http, https']),
];

/** @throws 400 by field */
function requireValid({ name, externalUrl }: Pick<EnvironmentRecord, 'name' | 'externalUrl'>): void {
  const badName = environmentNameProblem(name);
  const problems: FieldProblems = {
    name: [
      ...(name.trim() === '' ? ["can't be blank"] : []),
      ...([...name].length > MAX_TEXT ? [TOO_LONG] : []),
      ...(badName === undefined ? [] : [badName]),
    ],
    external_url: externalUrl === null ? [] : addressProblems(externalUrl),
  };
  const found = Object.entries(problems).filter(([, texts]) => texts.length > 0);
  if (found.length > 0) throw invalid(Object.fromEntries(found));
}

/** A name for hosts: as it is where it fits, else its beginning and a digest. */
export function slugOf(name: string): string {
  const lower = name.toLowerCase().replace(/[^a-z0-9]/g, '-');
  const slug = (/^[a-z]/.test(lower) ? lower : `env-${lower}`).replace(/-+/g, '-');
  if (slug.length <= 24 && slug === name) return slug;
  const digest = BigInt(`0x${createHash('sha256').update(name).digest('hex')}`)
    .toString(36)
    .slice(-6);
  return `${slug.slice(0, 17).replace(/-$/, '')}-${digest}`;
}

/** The tier that a name suggests. */
export function tierOf(name: string): EnvironmentTier {
  if (/dev|review|trunk/i.test(name)) return 'development';
  if (/test|tst|int|ac(?:ce)?pt|qa|qc|control|quality/i.test(name)) return 'testing';
  if (/sta?g|mode?l|pre|demo|non/i.test(name)) return 'staging';
  return /pro?d|live/i.test(name) ? 'production' : 'other';
}

/** What a failed write of an environment is told as. */
export function failed(error: unknown): unknown {
  const taken = ['has already been taken'];
  if (error instanceof AlreadyExists) return invalid({ name: taken, slug: taken });
  if (error instanceof Missing) return notFound('Project');
  if (error instanceof LimitReached) return invalid({ base: [error.message] });
  return error instanceof Stale ? conflict('It was changed by another request: try again') : error;
}
