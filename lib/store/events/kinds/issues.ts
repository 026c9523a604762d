import type { EventFacet, EventTargetType } from '../facet.ts';

export const issueEvents: readonly EventFacet[] = (['created', 'closed', 'reopened'] as const).flatMap(
  (action): EventFacet[] => [
    { action, target: 'issue' },
    { action, target: 'issue', about: 'confidential' },
  ],
);

export const issueTargets = { Issue: 'issue' } as const satisfies Readonly<Record<string, EventTargetType>>;
