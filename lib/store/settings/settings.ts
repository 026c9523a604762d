/**
 * The changed settings of the instance; a setting without a stored value has its default. Settings that rules obey are
 * in one row, together with other short ones; every process reads it again and again. Long texts are in another row, so
 * that these reads do not include them.
 */
import type { HookCounts } from '../../records/hooks.ts';
import { hookCountsKey } from '../row-keys/hooks.ts';
import { settingsKey } from '../row-keys/settings.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, type Write } from '../table/write.ts';

/**
 * `effective`: settings that rules obey, or may obey later; `kept`: long texts and lists that are only stored and
 * shown.
 */
export type SettingsRow = 'effective' | 'kept';

export type SettingValue =
  | boolean
  | number
  | string
  | null
  | readonly string[]
  | Readonly<Record<string, number>>;
export type SettingValues = Readonly<Record<string, SettingValue>>;

export interface StoredSettings {
  /** Increases with each change; 0 when no setting was ever changed. */
  readonly version: number;
  readonly values: SettingValues;
  /** ISO 8601, of the first and of the last change; absent when there was none. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
  /** Read beside them, because every change asks whether somebody wants to hear of it. */
  readonly hooks?: HookCounts;
}

/** The previous values as they were read, and the values that replace them. */
export interface NewSettings {
  readonly previous: StoredSettings;
  readonly values: SettingValues;
}

export class SettingsRows {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns the settings that rules obey, and how many hooks there are. */
  async effective(): Promise<StoredSettings> {
    const [settings, hooks] = await this.#table.batchGet([settingsKey('effective'), hookCountsKey()]);
    const count = (kind: keyof HookCounts) => (hooks?.[kind] as number | undefined) ?? 0;
    return {
      ...stored(settings),
      hooks: { group: count('group'), system: count('system'), integrations: count('integrations') },
    };
  }

  /** Returns both rows: the settings that rules obey and those that are only stored and shown. */
  async read(): Promise<{ readonly effective: StoredSettings; readonly kept: StoredSettings }> {
    const [effective, kept] = await this.#table.batchGet([settingsKey('effective'), settingsKey('kept')]);
    return { effective: stored(effective), kept: stored(kept) };
  }

  /**
   * Replaces rows, if they still have the versions that were read, in one transaction with the given writes. If two
   * callers change the settings at the same time, the later one is refused and has to read them again.
   * @returns the rows as stored
   * @throws TransactionRefused with the reason `settings`
   */
  async replace<R extends Readonly<Partial<Record<SettingsRow, NewSettings>>>>(
    rows: R,
    now: Date,
    alongside: readonly Write[],
  ): Promise<{ readonly [row in keyof R]: StoredSettings }> {
    const at = now.toISOString();
    const replacements = Object.entries(rows).map(([row, { previous, values }]) => ({
      row: row as SettingsRow,
      previous: previous.version,
      next: { version: previous.version + 1, values, createdAt: previous.createdAt ?? at, updatedAt: at },
    }));
    const puts = replacements.map(({ row, previous, next }) => ({
      put: { ...settingsKey(row), ...next },
      ...(previous === 0 ? { if: ABSENT } : { if: '#version = :version', values: { version: previous } }),
      reason: 'settings',
    }));
    await this.#table.transact([...puts, ...alongside]);
    return Object.fromEntries(replacements.map(({ row, next }) => [row, next])) as Record<
      keyof R,
      StoredSettings
    >;
  }
}

const stored = (item: Item | undefined): StoredSettings =>
  item === undefined
    ? { version: 0, values: {} }
    : {
        version: item['version'] as number,
        values: item['values'] as SettingValues,
        createdAt: item['createdAt'] as string,
        updatedAt: item['updatedAt'] as string,
      };
