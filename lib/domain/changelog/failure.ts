import { type DomainError, unprocessable } from '../errors.ts';

/** 422 with the reason why no changelog could be generated. */
export const changelogFailure = (reason: string): DomainError =>
  unprocessable(`Failed to generate the changelog: ${reason}`);
