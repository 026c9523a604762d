import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  call,
  digest,
  eventually,
  type Git,
  gitAttempt,
  gitIn,
  makeUser,
  pathsOf,
  userNamed,
  withCredentials,
} from './client.ts';
import type { Tally } from './tally.ts';

export interface Deployed {
  readonly tally: Tally;
  /** Public base URL, without a trailing slash. */
  readonly url: string;
  /** Runs the command that the deployment printed. */
  invokeFirstAdministrator(): Promise<Record<string, unknown>>;
  /** How often a queue's messages have reached its worker. */
  workerRuns(): number;
  /** Keys of the stored objects that are parts of repositories. */
  packs(): Promise<string[]>;
  /** Texts of the mails that left for an address. */
  mailTo(address: string): Promise<string[]>;
  /** What functions wrote under the id of a request. */
  linesOf(requestId: string): Promise<Record<string, unknown>[]>;
}

/** What later stories go on with. */
export interface Told {
  /** The administrator's token. */
  readonly root: string;
}

/** What the first users of an instance do, with `fetch` and the machine's own `git`, through the deployed gateway. */
export async function story({ tally, url, invokeFirstAdministrator, workerRuns }: Deployed): Promise<Told> {
  const work = mkdtempSync(join(tmpdir(), 'lemnos-story-'));
  const api = `${url}/api/v4`;
  const git = gitIn(work);
  let root = '';
  let developer = '';
  let stranger = '';

  try {
    await tally.step('the printed command makes the first administrator', async () => {
      const made = await invokeFirstAdministrator();
      assert.equal(typeof made['token'], 'string', JSON.stringify(made));
      root = String(made['token']);
      const me = await call(`${api}/user`, { token: root });
      assert.equal(me.status, 200, me.text);
      assert.equal(me.json['is_admin'], true);
    });

    await tally.step('the administrator makes two users, each with a token', async () => {
      developer = await makeUser(api, root, 'developer');
      stranger = await makeUser(api, root, 'stranger');
      const again = await call(`${api}/users`, { token: root, body: userNamed('developer') });
      assert.equal(again.status, 409, again.text);
    });

    await tally.step('a private project is reached by its encoded path', async () => {
      const made = await call(`${api}/projects`, {
        token: developer,
        body: { name: 'Port Myrina', path: 'myrina', visibility: 'private' },
      });
      assert.equal(made.status, 201, made.text);
      const read = await call(`${api}/projects/developer%2Fmyrina`, { token: developer });
      assert.equal(read.status, 200, read.text);
      assert.equal(read.json['path_with_namespace'], 'developer/myrina');
      assert.equal(read.json['http_url_to_repo'], `${url}/developer/myrina.git`);
      assert.equal((await call(`${api}/projects/developer%2Fmyrina`, { token: stranger })).status, 404);
      assert.equal((await call(`${api}/projects/developer%2Fmyrina`)).status, 404);
    });

    await tally.step('a message reaches its worker: search finds the project', async () => {
      await eventually(async () => {
        const found = await call(`${api}/projects?search=myri`, { token: developer });
        assert.deepEqual(pathsOf(found), ['developer/myrina'], found.text);
      });
      assert.ok(workerRuns() > 0, 'found, but not by way of the queue');
      assert.deepEqual(pathsOf(await call(`${api}/projects?search=myri`, { token: stranger })), []);
    });

    const bytes = randomBytes(2_500_000);
    await tally.step('git pushes 2.5 MB over several branches', async () => {
      await makeRepository(git, join(work, 'mine'), bytes);
      const remote = withCredentials(`${url}/developer/myrina.git`, 'developer', developer);
      await git('mine', 'push', remote, 'main', 'topic/one', 'v1.0');
    });

    await tally.step('files come back byte for byte', async () => {
      const files = `${api}/projects/developer%2Fmyrina/repository/files`;
      const headers = { 'PRIVATE-TOKEN': developer };
      const raw = await fetch(`${files}/data%2Frandom.bin/raw?ref=main`, { headers });
      assert.equal(raw.status, 200);
      assert.equal(digest(new Uint8Array(await raw.arrayBuffer())), digest(bytes));
      const file = await call(`${files}/src%2Fa%20b.txt?ref=topic%2Fone`, { token: developer });
      assert.equal(file.status, 200, file.text);
      assert.equal(Buffer.from(String(file.json['content']), 'base64').toString(), 'on the topic\n');
    });

    await tally.step('a commit through the API is cloned', async () => {
      const made = await call(`${api}/projects/developer%2Fmyrina/repository/commits`, {
        token: developer,
        body: {
          branch: 'main',
          commit_message: 'Through the API',
          actions: [{ action: 'create', file_path: 'docs/new.md', content: '# New\n' }],
        },
      });
      assert.equal(made.status, 201, made.text);
      const remote = withCredentials(`${url}/developer/myrina.git`, 'developer', developer);
      await git('.', 'clone', '--quiet', remote, 'theirs');
      await git('theirs', 'fsck', '--full', '--strict');
      const { stdout: tip } = await git('theirs', 'rev-parse', 'HEAD');
      assert.equal(tip.trim(), made.json['id']);
      const { stdout: parent } = await git('mine', 'rev-parse', 'main');
      assert.equal((await git('theirs', 'rev-parse', 'HEAD^')).stdout, parent);
      assert.equal(digest(readFileSync(join(work, 'theirs/data/random.bin'))), digest(bytes));
      assert.equal(readFileSync(join(work, 'theirs/docs/new.md'), 'utf8'), '# New\n');
    });

    await tally.step(
      'anonymous clones are asked for credentials, of what exists and of what does not',
      async () => {
        for (const path of ['developer/myrina.git', 'developer/nothing.git']) {
          const answer = await fetch(`${url}/${path}/info/refs?service=git-upload-pack`);
          assert.equal(answer.status, 401, path);
          assert.equal(answer.headers.get('www-authenticate'), 'Basic realm="Lemnos"');
          const refused = await gitAttempt(work, '.', 'clone', `${url}/${path}`, 'anonymous');
          assert.notEqual(refused.code, 0);
          assert.match(refused.stderr, /could not read Username|Authentication failed/);
        }
      },
    );

    await tally.step('a signed-in stranger learns nothing, a wrong password is refused', async () => {
      const remote = `${url}/developer/myrina.git`;
      const unseen = await gitAttempt(work, '.', 'ls-remote', withCredentials(remote, 'stranger', stranger));
      assert.notEqual(unseen.code, 0);
      assert.match(unseen.stderr, /not found/);
      const wrong = await gitAttempt(work, '.', 'ls-remote', withCredentials(remote, 'developer', 'wrong'));
      assert.notEqual(wrong.code, 0);
      assert.match(wrong.stderr, /Authentication failed/);
    });

    await tally.step('a push that is not a fast-forward is refused and changes nothing', async () => {
      const remote = withCredentials(`${url}/developer/myrina.git`, 'developer', developer);
      const { stdout: before } = await git('.', 'ls-remote', remote, 'main');
      const refused = await gitAttempt(work, 'mine', 'push', remote, 'main');
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, /rejected/);
      assert.equal((await git('.', 'ls-remote', remote, 'main')).stdout, before);
    });

    await tally.step('a path that no area serves answers as the API does', async () => {
      const answer = await call(`${api}/nothing/here`, { token: developer });
      assert.equal(answer.status, 404);
      assert.deepEqual(answer.json, { error: '404 Not Found' });
    });

    await tally.step('a deleted project is gone for the API and for git', async () => {
      const deleted = await call(`${api}/projects/developer%2Fmyrina`, {
        token: developer,
        method: 'DELETE',
      });
      assert.equal(deleted.status, 202, deleted.text);
      await eventually(async () => {
        assert.equal((await call(`${api}/projects/developer%2Fmyrina`, { token: developer })).status, 404);
      });
      assert.deepEqual(pathsOf(await call(`${api}/projects?owned=true`, { token: developer })), []);
      assert.deepEqual(pathsOf(await call(`${api}/projects?search=myri`, { token: developer })), []);
      const remote = withCredentials(`${url}/developer/myrina.git`, 'developer', developer);
      assert.notEqual((await gitAttempt(work, '.', 'ls-remote', remote)).code, 0);
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return { root };
}

/** Three commits, two branches, an annotated tag, a path with a space, and bytes that do not compress. */
async function makeRepository(git: Git, path: string, bytes: Uint8Array): Promise<void> {
  const write = (name: string, content: string | Uint8Array) => {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), content);
  };
  const commit = async (message: string) => {
    await git('mine', 'add', '-A');
    await git('mine', 'commit', '--quiet', '-m', message);
  };
  mkdirSync(path);
  await git('mine', 'init', '--quiet', '--initial-branch=main');
  write('src/a b.txt', 'first\n');
  await commit('First');
  await git('mine', 'tag', '-a', 'v1.0', '-m', 'One');
  await git('mine', 'checkout', '--quiet', '-b', 'topic/one');
  write('src/a b.txt', 'on the topic\n');
  await commit('Topic');
  await git('mine', 'checkout', '--quiet', 'main');
  write('data/random.bin', bytes);
  await commit('Random bytes');
}
