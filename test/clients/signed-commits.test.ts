/** People publish keys with a client, sign with `gpg` and `ssh-keygen`, push, and are told whose the commits are. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

let service: Service;
let root: Client;
let ada: Client;
let user: { id: number; username: string; token: string };
let projectId: number;
let home: string;
const clientOf = (token: string) => new Gitlab({ host: service.url, token });
type Client = ReturnType<typeof clientOf>;

beforeAll(async () => {
  service = await startService();
  root = clientOf(service.rootToken);
  user = await service.user('ada');
  ada = clientOf(user.token);
  projectId = (await ada.Projects.create({ name: 'Signed' })).id;
  home = mkdtempSync(join(tmpdir(), 'lemnos-sign-'));
  const remote = new URL(`${service.url}/ada/signed.git`);
  remote.username = 'ada';
  remote.password = user.token;
  await run('git', 'init', '-q', '-b', 'main');
  await run('git', 'remote', 'add', 'origin', remote.href);
});
afterAll(async () => {
  await run('gpgconf', '--kill', 'all').catch(() => {});
  await service.stop();
  rmSync(home, { recursive: true, force: true });
});

/** @returns what it prints. The service runs in this process: nothing is waited for synchronously. */
async function run(command: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    GNUPGHOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Ada'],
        [`GIT_${who}_EMAIL`, 'ada@example.com'],
      ]),
    ),
  };
  return (await promisify(execFile)(command, args, { cwd: home, env })).stdout;
}

const has = (...command: [string, ...string[]]) => {
  try {
    execFileSync(command[0], command.slice(1), { stdio: 'ignore' });
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ENOENT';
  }
};

/** Pushes a commit that is signed so. @returns its id */
async function push(...config: string[]): Promise<string> {
  const settings = config.flatMap((setting) => ['-c', setting]);
  await run('git', ...settings, 'commit', '-q', '--allow-empty', '-S', '-m', 'Signed');
  await run('git', 'push', '-q', 'origin', 'main');
  return (await run('git', 'rev-parse', 'HEAD')).trim();
}

describe.skipIf(!has('gpg', '--version'))('commits signed by gpg', () => {
  test.each([
    ['rsa3072', 'sign'],
    ['ed25519', 'sign'],
    ['nistp384', 'sign'],
    ['dsa2048', 'sign'],
  ])('are verified for %s', async (algorithm, usage) => {
    const gpg = (...args: string[]) =>
      run('gpg', '--batch', '--passphrase', '', '--pinentry-mode', 'loopback', ...args);
    const status = await gpg(
      ...['--status-fd', '1', '--quick-generate-key'],
      ...[`Ada ${algorithm} <ada@example.com>`, algorithm, usage, 'never'],
    );
    const fingerprint = /KEY_CREATED \w (\w+)/.exec(status)![1]!;
    const key = await gpg('--armor', '--export', fingerprint);
    const sha = await push(`user.signingkey=${fingerprint}`);
    const shown = () => ada.Commits.showGPGSignature(projectId, sha);
    expect(await shown()).toMatchObject({ verification_status: 'unknown_key' });
    const added = await ada.UserGPGKeys.add(key);
    expect(await shown()).toMatchObject({
      signature_type: 'PGP',
      verification_status: 'verified',
      gpg_key_id: added.id,
      gpg_key_primary_keyid: fingerprint.slice(-16),
      gpg_key_user_name: `Ada ${algorithm}`,
    });
    await ada.UserGPGKeys.remove(added.id);
  });
});

describe.skipIf(!has('ssh-keygen', '-?'))('commits signed by ssh-keygen', () => {
  test.each([
    ['ed25519', []],
    ['ecdsa', ['-b', '384']],
    ['rsa', ['-b', '3072']],
  ])('are verified for %s', async (type, more) => {
    const file = join(home, `id_${type}`);
    await run('ssh-keygen', '-q', '-t', type, ...more, '-N', '', '-f', file);
    const key = readFileSync(`${file}.pub`, 'utf8');
    const sha = await push('gpg.format=ssh', `user.signingkey=${file}.pub`);
    const shown = () => ada.Commits.showGPGSignature(projectId, sha) as Promise<object>;
    expect(await shown()).toMatchObject({ verification_status: 'unknown_key' });
    const added = await ada.UserSSHKeys.add(type, key);
    expect(await shown()).toMatchObject({
      signature_type: 'SSH',
      verification_status: 'verified',
      key: { id: added.id, title: type },
    });
    // What ssh-keygen makes of the key is what is shown of it.
    writeFileSync(join(home, 'shown.pub'), `${added.key}\n`);
    const line = await run('ssh-keygen', '-l', '-f', join(home, 'shown.pub'));
    expect(await root.Keys.show({ keyId: added.id })).toMatchObject({ user: { username: 'ada' } });
    // The client loses the parameter of its other way to ask.
    const found = await service.call('GET', `/keys?fingerprint=${encodeURIComponent(line.split(' ')[1]!)}`, {
      token: service.rootToken,
    });
    expect(found.body).toMatchObject({ id: added.id, user: { username: 'ada' } });
  });
});

test('@gitbeaker/rest: UserSSHKeys, UserGPGKeys, UserEmails', async () => {
  const keys = await ada.UserSSHKeys.all();
  expect((await root.UserSSHKeys.all({ userId: user.id })).map(({ id }) => id)).toEqual(
    keys.map(({ id }) => id),
  );
  for (const { id } of keys) await ada.UserSSHKeys.remove(id);
  expect(await ada.UserSSHKeys.all()).toEqual([]);
  expect(await root.UserGPGKeys.all({ userId: user.id })).toEqual([]);

  const made = await root.UserEmails.create('Ada@home.example', { userId: user.id, skipConfirmation: true });
  expect(made).toMatchObject({ email: 'Ada@home.example', confirmed_at: expect.any(String) });
  expect(await ada.UserEmails.show(made.id)).toEqual(made);
  expect(await ada.UserEmails.all()).toEqual([made]);
  await expect(ada.UserEmails.add('ada@HOME.example')).rejects.toThrow(/has already been taken/);
  await root.UserEmails.remove(made.id, { userId: user.id });
  expect(await ada.UserEmails.all()).toEqual([]);
});
