import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call as callAny, eventually, gitIn, makeUser, withCredentials } from './client.ts';
import type { Deployed, Told } from './story.ts';

/** The storage beside `default`, in a bucket of its own. */
export const OTHER_STORAGE = 'cold';

/** A worker that has just run may go by settings of up to five seconds before. */
const SETTINGS_KEPT_MS = 6_000;

/** What an operator lets happen: another service hears of pushes, and a repository moves to another bucket. */
export async function hooksStory({ tally, url }: Deployed, { root }: Told): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'lemnos-hooks-'));
  const api = `${url}/api/v4`;
  const receiver = await startReceiver();
  const call = async (token: string, status: number, method: string, path: string, body?: object) => {
    const given = body === undefined ? {} : { body };
    const answer = await callAny(`${api}${path}`, { method, token, ...given });
    assert.equal(answer.status, status, answer.text);
    return answer.json;
  };
  const project = '/projects/smith%2Fforge';
  let smith = '';

  try {
    await tally.step(
      'a push calls a hook, with its token, and the list of calls tells the answer',
      async () => {
        smith = await makeUser(api, root, 'smith');
        const allowed = { allow_local_requests_from_web_hooks_and_services: true };
        await call(root, 200, 'PUT', '/application/settings', allowed);
        await sleep(SETTINGS_KEPT_MS);
        await call(smith, 201, 'POST', '/projects', { name: 'forge', initialize_with_readme: true });
        const hook = { url: receiver.url, token: 'open sesame', push_events: true };
        const { id } = await call(smith, 201, 'POST', `${project}/hooks`, hook);
        const file = { branch: 'main', content: 'iron\n', commit_message: 'Add iron' };
        await call(smith, 201, 'POST', `${project}/repository/files/iron.txt`, file);
        await eventually(async () => assert.equal(receiver.received.length, 1));
        const { token, body } = receiver.received[0]!;
        assert.equal(token, 'open sesame');
        const { object_kind, commits } = body as { object_kind: string; commits: { title: string }[] };
        assert.deepEqual([object_kind, ...commits.map(({ title }) => title)], ['push', 'Add iron']);
        await eventually(async () => {
          const answer = await callAny(`${api}${project}/hooks/${id}/events`, { token: smith });
          const [event] = JSON.parse(answer.text);
          assert.deepEqual([event.state, event.response_body], ['delivered', 'heard']);
        });
      },
    );

    await tally.step('a repository moves to another bucket, and is cloned from there', async () => {
      const moves = `${project}/repository_storage_moves`;
      const to = { destination_storage_name: OTHER_STORAGE };
      const { id } = await call(root, 201, 'POST', moves, to);
      await eventually(async () =>
        assert.equal((await call(root, 200, 'GET', `${moves}/${id}`))['state'], 'replicated'),
      );
      assert.equal((await call(root, 200, 'GET', project))['repository_storage'], OTHER_STORAGE);
      const remote = withCredentials(`${url}/smith/forge.git`, 'smith', smith);
      const git = gitIn(work);
      await git('.', 'clone', '--quiet', remote, 'moved');
      await git('moved', 'fsck', '--full', '--strict');
      assert.equal(readFileSync(join(work, 'moved/iron.txt'), 'utf8'), 'iron\n');
    });
  } finally {
    receiver.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

async function startReceiver() {
  const received: { readonly token: unknown; readonly body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    received.push({ token: request.headers['x-gitlab-token'], body });
    response.end('heard');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    received,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
