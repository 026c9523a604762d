/** A scheduled deletion: a project or group is deleted some days after the request. */
export interface DeletionMark {
  readonly askedAt: string;
  /** The day on which it is deleted, `YYYY-MM-DD`. */
  readonly dueOn: string;
}
