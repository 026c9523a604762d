/**
 * Notes that the maintenance jobs of one repository leave for each other, stored in the lease's row: when the next run
 * is scheduled, whether there may be garbage, and whether a job waits for the lease.
 */
import { TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, messageAt, type Outbox, outboxWrite } from '../outbox/outbox.ts';
import { leaseKey } from '../row-keys/maintenance.ts';
import type { Table } from '../table/table.ts';
import type { Lease } from './leases.ts';

/** The maintenance queue's job that maintains a repository: `{ repositoryId, collect?, refs? }`. */
export const MAINTAIN_JOB = 'repository.maintain';

export interface Notes {
  /** Milliseconds since 1970: the time for which a message is scheduled. 0 when none is. */
  readonly visitAt: number;
  /** Milliseconds since 1970: when a ref last dropped objects. 0 when a garbage collection ran since then. */
  readonly garbage: number;
  /** A garbage collection swapped its packs in and has not finished. */
  readonly unsettled: boolean;
  /** Milliseconds since 1970: until then the lease is for somebody else, who waits for it. */
  readonly wantedUntil: number;
  /** A client asked for a bundle: there is none before. */
  readonly bundleAsked: boolean;
}

/** How long maintenance stands back for who waits for the lease, in ms: longer than until the next attempt. */
const STAND_BACK_MS = 180_000;

export class MaintenanceNotes {
  readonly #table: Table;
  readonly #outbox: Outbox;

  constructor(table: Table, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
  }

  async read(repositoryId: string): Promise<Notes> {
    const row = ((await this.#table.get(leaseKey(repositoryId))) ?? {}) as Partial<Notes>;
    const { visitAt = 0, garbage = 0, unsettled = false, wantedUntil = 0, bundleAsked = false } = row;
    return { visitAt, garbage, unsettled, wantedUntil, bundleAsked };
  }

  /** Notes that who found the lease taken is to have it before further visits, each of which may go on after another. */
  async want(repositoryId: string, now: Date): Promise<void> {
    const set = { wantedUntil: now.getTime() + STAND_BACK_MS };
    await this.#table.update({ update: leaseKey(repositoryId), set });
  }

  /** Notes that a client asked for a bundle, and has one made. No effect when one was asked for before. */
  async askForBundle(repositoryId: string): Promise<void> {
    const asked = {
      update: leaseKey(repositoryId),
      set: { bundleAsked: true },
      if: 'attribute_not_exists(#bundleAsked)',
    };
    const make = message(MAINTENANCE, MAINTAIN_JOB, { repositoryId });
    await this.#unlessRefused(this.#outbox.commit([asked], [make]));
  }

  async noteGarbage(repositoryId: string, at: Date): Promise<void> {
    await this.#table.update({ update: leaseKey(repositoryId), set: { garbage: at.getTime() } });
  }

  /** Notes that everything reachable from refs is in packs that stay: see `swappedBy`. No effect without the lease. */
  async clearUnsettled({ repositoryId, fence }: Lease): Promise<void> {
    await this.#unlessRefused(
      this.#table.transact([
        {
          update: leaseKey(repositoryId),
          remove: ['unsettled'],
          if: '#fence = :fence',
          values: { fence },
        },
      ]),
    );
  }

  /** A note of objects dropped after `seen` is kept. No effect without the lease. */
  async clearGarbage(lease: Lease, seen: number): Promise<void> {
    await this.#unlessRefused(
      this.#table.transact([
        {
          update: leaseKey(lease.repositoryId),
          set: { garbage: 0 },
          if: '#garbage = :seen AND #fence = :fence',
          values: { seen, fence: lease.fence },
        },
      ]),
    );
  }

  /** Schedules a job for `at`; if undefined, notes that none is scheduled. No effect without the lease. */
  async scheduleVisit(lease: Lease, at: Date | undefined): Promise<void> {
    const { repositoryId, fence } = lease;
    await this.#unlessRefused(
      this.#table.transact([
        {
          update: leaseKey(repositoryId),
          set: { visitAt: at?.getTime() ?? 0 },
          if: '#fence = :fence',
          values: { fence },
        },
        ...(at === undefined ? [] : [maintainAt(repositoryId, at)]),
      ]),
    );
  }

  /**
   * Schedules a job for the time when the current holder's lease expires: for changes that the holder no longer sees,
   * and in case it has died. However many callers ask, one job is scheduled per holder.
   */
  async waitForLease(repositoryId: string): Promise<void> {
    const key = leaseKey(repositoryId);
    const { until, fence, waiting } = (await this.#table.get(key)) ?? {};
    if (typeof until !== 'number' || until === 0 || waiting === fence) return;
    await this.#unlessRefused(
      this.#table.transact([
        {
          update: key,
          set: { waiting: fence },
          if: '#fence = :fence AND (attribute_not_exists(#waiting) OR #waiting <> :fence)',
          values: { fence },
        },
        maintainAt(repositoryId, new Date(until * 1000)),
      ]),
    );
  }

  async #unlessRefused(write: Promise<void>): Promise<void> {
    await write.catch((error: unknown) => {
      if (!(error instanceof TransactionRefused)) throw error;
    });
  }
}

const maintainAt = (repositoryId: string, at: Date) =>
  outboxWrite(messageAt(MAINTENANCE, MAINTAIN_JOB, { repositoryId }, at));
