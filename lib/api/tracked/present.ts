import { humanDuration } from '../../domain/tracked/durations.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';

/** What a list or a record was asked for in; references are shown relative to it. */
export type AskedIn =
  | { readonly kind: 'project'; readonly id: number }
  | { readonly kind: 'group'; readonly group: GroupRecord }
  | { readonly kind: 'instance' };

export const timeStats = ({
  timeEstimate,
  timeSpent,
}: {
  readonly timeEstimate: number;
  readonly timeSpent: number;
}) => ({
  time_estimate: timeEstimate,
  total_time_spent: timeSpent,
  human_time_estimate: humanDuration(timeEstimate),
  human_total_time_spent: humanDuration(timeSpent),
});

/** What was asked in, where it is a group: whoever shows something of it does not read it again. */
export const groupAskedIn = (askedIn: AskedIn): readonly GroupRecord[] =>
  askedIn.kind === 'group' ? [askedIn.group] : [];

/** @param short `#1`, `!1` */
export function references(short: string, project: ProjectRecord, askedIn: AskedIn) {
  const full = `${project.fullPath}${short}`;
  if (askedIn.kind === 'project') return { short, relative: askedIn.id === project.id ? short : full, full };
  const above = askedIn.kind === 'group' ? `${askedIn.group.fullPath.toLowerCase()}/` : undefined;
  const isBelow = above !== undefined && project.fullPath.toLowerCase().startsWith(above);
  return { short, relative: isBelow ? full.slice(above.length) : full, full };
}
