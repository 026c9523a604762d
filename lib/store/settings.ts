/**
 * The settings of the instance, as far as they were changed: what is not here has its default. Those that rules obey
 * stand in a row of their own, which every process reads again and again; the others and the secrets it need not read.
 */
import { settingsKey } from './keys.ts';
import type { Table } from './table.ts';
import type { Item, Write } from './write.ts';

/** `effective`: what rules obey; `kept`: what is stored and shown; `secrets`: what is neither shown nor cached. */
export type SettingsRow = 'effective' | 'kept' | 'secrets';

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
   * Puts a row in place of the version that was read, in one transaction with all else that is given: of two who
   * change the settings at once, the later one is refused and has to look again.
   * @throws TransactionRefused with the reason `settings`
   */
  async replace(
    rows: Readonly<Partial<Record<'effective' | 'kept', { was: StoredSettings; values: SettingValues }>>>,
    now: Date,
    alongside: readonly Write[],
  ): Promise<void> {
    const puts = (['effective', 'kept'] as const).flatMap((row) => {
      const change = rows[row];
      if (change === undefined) return [];
      const { version, createdAt } = change.was;
      const at = now.toISOString();
      const item = { version: version + 1, values: change.values, createdAt: createdAt ?? at, updatedAt: at };
      return [
        {
          put: { ...settingsKey(row), ...item },
          ...(version === 0
            ? { if: 'attribute_not_exists(#pk)' }
            : { if: '#version = :version', values: { version } }),
          reason: 'settings',
        },
      ];
    });
    await this.#table.transact([...puts, ...alongside]);
  }
}

/** Secrets are set one by one: what another administrator sets at the same time stays. */
export function secretsWrite(sealed: Readonly<Record<string, string | null>>): Write[] {
  const names = Object.keys(sealed);
  if (names.length === 0) return [];
  const set = Object.fromEntries(
    names.flatMap((name) => (sealed[name] === null ? [] : [[name, sealed[name]]])),
  );
  const remove = names.filter((name) => sealed[name] === null);
  return [{ update: settingsKey('secrets'), set, remove }];
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
