import type { EventFacet, EventTargetType } from '../facet.ts';

/** Pages of wikis of projects. */
export const wikiEvents: readonly EventFacet[] = (['created', 'updated', 'destroyed'] as const).map(
  (action) => ({ action, target: 'wiki_page' }),
);

export const wikiTargets = { 'WikiPage::Meta': 'wiki_page' } as const satisfies Readonly<
  Record<string, EventTargetType>
>;
