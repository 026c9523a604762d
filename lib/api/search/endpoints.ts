import type { GroupAccess, ProjectAccess } from '../../domain/access/types.ts';
import { refused } from '../../domain/errors.ts';
import { listGroups } from '../../domain/groups/lists.ts';
import type { IssueScope } from '../../domain/issues/list.ts';
import type { MergeRequestScope } from '../../domain/merge-requests/list.ts';
import { SEARCHES, withinRate } from '../../domain/rate-limits/action-limits.ts';
import { cloneRoot } from '../../domain/repository/clone-url.ts';
import { searchMilestones } from '../../domain/search/milestones.ts';
import { searchNotes } from '../../domain/search/notes.ts';
import {
  type Searched,
  searchIssues,
  searchMergeRequests,
  searchProjects,
  searchUsers,
} from '../../domain/search/search.ts';
import { searchSnippets } from '../../domain/search/snippets.ts';
import type { PageHit } from '../../domain/wikis/search.ts';
import { group, project, type SignedInActor, signedIn } from '../../http/access.ts';
import type { OffsetPage } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { type ApiDeps, counted, endpoint } from '../endpoint.ts';
import { group as presentedGroup } from '../groups/present.ts';
import { askedIn, presentedIssues } from '../issues/presented.ts';
import { presentedMergeRequests } from '../merge-requests/presented.ts';
import { presentedMilestones } from '../milestones/presented.ts';
import { noteOf } from '../notes/present.ts';
import { presented } from '../projects/presented.ts';
import { snippetOf } from '../snippets/present.ts';
import { userBasic } from '../users/present.ts';
import * as shapes from './shapes.ts';

const area = 'search';

/** Scopes that need a full-text index, which does not exist; `wiki_blobs` of a project are searched without. */
const INDEXED = ['blobs', 'commits', 'wiki_blobs'] as const;

const params = <const S extends string>(scopes: readonly S[]) =>
  p.params({
    scope: p.oneOf(scopes, { required: true, description: 'Kind of objects to search' }),
    search: p.string({ required: true, blank: false, description: 'Text to search for' }),
    confidential: p.boolean({ description: 'Filter by confidentiality; for issues only' }),
    state: p.oneOf(['all', 'opened', 'closed', 'merged'], {
      description: 'Filter by state; for issues and merge requests only',
    }),
    order_by: p.oneOf(['created_at'], { description: 'Field to sort the results by' }),
    sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
  });

const described = {
  description:
    'Finds projects and groups by part of their name or path, users by part of their name or username or by a complete email address, and issues by the words of their title and of the beginning of their description, or by `#` and their number. Merge requests are found likewise, by `!` and their number. A word of three characters or more also finds words that begin with it. Milestones are found by a part of their title or description: in a group those of its 100 newest projects, everywhere those of the 100 newest projects that the caller is a member of. Notes are found in the same projects, by the first 16 different words of three characters and more. Snippets are found by parts of their title. Pages of the wiki of a project (`wiki_blobs`) are found by a part of their slug or content.',
  returns: { body: shapes.found },
  paginate: 'offset',
  errors: [
    { status: 400, description: 'The scope needs a full-text index, which is not supported' },
    { status: 429, description: 'More searches per minute than the setting `search_rate_limit` allows' },
  ],
} as const;

const everywhere = endpoint({
  ...described,
  method: 'GET',
  path: '/search',
  area,
  summary: 'Search the instance',
  access: signedIn(),
  query: () =>
    params([
      'projects',
      'groups',
      'users',
      'issues',
      'merge_requests',
      'milestones',
      'notes',
      'snippet_titles',
      ...INDEXED,
    ]),
  handle: ({ actor, query, page, request }, deps) => search(deps, actor, query, page, request.baseUrl),
});

const inGroup = endpoint({
  ...described,
  method: 'GET',
  path: '/groups/:id/search',
  area,
  summary: 'Search a group',
  access: group('read_group'),
  query: () =>
    params([
      'projects',
      'users',
      'issues',
      'merge_requests',
      'milestones',
      'notes',
      'snippet_titles',
      ...INDEXED,
    ]),
  handle: ({ actor, group: within, query, page, request }, deps) =>
    search(deps, actor, query, page, request.baseUrl, within),
});

const inProject = endpoint({
  ...described,
  method: 'GET',
  path: '/projects/:id/search',
  area,
  summary: 'Search a project',
  access: project('read_project'),
  query: () =>
    params(['users', 'issues', 'merge_requests', 'milestones', 'notes', 'snippet_titles', ...INDEXED]),
  handle: ({ actor, project: within, query, page, request }, deps) =>
    search(deps, actor, query, page, request.baseUrl, within),
});

export const searchEndpoints = [everywhere, inGroup, inProject];

/** @throws 429 above the setting `search_rate_limit` */
const search: typeof found = (deps, actor, ...rest) =>
  withinRate(deps, SEARCHES, actor.user, () => found(deps, actor, ...rest));

interface Query {
  readonly scope: string;
  readonly search: string;
  readonly sort: 'asc' | 'desc';
  readonly state?: 'all' | 'opened' | 'closed' | 'merged' | undefined;
  readonly confidential?: boolean | undefined;
}

async function found(
  deps: ApiDeps,
  actor: SignedInActor,
  { scope, search: term, sort, state, confidential }: Query,
  page: OffsetPage,
  baseUrl: string,
  within?: GroupAccess | ProjectAccess,
) {
  const searched: Searched = { ...counted(page), term, direction: sort };
  switch (scope) {
    case 'projects': {
      const found = await searchProjects(deps, actor, searched, within as GroupAccess | undefined);
      return { ...found, items: await presented(deps, actor, found.items, baseUrl, true) };
    }
    case 'groups': {
      const found = await listGroups(deps, actor, {
        ...counted(page),
        order: 'id',
        direction: sort,
        allAvailable: true,
        search: term,
      });
      const instance = await deps.settings.current();
      return { ...found, items: found.items.map((item) => presentedGroup(item.group, baseUrl, instance)) };
    }
    case 'users': {
      const found = await searchUsers(deps, actor, searched, within);
      return { ...found, items: found.items.map((user) => userBasic(user, baseUrl)) };
    }
    case 'issues': {
      // None is merged.
      if (state === 'merged') return { items: [], total: 0, more: false };
      const found = await searchIssues(deps, actor, searched, {
        scope: scopeOf(within),
        state: state === 'all' ? undefined : state,
        confidential,
      });
      const scope = askedIn(scopeOf(within));
      const items = await presentedIssues(deps, actor, found.items, baseUrl, scope);
      return { ...found, items };
    }
    case 'merge_requests': {
      const scope = scopeOf(within);
      const found = await searchMergeRequests(deps, actor, searched, {
        scope,
        state: state === 'all' ? undefined : state,
      });
      const items = await presentedMergeRequests(deps, found.items, baseUrl, askedIn(scope));
      return { ...found, items };
    }
    case 'milestones': {
      const found = await searchMilestones(deps, actor, searched, within);
      return { ...found, items: await presentedMilestones(deps, found.items, baseUrl) };
    }
    case 'notes': {
      const found = await searchNotes(deps, actor, searched, within);
      return { ...found, items: found.items.map((note) => noteOf(note, baseUrl)) };
    }
    case 'snippet_titles': {
      const found = await searchSnippets(deps, actor, searched, within);
      const roots = { baseUrl, cloneRoot: await cloneRoot(deps, baseUrl) };
      return { ...found, items: found.items.map((snippet) => snippetOf(snippet, roots)) };
    }
    case 'wiki_blobs': {
      if (within === undefined || !('project' in within)) throw unsupported();
      const { searchPages } = await import('../../domain/wikis/search.ts');
      const found = await searchPages(deps, actor, { project: within }, searched);
      return { ...found, items: found.items.map((hit) => pageHitOf(hit, within.project.id)) };
    }
    default:
      throw unsupported();
  }
}

const unsupported = () => refused('Scope not supported without a full-text index');

const pageHitOf = ({ page, lines, startLine, ref }: PageHit, projectId: number) => ({
  basename: page.slug,
  data: lines,
  path: page.path,
  filename: page.path,
  id: null,
  ref,
  startline: startLine,
  project_id: projectId,
  group_id: null,
});

const scopeOf = (within: GroupAccess | ProjectAccess | undefined): IssueScope & MergeRequestScope =>
  within === undefined
    ? { kind: 'instance' }
    : 'project' in within
      ? { kind: 'project', access: within }
      : { kind: 'group', access: within };
