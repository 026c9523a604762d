export const TODO_ACTIONS = [
  ...(['assigned', 'mentioned', 'build_failed', 'marked', 'approval_required', 'unmergeable'] as const),
  ...(['directly_addressed', 'merge_train_removed', 'review_requested'] as const),
] as const;
export type TodoAction = (typeof TODO_ACTIONS)[number];

const TODO_STATES = ['pending', 'done'] as const;
export type TodoState = (typeof TODO_STATES)[number];

/** What a to-do is about. A user has one pending to-do about it at most. */
export interface TodoTarget {
  readonly kind: 'issue' | 'merge-request' | 'alert';
  /** Of an alert its number in the project. */
  readonly id: number;
  readonly projectId: number;
  readonly iid: number;
}

export interface TodoRecord {
  readonly id: number;
  readonly userId: number;
  /** Who caused it. */
  readonly authorId: number;
  readonly action: TodoAction;
  readonly target: TodoTarget;
  /** The note on the target that caused it. */
  readonly note?: { readonly id: number; readonly internal: boolean };
  readonly state: TodoState;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}
