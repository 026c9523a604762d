/** The ref of a merge that is tried out: what the target branch would be if the merge request were merged now. */

import { type Oid, ZERO_OID } from '../../git/oid.ts';
import { RefConflict } from '../../git/ports.ts';
import type { RefName } from '../../git/refname.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, refused } from '../errors.ts';
import { identityOf } from '../repository/identity.ts';
import { codeOf } from '../repository/read.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { mergeRequestAsItIs } from './as-it-is.ts';
import { currentVerdict } from './merge-status.ts';

/**
 * Lets `refs/merge-requests/<iid>/merge` point to a merge of both heads as they are now; the target branch stays.
 * @returns the commit: the one that is there, if its parents are these heads
 * @throws `404 Not found`; 400 where they cannot be merged; 409 while others keep moving them
 */
export async function writeMergeRef(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<string> {
  try {
    return await retryOnConflict(() => attempt(deps, actor, access, iid), lost);
  } catch (error) {
    throw lost(error) ? conflict('409 Conflict: Resource lock') : error;
  }
}

/** Another reader was first, perhaps the first of all. */
const lost = (error: unknown): boolean =>
  error instanceof RefConflict &&
  error.rejections.every(({ reason }) => reason === 'stale' || reason === 'exists' || reason === 'collected');

async function attempt(deps: Deps, actor: Actor, access: ProjectAccess, iid: number): Promise<Oid> {
  const { mergeRequest, situation } = await mergeRequestAsItIs(deps, actor, access, iid);
  const verdict = currentVerdict({ record: mergeRequest, targetSha: situation.heads.targetSha });
  const isOpen = mergeRequest.state === 'opened' && !access.project.archived;
  if (!isOpen || verdict?.mergeable !== true) throw notMergeable();
  const [target, head] = [verdict.targetSha as Oid, verdict.headSha as Oid];
  const git = codeOf(deps, access);
  const name = `refs/merge-requests/${iid}/merge` as RefName;
  const ref = await git.ref(name);
  if (ref !== undefined) {
    const [{ parents } = { parents: [] as readonly Oid[] }] = await git.log({ tips: [ref.oid], limit: 1 });
    if (parents.length === 2 && parents[0] === target && parents[1] === head) return ref.oid;
  }
  const by = identityOf(signedIn(actor).user, deps.now());
  const message = `Merge ${head} into ${target}`;
  const merging = await git.merging();
  const built = await merging.mergeCommit(target, head, { author: by, committer: by, message });
  if (built.kind !== 'built') throw notMergeable();
  const from = ref?.oid ?? ZERO_OID;
  const update = { name, from, to: built.commit, forced: ref !== undefined, committed: by.seconds };
  await git.publish(built.objects, [update], { uses: [target, head] });
  return built.commit;
}

const notMergeable = () => refused('Merge request is not mergeable');
