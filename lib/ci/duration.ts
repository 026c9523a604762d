import { secondsOf } from '../durations/durations.ts';

/** Seconds of a length of time as a configuration has it: `1h30m`, `3 mins 4 sec`, `90`, and also `2:30` and `1:02:03`. */
export function parseDuration(text: string): number | undefined {
  const clock = /^\d{1,4}(?::\d{1,2}){1,2}$/.exec(text.trim());
  if (clock === null) return secondsOf(text);
  return clock[0].split(':').reduce((seconds, part) => seconds * 60 + Number(part), 0);
}
