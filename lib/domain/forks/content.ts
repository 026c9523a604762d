/** Jobs of the queue `forks`. Each may be delivered twice, late, or after one of its projects is gone. */
import { shortName } from '../../git/refname.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, TransactionRefused } from '../../store/errors.ts';
import { type Inheritance, inherit, readInheritance } from '../../store/forks/content.ts';
import { MAINTAIN_JOB } from '../../store/maintenance/last-runs.ts';
import { FORKS, MAINTENANCE, message, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import type { Deps } from '../deps.ts';
import type { JobOutcome } from '../job.ts';
import {
  checkImporting,
  failImport,
  importFills,
  isImporting,
  startImport,
} from '../repository/import-state.ts';
import { networkMember, protectionWrites } from '../repository/open.ts';
import { isBelow } from '../visibility.ts';

/** Gives a fork the content of its source. */
export const FORK_FILL_JOB = 'fork.fill';
/** Ends a fork that has no content in time. */
export const FORK_ENDS_JOB = 'fork.ends';

/** Body of both jobs. */
export interface ForkOrder {
  readonly projectId: number;
  readonly sourceId: number;
}

/** Timeout: a fork that is not filled by then has failed. */
const FORK_ENDS_MS = 3 * 3600_000;
/** `fork.ends` sees to it that this does not go on for ever. */
const NOT_READY: JobOutcome = { delayMs: 30_000 };
const ATTEMPTS = 8;

/** The outbox messages of a new fork: one to fill it, and one to fail it after the timeout. */
export function forkMessages(deps: Deps, order: ForkOrder) {
  const ends = new Date(deps.now().getTime() + FORK_ENDS_MS);
  return {
    messages: [message(FORKS, FORK_FILL_JOB, { ...order })],
    alongside: [outboxWrite(messageAt(FORKS, FORK_ENDS_JOB, { ...order }, ends))],
  };
}

/** Shown to maintainers of the fork. */
const FAILURES = {
  gone: 'The project to be forked is gone',
  hidden: 'The project to be forked may be seen by fewer people now than the fork',
  late: 'The fork could not be made in time',
} as const;

/** Fails a fork that is not filled by now. */
export async function giveUpFork(deps: Deps, { projectId }: ForkOrder): Promise<void> {
  await failImport(deps, projectId, FAILURES.late);
}

/** @returns when to try again, where the source is not ready */
export async function fillFork(deps: Deps, order: ForkOrder): Promise<JobOutcome> {
  const { projectId, sourceId } = order;
  const fork = await startImport(deps, projectId);
  if (fork === undefined) return true;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const source = await deps.store.projects.get(sourceId);
    if (source === undefined) return fail(deps, fork, 'gone');
    if (isBelow(source.visibility, fork.visibility)) return fail(deps, fork, 'hidden');
    if (isImporting(source)) return NOT_READY;
    try {
      const inheritance = await readInheritance(deps.store, networkMember(source));
      if (inheritance.swaps.unsettled) {
        // A garbage collection is running or was aborted: until it has finished, packs marked as garbage may contain
        // reachable objects.
        const body = { repositoryId: source.repositoryId };
        await deps.store.outbox.commit([], [message(MAINTENANCE, MAINTAIN_JOB, body)]);
        return NOT_READY;
      }
      return await fill(deps, source, fork, inheritance);
    } catch (error) {
      if (error instanceof Missing) return fail(deps, fork, 'gone');
      if (!(error instanceof TransactionRefused)) throw error;
      // Another process has filled it, or it is gone.
      if (error.has('import')) return true;
      // Packs were replaced under the reading, a rule was made, or the source is closed: the next look tells.
    }
  }
  return NOT_READY;
}

async function fill(
  deps: Deps,
  source: ProjectRecord,
  fork: ProjectRecord,
  inheritance: Inheritance,
): Promise<void> {
  const { head, born } = inheritance;
  const firstBranch = born ? shortName(head) : undefined;
  const maintenance = message(MAINTENANCE, MAINTAIN_JOB, { repositoryId: fork.repositoryId });
  // Before the fork shows what refers to them. They were listed before the refs that have just been read.
  await deps.store.lfsObjects.inheritAll(fork, source.id);
  await inherit(
    deps.store,
    networkMember(source),
    { ...networkMember(fork), waiting: checkImporting(deps, fork.id) },
    inheritance,
    [
      importFills(deps, fork.id, firstBranch === undefined ? {} : { defaultBranch: firstBranch }),
      ...(firstBranch === undefined ? [] : await protectionWrites(deps, fork, firstBranch)),
      outboxWrite(maintenance),
      scheduleMeasuring(fork.id, deps.now()),
    ],
    deps.now(),
  );
  await deps.store.outbox.deliver([maintenance]);
}

async function fail(deps: Deps, fork: ProjectRecord, why: keyof typeof FAILURES): Promise<void> {
  await failImport(deps, fork.id, FAILURES[why]);
}
