import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { ask } from '../../harness/world.ts';
import fixtures from '../../unit/signatures/fixtures.json' with { type: 'json' };
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

// Commits that git signed with gpg, ssh-keygen and openssl, see make-fixtures.ts.
const { commits, tags } = fixtures;
type Name = keyof typeof commits | 'twice' | 'bent' | 'garbage' | 'unheard';

const signedTags = {
  ...tags,
  bent: tags.ssh.replace('with a body', 'with another body'),
  bare: tags.ssh.replace(/-----BEGIN[\s\S]*/, ''),
  quoting: tags.ssh.replace('A signed tag', '-----BEGIN PGP SIGNATURE-----\nnone\n'),
};

const { service, world } = ownWorld();
let pushed: Pushed;
const ids = {} as Record<Name, string>;

beforeAll(async () => {
  const twice = commits.pgp.replace(/(\ngpgsig [\s\S]*?SIGNATURE-----)(?=\n[^ ])/, '$1$1');
  const all: Record<Name, string> = {
    ...commits,
    twice,
    bent: commits.pgp.replace('with a body', 'with another body'),
    garbage: commits.pgp.replace(/\n i[\s\S]*?\n -----END/, '\n AAAA\n -----END'),
    unheard: commits.pgp.replaceAll('PGP SIGNATURE', 'SEAL'),
  };
  const owner = { username: 'owner', token: world.tokens.owner! };
  pushed = await pushedProject(
    service,
    owner,
    'signed',
    (git) => {
      git.feed('', 'mktree');
      for (const [name, text] of Object.entries(all) as [Name, string][]) {
        ids[name] = git.feed(text, 'hash-object', '-t', 'commit', '-w', '--stdin').trim();
        git.git('update-ref', `refs/heads/${name}`, ids[name]);
      }
      const tagged = git.feed(fixtures.tagged, 'hash-object', '-t', 'commit', '-w', '--stdin').trim();
      for (const [name, text] of Object.entries(signedTags)) {
        const tag = git.feed(text, 'hash-object', '-t', 'tag', '-w', '--stdin').trim();
        git.git('update-ref', `refs/tags/v/${name}`, tag);
      }
      git.git('tag', 'v/light', tagged);
      git.git('tag', 'v/signed-commit', ids.pgp);
    },
    { visibility: 'private' },
  );
  world.ids['signed'] = pushed.id;
  const answers = await Promise.all([
    ask(world, 'developer', 'POST', '/user/gpg_keys', { key: fixtures.pgp.subkey.key }),
    ask(world, 'developer', 'POST', '/user/keys', { title: 'Laptop', key: fixtures.ssh.ed25519.key }),
    ask(world, 'developer', 'POST', '/user/keys', {
      title: 'Door',
      key: fixtures.ssh.rsa.key,
      usage_type: 'auth',
    }),
    ask(world, 'administrator', 'POST', `/users/${world.ids['developer']}/emails`, {
      email: 'third@example.com',
      skip_confirmation: true,
    }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  world.ids['gpg'] = answers[0].body.id;
  world.ids['ssh'] = answers[1].body.id;
});

const signature = async (name: Name) => {
  const { status, body } = await ask(
    world,
    'owner',
    'GET',
    `${pushed.repository}/commits/${ids[name]}/signature`,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

describe('permission to read signatures', () =>
  scenarios(
    () => world,
    [
      {
        request: () => `GET /projects/{signed}/repository/commits/${ids.pgp}/signature`,
        as: { anonymous: 404, stranger: 404, external: 404, owner: 200, administrator: 200 },
      },
      {
        request: 'GET /projects/{signed}/repository/commits/pgp/signature',
        as: { owner: 200, read_api: 200, read_user: 403 },
      },
      {
        request: 'GET /projects/{signed}/repository/commits/none/signature',
        as: { owner: { status: 404, holds: { message: '404 Commit Not Found' } } },
      },
      {
        request: 'GET /projects/{signed}/repository/commits/unsigned/signature',
        as: { owner: { status: 404, holds: { message: '404 Signature Not Found' } } },
      },
      {
        request: 'GET /projects/{signed}/repository/commits/unheard/signature',
        as: { owner: { status: 404, holds: { message: '404 Signature Not Found' } } },
      },
    ],
  ));

describe('a gpg signature', () => {
  test('is shown with its owner', async () => {
    expect(await signature('pgp')).toEqual({
      signature_type: 'PGP',
      verification_status: 'verified',
      gpg_key_id: world.ids['gpg'],
      gpg_key_primary_keyid: fixtures.pgp.subkey.fingerprint.slice(-16),
      gpg_key_user_name: 'Developer',
      gpg_key_user_email: 'developer@example.com',
      gpg_key_subkey_id: expect.any(Number),
      commit_source: 'gitaly',
    });
  });

  test('is unknown if nobody has its key', async () => {
    expect(await signature('pgpStranger')).toMatchObject({
      verification_status: 'unknown_key',
      gpg_key_id: null,
      gpg_key_primary_keyid: expect.stringMatching(/^[0-9A-F]{16}$/),
      gpg_key_user_name: null,
    });
  });

  test.each([
    ['pgpUnnamed', "the committer's address is the owner's, and not in the key", 'same_user_different_email'],
    ['pgpOther', "the committer's address is another's", 'other_user'],
    ['pgpSecond', "the committer's address is in the key, and nobody's", 'other_user'],
    ['bent', 'another commit', 'unverified'],
    ['garbage', 'no signature at all', 'unverified'],
    ['twice', 'two of them', 'multiple_signatures'],
  ] as const)('of the commit %s: %s', async (name, _, status) => {
    expect(await signature(name)).toMatchObject({ signature_type: 'PGP', verification_status: status });
  });
});

describe('an ssh-keygen signature', () => {
  test('is shown with its owner', async () => {
    expect(await signature('ssh')).toEqual({
      signature_type: 'SSH',
      verification_status: 'verified',
      key: {
        id: world.ids['ssh'],
        title: 'Laptop',
        created_at: expect.any(String),
        expires_at: null,
        key: expect.stringMatching(/^ssh-ed25519 \S+ developer \(127\.0\.0\.1\)$/),
        usage_type: 'auth_and_signing',
      },
      commit_source: 'gitaly',
    });
  });

  test.each([
    ['sshOther', "the committer's address is another's", 'other_user'],
    ['sshRsa', 'the key is for signing in', 'unknown_key'],
  ] as const)('of the commit %s: %s', async (name, _, status) => {
    expect(await signature(name)).toMatchObject({ signature_type: 'SSH', verification_status: status });
  });
});

test('an X.509 signature shows its certificate, which is never verified', async () => {
  expect(await signature('x509')).toEqual({
    signature_type: 'X509',
    verification_status: 'unverified',
    x509_certificate: {
      id: null,
      subject: 'CN=developer@example.com,OU=Example,O=World',
      subject_key_identifier: expect.stringMatching(/^([0-9A-F]{2}:){19}[0-9A-F]{2}$/),
      email: 'developer@example.com',
      serial_number: expect.stringMatching(/^\d+$/),
      certificate_status: 'good',
      x509_issuer: {
        id: null,
        subject: 'CN=developer@example.com,OU=Example,O=World',
        subject_key_identifier: expect.stringMatching(/^([0-9A-F]{2}:){19}[0-9A-F]{2}$/),
        crl_url: 'http://example.com/pki.crl',
      },
    },
    commit_source: 'gitaly',
  });
});

describe('the signature of a tag', () => {
  const at = (name: string) =>
    `/projects/${pushed.id}/repository/tags/${encodeURIComponent(`v/${name}`)}/signature`;
  const tagSignature = (name: string) => ask(world, 'owner', 'GET', at(name));

  test.each([
    ['pgp', 'PGP', 'verified'],
    ['ssh', 'SSH', 'verified'],
    ['sshOther', 'SSH', 'other_user'],
    ['bent', 'SSH', 'unverified'],
    // Of two labels the last begins the signature; the text before it is what was signed.
    ['quoting', 'SSH', 'unverified'],
    ['x509', 'X509', 'unverified'],
  ])('%s is of type %s and %s', async (name, type, status) => {
    const { body } = await tagSignature(name);
    expect(body).toMatchObject({ signature_type: type, verification_status: status });
    expect(body).not.toHaveProperty('commit_source');
  });

  test('shows key or certificate as the signature of a commit does', async () => {
    for (const name of ['pgp', 'ssh'] as const) {
      const { commit_source: _, ...ofCommit } = await signature(name);
      expect((await tagSignature(name)).body).toEqual(ofCommit);
    }
    const { x509_certificate: ofCommit } = await signature('x509');
    expect((await tagSignature('x509')).body.x509_certificate).toEqual(ofCommit);
  });

  test.each([
    ['bare', '404 Signature Not Found'],
    ['light', '404 Signature Not Found'],
    // The commit is signed, and the tag is not.
    ['signed-commit', '404 Signature Not Found'],
    ['none', '404 Tag Not Found'],
  ])('%s: %s', async (name, message) => {
    const { status, body } = await tagSignature(name);
    expect([status, body]).toEqual([404, { message }]);
  });
});

// Last: these take the ground from under the others.
test('signatures follow the current state of confirmed addresses and revoked keys', async () => {
  const developer = `/users/${world.ids['developer']}`;
  const email = { email: 'SECOND@example.com', skip_confirmation: true };
  const { body } = await ask(world, 'administrator', 'POST', `${developer}/emails`, email);
  expect(await signature('pgpSecond')).toMatchObject({ verification_status: 'verified' });
  await ask(world, 'administrator', 'DELETE', `${developer}/emails/${body.id}`);
  expect(await signature('pgpSecond')).toMatchObject({ verification_status: 'other_user' });
  const user = (await world.store.users.get(world.ids['developer']!))!;
  await world.store.users.update(user, { confirmedAt: null });
  expect(await signature('pgp')).toMatchObject({ verification_status: 'unverified_key' });
  expect(await signature('ssh')).toMatchObject({ verification_status: 'other_user' });
  await ask(world, 'developer', 'POST', `/user/gpg_keys/${world.ids['gpg']}/revoke`);
  expect(await signature('pgp')).toMatchObject({ verification_status: 'unknown_key', gpg_key_id: null });
});
