import { secondsOf } from '../../durations/durations.ts';

export const durationProblem = (text: string): string | undefined =>
  secondsOf(text) === undefined ? 'is not a correct duration' : undefined;
