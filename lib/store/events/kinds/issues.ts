import type { EventFacet, EventTargetType } from '../facet.ts';

/** Issues that are not confidential. */
export const issueEvents: readonly EventFacet[] = (['created', 'closed', 'reopened'] as const).map(
  (action) => ({ action, target: 'issue' }),
);

export const issueTargets = { Issue: 'issue' } as const satisfies Readonly<Record<string, EventTargetType>>;
