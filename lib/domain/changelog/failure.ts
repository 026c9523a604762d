import { type DomainError, unprocessable } from '../errors.ts';

/** 422 with the reason why there is no changelog. */
export const changelogFailure = (reason: string): DomainError =>
  unprocessable(`Failed to generate the changelog: ${reason}`);
