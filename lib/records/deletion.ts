/** That somebody asked for the deletion of a project or group that some days are to pass before. */
export interface DeletionMark {
  readonly askedAt: string;
  /** The day on which it is deleted, `YYYY-MM-DD`. */
  readonly dueOn: string;
}
