/** What issues and merge requests have in common: numbered objects of a project, which many lists find. */

import type { AuthorSnapshot } from './authors.ts';
import type { StoredText } from './texts.ts';

/** Where it is stored. */
export interface TrackedAddress {
  readonly projectId: number;
  /** Its number in the project. */
  readonly iid: number;
}

/** Who changed it. Absent: nobody since it was made, or in an earlier release. */
export interface Edited {
  /** Who changed it last. */
  readonly updatedById?: number;
  /** When its title or its description was changed last. */
  readonly lastEdited?: { readonly at: string; readonly byId: number };
}

/** Times are ISO 8601 in UTC with milliseconds. */
export interface TrackedRecord extends TrackedAddress, Edited {
  readonly id: number;
  readonly title: string;
  readonly description: StoredText | null;
  readonly author: AuthorSnapshot;
  readonly assigneeIds: readonly number[];
  readonly labelIds: readonly number[];
  readonly milestoneId: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Notes by users; awards. Changed by adding, without a new version. */
  readonly userNotesCount: number;
  readonly upvotes: number;
  readonly downvotes: number;
  /** Raised by each change; what counts notes and awards leaves it alone. */
  readonly version: number;
}
