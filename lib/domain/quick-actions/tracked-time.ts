/** Quick actions about the time that work takes. */

import { humanDuration, workingTime } from '../tracked/durations.ts';
import { MAX_TIME, spendSeconds, spentText } from '../tracked/time.ts';
import { dayFrom } from './days.ts';
import { notApplied } from './interpret.ts';
import { all, mayTrackTime, setting, stored, type TrackedAction } from './tracked-action.ts';

/** A day of work, of the past or today: `2026-11-23`, `26.11.23`. */
const SPENT_AT = /(?:^|\s)(\d{2,4})[-/.](\d{1,2})[-/.](\d{1,2})(?:\s|$)/;

/** Reads `1h 30m`, `-30m`, `2h 2026-11-23`. @returns undefined for no time, and for a day that is to come */
function spentIn(argument: string, now: Date): { readonly seconds: number; readonly at: string } | undefined {
  const [written, year, month, day] = SPENT_AT.exec(argument) ?? [];
  const seconds = workingTime(written === undefined ? argument : argument.replace(written, ' '));
  if (seconds === undefined || seconds === 0 || Math.abs(seconds) > MAX_TIME) return undefined;
  if (written === undefined) return { seconds, at: now.toISOString() };
  const date = dayFrom(`${year!.length === 2 ? '20' : ''}${year}-${month}-${day}`, now);
  if (date === undefined || date > now.toISOString().slice(0, 10)) return undefined;
  return { seconds, at: `${date}T12:00:00.000Z` };
}

/** `added 1h of time spent`, with the day if that is not today. */
function noteOf(seconds: number, at: string, now: Date): string {
  const day = at.slice(0, 10);
  const text = spentText(seconds);
  return day === now.toISOString().slice(0, 10) ? text : `${text} at ${day}`;
}

export const TIME_ACTIONS: readonly TrackedAction[] = [
  {
    names: ['estimate', 'estimate_time'],
    argument: 'needed',
    applies: mayTrackTime,
    effect: (_, argument) => {
      const seconds = workingTime(argument);
      if (seconds === undefined || seconds < 0 || seconds > MAX_TIME) return undefined;
      const span = humanDuration(seconds);
      return setting(
        ['timeEstimate', 'time_estimate'],
        seconds,
        span === null ? 'Removed time estimate.' : `Set time estimate to ${span}.`,
      );
    },
  },
  {
    names: ['remove_estimate', 'remove_time_estimate'],
    applies: all(mayTrackTime, stored()),
    effect: () => setting(['timeEstimate', 'time_estimate'], 0, 'Removed time estimate.'),
  },
  {
    names: ['spend', 'spent', 'spend_time'],
    argument: 'needed',
    applies: mayTrackTime,
    effect: ({ deps, actor, stored: before }, argument) => {
      const spent = spentIn(argument, deps.now());
      if (spent === undefined) return undefined;
      const { seconds, at } = spent;
      const total = (before?.timeSpent ?? 0) + seconds;
      if (total < 0 || total > MAX_TIME) return { summary: notApplied('spend') };
      const [did, span] = [seconds > 0 ? 'Added' : 'Subtracted', humanDuration(Math.abs(seconds))];
      return {
        summary: `${did} ${span} spent time.`,
        changes: () => ({ spend_time: { duration: seconds, user_id: actor.user.id, spent_at: at } }),
        fields: spendSeconds(seconds),
        notes: [{ action: 'time_spent', text: noteOf(seconds, at, deps.now()) }],
      };
    },
  },
  {
    names: ['remove_time_spent'],
    applies: all(mayTrackTime, stored()),
    effect: ({ actor, stored: before }) => ({
      summary: 'Removed spent time.',
      changes: () => ({ spend_time: { duration: 'reset', user_id: actor.user.id } }),
      fields: () => ({ timeSpent: 0 }),
      notes: before?.timeSpent === 0 ? [] : [{ action: 'time_spent', text: 'removed time spent' }],
    }),
  },
];
