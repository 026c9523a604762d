/**
 * The settings of the instance, as far as they were changed: what is not here has its default. Those that rules obey
 * stand in a row, with whatever else is short, that every process reads again and again; long texts it need not read.
 */
import { settingsKey } from '../row-keys/settings.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, type Write } from '../table/write.ts';

/** `effective`: what rules obey, or may some day; `kept`: long texts and lists that are only stored and shown. */
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
  /** 0: nobody changed anything */
  readonly version: number;
  readonly values: SettingValues;
  /** ISO 8601, of the first change and of the last; absent before. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** What is to stand in place of what was read. */
export interface NewSettings {
  readonly was: StoredSettings;
  readonly values: SettingValues;
}

export class SettingsRows {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** What rules obey. */
  async effective(): Promise<StoredSettings> {
    return stored(await this.#table.get(settingsKey('effective')));
  }

  /** What rules obey, and what is only kept. */
  async read(): Promise<{ readonly effective: StoredSettings; readonly kept: StoredSettings }> {
    const [effective, kept] = await this.#table.batchGet([settingsKey('effective'), settingsKey('kept')]);
    return { effective: stored(effective), kept: stored(kept) };
  }

  /**
   * Puts rows in place of the versions that were read, in one transaction with all else that is given: of two who
   * change the settings at once, the later one is refused and has to look again.
   * @returns what stands there now
   * @throws TransactionRefused with the reason `settings`
   */
  async replace<R extends Readonly<Partial<Record<SettingsRow, NewSettings>>>>(
    rows: R,
    now: Date,
    alongside: readonly Write[],
  ): Promise<{ readonly [row in keyof R]: StoredSettings }> {
    const at = now.toISOString();
    const made = Object.entries(rows).map(([row, { was, values }]) => ({
      row: row as SettingsRow,
      was: was.version,
      is: { version: was.version + 1, values, createdAt: was.createdAt ?? at, updatedAt: at },
    }));
    const puts = made.map(({ row, was, is }) => ({
      put: { ...settingsKey(row), ...is },
      ...(was === 0 ? { if: ABSENT } : { if: '#version = :version', values: { version: was } }),
      reason: 'settings',
    }));
    await this.#table.transact([...puts, ...alongside]);
    return Object.fromEntries(made.map(({ row, is }) => [row, is])) as Record<keyof R, StoredSettings>;
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
