/** A thread has more to do than it takes on: what was asked for may be asked for again. */
export class ThreadBusy extends Error {
  constructor() {
    super('too many tasks wait for the thread');
    this.name = 'ThreadBusy';
  }
}
