import type { EventFacet, EventTargetType } from '../facet.ts';

/** Epics of groups, and comments on them. */
export const epicEvents: readonly EventFacet[] = [
  ...(['created', 'closed', 'reopened'] as const).flatMap((action): EventFacet[] => [
    { action, target: 'epic' },
    { action, target: 'epic', about: 'confidential' },
  ]),
  { action: 'commented', target: 'note', about: 'epic' },
  { action: 'commented', target: 'note', about: 'confidential-epic' },
];

export const epicTargets = { Epic: 'epic' } as const satisfies Readonly<Record<string, EventTargetType>>;
