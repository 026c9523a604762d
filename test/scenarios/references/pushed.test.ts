/** Messages of pushed commits: which issues they tell, and which they close. */
import { describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { ZERO_OID } from '../../../lib/git/oid.ts';
import { pushedMessage } from '../../../lib/store/notes/mentions.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { service, someone } = ownWorld();

interface Person {
  readonly id: number;
  readonly token: string;
}

const call = async (who: Person, method: string, path: string, json?: unknown, status?: number) => {
  const options = { token: who.token, ...(json === undefined ? {} : { json }) };
  const answer = await service.call(method, path, options);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status ?? (method === 'POST' ? 201 : 200));
  return answer.body;
};

let files = 0;

/** A project with as many issues as asked for, all open, and what is done there. */
async function projectOf(owner: Person, name: string, count: number, more: object = {}) {
  const made = { name, visibility: 'public', initialize_with_readme: true, ...more };
  const project = await call(owner, 'POST', '/projects', made);
  const at = `/projects/${project.id}`;
  for (let i = 1; i <= count; i++) await call(owner, 'POST', `${at}/issues`, { title: `issue ${i}` });
  return {
    ...project,
    at,
    path: project.path_with_namespace as string,
    async commit(message: string, by = owner, branch = 'main', from?: string): Promise<string> {
      const actions = [{ action: 'create', file_path: `${++files}.txt`, content: 'x' }];
      const start = from === undefined ? {} : { start_branch: from };
      const json = { branch, commit_message: message, actions, ...start };
      return (await call(by, 'POST', `${at}/repository/commits`, json)).id;
    },
    /** Number and state of its issues, and all that is noted there, also what answers tell as events. */
    async issues() {
      await settled();
      const issues = await call(owner, 'GET', `${at}/issues?sort=asc`);
      return Promise.all(
        issues.map(async ({ id, iid, state }: { id: number; iid: number; state: string }) => {
          const on = { kind: 'issue', id } as const;
          const notes = await deps().store.notes.list(project.id, on, { page: 1, perPage: 100 });
          return [iid, state, ...notes.items.map(({ body }) => body)];
        }),
      );
    },
  };
}

describe('a commit', () => {
  test('of the default branch closes issues as the pusher, and tells those that it only names', async () => {
    const owner: Person = await someone();
    const project = await projectOf(owner, 'Closing', 3);
    const sha = await project.commit('Better\n\nFixes #1 and #3, as #2 says');
    expect(await project.issues()).toEqual([
      [1, 'closed', `closed via commit ${sha}`],
      [2, 'opened', `mentioned in commit ${sha}`],
      [3, 'closed', `closed via commit ${sha}`],
    ]);
    const issue = await call(owner, 'GET', `${project.at}/issues/1`);
    expect(issue).toMatchObject({ closed_by: { id: owner.id }, closed_at: expect.any(String) });
    const events = await call(owner, 'GET', `${project.at}/events?action=closed`);
    expect(events.map(({ target_iid }: { target_iid: number }) => target_iid).toSorted()).toEqual([1, 3]);
  });

  test('of another branch closes nothing until it is on the default branch', async () => {
    const owner: Person = await someone();
    const project = await projectOf(owner, 'Branch', 1);
    const sha = await project.commit('Closes #1', owner, 'side', 'main');
    expect(await project.issues()).toEqual([[1, 'opened', `mentioned in commit ${sha}`]]);
    await call(owner, 'PUT', `${project.at}`, { default_branch: 'side' });
    const second = await project.commit('Closes #1', owner, 'side');
    expect(await project.issues()).toEqual([
      [1, 'closed', `mentioned in commit ${sha}`, `closed via commit ${second}`],
    ]);
  });

  test('closes an issue once: when that is opened again it stays so', async () => {
    const owner: Person = await someone();
    const project = await projectOf(owner, 'Once', 1);
    const sha = await project.commit('Closes #1');
    await settled();
    await call(owner, 'PUT', `${project.at}/issues/1`, { state_event: 'reopen' });
    // The commit reaches the default branch again, as after a push that took it away.
    const branches = [{ name: 'refs/heads/main', from: ZERO_OID, to: sha }];
    const writer = { actorId: owner.id, baseUrl: service.url };
    const again = () => pushedMessage({ projectId: project.id, branches }, writer);
    await deps().store.outbox.commit([], [again(), again()]);
    expect((await project.issues())[0]).toEqual([1, 'opened', `closed via commit ${sha}`, 'reopened']);
  });

  test('closes no issue where the project has that off, or the pusher may not', async () => {
    const [owner, other]: Person[] = [await someone(), await someone()];
    const off = await projectOf(owner!, 'Off', 1, { autoclose_referenced_issues: false });
    const own = await projectOf(other!, 'Elsewhere', 0);
    const first = await off.commit('Closes #1');
    const second = await own.commit(`Closes ${off.path}#1`);
    await call(owner!, 'PUT', off.at, { autoclose_referenced_issues: true });
    const third = await own.commit(`Closes ${off.path}#1`);
    expect(await off.issues()).toEqual([
      [
        1,
        'opened',
        `mentioned in commit ${first}`,
        `mentioned in commit ${own.path}@${second}`,
        `mentioned in commit ${own.path}@${third}`,
      ],
    ]);
  });

  test('closes issues of other projects of the pusher, but a fork none of its source', async () => {
    const owner: Person = await someone();
    const source = await projectOf(owner, 'Source', 2);
    const beside = await projectOf(owner, 'Beside', 0);
    const sha = await beside.commit('Closes source#1', owner);
    expect((await source.issues())[0]).toEqual([1, 'closed', `closed via commit beside@${sha}`]);
    const fork = await call(owner, 'POST', `${source.at}/fork`, { name: 'Fork', path: 'fork-of-source' });
    await settled();
    const actions = [{ action: 'create', file_path: 'f.txt', content: 'x' }];
    const json = { branch: 'main', commit_message: `Closes ${source.path}#2`, actions };
    const { id } = await call(owner, 'POST', `/projects/${fork.id}/repository/commits`, json);
    expect((await source.issues())[1]).toEqual([2, 'opened', `mentioned in commit fork-of-source@${id}`]);
  });

  test('tells a reader nothing who may not read the code', async () => {
    const [owner, stranger]: Person[] = [await someone(), await someone()];
    const project = await projectOf(owner!, 'Secret', 1, { repository_access_level: 'private' });
    await project.commit('Closes #1');
    await settled();
    expect(await call(stranger!, 'GET', `${project.at}/issues/1/notes`)).toEqual([]);
    expect((await call(stranger!, 'GET', `${project.at}/issues/1`)).state).toBe('closed');
  });
});
