import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  call as callAny,
  eventually,
  gitAttempt,
  gitIn,
  makeUser,
  pathsOf,
  userNamed,
  withCredentials,
} from './client.ts';
import type { Deployed, Told } from './story.ts';

/** What a company does: groups with projects, a fork, tokens for machines, keys, mail; then the group is deleted. */
export async function groupsStory({ tally, url, packs, mailTo }: Deployed, { root }: Told): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'lemnos-groups-'));
  const api = `${url}/api/v4`;
  const git = gitIn(work);
  let owner = '';
  let colleague = '';
  let stranger = '';
  let group = 0;
  let tip = '';
  const call = (method: string, path: string, body?: object, token = owner) =>
    callAny(`${api}${path}`, { method, token, ...(body === undefined ? {} : { body }) });
  const remoteOf = (path: string, username = 'owner', password = owner) =>
    withCredentials(`${url}/${path}.git`, username, password);

  try {
    await tally.step('a group, a group in it, and a project there that git pushes to', async () => {
      owner = await makeUser(api, root, 'owner');
      colleague = await makeUser(api, root, 'colleague');
      stranger = await makeUser(api, root, 'outsider');
      const made = await call('POST', '/groups', { name: 'Company', path: 'company' });
      assert.equal(made.status, 201, made.text);
      group = Number(made.json['id']);
      const inner = await call('POST', '/groups', { name: 'Tools', path: 'tools', parent_id: group });
      assert.equal(inner.status, 201, inner.text);
      const project = await call('POST', '/projects', { name: 'forge', namespace_id: inner.json['id'] });
      assert.equal(project.status, 201, project.text);
      mkdirSync(join(work, 'forge'));
      await git('forge', 'init', '--quiet', '--initial-branch=main');
      for (const name of ['a.ts', 'b.ts']) {
        writeFileSync(join(work, 'forge', name), `export const name = '${name}';\n`);
        await git('forge', 'add', '-A');
        await git('forge', 'commit', '--quiet', '-m', name);
      }
      tip = (await git('forge', 'rev-parse', 'HEAD')).stdout.trim();
      await git('forge', 'push', '--quiet', remoteOf('company/tools/forge'), 'main');
    });

    let ofNotes: string[] = [];
    await tally.step('a commit through the API begins a project of the group', async () => {
      const before = await packs();
      const project = await call('POST', '/projects', { name: 'notes', namespace_id: group });
      assert.equal(project.status, 201, project.text);
      const commit = await call('POST', '/projects/company%2Fnotes/repository/commits', {
        branch: 'main',
        commit_message: 'Begin',
        actions: [{ action: 'create', file_path: 'README.md', content: '# Notes\n' }],
      });
      assert.equal(commit.status, 201, commit.text);
      ofNotes = (await packs()).filter((key) => !before.includes(key));
      assert.notEqual(ofNotes.length, 0);
    });

    await tally.step('members of the group see what is in it, and nobody else', async () => {
      const path = '/projects/company%2Ftools%2Fforge';
      assert.equal((await call('GET', path, undefined, colleague)).status, 404);
      const me = await call('GET', '/user', undefined, colleague);
      const member = { user_id: me.json['id'], access_level: 30 };
      assert.equal((await call('POST', `/groups/${group}/members`, member)).status, 201);
      assert.equal((await call('GET', path, undefined, colleague)).status, 200);
      assert.equal((await call('GET', path, undefined, stranger)).status, 404);
      const inside = await call('GET', `/groups/${group}/projects?include_subgroups=true`);
      assert.deepEqual(pathsOf(inside), ['company/notes', 'company/tools/forge']);
      const all = await call('GET', `/groups/${group}/descendant_groups`, undefined, colleague);
      assert.match(all.text, /"full_path":"company\/tools"/);
    });

    await tally.step('a fork has the content, and goes its own way', async () => {
      const fork = await call('POST', '/projects/company%2Ftools%2Fforge/fork', {}, colleague);
      assert.equal(fork.status, 201, fork.text);
      await eventually(async () => {
        const now = await call('GET', `/projects/${fork.json['id']}`, undefined, colleague);
        assert.equal(now.json['import_status'], 'finished', now.text);
      });
      const remote = remoteOf('colleague/forge', 'colleague', colleague);
      await git('.', 'clone', '--quiet', remote, 'fork');
      await git('fork', 'fsck', '--full', '--strict');
      assert.equal((await git('fork', 'rev-parse', 'HEAD')).stdout.trim(), tip);
      writeFileSync(join(work, 'fork/c.ts'), 'export {};\n');
      await git('fork', 'add', '-A');
      await git('fork', 'commit', '--quiet', '-m', 'c.ts');
      await git('fork', 'push', '--quiet', remote, 'main');
      const source = await git('.', 'ls-remote', remoteOf('company/tools/forge'), 'main');
      assert.ok(source.stdout.startsWith(tip));
    });

    await tally.step('a token of the project reads it with git until it is revoked', async () => {
      const tokens = '/projects/company%2Ftools%2Fforge/access_tokens';
      const expires_at = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
      const made = await call('POST', tokens, { name: 'ci', scopes: ['read_repository'], expires_at });
      assert.equal(made.status, 201, made.text);
      const remote = remoteOf('company/tools/forge', 'ci', String(made.json['token']));
      assert.ok((await git('.', 'ls-remote', remote, 'main')).stdout.startsWith(tip));
      assert.equal((await call('DELETE', `${tokens}/${made.json['id']}`)).status, 204);
      assert.notEqual((await gitAttempt(work, '.', 'ls-remote', remote)).code, 0);
    });

    await tally.step('keys, signatures, stars, avatars, attributes and search answer', async () => {
      const key = await call('POST', '/user/keys', { title: 'laptop', key: publicKey() });
      assert.equal(key.status, 201, key.text);
      const project = '/projects/company%2Ftools%2Fforge';
      const signature = await call('GET', `${project}/repository/commits/${tip}/signature`);
      assert.equal(signature.status, 404, signature.text);
      assert.match(signature.text, /Signature Not Found/);
      const starred = await call('POST', `${project}/star`, {});
      assert.equal(starred.json['star_count'], 1, starred.text);
      // What is in it a worker measures later.
      assert.equal((await call('GET', `${project}/languages`)).status, 200);
      const attribute = `/groups/${group}/custom_attributes/floor`;
      assert.equal((await call('PUT', attribute, { value: '3' }, root)).status, 200);
      const form = new FormData();
      form.set('avatar', new Blob([picture()]), 'avatar.png');
      const headers = { 'PRIVATE-TOKEN': owner };
      const put = await fetch(`${api}/groups/${group}`, { method: 'PUT', headers, body: form });
      assert.equal(put.status, 200, await put.text());
      const avatar = await fetch(`${api}/groups/${group}/avatar`, { headers });
      assert.deepEqual(Buffer.from(await avatar.arrayBuffer()), picture());
      const found = await call('GET', '/search?scope=projects&search=forge');
      assert.equal(found.status, 200, found.text);
      assert.match(found.text, /"path_with_namespace":"company\/tools\/forge"/);
    });

    await tally.step('mail leaves', async () => {
      const asked = await call('POST', '/user/emails', { email: 'second@example.com' });
      assert.equal(asked.status, 201, asked.text);
      let text = '';
      await eventually(async () => {
        [text = ''] = await mailTo('second@example.com');
        assert.match(text, /confirmation_token=/);
      });
    });

    await tally.step(
      'a deleted group is gone with all inside, down to its bytes; a fork of it is not',
      async () => {
        assert.equal((await call('DELETE', `/groups/${group}`)).status, 202);
        assert.equal((await call('GET', `/groups/${group}`)).status, 404);
        assert.equal((await call('GET', '/groups/company%2Ftools')).status, 404);
        assert.equal((await call('GET', '/projects/company%2Ftools%2Fforge')).status, 404);
        assert.notEqual((await gitAttempt(work, '.', 'ls-remote', remoteOf('company/tools/forge'))).code, 0);
        assert.deepEqual(pathsOf(await call('GET', '/projects?search=forge')), []);
        const remote = remoteOf('colleague/forge', 'colleague', colleague);
        await git('.', 'clone', '--quiet', remote, 'fork-afterwards');
        await git('fork-afterwards', 'fsck', '--full', '--strict');
        assert.equal((await git('fork-afterwards', 'rev-parse', 'HEAD^')).stdout.trim(), tip);
        // Its paths are free, for others too.
        const again = await call('POST', '/groups', { name: 'Company', path: 'company' }, stranger);
        assert.equal(again.status, 201, again.text);

        await eventually(async () => {
          const left = await packs();
          assert.deepEqual(
            ofNotes.filter((key) => left.includes(key)),
            [],
          );
        });
      },
    );

    await tally.step('a removed user is gone', async () => {
      const made = await call('POST', '/users', userNamed('leaver'), root);
      assert.equal((await call('DELETE', `/users/${made.json['id']}`, undefined, root)).status, 204);
      await eventually(async () => {
        assert.equal((await call('GET', `/users/${made.json['id']}`, undefined, root)).status, 404);
      });
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** As OpenSSH writes it. */
function publicKey(): string {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const field = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const type = 'ssh-ed25519';
  const blob = Buffer.concat([field(Buffer.from(type)), field(Buffer.from(String(x), 'base64url'))]);
  return `${type} ${blob.toString('base64')} laptop`;
}

/** The head of a PNG of 16 by 16, which is all that is checked. */
function picture(): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(33);
  bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
  bytes.writeUInt32BE(13, 8);
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(16, 16);
  bytes.writeUInt32BE(16, 20);
  return bytes;
}
