import { LimitExceeded } from '../work.ts';

/** The texts are too large, or differ too much, to be compared within the bounds. */
export class BlameLimit extends LimitExceeded {
  constructor() {
    super('the versions of the file are too large, or too many, to be compared');
    this.name = 'BlameLimit';
  }
}
