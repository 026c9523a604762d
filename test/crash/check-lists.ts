import { join } from 'node:path';
import { request } from '../harness/service.ts';
import { WorkTree } from './client.ts';
import type { ExpectedState } from './expected-state.ts';
import { ROOT_TOKEN } from './host.ts';
import type { Project } from './people.ts';

interface Listed {
  readonly id: number;
  readonly username?: string;
  readonly access_level?: number;
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
  const { body } = await asked(url, `/projects/${shared.id}?statistics=true`);
  const remote = { url, token: ROOT_TOKEN, fullPath: shared.fullPath };
  const clone = await WorkTree.clone(join(folder, 'counted'), remote);
  const commits = Number(await clone.git('rev-list', '--count', 'origin/main'));
  if (body.statistics.commit_count !== commits)
    problems.push(`statistics: ${body.statistics.commit_count} commits, of which git counts ${commits}`);
  return problems;
}

/** All pages of a list, by id. Notes entries that come twice, and a total that is another than their number. */
async function whole(url: string, path: string, problems: string[]): Promise<ReadonlyMap<number, Listed>> {
  const found = new Map<number, Listed>();
  for (let page = '1'; page !== ''; ) {
    const { headers, body } = await asked(url, `${path}?per_page=100&page=${page}`);
    for (const entry of body as Listed[]) {
      if (found.has(entry.id)) problems.push(`${path}: ${entry.id} is listed twice`);
      found.set(entry.id, entry);
    }
    page = headers.get('x-next-page') ?? '';
    const total = Number(headers.get('x-total'));
    if (page === '' && total !== found.size) problems.push(`${path}: ${found.size} and a total of ${total}`);
  }
  return found;
}

async function asked(url: string, path: string) {
  const answer = await request(`${url}/api/v4${path}`, 'GET', { headers: { 'PRIVATE-TOKEN': ROOT_TOKEN } });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}
