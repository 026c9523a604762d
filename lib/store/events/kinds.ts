/** Collects the kinds of activity events, from a file per subject in `kinds/`. */

import type { EventFacet } from './facet.ts';
import { epicEvents, epicTargets } from './kinds/epics.ts';
import { pushEvents } from './kinds/git.ts';
import { issueEvents, issueTargets } from './kinds/issues.ts';
import { memberEvents } from './kinds/members.ts';
import { mergeRequestEvents, mergeRequestTargets } from './kinds/merge-requests.ts';
import { milestoneEvents, milestoneTargets } from './kinds/milestones.ts';
import { noteEvents, noteTargets } from './kinds/notes.ts';
import { projectEvents } from './kinds/projects.ts';
import { wikiEvents, wikiTargets } from './kinds/wikis.ts';

/** Every facet that a row of a project may have. */
export const PROJECT_FACETS: readonly EventFacet[] = [
  ...projectEvents,
  ...pushEvents,
  ...noteEvents,
  ...memberEvents,
  ...milestoneEvents,
  ...issueEvents,
  ...mergeRequestEvents,
  ...wikiEvents,
];

/** Every facet that a row may have: also those of groups. */
export const EVENT_FACETS: readonly EventFacet[] = [...PROJECT_FACETS, ...epicEvents];

/** What counts as a contribution to a project. */
export const CONTRIBUTIONS: readonly EventFacet[] = [...pushEvents, ...noteEvents];

/** The filter that finds each type of target. */
export const TARGET_TYPES = {
  ...noteTargets,
  ...milestoneTargets,
  ...issueTargets,
  ...mergeRequestTargets,
  ...wikiTargets,
  ...epicTargets,
};

/** A type of target as named in responses; one filter name may cover several. */
export type TargetType = keyof typeof TARGET_TYPES;
