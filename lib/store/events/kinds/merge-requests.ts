import type { EventFacet, EventTargetType } from '../facet.ts';

export const mergeRequestEvents: readonly EventFacet[] = (
  ['created', 'closed', 'reopened', 'merged', 'approved'] as const
).map((action) => ({ action, target: 'merge_request' }));

export const mergeRequestTargets = { MergeRequest: 'merge_request' } as const satisfies Readonly<
  Record<string, EventTargetType>
>;
