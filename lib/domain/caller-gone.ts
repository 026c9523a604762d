/** The caller closed the connection: nobody waits for the answer. */
export class CallerGone extends Error {
  constructor() {
    super('the caller has gone');
    this.name = 'CallerGone';
  }
}
