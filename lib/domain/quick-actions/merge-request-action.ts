/** What the quick actions of merge requests have in common. */

import type { MergeRequestFields, MergeRequestRecord } from '../../records/merge-requests.ts';
import type { QuickAction } from './interpret.ts';
import { storedOf, type TrackedContext } from './tracked-action.ts';

export interface MergeRequestContext extends TrackedContext {
  readonly stored: MergeRequestRecord | undefined;
  /** Of the record, or of the one that is to be. */
  readonly title: string;
}

export type MergeRequestAction = QuickAction<MergeRequestContext, MergeRequestFields, MergeRequestRecord>;

export const mayWrite = ({ may }: MergeRequestContext): boolean => may.write;
/** The merge request exists, and is such. */
export const stored = storedOf<MergeRequestContext>();
export const isOpen = stored(({ state }) => state === 'opened');
