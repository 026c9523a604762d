import type { EventFacet, EventTargetType } from '../facet.ts';

/** Milestones of projects. */
export const milestoneEvents: readonly EventFacet[] = (
  ['created', 'closed', 'reopened', 'destroyed'] as const
).map((action) => ({ action, target: 'milestone' }));

export const milestoneTargets = { Milestone: 'milestone' } as const satisfies Readonly<
  Record<string, EventTargetType>
>;
