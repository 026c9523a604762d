/** Merge requests keep when a deployment first brought them to production. */

import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { rangesOfCommit } from '../../store/merge-requests/kind.ts';
import type { Deps } from '../deps.ts';
import { broughtBy } from '../environments/deployments.ts';
import { landingOf } from './conditions.ts';

/** Commits whose merge requests are looked for at once, and merge requests of these: the newest. */
const COMMITS_AT_ONCE = 50;
const MAX_TOLD = 100;

/** A deployment, and how many of its commits are done with. */
interface Telling {
  readonly projectId: number;
  readonly deploymentId: number;
  readonly from?: number | undefined;
}

/**
 * The work of the job.
 * @param deadline milliseconds since 1970. @returns where to go on; undefined at the end
 */
export async function tellDeployed(
  deps: Deps,
  { projectId, deploymentId, from: begin = 0 }: Telling,
  deadline: number,
): Promise<Telling | undefined> {
  const { store } = deps;
  const [project, deployment] = await Promise.all([
    store.projects.get(projectId),
    store.deployments.get(projectId, deploymentId),
  ]);
  if (project === undefined || project.deletedAt !== null || deployment === undefined) return undefined;
  const commits = [...(await broughtBy(deps, { project, level: 0 }, deployment))];
  for (let from = begin; from < commits.length; from += COMMITS_AT_ONCE) {
    if (Date.now() > deadline) return { projectId, deploymentId, from };
    const brought = new Set(commits.slice(from, from + COMMITS_AT_ONCE));
    const isNew = (record: MergeRequestRecord) =>
      record.state === 'merged' && record.firstDeployedAt === undefined && brought.has(landingOf(record));
    const { items } = await store.mergeRequestList.page({
      sources: [[...brought].flatMap((sha) => rangesOfCommit(projectId, sha))],
      matches: async (records) => records.map(isNew),
      direction: 'desc',
      page: 1,
      perPage: MAX_TOLD,
    });
    await Promise.all(items.map((record) => store.mergeRequests.keepDeployed(record, deployment.updatedAt)));
  }
  return undefined;
}
