/** Effective notification settings: a project's setting takes precedence over those of its groups, these over the global one. */
import {
  NOTIFICATION_EVENTS,
  type NotificationChoice,
  type NotificationEvent,
  type NotificationLevel,
} from '../../records/notifications.ts';

/** A level other than `global`, which refers to the global setting. */
export type EffectiveLevel = Exclude<NotificationLevel, 'global'>;

export interface EffectiveSetting {
  readonly level: EffectiveLevel;
  /** Used at the level `custom`. */
  readonly events: Readonly<Record<NotificationEvent, boolean>>;
}

/** The level of a user who has not chosen one. */
export const DEFAULT_LEVEL: EffectiveLevel = 'participating';

/** Events that are on unless turned off: a failure is addressed to its author, like a mention. */
const ON_BY_DEFAULT: ReadonlySet<NotificationEvent> = new Set(['failed_pipeline', 'fixed_pipeline']);

/** Returns all events, as chosen or by default. */
export const eventsOf = ({ events }: NotificationChoice): EffectiveSetting['events'] =>
  Object.fromEntries(
    NOTIFICATION_EVENTS.map((event) => [event, events[event] ?? ON_BY_DEFAULT.has(event)]),
  ) as Record<NotificationEvent, boolean>;

/**
 * @param choices settings of one person, from the project or group to the top-level group, the global one last
 */
export function effectiveSetting(choices: readonly NotificationChoice[]): EffectiveSetting {
  for (const choice of choices) {
    const { level = 'global' } = choice;
    if (level !== 'global') return { level, events: eventsOf(choice) };
  }
  return { level: DEFAULT_LEVEL, events: eventsOf({ events: {} }) };
}

/** Levels as numbers, as in responses about projects. */
export const LEVEL_NUMBERS: Readonly<Record<NotificationLevel, number>> = {
  disabled: 0,
  participating: 1,
  watch: 2,
  global: 3,
  mention: 4,
  custom: 5,
};
