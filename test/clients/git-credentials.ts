import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../harness/own-world.ts';
import type { Service } from '../harness/service.ts';
import type { Who, World } from '../harness/world.ts';
import { GitCli, withToken } from './git-cli.ts';

/**
 * Tests of git's own credential handling on public, internal and private repositories.
 *
 * @param limits behave as the gateway does: the 401 comes from the authorizer, not from the function
 */
export function credentialStories(limits: boolean): {
  git: GitCli;
  service: Service;
  world: World;
} {
  const git = new GitCli();
  const { service, world } = ownWorld({ limits });
  beforeAll(async () => {
    for (const name of ['public', 'internal', 'private']) {
      const json = { branch: 'main', commit_message: 'm', content: name };
      const path = `/projects/${world.ids[name]}/repository/files/f`;
      const made = await service.call('POST', path, { token: world.tokens.owner!, json });
      if (made.status !== 201) throw new Error(`${made.status}`);
    }
  });
  afterAll(() => git[Symbol.dispose]());
  const url = (project: string, who: Who) =>
    withToken(service.url, `owner/${project}-thing`, world.tokens[who]);
  let count = 0;
  const fresh = () => `clone-${++count}`;

  test.each([
    ['public', 'anonymous'],
    ['public', 'stranger'],
    ['internal', 'stranger'],
    ['internal', 'guest'],
    ['private', 'reporter'],
    ['private', 'read_repository'],
    ['private', 'write_repository'],
    ['private', 'administrator'],
  ] as const)('git clones a %s project as %s', async (project, who) => {
    const clone = await git.clone(url(project, who), fresh());
    expect(await git.ok(clone, 'show', 'HEAD:f')).toBe(project);
  });

  test('git reads a repository with and without .git in its path, in any case', async () => {
    for (const path of ['owner/public-thing', 'owner/public-thing.git', 'Owner/Public-Thing']) {
      const refs = await git.ok(git.home, 'ls-remote', `${service.url}/${path}`);
      expect(refs).toContain('refs/heads/main');
    }
  });

  test.each([
    ['private', 'anonymous', /could not read Username/],
    ['internal', 'anonymous', /could not read Username/],
    ['private', 'unknown', /Authentication failed/],
    ['private', 'expired', /Authentication failed/],
    ['private', 'revoked', /Authentication failed/],
    ['private', 'stranger', /not found/],
    ['internal', 'external', /not found/],
    ['private', 'former', /not found/],
    ['private', 'guest', /You are not allowed to download code from this project\.[\s\S]*403/],
    ['private', 'blocked', /Your account has been blocked\.[\s\S]*403/],
    ['private', 'read_api', /403/],
  ] as const)('git cannot clone a %s project as %s', async (project, who, told) => {
    const complaint = await git.fails(git.home, 'clone', url(project, who), fresh());
    expect(complaint).toMatch(told);
    expect(complaint).not.toMatch(/500|Internal/);
  });

  test('an absent repository looks like a hidden one to git', async () => {
    const complaint = await git.fails(git.home, 'clone', `${service.url}/owner/nothing.git`, fresh());
    expect(complaint).toMatch(/could not read Username/);
    expect(
      await git.fails(
        git.home,
        'clone',
        withToken(service.url, 'owner/nothing', world.tokens.owner),
        fresh(),
      ),
    ).toMatch(/not found/);
  });

  test('a git credential helper is asked once for good credentials and told when they are wrong', async () => {
    const helper = (token: string, log: string) =>
      `!f() { echo "$1" >> "${git.path(log)}"; test "$1" = get && echo username=x && echo password=${token}; true; }; f`;
    const clone = fresh();
    const plain = `${service.url}/owner/private-thing.git`;
    await git.ok(
      git.home,
      '-c',
      `credential.helper=${helper(world.tokens.reporter!, 'right')}`,
      'clone',
      '--quiet',
      plain,
      clone,
    );
    await git.sound(git.path(clone));
    const complaint = await git.fails(
      git.home,
      '-c',
      `credential.helper=${helper('wrong', 'wrong')}`,
      'clone',
      plain,
      fresh(),
    );
    expect(complaint).toMatch(/Authentication failed/);
    expect(readFileSync(git.path('right'), 'utf8').trim().split('\n')).toEqual(['get', 'store']);
    expect(readFileSync(git.path('wrong'), 'utf8').trim().split('\n')).toEqual(['get', 'erase']);
  });

  test('git pushes to a public project with credentials it was asked for', async () => {
    const clone = await git.clone(`${service.url}/owner/public-thing.git`, fresh());
    await git.ok(clone, 'commit', '--quiet', '--allow-empty', '-m', 'asked');
    expect(await git.fails(clone, 'push', 'origin', 'main')).toMatch(/could not read Username/);
    const helper = `!echo username=x; echo password=${world.tokens.developer}; true`;
    await git.ok(clone, '-c', `credential.helper=${helper}`, 'push', '--quiet', 'origin', 'main:asked');
    expect(await git.ok(clone, 'ls-remote', 'origin', 'asked')).toContain(
      await git.ok(clone, 'rev-parse', 'main'),
    );
  });

  test.each([
    ['private', 'reporter', /You are not allowed to push code to this project\.[\s\S]*403/],
    ['public', 'stranger', /You are not allowed to push code to this project\.[\s\S]*403/],
    ['private', 'read_repository', /403/],
    ['private', 'read_api', /403/],
    ['private', 'guest', /403/],
    ['private', 'stranger', /not found/],
    ['public', 'unknown', /Authentication failed/],
  ] as const)('git cannot push to a %s project as %s', async (project, who, told) => {
    const clone = await git.clone(url(project, 'owner'), fresh());
    const before = await git.ok(clone, 'ls-remote', 'origin');
    await git.ok(clone, 'commit', '--quiet', '--allow-empty', '-m', 'no');
    expect(await git.fails(clone, 'push', url(project, who), 'main', 'main:refs/tags/t')).toMatch(told);
    expect(await git.ok(clone, 'ls-remote', 'origin')).toBe(before);
  });

  test.each(['developer', 'write_repository', 'administrator'] as const)(
    'git can push to a private project as %s',
    async (who) => {
      const clone = await git.clone(url('private', who), fresh());
      await git.ok(clone, 'commit', '--quiet', '--allow-empty', '-m', who);
      await git.ok(clone, 'push', '--quiet', 'origin', `main:by/${who}`);
      const { body } = await service.call(
        'GET',
        `/projects/${world.ids['private']}/repository/commits/by%2F${who}`,
        { token: world.tokens.owner! },
      );
      expect(body).toMatchObject({ id: await git.ok(clone, 'rev-parse', 'main'), title: who });
    },
  );

  test('credentials that git sends unasked must be valid, also for public projects', async () => {
    const header = (token: string) =>
      `http.extraHeader=Authorization: Basic ${Buffer.from(`x:${token}`).toString('base64')}`;
    const list = (who: Who) => [
      '-c',
      header(world.tokens[who]!),
      'ls-remote',
      `${service.url}/owner/public-thing.git`,
    ];
    expect(await git.ok(git.home, ...list('stranger'))).toContain('refs/heads/main');
    expect(await git.fails(git.home, ...list('unknown'))).toMatch(
      /Authentication failed|could not read Username/,
    );
    expect(await git.fails(git.home, ...list('blocked'))).toMatch(/blocked\.[\s\S]*403/);
  });

  return { git, service, world };
}
