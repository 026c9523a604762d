import type { Identity } from '../git/parse.ts';

/** `2021-10-20T15:02:11.000+02:00`: a commit's time in its own time zone; an invalid zone counts as UTC. */
export function gitTime({ seconds, timezone }: Pick<Identity, 'seconds' | 'timezone'>): string {
  const zone = /^([+-])(\d\d)([0-5]\d)$/.exec(timezone);
  const minutes = zone === null ? 0 : (zone[1] === '-' ? -1 : 1) * (Number(zone[2]) * 60 + Number(zone[3]));
  // JavaScript dates end in the year 275760, ISO 8601 in 9999: later times are shown as the epoch.
  const local = new Date((seconds + minutes * 60) * 1000);
  const shown = Number.isNaN(local.getTime()) || local.getUTCFullYear() > 9999 ? new Date(0) : local;
  const offset = zone === null ? '+00:00' : `${zone[1]}${zone[2]}:${zone[3]}`;
  return `${shown.toISOString().slice(0, -1)}${offset}`;
}
