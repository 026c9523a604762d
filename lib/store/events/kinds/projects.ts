import type { EventFacet } from '../facet.ts';

/** Projects that are created. */
export const projectEvents: readonly EventFacet[] = [{ action: 'created', target: null }];
