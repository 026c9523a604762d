/**
 * The calls of hooks. Each hook has a queue of its own: rows of the deliveries that wait, in the order of the changes, and a
 * lease, so that one of them is under way at a time and hooks never wait for each other.
 */
import type { HookAnswer, HookDelivery, HookOwner, HookRecord } from '../../records/hooks.ts';
import { ConditionFailed, TransactionRefused } from '../errors.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import {
  DELIVERY_PREFIX,
  hookDeliveryKey,
  hookKey,
  hookLeaseKey,
  hookQueuePartition,
  WAITING_PREFIX,
  waitingDeliveryKey,
} from '../row-keys/hooks.ts';
import type { Page, PageRequest } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Write } from '../table/write.ts';

/** How long deliveries can be looked at. */
const KEPT_SECONDS = 7 * 24 * 3600;
/** Maximum number of deliveries of a hook in its list. */
const MAX_LISTED = 1_000;
/** Deliveries in a transaction: two rows and a message each. */
const AT_ONCE = 30;

const LEASE = 'hook-lease';

/** A delivery, and the message that has it made. */
export interface NewDelivery {
  readonly delivery: HookDelivery;
  readonly message: OutboxMessage;
}

/** What a finished call changes. */
export interface Settled {
  readonly owner: HookOwner;
  readonly hook: HookRecord | undefined;
  /** Calls that failed in a row, and until when it is not called, if these change. */
  readonly health?: Pick<HookRecord, 'failures' | 'disabledUntil'>;
  readonly delivery: HookDelivery;
  readonly answer: HookAnswer;
  readonly state: HookDelivery['state'];
  /** No delivery begins before then, in milliseconds since 1970. */
  readonly notBefore?: number | undefined;
  readonly alongside: readonly Write[];
}

export class HookDeliveries {
  readonly #table: Table;
  readonly #outbox: Outbox;
  constructor(table: Table, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
  }

  /** Puts deliveries into the queues of their hooks. What is there already, or was made, stays as it is. */
  async enqueue(all: readonly NewDelivery[], now: Date): Promise<void> {
    for (let i = 0; i < all.length; i += AT_ONCE) await this.#enqueue(all.slice(i, i + AT_ONCE), now);
  }

  /** The writes of a delivery that waits, for a transaction. */
  waits(delivery: HookDelivery, now: Date): Write[] {
    const { hookId, id } = delivery;
    const ttl = expiry(now);
    return [
      { put: { ...hookDeliveryKey(hookId, id), ...delivery, ttl }, if: ABSENT, reason: `${hookId} ${id}` },
      { put: { ...waitingDeliveryKey(hookId, id), ttl } },
    ];
  }

  async #enqueue(all: readonly NewDelivery[], now: Date): Promise<void> {
    const writes = all.flatMap(({ delivery }) => this.waits(delivery, now));
    try {
      await this.#outbox.commit(
        writes,
        all.map(({ message }) => message),
      );
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      const rest = all.filter(({ delivery }) => !error.has(`${delivery.hookId} ${delivery.id}`));
      if (rest.length === all.length) throw error;
      if (rest.length > 0) await this.#enqueue(rest, now);
    }
  }

  /** Takes the lease of a hook's queue. @returns false while another holds it, or the hook may not be called yet */
  async take(hookId: number, holder: string, now: Date, ms: number): Promise<boolean> {
    const at = now.getTime();
    try {
      await this.#table.update({
        update: hookLeaseKey(hookId),
        set: { holder, until: at + ms, ttl: expiry(now) },
        if: '(attribute_not_exists(#until) OR #until <= :at OR #holder = :holder) AND (attribute_not_exists(#notBefore) OR #notBefore <= :at)',
        values: { at, holder },
      });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailed) return false;
      throw error;
    }
  }

  /** Gives the lease up. */
  async release(hookId: number, holder: string): Promise<void> {
    try {
      await this.#table.update({
        update: hookLeaseKey(hookId),
        remove: ['holder', 'until'],
        if: '#holder = :holder',
        values: { holder },
      });
    } catch (error) {
      // It expired, and another has it.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }

  /** Lets the hook be called at once. */
  async resume(hookId: number): Promise<void> {
    try {
      await this.#table.update({ update: hookLeaseKey(hookId), remove: ['notBefore'], if: PRESENT });
    } catch (error) {
      // It was never called: nothing keeps it from being called.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }

  /** The id of the first delivery that waits. */
  async first(hookId: number): Promise<string | undefined> {
    const partition = hookQueuePartition(hookId);
    const { items } = await this.#table.query({ partition, prefix: WAITING_PREFIX, limit: 1 });
    return (items[0]?.['sk'] as string | undefined)?.slice(WAITING_PREFIX.length);
  }

  async get(hookId: number, id: string): Promise<HookDelivery | undefined> {
    return fromItem(await this.#table.get(hookDeliveryKey(hookId, id)));
  }

  /** Forgets that a delivery waits. */
  async drop(hookId: number, id: string): Promise<void> {
    await this.#table.delete({ delete: waitingDeliveryKey(hookId, id) });
  }

  /**
   * Ends a call: notes what was answered and gives the lease up, in one transaction.
   * @returns false when the holder has no lease any more: the call was ended before
   */
  async settle(holder: string, settled: Settled, now: Date): Promise<boolean> {
    const { delivery, answer, state, notBefore, owner, hook, health, alongside } = settled;
    const { hookId, id } = delivery;
    const ended = state !== 'waiting';
    try {
      await this.#table.transact([
        {
          update: hookLeaseKey(hookId),
          set: { ttl: expiry(now), ...(notBefore === undefined ? {} : { notBefore }) },
          remove: ['holder', 'until', ...(notBefore === undefined ? ['notBefore'] : [])],
          if: '#holder = :holder',
          values: { holder },
          reason: LEASE,
        },
        {
          update: hookDeliveryKey(hookId, id),
          set: { answer, state, attempts: delivery.attempts + 1, ttl: expiry(now) },
          if: PRESENT,
          reason: 'delivery',
        },
        ...(ended ? [{ delete: waitingDeliveryKey(hookId, id) }] : []),
        ...(hook === undefined || health === undefined
          ? []
          : [
              {
                update: hookKey(owner, hook.id),
                set: health,
                add: { version: 1 },
                if: '#version = :version',
                values: { version: hook.version },
                reason: 'hook',
              },
            ]),
        ...alongside,
      ]);
      return true;
    } catch (error) {
      if (!(error instanceof TransactionRefused && (error.has(LEASE) || error.has('delivery')))) throw error;
      return false;
    }
  }

  /** The recent deliveries of a hook, the newest first. */
  async page(hookId: number, { page, perPage }: PageRequest): Promise<Page<HookDelivery>> {
    const rows = { partition: hookQueuePartition(hookId), prefix: DELIVERY_PREFIX };
    const ids: string[] = [];
    for await (const { sk } of this.#table.queryAll({
      ...rows,
      reverse: true,
      only: ['sk'],
      limit: MAX_LISTED,
    })) {
      ids.push((sk as string).slice(DELIVERY_PREFIX.length));
      if (ids.length === MAX_LISTED) break;
    }
    const from = (page - 1) * perPage;
    const shown = ids.slice(from, from + perPage);
    const items = await this.#table.batchGet(shown.map((id) => hookDeliveryKey(hookId, id)));
    return {
      items: items.flatMap((item) => fromItem(item) ?? []),
      total: ids.length,
      more: ids.length > from + perPage,
    };
  }
}

const expiry = (now: Date): number => Math.floor(now.getTime() / 1000) + KEPT_SECONDS;

function fromItem(item: Item | undefined): HookDelivery | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, ttl: _t, w: _w, ...record } = item;
  return record as unknown as HookDelivery;
}
