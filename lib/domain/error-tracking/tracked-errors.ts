/** Errors that programs send: taking them, and what people see and say of them. */

import type { ErrorEvent, ErrorStatus, SentError, TrackedError } from '../../records/error-tracking.ts';
import { Missing } from '../../store/errors.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { annotate } from '../../telemetry/correlation.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { notFound, recordNotFound, unauthorized } from '../errors.ts';
import { sentError } from './sent-errors.ts';

export const NOTE_ERROR_JOB = 'error-tracking.note';

/**
 * What lets a program send errors of a project.
 * @throws 401 without a key of it, also where there is no such project; 404 where it does not collect errors
 */
export async function requireCollecting(deps: Deps, projectId: number, publicKey: string): Promise<void> {
  const { key, settings } = await deps.store.errorTracking.collecting(projectId, publicKey);
  if (!key) throw unauthorized();
  if (settings?.active !== true || !settings.integrated) throw notFound();
}

/**
 * Takes events of a program. They are safe in the queue when it returns.
 * @returns the program's id of the first @throws 400 for one that tells of nothing; 503
 */
export async function takeEvents(
  deps: Deps,
  projectId: number,
  events: readonly Readonly<Record<string, unknown>>[],
): Promise<string | undefined> {
  const sent = events.map((event) => sentError(event, deps.now()));
  await deps.store.outbox.send(
    sent.map((each) => message(MAINTENANCE, NOTE_ERROR_JOB, { projectId, sent: each })),
  );
  return sent[0]?.eventId;
}

/** Notes an event that was taken. @param id of its message */
export async function noteError(
  deps: Deps,
  { projectId, sent }: { readonly projectId: number; readonly sent: SentError },
  id: string,
): Promise<void> {
  try {
    annotate({ noted: await deps.store.trackedErrors.note(projectId, id, sent, deps.now()) });
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
  }
}

export const listErrors = (
  deps: Deps,
  { project }: ProjectAccess,
  request: PageRequest,
  {
    status,
    search,
    sort,
  }: {
    readonly status: ErrorStatus | undefined;
    readonly search: string | undefined;
    readonly sort: 'asc' | 'desc';
  },
): Promise<Page<TrackedError>> => {
  const term = search?.trim().toLowerCase() ?? '';
  const filtered = status !== undefined || term !== '';
  const where = (error: TrackedError) =>
    (status === undefined || error.status === status) &&
    [error.name, error.description ?? '', error.actor ?? ''].some((each) =>
      each.toLowerCase().includes(term),
    );
  return deps.store.trackedErrors.page(project.id, request, sort, filtered ? where : undefined);
};

/** @throws 404 */
export async function getError(deps: Deps, { project }: ProjectAccess, id: number): Promise<TrackedError> {
  const error = await deps.store.trackedErrors.get(project.id, id);
  if (error === undefined) throw recordNotFound();
  return error;
}

/** @throws 404 */
export async function setErrorStatus(
  deps: Deps,
  { project }: ProjectAccess,
  id: number,
  status: ErrorStatus,
): Promise<TrackedError> {
  const error = await deps.store.trackedErrors.setStatus(project.id, id, status);
  if (error === undefined) throw recordNotFound();
  return error;
}

/** Occurrences of an error, the newest first. @param before id of one: only those that came earlier @throws 404 */
export async function listEvents(
  deps: Deps,
  access: ProjectAccess,
  id: number,
  limit: number,
  before: string | undefined,
): Promise<{ readonly items: readonly ErrorEvent[]; readonly more: boolean }> {
  await getError(deps, access, id);
  return deps.store.trackedErrors.events(access.project.id, id, limit, before);
}
