import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, call as callAny, eventually, gitIn, makeUser, withCredentials } from './client.ts';
import type { Deployed, Told } from './story.ts';

/** What a team does with changes: they are proposed, checked by a worker, reviewed and merged; one comes from a fork. */
export async function mergeRequestsStory({ tally, url, mailTo }: Deployed, { root }: Told): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'lemnos-proposals-'));
  const api = `${url}/api/v4`;
  const git = gitIn(work);
  let skipper = '';
  let reviewer = '';
  let onlooker = '';
  let reviewerId: unknown;
  const project = '/projects/skipper%2Fsloop';
  const call = (method: string, path: string, body?: object, token = skipper) =>
    callAny(`${api}${path}`, { method, token, ...(body === undefined ? {} : { body }) });
  const done = async (status: number, ...asked: Parameters<typeof call>): Promise<Answer> => {
    const answer = await call(...asked);
    assert.equal(answer.status, status, answer.text);
    return answer;
  };
  const list = async (path: string, token: string): Promise<Record<string, unknown>[]> =>
    JSON.parse((await done(200, 'GET', path, undefined, token)).text);
  const mailOf = async (who: string) => (await mailTo(`${who}@example.com`)).join('\n');
  /** A commit on a new branch of `from`, pushed. */
  const pushed = async (branch: string, from: string, text: string, ...options: string[]) => {
    await git('.', 'checkout', '--quiet', '-B', branch, ...(from === '' ? [] : [from]));
    writeFileSync(join(work, 'mast.txt'), text);
    await git('.', 'add', 'mast.txt');
    await git('.', 'commit', '--quiet', '-m', `Write ${branch}`);
    const remote = withCredentials(`${url}/skipper/sloop.git`, 'skipper', skipper);
    return git('.', 'push', ...options, remote, branch);
  };

  try {
    await tally.step('a push proposes a branch, and a worker checks whether it can be merged', async () => {
      [skipper, reviewer, onlooker] = [
        await makeUser(api, root, 'skipper'),
        await makeUser(api, root, 'reviewer'),
        await makeUser(api, root, 'landlubber'),
      ];
      await done(201, 'POST', '/projects', { name: 'sloop', visibility: 'internal' });
      reviewerId = (await done(200, 'GET', '/user', undefined, reviewer)).json['id'];
      await done(201, 'POST', `${project}/members`, { user_id: reviewerId, access_level: 40 });
      await done(201, 'POST', `${project}/issues`, { title: 'The mast is short' });
      await git('.', 'init', '--quiet', '--initial-branch=main');
      await pushed('main', '', 'one\ntwo\nthree\n');
      const options = ['-o', 'merge_request.create', '-o', 'merge_request.title=Closes #1: a longer mast'];
      const { stderr } = await pushed('mast', 'main', 'one\ntwo\nthree\nfour\n', ...options);
      assert.match(stderr, /remote: +View merge request for mast:/);
      // Lists check nothing: a worker has.
      await eventually(async () => {
        const [listed] = await list(`${project}/merge_requests`, reviewer);
        assert.deepEqual([listed?.['iid'], listed?.['merge_status']], [1, 'can_be_merged']);
      });
      await done(404, 'GET', `${project}/merge_requests/2`);
    });

    await tally.step('it is reviewed on its lines, and who is asked hears of it', async () => {
      const mr = `${project}/merge_requests/1`;
      await done(200, 'PUT', mr, { reviewer_ids: [reviewerId] });
      const { json } = await done(200, 'GET', `${mr}/changes`, undefined, reviewer);
      const refs = json['diff_refs'] as Record<string, string>;
      const position = {
        ...refs,
        position_type: 'text',
        new_path: 'mast.txt',
        old_path: 'mast.txt',
        new_line: 4,
      };
      const asked = await done(201, 'POST', `${mr}/discussions`, { body: 'Why four?', position }, reviewer);
      await done(201, 'POST', `${mr}/discussions/${asked.json['id']}/notes`, { body: 'It is windy.' });
      await done(200, 'PUT', `${mr}/discussions/${asked.json['id']}`, { resolved: true }, reviewer);
      await done(201, 'POST', `${mr}/approve`, {}, reviewer);
      assert.equal((await done(200, 'GET', `${mr}/approvals`)).json['approved'], true);
      await eventually(async () => {
        assert.match(await mailOf('reviewer'), /It is windy\./);
        assert.match(await mailOf('skipper'), /Why four\?/);
      });
    });

    await tally.step('it is merged, which closes its issue; a rival conflicts then', async () => {
      await pushed('rival', 'main', 'one\ntwo\nthree\n4\n', '-o', 'merge_request.create');
      const merge = (iid: number, token: string) =>
        call('PUT', `${project}/merge_requests/${iid}/merge`, {}, token);
      assert.equal((await merge(1, onlooker)).status, 401);
      const merged = await merge(1, reviewer);
      assert.deepEqual([merged.status, merged.json['state']], [200, 'merged'], merged.text);
      await git(
        '.',
        'fetch',
        '--quiet',
        withCredentials(`${url}/skipper/sloop.git`, 'skipper', skipper),
        'main',
      );
      const { stdout } = await git('.', 'rev-parse', 'FETCH_HEAD');
      assert.equal(stdout.trim(), merged.json['merge_commit_sha']);
      await eventually(async () => {
        assert.equal((await done(200, 'GET', `${project}/issues/1`)).json['state'], 'closed');
        const rivals = await list(`${project}/merge_requests?state=opened`, reviewer);
        assert.deepEqual([rivals[0]?.['iid'], rivals[0]?.['merge_status']], [2, 'cannot_be_merged']);
        assert.match(await mailOf('skipper'), /was merged|merged/i);
      });
      assert.equal((await merge(2, reviewer)).status, 406);
    });

    await tally.step('a worker rebases a branch of a fork, which is merged', async () => {
      const { json: fork } = await done(201, 'POST', `${project}/fork`, {}, onlooker);
      await eventually(async () => {
        const { json } = await done(200, 'GET', `/projects/${fork['id']}`, undefined, onlooker);
        assert.equal(json['import_status'], 'finished');
      });
      const file = { branch: 'flag', start_branch: 'main', commit_message: 'Fly a flag' };
      const actions = [{ action: 'create', file_path: 'flag.txt', content: 'red\n' }];
      await done(201, 'POST', `/projects/${fork['id']}/repository/commits`, { ...file, actions }, onlooker);
      const { json: target } = await done(200, 'GET', project);
      const proposed = await done(
        201,
        'POST',
        `/projects/${fork['id']}/merge_requests`,
        {
          ...{ title: 'A flag', source_branch: 'flag', target_branch: 'main' },
          ...{ target_project_id: target['id'], remove_source_branch: true },
        },
        onlooker,
      );
      const mr = `${project}/merge_requests/${proposed.json['iid']}`;
      const more = [{ action: 'create', file_path: 'log.txt', content: 'day 1\n' }];
      const onMain = { branch: 'main', commit_message: 'Keep a log', actions: more };
      await done(201, 'POST', `${project}/repository/commits`, onMain);
      await done(202, 'PUT', `${mr}/rebase`, {}, onlooker);
      await eventually(async () => {
        const { json } = await done(
          200,
          'GET',
          `${mr}?include_rebase_in_progress=true&include_diverged_commits_count=true`,
        );
        assert.deepEqual(
          [json['rebase_in_progress'], json['merge_error'], json['diverged_commits_count']],
          [false, null, 0],
        );
      });
      const merged = await done(200, 'PUT', `${mr}/merge`, { squash: true }, reviewer);
      assert.equal(merged.json['state'], 'merged');
      const tree = await list(`${project}/repository/tree?ref=main`, reviewer);
      assert.deepEqual(
        tree.map(({ name }) => name),
        ['flag.txt', 'log.txt', 'mast.txt'],
      );
      await eventually(async () => {
        await done(404, 'GET', `/projects/${fork['id']}/repository/branches/flag`, undefined, onlooker);
      });
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
