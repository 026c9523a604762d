/** Issues are put between others by hand. Nothing follows from it: it is no change of what an issue says. */

import type { IssueRecord } from '../../records/issues.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { arrangedPlace } from '../../store/issues/kind.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, forbidden, notFound } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { between, isBetween, MAX_POSITION, MOVED_ALONG, spread } from './positions.ts';
import type { FoundIssue } from './related.ts';

/** Ids of other issues. */
export interface Neighbours {
  /** What it is to stand behind. */
  readonly beforeId?: number | undefined;
  /** What it is to stand in front of. */
  readonly afterId?: number | undefined;
}

/**
 * Puts an issue between two others, or next to one.
 * @throws `404 Issue Not Found`, 403; 422 where there is no such place; 409 when others keep changing the issues
 */
export async function reorderIssue(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  neighbours: Neighbours,
): Promise<FoundIssue> {
  const attempt = async () => {
    const issue = await deps.store.issues.get({ projectId: access.project.id, iid });
    if (issue === undefined || !maySeeIssue(actor, access, issue)) throw notFound('Issue');
    if (!can(actor, access, 'update_issue')) throw forbidden();
    const others = await neighboursOf(deps, access, issue, neighbours);
    return { issue: await put(deps, issue, ...(await places(deps, issue, others))), access };
  };
  return retryOnConflict(attempt, (error) => error instanceof Stale).catch((error: unknown) => {
    if (error instanceof Missing) throw notFound('Issue');
    throw error instanceof Stale ? conflict('409 Conflict: Resource lock') : error;
  });
}

/** Who may change issues sees all of them. @throws 422 */
async function neighboursOf(
  { store }: Deps,
  { project }: ProjectAccess,
  issue: IssueRecord,
  { beforeId, afterId }: Neighbours,
) {
  const find = async (id: number | undefined) => {
    const [address] =
      id === undefined || id <= 0 || id === issue.id ? [] : await store.issues.addresses([id]);
    return address?.projectId === project.id ? store.issues.get(address) : undefined;
  };
  const [before, after] = await Promise.all([find(beforeId), find(afterId)]);
  if (before === undefined && after === undefined)
    throw new DomainError('unprocessable', { error: 'Unprocessable Entity' });
  return { before, after };
}

type Place = string | undefined;

/** The places that it comes between; undefined: there is nothing on that side. */
async function places(
  { store }: Deps,
  { id, projectId }: IssueRecord,
  { before, after }: { readonly before: IssueRecord | undefined; readonly after: IssueRecord | undefined },
): Promise<[low: Place, high: Place]> {
  if (before !== undefined && after !== undefined) {
    // Clients disagree about which of the two names is which side.
    const [low, high] = [arrangedPlace(before), arrangedPlace(after)].sort();
    if (low === high) throw new DomainError('unprocessable', { error: 'Unprocessable Entity' });
    return [low, high];
  }
  const one = arrangedPlace((before ?? after)!);
  const direction = after === undefined ? 'asc' : 'desc';
  const [next] = await store.issues.beside(projectId, one, direction, 1, id);
  const other = next && arrangedPlace(next);
  return after === undefined ? [one, other] : [other, one];
}

async function put({ store }: Deps, issue: IssueRecord, low: Place, high: Place): Promise<IssueRecord> {
  const { projectId, id } = issue;
  if (isBetween(arrangedPlace(issue), low, high)) return issue;
  const position = between(low, high);
  if (position.length <= MAX_POSITION) {
    await store.issues.arrange([{ issue, position }]);
    return { ...issue, relativePosition: position };
  }
  const beside = (place: Place, direction: 'asc' | 'desc') =>
    place === undefined ? [] : store.issues.beside(projectId, place, direction, MOVED_ALONG + 1, id);
  // From the place on to both sides, it included.
  const [lower, higher] = await Promise.all([
    beside(low && `${low}~`, 'desc'),
    beside(high?.slice(0, -1), 'asc'),
  ]);
  const along = [...lower.slice(0, MOVED_ALONG).reverse(), issue, ...higher.slice(0, MOVED_ALONG)];
  const bound = (found: readonly IssueRecord[]) =>
    found.length > MOVED_ALONG ? arrangedPlace(found[MOVED_ALONG]!) : undefined;
  const positions = spread(bound(lower), bound(higher), along.length);
  await store.issues.arrange(along.map((each, i) => ({ issue: each, position: positions[i]! })));
  return { ...issue, relativePosition: positions[along.indexOf(issue)]! };
}
