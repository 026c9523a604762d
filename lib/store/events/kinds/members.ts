import type { EventFacet } from '../facet.ts';

/** Memberships. */
export const memberEvents: readonly EventFacet[] = [
  { action: 'joined', target: null },
  { action: 'left', target: null },
  { action: 'expired', target: null },
];
