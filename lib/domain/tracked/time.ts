/** Time that work is estimated to take, and that was spent on it: the same for everything that people work on. */

import type { SystemNote } from '../../records/notes.ts';
import { invalid } from '../errors.ts';
import { oneLine } from '../mail/message.ts';
import { humanDuration, workingTime } from './durations.ts';

/** Seconds. */
export interface TrackedTime {
  readonly timeEstimate: number;
  readonly timeSpent: number;
}

/** Seconds; some 68 years. Clients read four bytes. */
export const MAX_TIME = 2 ** 31 - 1;

export type TimeChange = (before: TrackedTime) => Partial<TrackedTime>;

/** @param duration as people write it: `3h 30m`. @throws 400 for another text */
export const estimate =
  (duration: string): TimeChange =>
  () => {
    const timeEstimate = workingTime(duration);
    if (timeEstimate === undefined || timeEstimate < 0 || timeEstimate > MAX_TIME)
      throw invalid({ time_estimate: ['must have a valid format and be greater than or equal to zero.'] });
    return { timeEstimate };
  };

/** @param duration as people write it; with a minus it is subtracted. @throws 400 for another text, and below zero */
export const spend =
  (duration: string): TimeChange =>
  (before) => {
    const seconds = workingTime(duration);
    if (seconds === undefined)
      throw invalid({ base: ['Time spent must be formatted correctly. For example: 1h 30m.'] });
    return spendSeconds(seconds)(before);
  };

/** @throws 400 below zero */
export const spendSeconds =
  (seconds: number): TimeChange =>
  (before) => {
    const timeSpent = before.timeSpent + seconds;
    if (timeSpent < 0) throw invalid({ base: ['Time to subtract exceeds the total time spent'] });
    if (timeSpent > MAX_TIME) throw invalid({ base: ['Time spent is too long'] });
    return { timeSpent };
  };

/** `added 1h of time spent` */
export const spentText = (seconds: number): string =>
  `${seconds > 0 ? 'added' : 'subtracted'} ${humanDuration(Math.abs(seconds))} of time spent`;

/** Notes what time was spent on, if that is said, in place of the plain note of {@link spend}. */
export function spentNotes(duration: string, summary: string): SystemNote[] {
  const seconds = workingTime(duration) ?? 0;
  const on = oneLine(summary);
  return seconds === 0 || on === '' ? [] : [{ action: 'time_spent', text: `${spentText(seconds)}: ${on}` }];
}

export const resetEstimate: TimeChange = () => ({ timeEstimate: 0 });
export const resetSpent: TimeChange = () => ({ timeSpent: 0 });
