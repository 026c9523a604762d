/**
 * Regenerates `fixtures.json` with the `gpg`, `ssh-keygen`, `openssl` and `git` of this machine:
 * `node test/unit/signatures/make-fixtures.ts`. The private keys are thrown away.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const home = mkdtempSync(join(tmpdir(), 'sign-'));
// A time in the past of every machine.
writeFileSync(join(home, 'gpg.conf'), 'faked-system-time 1700000000!\n');
const env = {
  GIT_AUTHOR_DATE: '1700000000 +0000',
  GIT_COMMITTER_DATE: '1700000000 +0000',
  PATH: process.env['PATH'],
  HOME: home,
  GNUPGHOME: home,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Some Body',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_COMMITTER_NAME: 'Some Body',
};
const run = (
  command: string,
  args: readonly string[],
  more: { env?: Record<string, string>; input?: string } = {},
) =>
  execFileSync(command, args, {
    encoding: 'latin1',
    cwd: home,
    env: { ...env, ...more.env },
    input: more.input,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
const gpg = (...args: string[]) =>
  run('gpg', ['--batch', '--yes', '--passphrase', '', '--pinentry-mode', 'loopback', ...args]);
const PAYLOAD = 'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nsigned  \r\nlines\n';

/** A key made with `--quick-generate-key`, and its fingerprint. */
function newKey(userId: string, algorithm: string, usage: string, expire = 'never'): string {
  const status = gpg('--status-fd', '1', '--quick-generate-key', userId, algorithm, usage, expire);
  return /KEY_CREATED \w (\w+)/.exec(status)![1]!;
}
const exported = (fingerprint: string) => gpg('--armor', '--export', fingerprint);
const signed = (key: string, ...args: string[]) => {
  writeFileSync(join(home, 'payload'), PAYLOAD, 'latin1');
  return gpg('--armor', '--local-user', `${key}!`, ...args, '--output', '-', '--detach-sign', 'payload');
};

/** The object bytes of a commit, and of a tag of it, both signed by git. */
function signedObjects(committer: string, config: Record<string, string>): { commit: string; tag: string } {
  const repo = mkdtempSync(join(home, 'repo-'));
  const git = (...args: string[]) =>
    run(
      'git',
      ['-C', repo, ...Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${value}`]), ...args],
      { env: { GIT_COMMITTER_EMAIL: committer } },
    );
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-S', '-m', 'A signed commit\n\nwith a body');
  // Of an object that is the same for all keys, so that the tags can be stored without the commits.
  git('write-tree');
  const tagged = run('git', ['-C', repo, 'hash-object', '-t', 'commit', '-w', '--stdin'], { input: TAGGED });
  git('tag', '-s', '-m', 'A signed tag\n\nwith a body', 'signed', tagged.trim());
  return { commit: git('cat-file', 'commit', 'HEAD'), tag: git('cat-file', 'tag', 'signed') };
}

const TAGGED = [
  'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  'author Some Body <author@example.com> 1700000000 +0000',
  'committer Some Body <committer@example.com> 1700000000 +0000',
  '\nTagged\n',
].join('\n');

const commit = (committer: string, config: Record<string, string>): string =>
  signedObjects(committer, config).commit;
const tag = (committer: string, config: Record<string, string>): string =>
  signedObjects(committer, config).tag;

function sshKey(name: string, type: string, ...args: string[]): string {
  run('ssh-keygen', ['-q', '-t', type, ...args, '-N', '', '-C', `${name}@laptop`, '-f', join(home, name)]);
  return readFileSync(join(home, `${name}.pub`), 'utf8').trim();
}

const pgp: Record<string, { key: string; fingerprint: string; signature: string }> = {};
for (const [name, algorithm] of [
  ['rsa', 'rsa2048'],
  ['dsa', 'dsa2048'],
  ['ed25519', 'ed25519'],
  ['nistp256', 'nistp256'],
  ['nistp384', 'nistp384'],
  ['nistp521', 'nistp521'],
  ['secp256k1', 'secp256k1'],
  ['brainpool', 'brainpoolP256r1'],
] as const) {
  const fingerprint = newKey(`Maker of ${name} (a comment) <${name}@example.com>`, algorithm, 'sign');
  pgp[name] = { key: exported(fingerprint), fingerprint, signature: signed(fingerprint) };
}
{
  const { fingerprint } = pgp['rsa']!;
  pgp['text'] = { ...pgp['rsa']!, signature: signed(fingerprint, '--textmode') };
  pgp['sha1'] = { ...pgp['rsa']!, signature: signed(fingerprint, '--digest-algo', 'SHA1') };
}
{
  const fingerprint = newKey('Developer <developer@example.com>', 'ed25519', 'cert');
  gpg('--quick-add-key', fingerprint, 'ed25519', 'sign', 'never');
  gpg('--quick-add-key', fingerprint, 'cv25519', 'encr', 'never');
  gpg('--quick-add-uid', fingerprint, 'Dev at home <Second@Example.com>');
  gpg('--quick-add-uid', fingerprint, 'Gone <gone@example.com>');
  gpg('--quick-revoke-uid', fingerprint, 'Gone <gone@example.com>');
  const listed = gpg('--with-colons', '--list-keys', fingerprint).split('\n');
  const subkey = listed[listed.findIndex((line) => /^sub:.*:s:/.test(line)) + 1]!.split(':')[9]!;
  pgp['subkey'] = { key: exported(fingerprint), fingerprint, signature: signed(subkey) };
}
{
  const fingerprint = newKey('Revoked <developer@example.com>', 'ed25519', 'sign');
  const signature = signed(fingerprint);
  const revocation = readFileSync(join(home, 'openpgp-revocs.d', `${fingerprint}.rev`), 'utf8').replace(
    ':-----BEGIN',
    '-----BEGIN',
  );
  run('gpg', ['--batch', '--import'], { input: revocation });
  pgp['revoked'] = { key: exported(fingerprint), fingerprint, signature };
}
{
  const fingerprint = newKey('Short-lived <developer@example.com>', 'ed25519', 'sign', 'seconds=1');
  pgp['expired'] = { key: exported(fingerprint), fingerprint, signature: signed(fingerprint) };
}

const ssh: Record<string, { key: string; signature: string; md5: string; sha256: string }> = {};
for (const [name, type, ...args] of [
  ['rsa', 'rsa', '-b', '2048'],
  ['ed25519', 'ed25519'],
  ['ecdsa256', 'ecdsa', '-b', '256'],
  ['ecdsa384', 'ecdsa', '-b', '384'],
  ['ecdsa521', 'ecdsa', '-b', '521'],
  ['dsa', 'dsa'],
] as const) {
  const key = sshKey(name, type, ...args);
  const print = (hash: string) =>
    run('ssh-keygen', ['-l', '-E', hash, '-f', join(home, `${name}.pub`)])
      .split(' ')[1]!
      .replace(/^\w+:/, '');
  const signature =
    name === 'dsa'
      ? ''
      : run('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'git', '-f', join(home, name)], { input: PAYLOAD });
  ssh[name] = { key, signature, md5: print('md5').replace(/^MD5:/, ''), sha256: print('sha256') };
}

const developer = pgp['subkey']!.fingerprint;
const stranger = newKey('Stranger <stranger@example.com>', 'ed25519', 'sign');
const byGpg = (key: string) => ({ 'user.signingkey': key });
const bySsh = (name: string) => ({ 'gpg.format': 'ssh', 'user.signingkey': join(home, `${name}.pub`) });

run('openssl', [
  'req',
  '-x509',
  '-newkey',
  'rsa:2048',
  '-nodes',
  '-keyout',
  'x.key',
  '-out',
  'x.crt',
  '-days',
  '36500',
  '-subj',
  '/O=World/OU=Example/CN=developer@example.com',
  '-addext',
  'subjectAltName=email:developer@example.com',
  '-addext',
  'keyUsage=digitalSignature',
  '-addext',
  'crlDistributionPoints=URI:http://example.com/pki.crl',
]);
// Replaces gpgsm by openssl's CMS: git only reads the status line and the block.
writeFileSync(
  join(home, 'x509'),
  `#!/bin/sh
cat > ${home}/x.in
printf '\\n[GNUPG:] SIG_CREATED D\\n' >&2
openssl cms -sign -binary -signer ${home}/x.crt -inkey ${home}/x.key -outform DER -in ${home}/x.in |
  base64 -w 64 | sed -e '1i-----BEGIN SIGNED MESSAGE-----' -e '$a-----END SIGNED MESSAGE-----'
`,
  { mode: 0o755 },
);

const byX509 = {
  'gpg.format': 'x509',
  'gpg.x509.program': join(home, 'x509'),
  'user.signingkey': 'x',
};
const commits = {
  pgp: commit('developer@example.com', byGpg(developer)),
  pgpSecond: commit('second@example.com', byGpg(developer)),
  pgpUnnamed: commit('third@example.com', byGpg(developer)),
  pgpOther: commit('maintainer@example.com', byGpg(developer)),
  pgpStranger: commit('stranger@example.com', byGpg(stranger)),
  ssh: commit('developer@example.com', bySsh('ed25519')),
  sshRsa: commit('developer@example.com', bySsh('rsa')),
  sshOther: commit('maintainer@example.com', bySsh('ed25519')),
  x509: commit('developer@example.com', byX509),
  unsigned: commit('developer@example.com', { ...byGpg(developer) }).replace(
    /\ngpgsig [\s\S]*?-----END PGP SIGNATURE-----\n(?: \n)?/,
    '\n',
  ),
};

const tags = {
  pgp: tag('developer@example.com', byGpg(developer)),
  ssh: tag('developer@example.com', bySsh('ed25519')),
  sshOther: tag('maintainer@example.com', bySsh('ed25519')),
  x509: tag('developer@example.com', byX509),
};

const fixtures = { payload: PAYLOAD, pgp, ssh, commits, tagged: TAGGED, tags };
writeFileSync(join(import.meta.dirname, 'fixtures.json'), `${JSON.stringify(fixtures, null, 2)}\n`);
run('gpgconf', ['--kill', 'all']);
rmSync(home, { recursive: true, force: true });
