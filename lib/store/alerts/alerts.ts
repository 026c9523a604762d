/** Alerts of projects: one of each cause is open. */
import { inflateSync } from 'node:zlib';
import type { AlertRecord, AlertStatus } from '../../records/alerts.ts';
import type { StoredText } from '../../records/texts.ts';
import type { TrackedAddress } from '../../records/tracked.ts';
import { AlreadyExists, ConditionFailed, Stale, TransactionRefused } from '../errors.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import {
  ALERT_PREFIX,
  alertCauseKey,
  alertCountKey,
  alertKey,
  alertPayloadKey,
  alertsPartition,
  alertTallyKey,
} from '../row-keys/alerts.ts';
import { deletePage } from '../table/delete-page.ts';
import { recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Put, type Write } from '../table/write.ts';
import { type AlertCause, type AlertCauses, closing, leading, reopening } from './causes.ts';
import { packed, unpacked } from './packed.ts';

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
  readonly #causes: AlertCauses;
  constructor(table: Table, outbox: Outbox, causes: AlertCauses) {
    this.#table = table;
    this.#outbox = outbox;
    this.#causes = causes;
  }

  /** A number for a new alert. */
  async nextIid(projectId: number): Promise<number> {
    const count = await this.#table.update({ update: alertCountKey(projectId), add: { iid: 1 } });
    return count['iid'] as number;
  }

  /**
   * Makes an alert by single writes, after which the project has to be looked at: it may be deleted meanwhile. First its
   * cause leads to it, so that the message, when it comes again, finds what is missing.
   * @returns false where another alert of its cause is open by now
   */
  async begin(
    alert: AlertRecord,
    payload: StoredText,
    by: string,
    before: AlertCause | undefined,
  ): Promise<boolean> {
    try {
      await this.#table.put(leading(alert, before, { by }));
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return false;
    }
    await this.add(alert, payload);
    return true;
  }

  /** Writes an alert that its cause leads to. @returns whether it was not there */
  async add(alert: AlertRecord, payload: StoredText): Promise<boolean> {
    const [row, ...beside] = rowsOf(alert, payload);
    for (const each of beside) await this.#table.put(each);
    try {
      await this.#table.put({ ...row!, if: ABSENT });
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return false;
    }
  }

  async get(projectId: number, iid: number): Promise<AlertRecord | undefined> {
    const [alert] = await this.getMany([{ projectId, iid }]);
    return alert;
  }

  /** Returns alerts in the order requested; undefined for those that are not there. */
  async getMany(addresses: readonly TrackedAddress[]): Promise<(AlertRecord | undefined)[]> {
    const rows = await this.#table.batchGet(addresses.map(({ projectId, iid }) => alertKey(projectId, iid)));
    const found = rows.flatMap((row) => (row === undefined ? [] : [fromItem(row)]));
    const counted = (await this.#counted(found)).values();
    return rows.map((row) => (row === undefined ? undefined : counted.next().value));
  }

  /** With how often they were sent. */
  async #counted(alerts: readonly AlertRecord[]): Promise<AlertRecord[]> {
    const rows = await this.#table.batchGet([
      ...alerts.map(({ projectId, fingerprint }) => alertCauseKey(projectId, fingerprint)),
      ...alerts.map(({ projectId, iid }) => alertTallyKey(projectId, iid)),
    ]);
    return alerts.map((alert, i) => {
      const cause = rows[i] as unknown as AlertCause | undefined;
      const former = (rows[alerts.length + i] ?? {}) as Tally;
      return counted(alert, cause?.iid === alert.iid ? cause : alert, former);
    });
  }

  async payload(projectId: number, iid: number): Promise<StoredText | undefined> {
    const keys = [alertKey(projectId, iid), alertPayloadKey(projectId, iid)];
    const [alert = {}, row = {}] = await this.#table.batchGet(keys, { only: ['said', 'sent', 'payload'] });
    const { said, sent: former } = alert as PackedParts;
    const { sent, payload } = row as PackedParts & { readonly payload?: StoredText };
    if (former !== undefined) return inflateSync(former).toString();
    return payload ?? (sent === undefined ? said && saidIn(said).payload : unpacked(sent));
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
      const alert = fromItem(item);
      if (alert.iid === before) continue;
      if (items.length === limit || looked === WALK) {
        isEnd = false;
        break;
      }
      looked++;
      last = alert.iid;
      if (where(alert)) items.push(alert);
    }
    return { items: await this.#counted(items), more: isEnd ? undefined : last };
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
        ...(was && !is ? [await this.#openAgain(alert, now)] : []),
        ...alongside,
      ];
      await this.#outbox.commit(writes, messages);
      return { ...alert, ...set };
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      throw error.has('alert') ? new Stale('alert') : error.has('open') ? new AlreadyExists('alert') : error;
    }
  }

  /** @throws AlreadyExists where another one of its cause is open */
  async #openAgain(alert: AlertRecord, now: Date): Promise<Write> {
    const { projectId, fingerprint, iid, more = 0, lastAt } = alert;
    const cause = await this.#causes.get(projectId, fingerprint);
    if (cause === undefined) return leading(alert, cause, {});
    if (cause.closed === undefined) throw new AlreadyExists('alert');
    if (cause.iid === iid) return reopening(alert, cause);
    await this.#causes.release(projectId, fingerprint, cause, now);
    return leading(alert, cause, { more, ...(lastAt === undefined ? {} : { lastAt }) });
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: alertsPartition(projectId), limit });
  }
}

/** Words of an alert. They are packed together with all that was sent, which says the same. */
type Words = Pick<
  AlertRecord,
  'title' | 'description' | 'service' | 'monitoringTool' | 'hosts' | 'environment'
>;

/** Bytes of them packed: with 700 and less the row is one write unit. */
const MAX_SAID = 1_024;

/** The rows of an alert, its own the first. @param payload all that was sent, as JSON; a long one has a row of its own */
export function rowsOf(alert: AlertRecord, payload: StoredText): Put[] {
  const { title, description, service, monitoringTool, hosts, environment, ...row } = alert;
  const words: Words = { title, description, service, monitoringTool, hosts, environment };
  const { projectId, iid } = alert;
  const said = (sent: string) => packed(`${JSON.stringify(words)}\n${sent}`);
  const own = (bytes: Buffer) => ({ put: { ...alertKey(projectId, iid), ...row, said: bytes } });
  const beside = (sent: Item) => ({ put: { ...alertPayloadKey(projectId, iid), ...sent } });
  if (typeof payload !== 'string') return [own(said('')), beside({ payload })];
  const all = said(payload);
  return all.length <= MAX_SAID ? [own(all)] : [own(said('')), beside({ sent: packed(payload) })];
}

function saidIn(said: Uint8Array): { readonly words: Words; readonly payload: string | undefined } {
  const text = unpacked(said);
  const end = text.indexOf('\n');
  return { words: JSON.parse(text.slice(0, end)) as Words, payload: text.slice(end + 1) || undefined };
}

interface PackedParts {
  readonly said?: Uint8Array;
  /** All that was sent; of earlier releases also in the row of the alert. */
  readonly sent?: Uint8Array;
}

/** Of an alert's row; those of earlier releases have its words as attributes. */
function fromItem(item: Item): AlertRecord {
  const { said, sent: _sent, ...row } = recordOf<AlertRecord & PackedParts>(item)!;
  return said === undefined ? row : { ...row, ...saidIn(said).words };
}

/** How often an alert was sent again, and when last. */
type Tally = Pick<AlertRecord, 'more' | 'lastAt'>;

function counted(alert: AlertRecord, { more = 0, lastAt = '' }: Tally, former: Tally): AlertRecord {
  const [at = ''] = [lastAt, former.lastAt ?? '', alert.updatedAt].sort().reverse();
  return { ...alert, events: alert.events + more + (former.more ?? 0), updatedAt: at };
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
