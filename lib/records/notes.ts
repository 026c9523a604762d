// Notes on a project's commits: in partitions of the project, so that they are deleted with it.

/** The object of a note: a commit, by its id. */
export interface Noteable {
  readonly kind: 'commit';
  readonly id: string;
}
