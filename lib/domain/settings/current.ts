/**
 * The instance's settings as rules read them: a cached copy in the process, at most a few seconds old, so that requests need
 * no read of their own.
 */
import type { HookCounts } from '../../records/hooks.ts';
import type { StoreEnvironment } from '../../store/environment.ts';
import type { SettingsRows, StoredSettings } from '../../store/settings/settings.ts';
import { log } from '../../telemetry/log.ts';
import { defaultSettings, type InstanceSettings } from './defaults.ts';

export type { InstanceSettings } from './defaults.ts';

/** An older copy is read again at the next use; `open` does so in parallel with the first reads of a request. */
const FRESH_MS = 5_000;
/** Maximum age of a copy that is still used while the table cannot be read. */
const MAX_STALE_MS = 60_000;

interface Copy {
  readonly settings: InstanceSettings;
  readonly version: number;
  readonly hooks: HookCounts;
  readonly epoch: number;
  /** Start of the read, in ms. */
  readonly at: number;
}

/** The cached settings. Rules call `current()`, changes call `changed()`. */
export interface Settings {
  /** The settings, at most a few seconds old; reads the table at most once in five seconds. */
  current(): Promise<InstanceSettings>;
  /** How many hooks groups and the instance have; as old as the settings. */
  hooks(): Promise<HookCounts>;
  /** Makes the next call read again: this process has changed what is read. */
  expire(): void;
  /** Updates the copy with what this process has just written. */
  changed(stored: StoredSettings): void;
}

/** @param clock ms, as `Date.now()` */
export function cachedSettings(
  rows: Pick<SettingsRows, 'effective'>,
  environment: StoreEnvironment,
  clock: () => number = Date.now,
): Settings {
  const defaults = defaultSettings(environment);
  let copy: Copy | undefined;
  let reading: Promise<Copy> | undefined;
  /** Rises when this process changes what is read: copies that were read before are out of date. */
  let epoch = 0;

  const keep = ({ version, values, hooks }: StoredSettings, at: number, since = epoch): Copy => {
    // A read that started before a change by this process must not undo the change here. A later read may find a lower
    // version, if the table was restored to an earlier point in time.
    if (copy !== undefined && version < copy.version && at <= copy.at) return copy;
    copy = {
      settings: { ...defaults, ...(values as Partial<InstanceSettings>) },
      version,
      hooks: hooks ?? copy?.hooks ?? { group: 0, system: 0, integrations: 0 },
      epoch: since,
      at,
    };
    return copy;
  };
  const read = async (): Promise<Copy> => {
    const at = clock();
    const since = epoch;
    try {
      return keep(await rows.effective(), at, since);
    } catch (error) {
      if (copy === undefined || !within(copy, MAX_STALE_MS)) throw error;
      log('warn', 'settings not read', { cause: String(error) });
      return copy;
    }
  };
  const within = ({ at }: Copy, ms: number): boolean => {
    const age = clock() - at;
    // If the clock was set back, the age is unknown.
    return age >= 0 && age < ms;
  };
  const latest = async (): Promise<Copy> => {
    if (copy !== undefined && within(copy, FRESH_MS) && copy.epoch === epoch) return copy;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    current: async () => (await latest()).settings,
    hooks: async () => (await latest()).hooks,
    expire: () => {
      epoch++;
      reading = undefined;
    },
    changed: (stored) => void keep(stored, clock(), copy?.epoch),
  };
}
