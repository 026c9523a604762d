/** What was done, as named by filters. */
export type EventAction =
  | 'created'
  | 'updated'
  | 'closed'
  | 'reopened'
  | 'pushed'
  | 'commented'
  | 'merged'
  | 'joined'
  | 'left'
  | 'destroyed'
  | 'expired'
  | 'approved';

/** The type of object it was done to, as named by filters. */
export type EventTargetType =
  | 'issue'
  | 'milestone'
  | 'merge_request'
  | 'note'
  | 'project'
  | 'snippet'
  | 'user'
  // No filter of requests names these.
  | 'wiki_page'
  | 'epic';

/** An action and the type of its target, as encoded in keys. The set of facets is closed, since feeds merge them. */
export interface EventFacet {
  readonly action: EventAction;
  readonly target: EventTargetType | null;
  /**
   * Of a note: what it is on, unless that is a commit. `confidential` where an issue or an epic is, as the target or under
   * the note, or where the note is internal.
   */
  readonly about?:
    | 'issue'
    | 'confidential'
    | 'merge-request'
    | 'snippet'
    | 'hidden-snippet'
    | 'epic'
    | 'confidential-epic';
}
