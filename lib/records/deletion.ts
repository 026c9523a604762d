/** A scheduled deletion: a project or group is deleted some days after the request. */
export interface DeletionMark {
  readonly askedAt: string;
  /** The day on which it is deleted, `YYYY-MM-DD`. */
  readonly dueOn: string;
}

/** The day of the request, as in responses. */
export const markedOn = ({ askedAt }: DeletionMark): string => askedAt.slice(0, 10);
