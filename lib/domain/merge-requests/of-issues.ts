/** The merge requests that name an issue. */
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { FoundIssue } from '../issues/related.ts';
import { closesIssues } from '../markdown/closing.ts';
import type { NumberedReference } from '../markdown/references.ts';
import type { FoundMergeRequest } from './related.ts';

/** Merge requests of one issue that are found. */
const MAX_RELATED = 100;
/** Long descriptions that are read at the same time. */
const CONCURRENCY = 8;

/** Returns the merge requests that were noted on an issue and that the actor may see, 100 at most, the newest first. */
export async function relatedMergeRequests(
  deps: Deps,
  actor: Actor,
  { issue }: FoundIssue,
): Promise<FoundMergeRequest[]> {
  const { store } = deps;
  const addresses = await store.mentions.namingMergeRequests(issue, MAX_RELATED);
  if (addresses.length === 0) return [];
  const ids = [...new Set(addresses.map(({ projectId }) => projectId))];
  const [records, projects] = await Promise.all([
    store.mergeRequests.getMany(addresses),
    projectAccesses(deps, actor, ids),
  ]);
  const found = records.flatMap((mergeRequest): FoundMergeRequest[] => {
    const access = projects[ids.indexOf(mergeRequest?.projectId ?? 0)];
    const isShown = mergeRequest !== undefined && access !== undefined;
    return isShown && can(actor, access, 'read_merge_requests') ? [{ mergeRequest, access }] : [];
  });
  return found.toSorted((a, b) => b.mergeRequest.id - a.mergeRequest.id);
}

/** Returns those of them that close the issue when they are merged, or did. */
export async function closingMergeRequests(
  deps: Deps,
  actor: Actor,
  { issue, access }: FoundIssue,
  baseUrl: string,
): Promise<FoundMergeRequest[]> {
  const { project } = access;
  if (project.settings['autoclose_referenced_issues'] === false) return [];
  const related = (await relatedMergeRequests(deps, actor, { issue, access })).filter(
    ({ mergeRequest, access: { project: own } }) =>
      mergeRequest.targetBranch === own.defaultBranch && own.forkedFromId !== project.id,
  );
  const closes = new Set<FoundMergeRequest>();
  await mapLimit(CONCURRENCY, related, async (each) => {
    const text = await textOfMergeRequest(deps.store, each.mergeRequest);
    const named = (reference: NumberedReference) =>
      reference.number === issue.iid && isTo(project, reference, each.access.project);
    if (closesIssues(text, baseUrl).some(named)) closes.add(each);
  });
  return related.filter((each) => closes.has(each));
}

/** Whether a reference in a text of one project is to another, or to itself. */
function isTo(
  { id, fullPath }: ProjectRecord,
  { container }: NumberedReference,
  own: ProjectRecord,
): boolean {
  if (container === undefined) return own.id === id;
  const path = container.includes('/')
    ? container
    : `${own.fullPath.slice(0, own.fullPath.lastIndexOf('/'))}/${container}`;
  return path.toLowerCase() === fullPath.toLowerCase();
}

/** What a merge request says itself. */
export async function textOfMergeRequest(
  store: Deps['store'],
  { title, description }: Pick<MergeRequestRecord, 'title' | 'description'>,
): Promise<string> {
  return `${title}\n\n${description === null ? '' : await store.texts.read(description)}`;
}
