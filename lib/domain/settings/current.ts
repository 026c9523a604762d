/**
 * The instance's settings as rules read them: a copy in the process, a few seconds old at most, so that they cost no
 * read of their own per request.
 */
import type { StoreEnvironment } from '../../store/environment.ts';
import type { SettingsRows, StoredSettings } from '../../store/settings/settings.ts';
import { log } from '../../telemetry/log.ts';
import { defaultSettings, type InstanceSettings } from './defaults.ts';

export type { InstanceSettings } from './defaults.ts';

/** A copy that is older is read anew, by whoever asks first: `open` asks beside a request's first reads. */
const FRESH_MS = 5_000;
/** Until then an old copy is served while the table cannot be read. */
const LAST_MS = 60_000;

interface Copy {
  readonly settings: InstanceSettings;
  readonly version: number;
  /** When the read of it began, in ms. */
  readonly at: number;
}

/** What changes have to know of the copy; rules read `current()`. */
export interface Settings {
  /** The settings, as they were at most some seconds ago: without a read but for one in five seconds. */
  current(): Promise<InstanceSettings>;
  /** Takes what this process has just written. */
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

  const keep = ({ version, values }: StoredSettings, at: number): Copy => {
    // A read that began before a change of this process ended must not undo it here; a later one may find less, where
    // the table was put back to a moment before.
    if (copy !== undefined && version < copy.version && at <= copy.at) return copy;
    copy = { settings: { ...defaults, ...(values as Partial<InstanceSettings>) }, version, at };
    return copy;
  };
  const read = async (): Promise<Copy> => {
    const at = clock();
    try {
      return keep(await rows.effective(), at);
    } catch (error) {
      if (copy === undefined || !within(copy, LAST_MS)) throw error;
      log('warn', 'settings not read', { cause: String(error) });
      return copy;
    }
  };
  const within = ({ at }: Copy, ms: number): boolean => {
    const age = clock() - at;
    // A clock that was set back says nothing about age.
    return age >= 0 && age < ms;
  };
  return {
    async current() {
      if (copy !== undefined && within(copy, FRESH_MS)) return copy.settings;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return (await reading).settings;
    },
    changed: (stored) => void keep(stored, clock()),
  };
}
