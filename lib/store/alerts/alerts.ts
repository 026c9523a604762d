/** Alerts of projects: one of each cause is open. */
import { deflateSync, inflateSync } from 'node:zlib';
import type { AlertRecord, AlertStatus } from '../../records/alerts.ts';
import type { StoredText } from '../../records/texts.ts';
import type { TrackedAddress } from '../../records/tracked.ts';
import { AlreadyExists, Stale, TransactionRefused } from '../errors.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  ALERT_PREFIX,
  alertCountKey,
  alertKey,
  alertPayloadKey,
  alertsPartition,
  alertTallyKey,
  openAlertKey,
} from '../row-keys/alerts.ts';
import { deletePage } from '../table/delete-page.ts';
import { recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Write } from '../table/write.ts';
import { noTally, withTally } from './tallies.ts';

/** Alerts that a filtered list looks at. */
const WALK = 5_000;

/** What people say of an alert; what is absent stays. */
export interface AlertChange {
  readonly status?: AlertStatus | undefined;
  readonly assigneeIds?: readonly number[] | undefined;
}

export class Alerts {
  readonly #table: Table;
  readonly #outbox: Outbox;
  constructor(table: Table, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
  }

  /** The number of the alert of a cause that is not resolved. */
  async openOf(projectId: number, fingerprint: string): Promise<number | undefined> {
    const row = await this.#table.get(openAlertKey(projectId, fingerprint));
    return row?.['iid'] as number | undefined;
  }

  /** A number for a new alert. */
  async nextIid(projectId: number): Promise<number> {
    const count = await this.#table.update({ update: alertCountKey(projectId), add: { iid: 1 } });
    return count['iid'] as number;
  }

  /**
   * The writes of a new alert. They are refused as `open` where another one of its cause is open by now, as `project` when
   * the project is deleted.
   * @param payload all that was sent, as JSON. @param alone whether no other write of the transaction checks the project
   */
  creationOf(alert: AlertRecord, payload: StoredText, alone: boolean): Write[] {
    return [
      ...(alone ? [checkProjectExists(alert.projectId)] : []),
      ...withPayload(alert, payload),
      noTally(alert),
      ...(alert.status === 'resolved' ? [] : [opening(alert)]),
    ];
  }

  async get(projectId: number, iid: number): Promise<AlertRecord | undefined> {
    const [alert] = await this.getMany([{ projectId, iid }]);
    return alert;
  }

  /** Returns alerts in the order requested; undefined for those that are not there. */
  async getMany(addresses: readonly TrackedAddress[]): Promise<(AlertRecord | undefined)[]> {
    const [alerts, tallies] = [alertKey, alertTallyKey].map((key) =>
      addresses.map(({ projectId, iid }) => key(projectId, iid)),
    );
    const rows = await this.#table.batchGet([...alerts!, ...tallies!]);
    return addresses.map((_, i) => {
      const alert = rows[i];
      return alert && withTally(recordOf<AlertRecord>(alert)!, rows[addresses.length + i]);
    });
  }

  async payload(projectId: number, iid: number): Promise<StoredText | undefined> {
    const keys = [alertKey(projectId, iid), alertPayloadKey(projectId, iid)];
    const [alert, row] = await this.#table.batchGet(keys, { only: ['sent', 'payload'] });
    const sent = alert?.['sent'] as Uint8Array | undefined;
    return sent === undefined ? (row?.['payload'] as StoredText | undefined) : inflateSync(sent).toString();
  }

  /** The newest first. @param before a number: only those with a smaller one. Looks at 5,000 at most */
  async list(
    projectId: number,
    limit: number,
    before: number | undefined,
    where: (alert: AlertRecord) => boolean,
  ): Promise<{ readonly items: readonly AlertRecord[]; readonly more: number | undefined }> {
    const partition = alertsPartition(projectId);
    const range =
      before === undefined
        ? { prefix: ALERT_PREFIX }
        : { from: ALERT_PREFIX, to: alertKey(projectId, before).sk };
    const items: AlertRecord[] = [];
    let [looked, last, isEnd] = [0, before, true];
    for await (const item of this.#table.queryAll({ partition, ...range, reverse: true, limit: 200 })) {
      const alert = recordOf<AlertRecord>(item)!;
      if (alert.iid === before) continue;
      if (items.length === limit || looked === WALK) {
        isEnd = false;
        break;
      }
      looked++;
      last = alert.iid;
      if (where(alert)) items.push(alert);
    }
    const tallies = await this.#table.batchGet(items.map(({ iid }) => alertTallyKey(projectId, iid)));
    return {
      items: items.map((alert, i) => withTally(alert, tallies[i])),
      more: isEnd ? undefined : last,
    };
  }

  /**
   * Changes what people say of it.
   * @throws Stale when it was changed since it was read; AlreadyExists when it is opened again and another one of its
   * cause is open
   */
  async change(
    alert: AlertRecord,
    { status = alert.status, assigneeIds = alert.assigneeIds ?? [] }: AlertChange,
    now: Date,
    alongside: readonly Write[],
    messages: readonly OutboxMessage[],
  ): Promise<AlertRecord> {
    const at = now.toISOString();
    const [was, is] = [alert.status === 'resolved', status === 'resolved'];
    const endedAt = is ? (was ? alert.endedAt : at) : null;
    const set = { status, assigneeIds, endedAt, updatedAt: at };
    const { if: condition, values, ...write } = changed(alert, { set });
    const assigned =
      alert.assigneeIds === undefined ? 'attribute_not_exists(#assigneeIds)' : '#assigneeIds = :assigned';
    try {
      const writes = [
        {
          ...write,
          if: `${condition} AND ${assigned}`,
          values: { ...values, ...(alert.assigneeIds === undefined ? {} : { assigned: alert.assigneeIds }) },
        },
        ...(is && !was ? [closing(alert)] : []),
        ...(was && !is ? [opening(alert)] : []),
        ...alongside,
      ];
      await this.#outbox.commit(writes, messages);
      return { ...alert, ...set };
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      throw error.has('alert') ? new Stale('alert') : error.has('open') ? new AlreadyExists('alert') : error;
    }
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: alertsPartition(projectId), limit });
  }
}

/** Bytes of a deflated payload that is in the row of its alert: that is then two write units cheaper, and seldom a larger one. */
const MAX_BESIDE = 1_024;

function withPayload(alert: AlertRecord, payload: StoredText): Write[] {
  const { projectId, iid } = alert;
  const sent = typeof payload === 'string' ? deflateSync(payload) : undefined;
  return sent !== undefined && sent.length <= MAX_BESIDE
    ? [{ put: { ...alertKey(projectId, iid), ...alert, sent } }]
    : [
        { put: { ...alertKey(projectId, iid), ...alert } },
        { put: { ...alertPayloadKey(projectId, iid), payload } },
      ];
}

/** The status is the version: all that is decided by a read alert depends on nothing else. */
const changed = ({ projectId, iid, status }: AlertRecord, change: { readonly set: Item }) => ({
  update: alertKey(projectId, iid),
  ...change,
  if: `${PRESENT} AND #status = :before`,
  values: { before: status },
  reason: 'alert',
});

/** The writes of an alert that ends; refused as `alert` where its status is another one by now. */
export const ending = (alert: AlertRecord, endedAt: string, now: Date): Write[] => [
  changed(alert, { set: { status: 'resolved', endedAt, updatedAt: now.toISOString() } }),
  closing(alert),
];

const closing = ({ projectId, fingerprint }: AlertRecord): Write => ({
  delete: openAlertKey(projectId, fingerprint),
});

const opening = ({ projectId, fingerprint, iid }: AlertRecord): Write => ({
  put: { ...openAlertKey(projectId, fingerprint), iid },
  if: ABSENT,
  reason: 'open',
});
