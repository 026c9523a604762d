import { DomainError } from '../errors.ts';

export const limitProblem = (limit: number): string =>
  `Your project limit is ${limit} projects! Please contact your administrator to increase it`;

export const limitError = (limit: number) => new DomainError('forbidden', [limitProblem(limit)]);
