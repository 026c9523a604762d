/**
 * A thread cannot do a task now, whatever the task: it has more to do than it takes on, did not start, or ended. What was
 * asked for may be asked for again.
 */
export class ThreadBusy extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ThreadBusy';
  }
}
