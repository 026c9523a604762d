import { RefConflict } from '../../git/ports.ts';
import { notFound, refused } from '../errors.ts';

/** Translates a ref conflict. @param otherwise the text if the state of the repository does not explain the conflict */
export function refConflictError(error: unknown, otherwise: string): unknown {
  if (!(error instanceof RefConflict)) return error;
  const reasons = error.rejections.map((rejection) => rejection.reason);
  if (reasons.includes('deleted')) return notFound('Project');
  if (reasons.includes('read-only')) {
    return refused('The repository is temporarily read-only. Please try again later.');
  }
  if (reasons.includes('importing')) {
    return refused('The repository is being imported. Please try again later.');
  }
  return refused(otherwise);
}
