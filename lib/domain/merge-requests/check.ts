/** Checks by workers: whether a merge request can be merged, and the merge that `git fetch` gets. */

import type { Oid } from '../../git/oid.ts';
import { RefConflict } from '../../git/ports.ts';
import type { MergeRequestAddress } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { lostMergeRef, readMergeRef, writtenMerge } from './merge-ref.ts';
import { currentVerdict } from './merge-status.ts';
import { foundVerdict, headsOf } from './mergeability.ts';

interface Check {
  readonly signal: AbortSignal;
  readonly last: boolean;
}

/** The work of the job. It may run twice, and does nothing where verdict and merge are those of the heads of now. */
export async function checkMergeRequest(
  deps: Deps,
  address: MergeRequestAddress,
  { deadline, last }: { readonly deadline: number; readonly last: boolean },
): Promise<void> {
  const left = deadline - Date.now();
  const signal = left > 0 ? AbortSignal.timeout(left) : AbortSignal.abort();
  try {
    await retryOnConflict(() => attempt(deps, address, { signal, last }), lostMergeRef);
  } catch (error) {
    const isOver = error instanceof RefConflict || signal.aborted;
    // What cannot be fetched now is made by the next check, or when somebody asks for it.
    if (!isOver || !last) throw error;
  }
}

async function attempt(
  deps: Deps,
  { projectId, iid }: MergeRequestAddress,
  { signal, last }: Check,
): Promise<void> {
  const project = await deps.store.projects.get(projectId);
  if (project === undefined) return;
  // Of a worker, which asks for nobody's rights.
  const access: ProjectAccess = { project, level: 0 };
  const before = await readMergeRef(deps, access, iid);
  const record = await deps.store.mergeRequests.get({ projectId, iid });
  if (record === undefined || record.state === 'merged') return;
  const { targetSha } = await headsOf(deps, access, record);
  if (targetSha === undefined) return;
  const verdict =
    currentVerdict({ record, targetSha }) ??
    (await foundVerdict(deps, access, record, targetSha as Oid, { signal, last }));
  await writtenMerge(deps, access, { record, verdict, before }, { signal });
}
