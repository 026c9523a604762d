import type { EventFacet, EventTargetType } from '../facet.ts';

/** Comments. */
export const noteEvents: readonly EventFacet[] = [
  { action: 'commented', target: 'note' },
  { action: 'commented', target: 'note', about: 'issue' },
  { action: 'commented', target: 'note', about: 'confidential' },
  { action: 'commented', target: 'note', about: 'merge-request' },
  { action: 'commented', target: 'note', about: 'snippet' },
  { action: 'commented', target: 'note', about: 'hidden-snippet' },
];

/** The target types of comments in responses, and the filter that finds them. */
export const noteTargets = {
  Note: 'note',
  DiscussionNote: 'note',
  DiffNote: 'note',
} as const satisfies Readonly<Record<string, EventTargetType>>;
