/** What somebody's choices come to: a project's stands before those of the groups above, these before the rest. */
import {
  NOTIFICATION_EVENTS,
  type NotificationChoice,
  type NotificationEvent,
  type NotificationLevel,
} from '../../records/notifications.ts';

/** A level that says something: nothing is above what is chosen for everything. */
export type EffectiveLevel = Exclude<NotificationLevel, 'global'>;

export interface EffectiveSetting {
  readonly level: EffectiveLevel;
  /** What counts at the level `custom`. */
  readonly events: Readonly<Record<NotificationEvent, boolean>>;
}

/** Until somebody chooses. */
export const DEFAULT_LEVEL: EffectiveLevel = 'participating';

/** Failures are more like being called than like hearing of everything: whoever says nothing about them hears of them. */
const ON_UNLESS_SAID: ReadonlySet<NotificationEvent> = new Set(['failed_pipeline', 'fixed_pipeline']);

/** Every event, as it was chosen or as it is when nobody says. */
export const eventsOf = ({ events }: NotificationChoice): EffectiveSetting['events'] =>
  Object.fromEntries(
    NOTIFICATION_EVENTS.map((event) => [event, events[event] ?? ON_UNLESS_SAID.has(event)]),
  ) as Record<NotificationEvent, boolean>;

/**
 * @param choices of one person: the innermost first, what they chose for everything last
 */
export function effective(choices: readonly NotificationChoice[]): EffectiveSetting {
  for (const choice of choices) {
    const { level = 'global' } = choice;
    if (level !== 'global') return { level, events: eventsOf(choice) };
  }
  return { level: DEFAULT_LEVEL, events: eventsOf({ events: {} }) };
}

/** As answers about projects tell levels. */
export const LEVEL_NUMBERS: Readonly<Record<NotificationLevel, number>> = {
  disabled: 0,
  participating: 1,
  watch: 2,
  global: 3,
  mention: 4,
  custom: 5,
};
