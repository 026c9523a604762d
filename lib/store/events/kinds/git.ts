import type { EventFacet } from '../facet.ts';

/** Pushes, through Git or the API. */
export const pushEvents: readonly EventFacet[] = [{ action: 'pushed', target: null }];
