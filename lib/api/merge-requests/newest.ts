import type { Actor } from '../../domain/actor.ts';
import { listMergeRequests } from '../../domain/merge-requests/list.ts';
import type { ApiDeps } from '../endpoint.ts';
import { askedIn, presentedMergeRequests } from './presented.ts';

type Asked = Parameters<typeof listMergeRequests>[2];
type Counted = Omit<Parameters<typeof listMergeRequests>[3], 'order' | 'direction'>;

/** A page of the merge requests that a commit, a milestone or the like leads to, the newest first. */
export async function newestMergeRequests(
  deps: ApiDeps,
  actor: Actor,
  asked: Asked,
  page: Counted,
  baseUrl: string,
) {
  const listed = await listMergeRequests(deps, actor, asked, {
    ...page,
    order: 'created_at',
    direction: 'desc',
  });
  return {
    ...listed,
    items: await presentedMergeRequests(deps, listed.items, baseUrl, askedIn(asked.scope)),
  };
}
