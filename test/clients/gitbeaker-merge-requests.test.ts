/** Two people take a change from a fork through review rounds with a client library and git. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { settled } from '../harness/settled.ts';
import { GitCli, withToken } from './git-cli.ts';

type Client = InstanceType<typeof Gitlab>;
let service: Service;
/** Owns the project; proposes from a fork; a stranger. */
let [ada, bob, eve]: Client[] = [];
const ids: Record<string, number> = {};
const tokens: Record<string, string> = {};
const git = new GitCli();
let project: number;
let fork: number;
let clone: string;

beforeAll(async () => {
  service = await startService();
  [ada, bob, eve] = await Promise.all(
    ['ada', 'bob', 'eve'].map(async (name) => {
      const { token, id } = await service.user(name);
      ids[name] = id;
      tokens[name] = token;
      return new Gitlab({ host: service.url, token }) as Client;
    }),
  );
  project = (await ada!.Projects.create({ name: 'door', visibility: 'public', initializeWithReadme: true }))
    .id;
  fork = (await bob!.Projects.fork(project)).id as number;
  await vi.waitFor(
    async () => expect((await bob!.Projects.show(fork)).import_status).toBe('finished'),
    60_000,
  );
  clone = await git.clone(withToken(service.url, 'bob/door', tokens['bob']!), 'fork');
  await git.ok(clone, 'switch', '--quiet', '-c', 'hinge');
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

async function commit(name: string, content: string): Promise<string> {
  await writeFile(join(clone, name), content);
  await git.ok(clone, 'add', '--all');
  await git.ok(clone, 'commit', '--quiet', '-m', `Write ${name}`);
  await git.ok(clone, 'push', '--quiet', 'origin', 'hinge');
  return (await git.ok(clone, 'rev-parse', 'HEAD')).trim();
}

/** The merge request as it is when all that pushes promised is done. */
async function shown(iid: number) {
  await settled();
  return (await ada!.MergeRequests.show(project, iid)) as never as Record<string, unknown>;
}

let iid: number;
test('a change is proposed from a fork, and git fetches it from the project', async () => {
  const head = await commit('hinge.txt', 'bent\n');
  const proposed = await bob!.MergeRequests.create(fork, 'hinge', 'main', 'Straighten the hinge', {
    targetProjectId: project,
    description: 'It was bent, @ada.',
    removeSourceBranch: true,
  });
  iid = proposed.iid;
  expect(await shown(iid)).toMatchObject({
    ...{ state: 'opened', source_project_id: fork, target_project_id: project, sha: head },
    ...{ merge_status: 'can_be_merged', has_conflicts: false },
  });
  const own = await git.clone(withToken(service.url, 'ada/door', tokens['ada']!), 'own');
  await git.ok(own, 'fetch', '--quiet', 'origin', `refs/merge-requests/${iid}/head`);
  expect((await git.ok(own, 'rev-parse', 'FETCH_HEAD')).trim()).toBe(head);
});

test('it is reviewed, pushed to again, and merged by who may', async () => {
  const discussion = await ada!.MergeRequestDiscussions.create(project, iid, 'Is it iron?');
  const head = await commit('hinge.txt', 'straight\n');
  expect(await shown(iid)).toMatchObject({ sha: head });
  await bob!.MergeRequestDiscussions.addNote(project, iid, discussion.id, 'Steel.');
  await ada!.MergeRequestDiscussions.resolve(project, iid, discussion.id, true);
  await expect(bob!.MergeRequests.merge(project, iid)).rejects.toMatchObject({
    cause: { response: { status: 401 } },
  });
  await expect(eve!.MergeRequests.edit(project, iid, { title: 'Mine' })).rejects.toMatchObject({
    cause: { response: { status: 403 } },
  });
  const merged = await ada!.MergeRequests.merge(project, iid, { sha: head });
  expect(merged).toMatchObject({ state: 'merged', merged_by: { username: 'ada' } });
  const tip = await ada!.Branches.show(project, 'main');
  expect(tip.commit.id).toBe(merged.merge_commit_sha);
  await settled();
  const notes = await ada!.MergeRequestNotes.all(project, iid, { sort: 'asc' });
  expect(notes.map(({ body, system }) => (system ? body.split('\n')[0] : body))).toEqual([
    'Is it iron?',
    'added 1 commit',
    'Steel.',
    'resolved all threads',
  ]);
});
