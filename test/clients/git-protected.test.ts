import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseOid, ZERO_OID } from '../../lib/git/oid.ts';
import { parseRefName } from '../../lib/git/refname.ts';
import { ownWorld } from '../harness/own-world.ts';
import { ask, storeOf, type Who } from '../harness/world.ts';
import { seedCode } from '../scenarios/repository/code-audience.ts';
import { GitCli, withToken } from './git-cli.ts';

/** Pushes of git's own against rules that protect branches and tags. */
const git = new GitCli();
const { service, world } = ownWorld();
beforeAll(async () => {
  await seedCode(world);
});
afterAll(() => {
  git[Symbol.dispose]();
});

const url = (who: Who, project = 'public-thing') =>
  withToken(service.url, `owner/${project}`, world.tokens[who]);
const rule = async (kind: 'branches' | 'tags', json: object, project = 'public') => {
  const path = `/projects/${world.ids[project]}/protected_${kind}`;
  expect((await ask(world, 'owner', 'POST', path, json)).status).toBe(201);
};
let clones = 0;
async function clone(): Promise<string> {
  return git.clone(url('owner'), `clone-${++clones}`);
}
async function commit(at: string, name: string): Promise<void> {
  writeFileSync(join(at, name), name);
  await git.ok(at, 'add', name);
  await git.ok(at, 'commit', '--quiet', '-m', name);
}
const refs = (at: string) => git.ok(at, 'ls-remote', url('owner'));

const PUSH = 'You are not allowed to push code to protected branches on this project.';
const FORCE = 'You are not allowed to force push code to a protected branch on this project.';
const CREATE = 'You are not allowed to create protected branches on this project.';
const CREATE_BY_GIT = 'You can only create protected branches using the web interface and API.';
const DELETE =
  'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.';
const DELETE_BY_GIT = 'You can only delete protected branches using the web interface.';

test('git pushes to the default branch are for Maintainers, and to others for Developers', async () => {
  const at = await clone();
  await commit(at, 'one');
  const before = await refs(at);
  const told = await git.fails(at, 'push', url('developer'), 'HEAD:main');
  expect(told).toContain(`! [remote rejected] HEAD -> main (${PUSH})`);
  // As hooks tell it; once, however many refs.
  const several = await git.fails(
    at,
    'push',
    '-q',
    '--atomic',
    url('developer'),
    'HEAD:main',
    'HEAD:refs/heads/z',
  );
  expect(several.match(new RegExp(`^remote: Lemnos: ${PUSH} *$`, 'gm'))).toHaveLength(1);
  expect(await refs(at)).toBe(before);
  await git.ok(at, 'push', url('developer'), 'HEAD:refs/heads/topic');
  for (const who of ['maintainer', 'administrator'] as const) {
    await git.ok(at, 'push', url(who), 'HEAD:main');
    await commit(at, `next-${who}`);
  }
  // The same for what came by push as for what is written over the interface.
  const tip = await ask(
    world,
    'developer',
    'GET',
    `/projects/${world.ids['public']}/repository/branches/main`,
  );
  expect(tip.body).toMatchObject({ protected: true, can_push: false, commit: { title: 'next-maintainer' } });
});

test('each ref of a push is checked on its own, and all together in an atomic push', async () => {
  const at = await clone();
  await commit(at, 'several');
  const before = await refs(at);
  const atomic = await git.fails(
    at,
    'push',
    '--atomic',
    url('developer'),
    'HEAD:main',
    'HEAD:refs/heads/beside',
  );
  expect(atomic).toContain(`main (${PUSH})`);
  expect(atomic).toContain('atomic push failure');
  expect(await refs(at)).toBe(before);
  const told = await git.fails(at, 'push', url('developer'), 'HEAD:main', 'HEAD:refs/heads/beside');
  expect(told).toContain(`main (${PUSH})`);
  expect(told).toMatch(/\[new branch\] +HEAD -> beside/);
});

test('git can force, create and delete protected branches only as their rules permit', async () => {
  await rule('branches', { name: 'dev-*', push_access_level: 30 });
  await rule('branches', { name: 'merge-*', merge_access_level: 30 });
  await rule('branches', { name: 'closed', push_access_level: 0, merge_access_level: 0 });
  await rule('branches', { name: 'rewritten', allow_force_push: true, push_access_level: 30 });
  const at = await clone();
  const push = (who: Who, ...args: string[]) =>
    git.run(['push', ...args.slice(0, -1), url(who), args.at(-1)!], { cwd: at });
  const refused = async (text: string, who: Who, ...args: string[]) => {
    const { code, stderr } = await push(who, ...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`(${text})`)]);
  };
  const taken = async (who: Who, ...args: string[]) => {
    const { code, stderr } = await push(who, ...args);
    expect([code, stderr]).toEqual([0, expect.anything()]);
  };
  await taken('developer', 'HEAD:refs/heads/dev-1');
  await taken('developer', 'HEAD:refs/heads/rewritten');
  await refused(CREATE_BY_GIT, 'developer', 'HEAD:refs/heads/merge-1');
  await taken('maintainer', 'HEAD:refs/heads/merge-1');
  await refused(CREATE, 'owner', 'HEAD:refs/heads/closed');
  await refused(CREATE, 'administrator', 'HEAD:refs/heads/closed');
  await refused(DELETE, 'developer', ':dev-1');
  await refused(DELETE_BY_GIT, 'owner', ':dev-1');
  await refused('deletion of the current branch prohibited', 'owner', ':main');

  await git.ok(at, 'checkout', '--quiet', '--orphan', 'other');
  await commit(at, 'rewritten');
  for (const who of ['developer', 'owner', 'administrator'] as const)
    await refused(FORCE, who, '--force', 'HEAD:dev-1');
  await refused(FORCE, 'owner', '--force', 'HEAD:main');
  await taken('developer', '--force', 'HEAD:rewritten');
  await taken('developer', 'HEAD:refs/heads/free');
  await taken('developer', ':free');
});

test('git can create and delete protected tags only as their rules permit', async () => {
  await rule('tags', { name: 'v*' });
  await rule('tags', { name: 'dev-v*', create_access_level: 30 });
  const at = await clone();
  await git.ok(at, 'tag', 'v9');
  await git.ok(at, 'tag', '-a', '-m', 'nine', 'dev-v9');
  const before = await refs(at);
  const create = 'You are not allowed to create this tag as it is protected.';
  expect(await git.fails(at, 'push', url('developer'), 'v9')).toContain(
    `! [remote rejected] v9 -> v9 (${create})`,
  );
  expect(await refs(at)).toBe(before);
  await git.ok(at, 'push', url('developer'), 'dev-v9');
  await git.ok(at, 'push', url('maintainer'), 'v9');
  await commit(at, 'later');
  for (const tag of ['v9', 'dev-v9']) {
    const moved = await git.fails(at, 'push', '--force', url('owner'), `HEAD:refs/tags/${tag}`);
    expect(moved).toContain('(Protected tags cannot be updated.)');
  }
  expect(await git.fails(at, 'push', url('developer'), ':refs/tags/dev-v9')).toContain(
    '(You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.)',
  );
  expect(await git.fails(at, 'push', url('owner'), ':refs/tags/v9')).toContain(
    '(You can only delete protected tags using the web interface.)',
  );
  await git.ok(at, 'push', url('developer'), 'HEAD:refs/tags/free');
  await git.ok(at, 'push', url('developer'), ':refs/tags/free');
});

test('the first push to an empty repository must come from a Maintainer, and creates the rule', async () => {
  const made = await ask(world, 'owner', 'POST', '/projects', { name: 'fresh' });
  world.ids['fresh'] = made.body.id;
  for (const [who, access_level] of [
    ['developer', 30],
    ['maintainer', 40],
  ] as const)
    await ask(world, 'owner', 'POST', `/projects/${made.body.id}/members`, {
      user_id: world.ids[who],
      access_level,
    });
  const at = await clone();
  const told = await git.fails(
    at,
    'push',
    url('developer', 'fresh'),
    'HEAD:refs/heads/main',
    'HEAD:refs/heads/b',
  );
  const wait =
    'A default branch does not yet exist for owner/fresh. Ask a project Owner or Maintainer to create a default branch.';
  expect(told).toContain(`HEAD -> main (${wait})`);
  expect(told).toContain(`HEAD -> b (${wait})`);
  const rules = `/projects/${made.body.id}/protected_branches`;
  expect((await ask(world, 'owner', 'GET', rules)).body).toEqual([]);
  await git.ok(at, 'push', url('maintainer', 'fresh'), 'HEAD:refs/heads/trunk', 'HEAD:refs/heads/b');
  const project = (await ask(world, 'owner', 'GET', `/projects/${made.body.id}`)).body;
  const [only, ...others] = (await ask(world, 'owner', 'GET', rules)).body;
  expect([only, others]).toMatchObject([{ name: project.default_branch, allow_force_push: false }, []]);
  await git.ok(at, 'push', url('developer', 'fresh'), 'HEAD:refs/heads/c');
});

test('git may not push branches and tags named like commits, and may delete those that exist', async () => {
  const at = await clone();
  for (const name of ['a'.repeat(40), 'A'.repeat(64), `${'1'.repeat(40)}/x`]) {
    for (const [space, noun] of [
      ['heads', 'branch'],
      ['tags', 'tag'],
    ]) {
      const ref = `refs/${space}/${name}`;
      const told = await git.fails(at, 'push', url('owner'), `HEAD:${ref}`);
      const reason = `You cannot create a ${noun} with a SHA-1 or SHA-256 ${noun} name.`;
      expect(told).toMatch(new RegExp(`^remote: Lemnos: ${reason} *$`, 'm'));
      expect(told).toContain(`(${reason})`);
      const { repositoryId } = (await storeOf().projects.get(world.ids['public']!))!;
      const to = parseOid(await git.ok(at, 'rev-parse', 'HEAD'))!;
      const refs = storeOf().repositories.open(repositoryId);
      await refs.compareAndSwap([{ name: parseRefName(ref)!, from: ZERO_OID, to }]);
      expect(await git.ok(at, 'ls-remote', url('owner'), ref)).toContain(ref);
      await git.fails(at, 'push', '--force', url('owner'), `HEAD~1:${ref}`);
      await git.ok(at, 'push', url('owner'), `:${ref}`);
      expect(await git.ok(at, 'ls-remote', url('owner'), ref)).toBe('');
    }
  }
});

test('a push of a thousand refs is checked against five hundred patterns', async () => {
  const made = await ask(world, 'owner', 'POST', '/projects', { name: 'many' });
  world.ids['many'] = made.body.id;
  const at = await clone();
  await git.ok(at, 'push', url('owner', 'many'), 'HEAD:refs/heads/main');
  for (let i = 0; i < 499; i += 20) {
    const names = Array.from({ length: Math.min(20, 499 - i) }, (_, n) => `*a*a*${i + n}*`);
    await Promise.all(names.map((name) => rule('branches', { name }, 'many')));
  }
  const more = await ask(world, 'owner', 'POST', `/projects/${made.body.id}/protected_branches`, {
    name: 'one more',
  });
  expect([more.status, more.body]).toEqual([422, { message: ['The limit of 500 rules is reached'] }]);
  const lines = Array.from({ length: 1000 }, (_, i) => `create refs/heads/${'a'.repeat(100)}/x${i} HEAD`);
  const made1000 = await git.run(['update-ref', '--stdin'], { cwd: at, input: `${lines.join('\n')}\n` });
  expect(made1000.code).toBe(0);
  await git.ok(at, 'push', '--quiet', url('owner', 'many'), 'refs/heads/a*:refs/heads/a*');
  expect((await git.lines(at, 'ls-remote', url('owner', 'many'), 'refs/heads/a*')).length).toBe(1000);
});
