/** Errors that programs of projects sent, and their occurrences. */
import type { ErrorEvent, ErrorStatus, SentError, TrackedError } from '../../records/error-tracking.ts';
import { ConditionFailed, Missing, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  errorEventKey,
  errorEventPrefix,
  errorEventsPartition,
  fingerprintKey,
  TRACKED_ERROR_PREFIX,
  trackedErrorCountKey,
  trackedErrorKey,
  trackedErrorsPartition,
} from '../row-keys/error-tracking.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { recordOf } from '../table/record-of.ts';
import { type Direction, mergeKeys, rowSource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, countBelow, PRESENT } from '../table/write.ts';

/** Maximum number of errors of a project; what comes beyond is not kept. */
export const MAX_TRACKED_ERRORS = 10_000;
/** For how long an occurrence is kept. */
const EVENT_SECONDS = 90 * 24 * 3600;
/** How often another error is looked at that others change meanwhile. */
const ATTEMPTS = 8;

export type Noted = 'noted' | 'noted before' | 'full';

export class TrackedErrors {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /**
   * Notes an occurrence, of a new error or of one that is known: which counts it, and is no longer resolved.
   * @param id of the occurrence; the same when it is noted again
   * @throws Missing when the project is deleted; Error where others were faster again and again
   */
  async note(projectId: number, id: string, sent: SentError, now: Date): Promise<Noted> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const print = await this.#table.get(fingerprintKey(projectId, sent.fingerprint));
      const known = print === undefined ? undefined : await this.get(projectId, print['errorId'] as number);
      try {
        await (known === undefined
          ? this.#begin(projectId, id, sent, now)
          : this.#count(known, id, sent, now));
        return 'noted';
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
        if (error.has('event')) return 'noted before';
        if (error.has('project')) throw new Missing('project');
        if (error.has('count')) return 'full';
      }
    }
    throw new Error('others change this error all the time');
  }

  /** @throws TransactionRefused as `print` when there is such an error by now, `event`, `count`, `project` */
  async #begin(projectId: number, id: string, sent: SentError, now: Date): Promise<void> {
    const { fingerprint, name, description, actor, platform, level, occurredAt } = sent;
    const error: TrackedError = {
      id: await this.#counters.next('tracked-error'),
      projectId,
      fingerprint,
      name,
      description,
      actor,
      platform,
      level,
      status: 'unresolved',
      count: 1,
      firstSeenAt: occurredAt,
      lastSeenAt: occurredAt,
    };
    await this.#table.transact([
      { put: { ...trackedErrorKey(projectId, error.id), ...error } },
      { put: { ...fingerprintKey(projectId, fingerprint), errorId: error.id }, if: ABSENT, reason: 'print' },
      countBelow(trackedErrorCountKey(projectId), MAX_TRACKED_ERRORS, 'count'),
      eventPut(error, id, sent, now),
      checkProjectExists(projectId),
    ]);
  }

  /** @throws TransactionRefused as `changed` when its status is another one by now, `event` */
  async #count(known: TrackedError, id: string, sent: SentError, now: Date): Promise<void> {
    const { status, projectId } = known;
    const later = sent.occurredAt > known.lastSeenAt;
    await this.#table.transact([
      {
        update: trackedErrorKey(projectId, known.id),
        add: { count: 1 },
        set: {
          ...(later ? { lastSeenAt: sent.occurredAt, description: sent.description, level: sent.level } : {}),
          ...(status === 'resolved' ? { status: 'unresolved' } : {}),
        },
        if: `${PRESENT} AND #status = :status${later ? ' AND #lastSeenAt < :at' : ''}`,
        values: { status, ...(later ? { at: sent.occurredAt } : {}) },
        reason: 'changed',
      },
      eventPut(known, id, sent, now),
    ]);
  }

  async get(projectId: number, id: number): Promise<TrackedError | undefined> {
    return recordOf(await this.#table.get(trackedErrorKey(projectId, id)));
  }

  /** In the order in which they came first. @param where a filter, for which 5,000 at most are loaded */
  page(
    projectId: number,
    request: PageRequest,
    direction: Direction,
    where?: (error: TrackedError) => boolean,
  ): Promise<Page<TrackedError>> {
    const rows = { partition: trackedErrorsPartition(projectId), prefix: TRACKED_ERROR_PREFIX };
    const chunk = where === undefined ? chunkFor(request, 1) : 200;
    const after = request.rows?.after;
    const source = rowSource(this.#table, rows, direction, chunk, after);
    const load = async (ids: readonly number[]) =>
      (await this.#table.batchGet(ids.map((id) => trackedErrorKey(projectId, id)))).map((item) =>
        recordOf<TrackedError>(item),
      );
    return this.#counted(
      projectId,
      request,
      where === undefined,
      cutPage(mergeKeys([source], direction, after), request, { load, where }),
    );
  }

  async #counted(
    projectId: number,
    { count }: PageRequest,
    whole: boolean,
    cut: Promise<Page<TrackedError>>,
  ): Promise<Page<TrackedError>> {
    if (!whole || count !== true) return cut;
    const [page, row] = await Promise.all([cut, this.#table.get(trackedErrorCountKey(projectId))]);
    return { ...page, total: (row?.['total'] as number | undefined) ?? 0 };
  }

  /** @returns the error as it is then; undefined when there is none */
  async setStatus(projectId: number, id: number, status: ErrorStatus): Promise<TrackedError | undefined> {
    try {
      const update = { update: trackedErrorKey(projectId, id), set: { status }, if: PRESENT };
      return recordOf(await this.#table.update(update));
    } catch (error) {
      if (error instanceof ConditionFailed) return undefined;
      throw error;
    }
  }

  /** Occurrences of an error, the newest first. @param before id of an occurrence: only those that came earlier */
  async events(
    projectId: number,
    errorId: number,
    limit: number,
    before?: string,
  ): Promise<{ readonly items: readonly ErrorEvent[]; readonly more: boolean }> {
    const partition = errorEventsPartition(projectId);
    const range =
      before === undefined
        ? { prefix: errorEventPrefix(errorId) }
        : { from: errorEventPrefix(errorId), to: errorEventKey(projectId, errorId, before).sk };
    const items: ErrorEvent[] = [];
    for await (const item of this.#table.queryAll({ partition, ...range, reverse: true, limit: limit + 2 })) {
      const event = recordOf<ErrorEvent & { ttl: number }>(item)!;
      if (event.id === before) continue;
      if (items.length === limit) return { items, more: true };
      items.push(event);
    }
    return { items, more: false };
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  async removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    for (const partition of [errorEventsPartition(projectId), trackedErrorsPartition(projectId)])
      if (await deletePage(this.#table, { partition, limit })) return true;
    return false;
  }
}

const eventPut = (
  { id: errorId, projectId }: TrackedError,
  id: string,
  { eventId, description, level, environment, occurredAt, payload }: SentError,
  now: Date,
) => {
  const event: ErrorEvent = { id, errorId, eventId, description, level, environment, occurredAt, payload };
  const ttl = Math.floor(now.getTime() / 1000) + EVENT_SECONDS;
  return { put: { ...errorEventKey(projectId, errorId, id), ...event, ttl }, if: ABSENT, reason: 'event' };
};
