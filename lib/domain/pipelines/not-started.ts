/** Why a job fails that was to start a pipeline, or to take over the status of one. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted';
  readonly reason: string;
  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}
