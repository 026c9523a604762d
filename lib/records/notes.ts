// What a project says about its commits: a partition of its own for each kind, so that it goes with the project.

/** What notes are about: a commit by its id. */
export interface Noteable {
  readonly kind: 'commit';
  readonly id: string;
}
