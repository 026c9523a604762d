/** Iterations of groups. Issues of projects may be in those of all groups above. */

import { type IterationRecord, type IterationState, iterationStateOn } from '../../records/iterations.ts';
import type { Container } from '../../records/labels.ts';
import { AlreadyExists, LimitReached, Missing, Stale, TransactionRefused } from '../../store/errors.ts';
import { type IterationChange, MAX_ITERATIONS, SCHEDULE } from '../../store/iterations/iterations.ts';
import { followDeletion } from '../../store/labels/uses.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { GroupAccess } from '../access/types.ts';
import { dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, recordNotFound, resourceNotFound } from '../errors.ts';
import { above, type ContainerAccess, containerOf, sameContainer, withAbove } from '../labels/containers.ts';
import { problemsOf, textOf } from '../milestones/milestones.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

export interface IterationQuery extends PageRequest {
  readonly state: IterationState | 'opened' | 'all';
  /** Part of the title, case-insensitive. */
  readonly search?: string | undefined;
  /** Those of the groups above the group, or above that of the project, too. */
  readonly inherited: boolean;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
}

/** The groups whose iterations there are in a project or group, the nearest first. */
export const iterationGroups = (access: ContainerAccess): Container[] =>
  'project' in access ? above(access) : withAbove(access);

/** The earliest first. */
export async function listIterations(
  deps: Deps,
  access: ContainerAccess,
  { state, search, inherited, updatedAfter, updatedBefore, ...request }: IterationQuery,
): Promise<Page<IterationRecord>> {
  const groups = iterationGroups(access).slice(0, inherited ? undefined : 1);
  if (groups.length === 0) return { items: [], total: 0, more: false };
  const term = search?.trim().toLowerCase() ?? '';
  const [from, to] = [updatedAfter?.toISOString(), updatedBefore?.toISOString()];
  const today = dayOf(deps.now());
  const matches = (iteration: IterationRecord) => {
    const present = iterationStateOn(iteration, today);
    return (
      (state === 'all' || present === state || (state === 'opened' && present !== 'closed')) &&
      iteration.title.toLowerCase().includes(term) &&
      (from === undefined || iteration.updatedAt >= from) &&
      (to === undefined || iteration.updatedAt <= to)
    );
  };
  const all = state === 'all' && term === '' && from === undefined && to === undefined;
  return deps.store.iterations.page(groups, request, all ? undefined : matches);
}

/** An iteration that issues of the project may be in; undefined if it is none. */
export async function iterationFor(
  deps: Deps,
  access: ContainerAccess,
  id: number,
): Promise<IterationRecord | undefined> {
  const iteration = await deps.store.iterations.get(id);
  const usable =
    iteration !== undefined &&
    iterationGroups(access).some((group) => sameContainer(group, iteration.container));
  return usable ? iteration : undefined;
}

/** An iteration of the group itself. @throws `404 Not found` */
async function getIteration(deps: Deps, access: GroupAccess, id: number): Promise<IterationRecord> {
  const iteration = await deps.store.iterations.get(id);
  if (iteration === undefined || !sameContainer(iteration.container, containerOf(access)))
    throw recordNotFound();
  return iteration;
}

export interface IterationInput {
  readonly title: string;
  readonly description?: string | null | undefined;
  /** `YYYY-MM-DD`. */
  readonly startDate: string;
  readonly dueDate: string;
}

/** @throws 400 by field; 404 when the group is deleted meanwhile; 409 while others keep changing iterations */
export async function createIteration(
  deps: Deps,
  access: GroupAccess,
  input: IterationInput,
): Promise<IterationRecord> {
  const at = deps.now().toISOString();
  const container = containerOf(access);
  const fields = {
    container,
    title: input.title.trim(),
    description: textOf(input.description),
    startDate: input.startDate,
    dueDate: input.dueDate,
    createdAt: at,
    updatedAt: at,
    version: 1,
  };
  requireValid(fields);
  const iteration = { ...fields, id: await deps.store.iterations.nextId() };
  return retried(container, async () => {
    const { taken, unchanged } = await deps.store.iterations.within(container, iteration);
    if (taken !== undefined) throw overlapping(taken);
    return deps.store.iterations.create(iteration, [], () => ({ writes: [unchanged] }));
  });
}

/** @throws 400 by field; `404 Not found`; 409 while others keep changing iterations */
export async function changeIteration(
  deps: Deps,
  access: GroupAccess,
  id: number,
  input: Partial<IterationInput>,
): Promise<IterationRecord> {
  const container = containerOf(access);
  return retried(container, async () => {
    const iteration = await getIteration(deps, access, id);
    const change: IterationChange = {
      ...(input.title === undefined ? {} : { title: input.title.trim() }),
      ...(input.description === undefined ? {} : { description: textOf(input.description) }),
      ...(input.startDate === undefined ? {} : { startDate: input.startDate }),
      ...(input.dueDate === undefined ? {} : { dueDate: input.dueDate }),
    };
    const next = { ...iteration, ...change };
    requireValid(next);
    const { startDate, dueDate } = next;
    const moved = startDate !== iteration.startDate || dueDate !== iteration.dueDate;
    const days = moved
      ? await deps.store.iterations.within(container, { startDate, dueDate, except: id })
      : undefined;
    if (days?.taken !== undefined) throw overlapping(days.taken);
    return deps.store.iterations.change(iteration, change, [], deps.now(), {
      writes: days === undefined ? [] : [days.unchanged],
    });
  });
}

/**
 * Issues that were in it are then in none.
 * @param unchanged called with the time of the last change; throws if that is later than the caller allows
 * @throws `404 Not found`; 409 for a concurrent change
 */
export async function removeIteration(
  deps: Deps,
  access: GroupAccess,
  id: number,
  unchanged: (changed: string) => void,
): Promise<void> {
  await retried(containerOf(access), async () => {
    const iteration = await getIteration(deps, access, id);
    unchanged(iteration.updatedAt);
    await deps.store.iterations.remove(iteration, {
      messages: [followDeletion({ facet: 'iteration', ...iteration })],
    });
  });
}

/** Runs an attempt again while another change of the group's iterations was first, and says what the store refused. */
async function retried<T>(container: Container, attempt: () => Promise<T>): Promise<T> {
  const lost = (error: unknown) =>
    error instanceof Stale || (error instanceof TransactionRefused && error.has(SCHEDULE));
  try {
    return await retryOnConflict(attempt, lost);
  } catch (error) {
    if (lost(error)) throw conflict('iterations are being changed: try again');
    if (error instanceof AlreadyExists) throw invalid({ title: ['has already been taken'] });
    if (error instanceof Missing) throw resourceNotFound(container);
    if (error instanceof LimitReached)
      throw invalid({ base: [`there are ${MAX_ITERATIONS} iterations already`] });
    throw error;
  }
}

const overlapping = ({ title }: IterationRecord) =>
  invalid({ base: [`Dates cannot overlap with other existing iterations within this group: ${title}`] });

function requireValid(
  iteration: Pick<IterationRecord, 'title' | 'description' | 'startDate' | 'dueDate'>,
): void {
  const found = problemsOf(iteration);
  if (found !== undefined) throw invalid(found);
}
