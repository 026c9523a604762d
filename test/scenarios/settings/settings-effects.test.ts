/** That settings are obeyed: each is set, and what it names is done. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeTime } from 'ulid';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { defaultSettings } from '../../../lib/domain/settings/defaults.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { parseOid, ZERO_OID } from '../../../lib/git/oid.ts';
import { pushRequest } from '../../../lib/git/wire/push-request.ts';
import { readEnvironment } from '../../../lib/store/environment.ts';
import type { Key } from '../../../lib/store/row-keys/key.ts';
import { outboxPartition } from '../../../lib/store/row-keys/outbox.ts';
import { tokenKey } from '../../../lib/store/row-keys/tokens.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { newSshKey } from '../../harness/keys.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';

let service: Service;
let root: string;
let ada: { readonly id: number; readonly username: string; readonly token: string };
let changed = new Set<string>();
let names = 0;
const git = new GitCli();
const keys = mkdtempSync(join(tmpdir(), 'settings-keys-'));

beforeAll(async () => {
  service = await startService();
  root = service.rootToken;
  ada = await service.user('ada');
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
  rmSync(keys, { recursive: true });
});
afterEach(async () => {
  const defaults = defaultSettings(readEnvironment()) as Readonly<Record<string, unknown>>;
  const back = [...changed].map((name) => [name, defaults[name]]);
  changed = new Set();
  if (back.length > 0) await changeSettings(service, Object.fromEntries(back));
});

const set = async (json: Record<string, unknown>) => {
  for (const name of Object.keys(json)) changed.add(name);
  await changeSettings(service, json);
};
const as = (token: string, method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
const mine = (method: string, path: string, json?: unknown) => as(ada.token, method, path, json);
const admin = (method: string, path: string, json?: unknown) => as(root, method, path, json);
const fresh = (what = 'thing') => `${what}-${++names}`;
const project = async (json: Record<string, unknown> = {}, token = ada.token) =>
  as(token, 'POST', '/projects', { name: fresh('project'), ...json });
const group = async (json: Record<string, unknown> = {}, token = ada.token) => {
  const path = fresh('group');
  return as(token, 'POST', '/groups', { name: path, path, ...json });
};
const person = (json: Record<string, unknown> = {}) => {
  const username = fresh('person');
  const email = `${username}@example.com`;
  return admin('POST', '/users', { username, name: username, email, force_random_password: true, ...json });
};
const status = ({ status, body }: Answer) => (status < 300 ? status : [status, body.message ?? body.error]);

describe('visibility settings', () => {
  const RESTRICTED = (level: string) => `${level} has been restricted by your GitLab administrator`;

  test('give new projects and groups the default visibility, as far as their parent permits', async () => {
    expect([(await project()).body.visibility, (await group()).body.visibility]).toEqual([
      'private',
      'private',
    ]);
    await set({ default_project_visibility: 'public', default_group_visibility: 'internal' });
    const inside = await group();
    expect([(await project()).body.visibility, inside.body.visibility]).toEqual(['public', 'internal']);
    expect((await project({ namespace_id: inside.body.id })).body.visibility).toBe('internal');
    expect(
      (await group({ parent_id: (await group({ visibility: 'private' })).body.id })).body.visibility,
    ).toBe('private');
    expect((await project({ visibility: 'private' })).body.visibility).toBe('private');
    const byAdministrator = await admin('POST', `/projects/user/${ada.id}`, { name: fresh() });
    expect(byAdministrator.body.visibility).toBe('public');
  });

  test('restrict levels to administrators: for projects, groups, forks and their updates', async () => {
    const [open, place] = [await project({ visibility: 'public' }), await group({ visibility: 'internal' })];
    const modest = (await project()).body.id;
    await set({ restricted_visibility_levels: ['public'] });
    expect(status(await project({ visibility: 'public' }))).toEqual([
      400,
      { visibility_level: [RESTRICTED('public')] },
    ]);
    expect(status(await project({ visibility: 'public', import_url: 'https://example.com/x.git' }))).toEqual([
      400,
      { visibility_level: [RESTRICTED('public')] },
    ]);
    expect(status(await group({ visibility: 'public' }))).toEqual([
      400,
      `Failed to save group {:visibility_level=>["${RESTRICTED('public')}"]}`,
    ]);
    expect(status(await mine('PUT', `/projects/${modest}`, { visibility: 'public' }))).toEqual([
      400,
      { visibility_level: [RESTRICTED('public')] },
    ]);
    expect(status(await mine('PUT', `/groups/${place.body.id}`, { visibility: 'public' }))).toEqual([
      400,
      { visibility_level: [RESTRICTED('public')] },
    ]);
    // What is public stays so, and other things of it may be changed.
    expect(
      status(await mine('PUT', `/projects/${open.body.id}`, { visibility: 'public', description: 'x' })),
    ).toBe(200);
    const bob = await service.user(fresh('forker'));
    const fork = await as(bob.token, 'POST', `/projects/${open.body.id}/fork`);
    expect([fork.status, fork.body.visibility]).toEqual([201, 'internal']);
    expect(status(await project({ visibility: 'public' }, root))).toBe(201);
    expect(status(await group({ visibility: 'public' }, root))).toBe(201);
    expect(status(await admin('PUT', `/projects/${modest}`, { visibility: 'public' }))).toBe(200);
  });

  test('that restrict public also hide the list of users from anonymous callers', async () => {
    const ask = () => service.call('GET', '/users?username=ada');
    expect((await ask()).body).toMatchObject([{ username: 'ada' }]);
    await set({ restricted_visibility_levels: 'public' });
    expect(status(await ask())).toEqual([403, '403 Forbidden - Not authorized to access /api/v4/users']);
    expect((await mine('GET', '/users?username=ada')).body).toHaveLength(1);
  });
});

describe('project and group settings', () => {
  test('limit how many projects a new user may create', async () => {
    await set({ default_projects_limit: 3 });
    expect((await person()).body.projects_limit).toBe(3);
    expect((await person({ projects_limit: 7 })).body.projects_limit).toBe(7);
    await set({ default_projects_limit: 0 });
    const { body } = await person();
    expect(status(await admin('POST', `/projects/user/${body.id}`, { name: 'x' }))).toEqual([
      403,
      ['Your project limit is 0 projects! Please contact your administrator to increase it'],
    ]);
    // Who was external gets the limit with the right to have projects.
    const { body: outsider } = await person({ external: true });
    await set({ default_projects_limit: 5 });
    expect((await admin('PUT', `/users/${outsider.id}`, { external: false })).body.projects_limit).toBe(5);
  });

  test('choose who may create projects in a new group', async () => {
    for (const [level, name] of [
      [0, 'noone'],
      [1, 'maintainer'],
      [2, 'developer'],
    ] as const) {
      await set({ default_project_creation: level });
      expect((await group()).body.project_creation_level).toBe(name);
    }
    expect((await group({ project_creation_level: 'noone' })).body.project_creation_level).toBe('noone');
  });

  test('choose the name of the first branch', async () => {
    await set({ default_branch_name: 'trunk' });
    expect((await project({ initialize_with_readme: true })).body.default_branch).toBe('trunk');
    expect((await project({ initialize_with_readme: true, default_branch: 'own' })).body.default_branch).toBe(
      'own',
    );
    const { body } = await project();
    const files = await mine('POST', `/projects/${body.id}/repository/files/a`, {
      branch: 'trunk',
      content: 'x',
      commit_message: 'm',
    });
    expect(status(files)).toBe(201);
    expect((await mine('GET', `/projects/${body.id}`)).body.default_branch).toBe('trunk');
    await set({ default_branch_name: '' });
    expect((await project({ initialize_with_readme: true })).body.default_branch).toBe('main');
  });

  test('choose the default branch’s protection where the group has no choice of its own', async () => {
    const levels = async (id: number) =>
      (await mine('GET', `/projects/${id}/protected_branches`)).body.map(
        (rule: { push_access_levels: { access_level: number }[] }) =>
          rule.push_access_levels[0]!.access_level,
      );
    const made = async (json = {}) => (await project({ initialize_with_readme: true, ...json })).body.id;
    for (const [protection, expected] of [
      [0, []],
      [1, [30]],
      [2, [40]],
      [3, [40]],
    ] as const) {
      await set({ default_branch_protection: protection });
      expect(await levels(await made()), `protection ${protection}`).toEqual(expected);
    }
    await set({ default_branch_protection: 0 });
    const silent = (await group()).body;
    const strict = (await group({ default_branch_protection: 2 })).body;
    expect([silent.default_branch_protection, strict.default_branch_protection]).toEqual([0, 2]);
    expect([
      await levels(await made({ namespace_id: silent.id })),
      await levels(await made({ namespace_id: strict.id })),
    ]).toEqual([[], [40]]);
  });

  test('choose whether and how long the deletion of groups and their projects is delayed', async () => {
    const due = async (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const place = async () => {
      const { body } = await group();
      return {
        group: body.id as number,
        project: (await project({ namespace_id: body.id })).body.id as number,
      };
    };
    const now = await place();
    await mine('DELETE', `/projects/${now.project}`);
    expect((await mine('GET', `/projects/${now.project}`)).status).toBe(404);
    await set({ delayed_project_deletion: true, deletion_adjourned_period: 3 });
    const waits = await place();
    await mine('DELETE', `/projects/${waits.project}`);
    const { store } = deps();
    expect((await store.projects.get(waits.project))!.deletion!.dueOn).toBe(await due(3));
    await mine('DELETE', `/groups/${now.group}`);
    expect((await mine('GET', `/groups/${now.group}`)).status).toBe(404);
    await set({ delayed_group_deletion: true });
    await mine('DELETE', `/groups/${waits.group}`);
    expect((await store.groups.get(waits.group))!.deletion!.dueOn).toBe(await due(3));
    await set({ deletion_adjourned_period: 0 });
    const gone = await place();
    await mine('DELETE', `/groups/${gone.group}`);
    expect((await mine('GET', `/groups/${gone.group}`)).status).toBe(404);
  });
});

describe('account settings', () => {
  const NOT_LISTED = 'domain is not authorized for sign-up.';
  const DENIED = 'is not from an allowed domain.';
  const RESTRICTED =
    'is not allowed. Try again with a different email address, or contact your GitLab admin.';

  test.each([
    [{ domain_allowlist: 'corp.example, *.corp.example' }, NOT_LISTED],
    [{ domain_denylist_enabled: true, domain_denylist: ['evil.example'] }, DENIED],
    [{ email_restrictions_enabled: true, email_restrictions: 'evil' }, RESTRICTED],
  ])(
    'with %j refuse addresses of new users, updates, second addresses and invitations',
    async (json, problem) => {
      const { body: someone } = await person({ email: `${fresh()}@sub.corp.example` });
      await set(json);
      const bad = () => `${fresh()}@evil.example`;
      expect(status(await person({ email: bad() }))).toEqual([400, { email: [problem] }]);
      expect(status(await person({ email: `${fresh()}@sub.corp.example` }))).toBe(201);
      expect(status(await admin('PUT', `/users/${someone.id}`, { email: bad() }))).toEqual([
        400,
        { email: [problem] },
      ]);
      expect(
        status(
          await admin('PUT', `/users/${someone.id}`, { name: 'Other', email: someone.email.toUpperCase() }),
        ),
      ).toBe(200);
      expect(status(await mine('POST', '/user/emails', { email: bad() }))).toEqual([
        400,
        { email: [problem] },
      ]);
      const { body: own } = await project();
      const email = bad();
      const invited = await mine('POST', `/projects/${own.id}/invitations`, { email, access_level: 30 });
      expect(invited.body).toEqual({ status: 'error', message: { [email]: `Invite email ${problem}` } });
      // Who is here stays here.
      expect((await mine('GET', '/user')).body.email).toBe('ada@example.com');
    },
  );

  test('choose which users are external by default', async () => {
    await set({ user_default_external: true, user_default_internal_regex: '@corp\\.example$' });
    const external = async (json: object) => (await person({ ...json })).body.external;
    expect(await external({})).toBe(true);
    expect(await external({ external: false })).toBe(false);
    expect(await external({ email: `${fresh()}@Corp.example` })).toBe(false);
    expect(await external({ email: `${fresh()}@corp.example`, external: true })).toBe(true);
  });

  test('choose the minimum length of passwords', async () => {
    await set({ minimum_password_length: 14 });
    const short = { force_random_password: false, password: 'thirteen-char' };
    const problem = { password: ['is too short (minimum is 14 characters)'] };
    expect(status(await person(short))).toEqual([400, problem]);
    const { body } = await person();
    expect(status(await admin('PUT', `/users/${body.id}`, { password: 'thirteen-char' }))).toEqual([
      400,
      problem,
    ]);
    expect(status(await person({ ...short, password: 'fourteen-chars' }))).toBe(201);
    const page = await fetch(`${service.url}/users/password/edit?reset_password_token=x`);
    expect(await page.text()).toContain('minlength="14"');
  });

  test('choose the prefix and the maximum lifetime of tokens', async () => {
    const token = (json: object = {}) =>
      admin('POST', `/users/${ada.id}/personal_access_tokens`, { name: 't', scopes: ['api'], ...json });
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    expect((await token()).body.token).toMatch(/^glpat-.{20}$/);
    await set({ personal_access_token_prefix: 'corp_' });
    const { body } = await token();
    expect(body.token).toMatch(/^corp_.{20}$/);
    expect((await as(body.token, 'GET', '/user')).body.username).toBe('ada');
    const { body: own } = await project();
    const bot = await mine('POST', `/projects/${own.id}/access_tokens`, {
      name: 'b',
      scopes: ['api'],
      access_level: 40,
    });
    expect(bot.body.token).toMatch(/^corp_/);
    expect((await as(bot.body.token, 'POST', '/personal_access_tokens/self/rotate')).body.token).toMatch(
      /^corp_/,
    );
    await set({ personal_access_token_prefix: '' });
    expect((await token()).body.token).toMatch(/^[\w-]{20}$/);

    await set({ max_personal_access_token_lifetime: 5 });
    expect(status(await token())).toEqual([422, "Expires at can't be blank"]);
    expect(status(await token({ expires_at: day(6) }))).toEqual([422, 'Expires at is invalid']);
    expect(status(await token({ expires_at: day(5) }))).toBe(201);
    const impersonation = await admin('POST', `/users/${ada.id}/impersonation_tokens`, {
      name: 'i',
      scopes: ['api'],
      expires_at: day(9),
    });
    expect(status(impersonation)).toEqual([400, { expires_at: ['is invalid'] }]);
    const { body: good } = await token({ expires_at: day(2) });
    const rotate = (more = '') => admin('POST', `/personal_access_tokens/${good.id}/rotate${more}`);
    expect(status(await rotate(`?expires_at=${day(6)}`))).toEqual([422, 'Expires at is invalid']);
    expect((await rotate()).body.expires_at).toBe(day(5));
  });

  test('choose whether existing tokens outlive the maximum lifetime', async () => {
    const { store } = deps();
    const late = async (id: number) => {
      const token = (await store.tokens.get(id))!;
      await store.table.update({ update: tokenKey(token.hash), set: { expiresAt: '2020-02-02' } });
    };
    const { body: own } = await project();
    const given = { name: 't', scopes: ['api'] };
    const [personal, impersonation, bot] = await Promise.all([
      admin('POST', `/users/${ada.id}/personal_access_tokens`, given),
      admin('POST', `/users/${ada.id}/impersonation_tokens`, given),
      mine('POST', `/projects/${own.id}/access_tokens`, given),
    ]);
    for (const { body } of [personal, impersonation, bot]) await late(body.id);
    const seen = async () =>
      Promise.all(
        [personal, impersonation, bot].map(async ({ body }) => (await as(body.token, 'GET', '/user')).status),
      );
    expect(await seen()).toEqual([401, 401, 401]);
    await set({ enforce_pat_expiration: false });
    expect(await seen()).toEqual([200, 401, 401]);
    await admin('DELETE', `/personal_access_tokens/${personal.body.id}`);
    expect(await seen()).toEqual([401, 401, 401]);
  });

  test('end existing tokens that live too long three hours later, unless changed back', async () => {
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const made = async (path: string, json: object = {}) =>
      (await admin('POST', path, { name: 't', scopes: ['api'], ...json })).body as { id: number };
    const [own, theirs] = [
      `/users/${ada.id}/personal_access_tokens`,
      `/users/${ada.id}/impersonation_tokens`,
    ];
    const { body: place } = await project();
    const [endless, long, short, other, bot] = [
      await made(own),
      await made(own, { expires_at: day(31) }),
      await made(own, { expires_at: day(30) }),
      await made(theirs),
      (await mine('POST', `/projects/${place.id}/access_tokens`, { name: 't', scopes: ['api'] })).body,
    ];
    const revoked = async () =>
      Promise.all(
        [endless, long, short, other, bot].map(
          async ({ id }) => (await deps().store.tokens.get(id))!.revoked,
        ),
      );
    const { store } = deps();
    const promised = async () => {
      const found = [];
      for (let shard = 0; shard < 8; shard++)
        for await (const row of store.table.queryAll({ partition: outboxPartition(shard) }))
          if (row['type'] === 'tokens.lifetime') found.push(row);
      return found;
    };
    // Those of this test's own service live on: what they open is needed below.
    const after = endless.id - 1;
    await set({ max_personal_access_token_lifetime: 30 });
    const row = (await promised()).find(({ body }) => (body as { days: number }).days === 30);
    const due = decodeTime(row!['sk'] as string) - Date.now();
    expect(Math.round(due / 3_600_000)).toBe(3);
    const body = { ...(row!['body'] as object), after };
    const job = () => runJob(deps(), { id: fresh('job'), type: 'tokens.lifetime', body });
    await set({ max_personal_access_token_lifetime: 60 });
    await job();
    expect(await revoked()).toEqual([false, false, false, false, false]);
    await set({ max_personal_access_token_lifetime: 30 });
    await job();
    await job();
    expect(await revoked()).toEqual([true, true, false, false, false]);
    const events = await admin('GET', `/audit_events?entity_type=User&entity_id=${ada.id}`);
    expect(events.body.slice(0, 2)).toMatchObject(
      [1, 1].map(() => ({
        author_id: 1,
        details: {
          custom_message: expect.stringMatching(
            /^Revoked personal access token .* the 30 days that are allowed$/,
          ),
        },
      })),
    );
    for (const { pk, sk } of await promised()) await store.table.delete({ delete: { pk, sk } as Key });
  });

  test('choose the permitted SSH key types and sizes', async () => {
    const add = (key: string, json: object = {}) =>
      mine('POST', '/user/keys', { title: fresh(), key, ...json });
    const made = (type: string, bits: number) => {
      const file = join(keys, fresh('key'));
      execFileSync('ssh-keygen', ['-q', '-t', type, '-b', String(bits), '-N', '', '-f', file]);
      return readFileSync(`${file}.pub`, 'utf8');
    };
    await set({ rsa_key_restriction: 3072, ecdsa_key_restriction: 384, ed25519_key_restriction: -1 });
    expect(status(await add(newSshKey()))).toEqual([
      400,
      { key: ['type is forbidden. Must be RSA, DSA, or ECDSA'] },
    ]);
    expect(status(await add(made('rsa', 2048)))).toEqual([400, { key: ['must be at least 3072 bits'] }]);
    expect(status(await add(made('rsa', 3072)))).toBe(201);
    expect(status(await add(made('ecdsa', 256)))).toEqual([400, { key: ['must be at least 384 bits'] }]);
    expect(status(await add(made('ecdsa', 521)))).toBe(201);
    await set({
      rsa_key_restriction: -1,
      ecdsa_key_restriction: -1,
      dsa_key_restriction: -1,
      ed25519_key_restriction: 256,
    });
    expect(status(await add(made('rsa', 3072)))).toEqual([
      400,
      { key: ['type is forbidden. Must be ED25519'] },
    ]);
    await set({ max_ssh_key_lifetime: 10 });
    const contact = 'for SSH keys on this instance. Contact the instance administrator.';
    const until = (days: number) => ({ expires_at: new Date(Date.now() + days * 86_400_000).toISOString() });
    expect(status(await add(newSshKey()))).toEqual([
      400,
      { key: [`has no expiration date but an expiration date is required ${contact}`] },
    ]);
    expect(status(await add(newSshKey(), until(11)))).toEqual([
      400,
      { key: [`has greater than the maximum allowed lifetime ${contact}`] },
    ]);
    expect(status(await add(newSshKey(), until(9)))).toBe(201);
  });
});

describe('repository settings', () => {
  const url = (path: string) => withToken(service.url, path, ada.token);
  /** A commit with a file that does not become smaller. */
  const push = async (path: string, bytes: number, branch = 'main') => {
    const folder = git.path(fresh('clone'));
    await git.ok(git.path('.'), 'init', '-q', '-b', 'main', folder);
    writeFileSync(join(folder, 'file'), randomText(bytes));
    await git.ok(folder, 'add', '.');
    await git.ok(folder, 'commit', '-q', '-m', 'One file');
    const { code, stderr } = await git.run(['push', '-q', url(path), `HEAD:refs/heads/${branch}`], {
      cwd: folder,
    });
    return code === 0 ? undefined : stderr;
  };
  const randomText = (bytes: number) => {
    let seed = ++names;
    return Array.from({ length: bytes }, () =>
      String.fromCharCode(33 + ((seed = (seed * 48_271) % 2_147_483_647) % 90)),
    ).join('');
  };

  test('limit the size of a push, in one request and in parts', async () => {
    const { body } = await project();
    await set({ receive_max_input_size: 1 });
    const command = { name: 'refs/heads/main', from: ZERO_OID, to: parseOid('1'.repeat(40))! };
    const begin = (bytes: number) =>
      fetch(`${service.url}/${body.path_with_namespace}.git/lemnos/uploads?size=${bytes}`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa(`ada:${ada.token}`)}` },
        body: pushRequest({ commands: [command] }) as BodyInit,
      });
    expect([(await begin(1_048_577)).status, (await begin(1_048_576)).status]).toEqual([413, 201]);
    expect(await push(body.path_with_namespace, 2_000_000)).toMatch(/too large|exceeds|413/i);
    expect(await push(body.path_with_namespace, 100_000)).toBe(undefined);
  });

  test('limit the size of a repository', async () => {
    const { body } = await project();
    expect(await push(body.path_with_namespace, 2_000_000)).toBe(undefined);
    await runJob(deps(), { id: fresh('job'), type: 'project.measure', body: { projectId: body.id } });
    await set({ repository_size_limit: 1 });
    expect(await push(body.path_with_namespace, 10, 'more')).toContain(
      'this repository has exceeded its size limit of 1 MB by 1 MB',
    );
    const file = { branch: 'main', content: 'x', commit_message: 'One more' };
    const add = () => mine('POST', `/projects/${body.id}/repository/files/${fresh('file')}`, file);
    const refused = [
      400,
      'Your changes could not be committed, because this repository has exceeded its size limit of 1 MB by 1 MB',
    ];
    expect(status(await add())).toEqual(refused);
    for (const kind of ['cherry_pick', 'revert']) {
      const pick = `/projects/${body.id}/repository/commits/main/${kind}`;
      expect(status(await mine('POST', pick, { branch: 'main' })), kind).toEqual(refused);
    }
    await set({ repository_size_limit: 3 });
    expect(status(await add())).toBe(201);
    expect(await push(body.path_with_namespace, 10, 'more')).toBe(undefined);
  });

  test('can disable Git over HTTP', async () => {
    const { body } = await project({ initialize_with_readme: true });
    const asked = () =>
      fetch(`${service.url}/${body.path_with_namespace}.git/info/refs?service=git-upload-pack`, {
        headers: { Authorization: `Basic ${btoa(`ada:${ada.token}`)}` },
      });
    await set({ enabled_git_access_protocol: 'ssh' });
    const refused = await asked();
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining('Git access over HTTP is not allowed'),
    ]);
    await set({ enabled_git_access_protocol: 'http' });
    expect((await asked()).status).toBe(200);
  });

  test('choose what may be imported, and from where', async () => {
    const { body: source } = await project({ visibility: 'public', initialize_with_readme: true });
    const local = `${service.url}/${source.path_with_namespace}.git`;
    const from = (import_url: string) => project({ import_url });
    const ended = async ({ body }: Answer) => {
      const state = async () => (await mine('GET', `/projects/${body.id}/import`)).body.import_status;
      await vi.waitUntil(async () => /finished|failed/.test(await state()), {
        timeout: 60_000,
        interval: 100,
      });
      return state();
    };
    const blocked = [400, { import_url: ['is blocked: Requests to the local network are not allowed'] }];
    expect(status(await from(local))).toEqual(blocked);
    await set({ outbound_local_requests_whitelist: ['127.0.0.1'] });
    expect(await ended(await from(local))).toBe('finished');
    expect(status(await from('http://10.0.0.1/x.git'))).toEqual(blocked);
    await set({
      outbound_local_requests_whitelist: [],
      allow_local_requests_from_web_hooks_and_services: true,
    });
    expect(await ended(await from(local))).toBe('finished');
    expect(status(await from('http://169.254.169.254/x.git'))).toEqual(blocked);
    await set({ import_sources: ['gitlab_project'] });
    expect(status(await from('https://example.com/x.git'))).toEqual([403, '403 Forbidden']);
  });

  test('limit the size of an import', async () => {
    const { body: source } = await project({ visibility: 'public' });
    expect(await push(source.path_with_namespace, 2_000_000)).toBe(undefined);
    await set({ outbound_local_requests_whitelist: '127.0.0.1', max_import_size: 1 });
    const { body } = await project({ import_url: `${service.url}/${source.path_with_namespace}.git` });
    const told = async () => (await mine('GET', `/projects/${body.id}/import`)).body;
    await vi.waitUntil(async () => (await told()).import_status === 'failed', {
      timeout: 60_000,
      interval: 100,
    });
    expect((await told()).import_error).toMatch(/too large|larger/);
  });
});

test('mail ends with the additional text of the settings', async () => {
  await set({ email_additional_text: 'Confidential & <private>' });
  const { body } = await person({
    force_random_password: false,
    reset_password: true,
    skip_confirmation: true,
  });
  const [mail] = await service.mailTo(body.email);
  expect(mail!.text!.trimEnd()).toMatch(/\n\nConfidential & <private>$/);
});

test('mail names its author if the settings say so', async () => {
  const { body: own } = await project();
  const told = async () => {
    const { body } = await person({ skip_confirmation: true });
    await mine('POST', `/projects/${own.id}/members`, { user_id: body.id, access_level: 30 });
    const [mail] = await service.mailTo(body.email);
    return mail!.text!;
  };
  expect(await told()).not.toContain('@ada');
  await set({ email_author_in_body: true });
  expect(await told()).toContain('This was done by ada (@ada).');
});
