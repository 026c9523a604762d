/** Search in the instance, a group or a project, limited to what the actor can see. */

import type { UserRecord } from '../../records/users.ts';
import type { ListedProject } from '../../store/projects/query.ts';
import { termsOf } from '../../store/search/words.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { can, canInGroup } from '../access/permissions.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { listGroupProjects } from '../groups/lists.ts';
import { type IssueListInput, type IssueScope, listIssues } from '../issues/list.ts';
import type { FoundIssue } from '../issues/related.ts';
import { listMembers } from '../members/list.ts';
import { listMergeRequests, type MergeRequestListInput } from '../merge-requests/list.ts';
import type { ListedFound } from '../merge-requests/related.ts';
import { listProjects } from '../projects/projects.ts';
import { listUsers, seesAll } from '../users/users.ts';

export interface Searched extends PageRequest {
  readonly term: string;
  /** By creation time; default: newest first. */
  readonly direction: 'asc' | 'desc';
}

/** Limits of the search term in the request, and of the term used for the look-up. */
const MAX_TERM = 4096;

/** @throws 400 for a too long term */
export function demandTerm(term: string): void {
  if (term.length > MAX_TERM) throw invalid({ search: [`is too long (maximum is ${MAX_TERM} characters)`] });
}

/** Searches projects by name and path; in a group also in its descendants. */
export async function searchProjects(
  deps: Deps,
  actor: Actor,
  { term, direction, ...page }: Searched,
  within?: GroupAccess,
): Promise<Omit<Page<ListedProject>, 'items'> & { items: readonly ProjectAccess[] }> {
  demandTerm(term);
  const query = { ...page, direction, search: term, archived: false };
  if (within === undefined) return listProjects(deps, actor, query);
  return listGroupProjects(deps, actor, within, { ...query, deep: true, shared: false });
}

/** Searches users by name, username and complete email address; in a group or project only its members. */
export async function searchUsers(
  deps: Deps,
  actor: Actor,
  { term, direction, ...page }: Searched,
  within?: GroupAccess | ProjectAccess,
): Promise<Page<UserRecord>> {
  demandTerm(term);
  if (within !== undefined) {
    const may =
      'project' in within
        ? can(actor, within, 'read_members')
        : canInGroup(actor, within, 'read_group_members');
    if (!may) return { items: [], total: 0, more: false };
    const found = await listMembers(deps, within, { ...page, inherited: true, query: term });
    return { ...found, items: found.items.map(({ user }) => user) };
  }
  return listUsers(deps, actor, {
    ...page,
    direction,
    search: term,
    states: ['active'],
    ...(seesAll(actor) ? { anyEmail: true } : {}),
  });
}

/**
 * Searches issues by words of their titles and of the beginning of their descriptions, or by `#` and their number. Those
 * of archived projects are found in the project alone.
 */
export async function searchIssues(
  deps: Deps,
  actor: Actor,
  { term, direction, ...page }: Searched,
  { scope, ...filter }: Pick<IssueListInput, 'state' | 'confidential'> & { readonly scope: IssueScope },
): Promise<Page<FoundIssue>> {
  demandTerm(term);
  const terms = termsOf(term, '#');
  if (terms.words.length === 0 && terms.number === undefined) return { items: [], total: 0, more: false };
  return listIssues(deps, actor, { ...filter, scope, terms }, { ...page, direction, order: 'created_at' });
}

/** The same of merge requests, whose numbers come after `!`. */
export async function searchMergeRequests(
  deps: Deps,
  actor: Actor,
  { term, direction, ...page }: Searched,
  within: Pick<MergeRequestListInput, 'state' | 'scope'>,
): Promise<Page<ListedFound>> {
  demandTerm(term);
  const terms = termsOf(term, '!');
  if (terms.words.length === 0 && terms.number === undefined) return { items: [], total: 0, more: false };
  return listMergeRequests(deps, actor, { ...within, terms }, { ...page, direction, order: 'created_at' });
}
