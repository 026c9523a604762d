import { join } from 'node:path';
import { repositoryIdOf } from '../../lib/records/repository-owner.ts';
import { request } from '../harness/service.ts';
import { NO_SNIPPET } from './check-beside-code.ts';
import { NO_ISSUE } from './check-issue-work.ts';
import { NOT_PROPOSED } from './check-proposals.ts';
import { WorkTree } from './client.ts';
import { type ExpectedState, GONE, NO_FILE } from './expected-state.ts';
import { ROOT_TOKEN } from './host.ts';
import type { Project } from './people.ts';

interface Listed {
  readonly id: number;
  readonly username?: string;
  readonly access_level?: number;
  readonly path?: string;
  readonly parent_id?: number | null;
  readonly full_path?: string;
  readonly namespace?: { readonly id: number };
  readonly path_with_namespace?: string;
  readonly revoked?: boolean;
  readonly title?: string;
  readonly state?: string;
  readonly user_notes_count?: number;
  readonly moved_to_id?: number | null;
  readonly description?: string | null;
  readonly note?: { readonly body: string };
}

interface Page {
  readonly slug: string;
  readonly content: string;
}

/**
 * Asks a running host, whose workers are done, for what callers see of the expected state: lists with their totals, and
 * statistics, which git counts too.
 * @returns what is wrong
 */
export async function listProblems(
  url: string,
  expectedState: ExpectedState,
  shared: Project,
  folder: string,
): Promise<string[]> {
  const problems: string[] = [];
  const users = await whole(url, '/users', problems);
  for (const [id, { username }] of expectedState.users) {
    if (users.get(id)?.username !== username) problems.push(`/users: ${username} is not listed as ${id}`);
  }
  const projects = await whole(url, '/projects', problems);
  for (const [path, { id, present }] of expectedState.projects) {
    if (!present.possible.has(projects.has(id)))
      problems.push(`/projects: ${path} is ${projects.has(id) ? 'listed' : 'not listed'}`);
  }
  const members = await whole(url, `/projects/${shared.id}/members`, problems);
  for (const [key, { possible }] of expectedState.members) {
    const [projectId, userId] = key.split(' ').map(Number) as [number, number];
    const level = members.get(userId)?.access_level ?? 0;
    if (projectId === shared.id && !possible.has(level))
      problems.push(`members of ${shared.fullPath}: user ${userId} has level ${level}`);
  }
  problems.push(...(await subjectProblems(url, expectedState, shared, projects)));
  const { body } = await asked(url, `/projects/${shared.id}?statistics=true`);
  const remote = { url, token: ROOT_TOKEN, fullPath: shared.fullPath };
  const clone = await WorkTree.clone(join(folder, 'counted'), remote);
  const commits = Number(await clone.git('rev-list', '--count', 'origin/main'));
  if (body.statistics.commit_count !== commits)
    problems.push(`statistics: ${body.statistics.commit_count} commits, of which git counts ${commits}`);
  return problems;
}

/** What the writers of `subject-writers.ts` see of what they did. */
async function subjectProblems(
  url: string,
  { states, texts: files, comments }: ExpectedState,
  shared: Project,
  projects: ReadonlyMap<number, Listed>,
): Promise<string[]> {
  const problems: string[] = [];
  const groups = await whole(url, '/groups', problems);
  const tokens = await whole(url, '/personal_access_tokens', problems);
  const { body: settings } = await asked(url, '/application/settings');
  const { body: project } = await asked(url, `/projects/${shared.id}`);
  const pathOf = (id: number): string | undefined => {
    const group = groups.get(id);
    if (group === undefined) return undefined;
    const above = group.parent_id == null ? '' : `${pathOf(group.parent_id)}/`;
    return `${above}${group.path}`;
  };
  const issues = await whole(url, `/projects/${shared.id}/issues`, problems);
  problems.push(...(await countProblems(url, shared, project, [...issues.values()])));
  const proposals = await whole(url, `/projects/${shared.id}/merge_requests`, problems);
  const snippets = [
    ...(await whole(url, '/snippets/public', problems)).values(),
    ...(await whole(url, `/projects/${shared.id}/snippets`, problems)).values(),
  ];
  const titled = (title: string) => [...proposals.values()].find((each) => each.title === title);
  const seen: Record<string, (id: number, name: string) => string> = {
    issue: (_, name) => {
      const issue = [...issues.values()].find(({ title }) => title === name);
      if (issue === undefined) return NO_ISSUE;
      return issue.moved_to_id == null ? issue.state! : 'moved';
    },
    proposal: (_, name) => titled(name)?.state ?? NOT_PROPOSED,
    opinion: (_, name) => String(titled(name)?.user_notes_count ?? 0),
    group: (id) => {
      const group = groups.get(id);
      if (group !== undefined && group.full_path !== pathOf(id))
        problems.push(`/groups: ${id} is listed as ${group.full_path}, in ${pathOf(id)}`);
      return group === undefined ? GONE : `${group.parent_id ?? 0}/${group.path}`;
    },
    project: (id) => {
      const listed = projects.get(id);
      if (listed === undefined) return GONE;
      const { namespace, path, path_with_namespace: fullPath } = listed;
      if (fullPath !== `${pathOf(namespace!.id)}/${path}`)
        problems.push(`/projects: ${id} is listed as ${fullPath}, in ${pathOf(namespace!.id)}`);
      return `${namespace!.id}/${path}`;
    },
    token: (id) => (tokens.get(id)?.revoked === false ? 'active' : 'revoked'),
    snippet: (_, name) => snippets.find(({ title }) => title === name)?.description ?? NO_SNIPPET,
    description: () => project.description ?? '(none)',
    setting: (_, name) => settings[name] || '(none)',
  };
  for (const [key, { possible }] of states) {
    const [kind, id] = key.split(' ') as [string, string];
    const is = seen[kind]?.(Number(id), id);
    // Lists do not show everything.
    if (is === undefined) continue;
    // In a group that was deleted: `check-states.ts` knows which.
    if (!possible.has(is) && !(is === GONE && kind !== 'token'))
      problems.push(`${key} is shown as ${is} and not as ${[...possible].join(' or ')}`);
  }
  const pages = await entriesOf<Page>(url, `/projects/${shared.id}/wikis?with_content=true`);
  const contents = new Map(pages.entries.map(({ slug, content }) => [`${slug}.md`, content]));
  for (const [path, { possible }] of files.get(repositoryIdOf({ kind: 'project-wiki', id: shared.id })) ?? [])
    if (!possible.has(contents.get(path) ?? NO_FILE)) problems.push(`the wiki shows another ${path}`);
  const told = await whole(url, `/projects/${shared.id}/events?action=commented`, problems);
  const texts = Map.groupBy([...told.values()], ({ note }) => note?.body);
  for (const comment of comments) if (!texts.has(comment)) problems.push(`no feed shows ${comment}`);
  for (const [text, { length }] of texts)
    if (length > 1) problems.push(`the feed shows ${text} ${length} times`);
  return problems;
}

/** What is counted beside the lists: issues by their state, and forks. */
async function countProblems(
  url: string,
  { id }: Project,
  project: { readonly open_issues_count: number; readonly forks_count: number },
  issues: readonly Listed[],
): Promise<string[]> {
  const opened = issues.filter(({ state }) => state === 'opened').length;
  const { body } = await asked(url, `/projects/${id}/issues_statistics`);
  const forks = await entriesOf<Listed>(url, `/projects/${id}/forks`);
  const counted = { ...body.statistics.counts, open: project.open_issues_count, forks: project.forks_count };
  const listed = {
    all: issues.length,
    opened,
    closed: issues.length - opened,
    open: opened,
    forks: forks.entries.length,
  };
  return Object.entries(listed).flatMap(([what, count]) =>
    counted[what] === count ? [] : [`${what}: ${counted[what]} are counted, and ${count} are listed`],
  );
}

/** All pages of a list, by id. Notes entries that come twice, and a total that is another than their number. */
async function whole(url: string, path: string, problems: string[]): Promise<ReadonlyMap<number, Listed>> {
  const { entries, total } = await entriesOf<Listed>(url, path);
  const found = new Map<number, Listed>();
  for (const entry of entries) {
    if (found.has(entry.id)) problems.push(`${path}: ${entry.id} is listed twice`);
    found.set(entry.id, entry);
  }
  if (total !== found.size) problems.push(`${path}: ${found.size} and a total of ${total}`);
  return found;
}

/** @returns also the total that the last page tells */
async function entriesOf<T>(url: string, path: string): Promise<{ entries: readonly T[]; total: number }> {
  const entries: T[] = [];
  for (let page = '1'; ; ) {
    const query = `${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`;
    const { headers, body } = await asked(url, path + query);
    entries.push(...(body as T[]));
    page = headers.get('x-next-page') ?? '';
    if (page === '') return { entries, total: Number(headers.get('x-total')) };
  }
}

async function asked(url: string, path: string) {
  const answer = await request(`${url}/api/v4${path}`, 'GET', { headers: { 'PRIVATE-TOKEN': ROOT_TOKEN } });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}
