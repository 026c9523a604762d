/** Whether projects collect errors, and the keys with which programs send them. */
import type { ClientKey, ErrorTrackingSettings } from '../../records/error-tracking.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  CLIENT_KEY_PREFIX,
  clientKeyCountKey,
  clientKeyKey,
  errorTrackingPartition,
  errorTrackingSettingsKey,
  publicKeyKey,
} from '../row-keys/error-tracking.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { allRecords, recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, countBelow, PRESENT, type Write } from '../table/write.ts';

/** Maximum number of client keys of a project. */
const MAX_CLIENT_KEYS = 100;

export class ErrorTracking {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  async settings(projectId: number): Promise<ErrorTrackingSettings | undefined> {
    return recordOf(await this.#table.get(errorTrackingSettingsKey(projectId)));
  }

  /**
   * @param before undefined: there are none
   * @throws Stale when they were changed since they were read; Missing when the project is deleted
   */
  async put(
    settings: ErrorTrackingSettings,
    before: ErrorTrackingSettings | undefined,
    alongside: readonly Write[],
  ): Promise<void> {
    const { projectId } = settings;
    const condition =
      before === undefined
        ? { if: ABSENT }
        : { if: '#version = :version', values: { version: before.version } };
    await this.#transact([
      { put: { ...errorTrackingSettingsKey(projectId), ...settings }, ...condition, reason: 'settings' },
      checkProjectExists(projectId),
      ...alongside,
    ]);
  }

  /** Whether a text is one of the project's keys, and whether it collects errors: in one round trip. */
  async collecting(
    projectId: number,
    publicKey: string,
  ): Promise<{ readonly key: boolean; readonly settings: ErrorTrackingSettings | undefined }> {
    const keys = [publicKeyKey(projectId, publicKey), errorTrackingSettingsKey(projectId)];
    const [key, settings] = await this.#table.batchGet(keys);
    return { key: key?.['active'] === true, settings: recordOf(settings) };
  }

  nextKeyId(): Promise<number> {
    return this.#counters.next('client-key');
  }

  /** In the order of ids. */
  async keysOf(projectId: number): Promise<ClientKey[]> {
    const rows = { partition: errorTrackingPartition(projectId), prefix: CLIENT_KEY_PREFIX };
    return allRecords<ClientKey>(this.#table, rows);
  }

  async key(projectId: number, id: number): Promise<ClientKey | undefined> {
    return recordOf(await this.#table.get(clientKeyKey(projectId, id)));
  }

  /** @throws LimitReached; Missing when the project is deleted */
  async createKey(key: ClientKey, alongside: readonly Write[]): Promise<void> {
    const { projectId, id, publicKey } = key;
    await this.#transact([
      { put: { ...clientKeyKey(projectId, id), ...key }, if: ABSENT, reason: 'key' },
      { put: { ...publicKeyKey(projectId, publicKey), keyId: id, active: key.active } },
      countBelow(clientKeyCountKey(projectId), MAX_CLIENT_KEYS, 'count'),
      checkProjectExists(projectId),
      ...alongside,
    ]);
  }

  /** @throws Stale when it is deleted already */
  async removeKey({ projectId, id, publicKey }: ClientKey, alongside: readonly Write[]): Promise<void> {
    await this.#transact([
      { delete: clientKeyKey(projectId, id), if: PRESENT, reason: 'key' },
      { delete: publicKeyKey(projectId, publicKey) },
      { update: clientKeyCountKey(projectId), add: { total: -1 } },
      ...alongside,
    ]);
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: errorTrackingPartition(projectId), limit });
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      if (error.has('count')) throw new LimitReached('client keys', MAX_CLIENT_KEYS);
      throw error.has('key') || error.has('settings') ? new Stale('error tracking') : error;
    }
  }
}
