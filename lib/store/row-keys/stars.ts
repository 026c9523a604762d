import { type Key, padded } from './key.ts';
import { projectKey } from './projects.ts';

/** That a user starred this project. */
export const STAR = 'STAR#';

export const starKey = (projectId: number, userId: number): Key => ({
  pk: projectKey(projectId).pk,
  sk: `${STAR}${padded(userId)}`,
});
