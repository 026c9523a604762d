import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation, Told, Work } from './driver.ts';
import { refOf } from './endpoints.ts';
import type { Fixtures, Ground } from './fixtures.ts';

/** Above 90 refs a push writes a ref table of its own. */
const MANY = 100;

/** What stock git does. */
export const gitOperations: readonly Operation[] = [
  push('git push of a new branch', async (fixtures, ground, tree) => {
    const name = `refs/heads/${fixtures.fresh('pushed')}`;
    const tip = await commit(fixtures, tree);
    return { refspecs: [`HEAD:${name}`], state: () => moved(fixtures, ground, [name], undefined, tip) };
  }),
  push('git push of a new commit to a branch', async (fixtures, ground, tree) => {
    const name = await pushed(fixtures, ground, tree);
    const before = await fixtures.git.ok(tree, 'rev-parse', 'HEAD');
    const tip = await commit(fixtures, tree);
    return { refspecs: [`HEAD:${name}`], state: () => moved(fixtures, ground, [name], before, tip) };
  }),
  push('git push --force', async (fixtures, ground, tree) => {
    const name = await pushed(fixtures, ground, tree);
    const before = await fixtures.git.ok(tree, 'rev-parse', 'HEAD');
    await fixtures.git.ok(tree, 'reset', '--quiet', '--hard', 'HEAD~1');
    const tip = await commit(fixtures, tree);
    return { refspecs: [`+HEAD:${name}`], state: () => moved(fixtures, ground, [name], before, tip) };
  }),
  push('git push --delete', async (fixtures, ground, tree) => {
    const name = await pushed(fixtures, ground, tree);
    const before = await fixtures.git.ok(tree, 'rev-parse', 'HEAD');
    return { refspecs: [`:${name}`], state: () => moved(fixtures, ground, [name], before, undefined) };
  }),
  push('git push --atomic of three refs', async (fixtures, ground, tree) => {
    const name = fixtures.fresh('three');
    const names = [`refs/heads/${name}/a`, `refs/heads/${name}/b`, `refs/tags/${name}`];
    const tip = await commit(fixtures, tree);
    return {
      refspecs: ['--atomic', ...names.map((one) => `HEAD:${one}`)],
      state: () => moved(fixtures, ground, names, undefined, tip),
    };
  }),
  push(`git push --atomic of ${MANY} refs`, async (fixtures, ground, tree) => {
    const name = fixtures.fresh('many');
    const names = Array.from({ length: MANY }, (_, i) => `refs/tags/${name}/${i}`);
    const tip = await commit(fixtures, tree);
    return {
      refspecs: ['--atomic', ...names.map((one) => `HEAD:${one}`)],
      state: () => moved(fixtures, ground, names, undefined, tip),
    };
  }),
  {
    name: 'git push of the first branch',
    costly: true,
    async prepare(fixtures) {
      const ground = await fixtures.ground();
      const tree = await treeOf(fixtures, ground);
      const { token, username } = ground.owner;
      const project = await fixtures.done('POST', '/projects', {
        token,
        json: { name: fixtures.fresh('empty') },
      });
      const { repositoryId } = (await fixtures.store.projects.get(project.id))!;
      const empty = { ...ground, id: project.id, repositoryId, fullPath: `${username}/${project.path}` };
      const tip = await fixtures.git.ok(tree, 'rev-parse', 'HEAD');
      return {
        run: () => pushing(fixtures, tree, [fixtures.remote(empty), 'HEAD:refs/heads/main']),
        async state() {
          const ref = await moved(fixtures, empty, ['refs/heads/main'], undefined, tip);
          const { default_branch } = await fixtures.done('GET', `/projects/${project.id}`, { token });
          const rules = await fixtures.done('GET', `/projects/${project.id}/protected_branches`, { token });
          const told = ref === 'after' ? ['main', 1] : [null, 0];
          const right = default_branch === told[0] && rules.length === told[1];
          return right ? ref : `${ref}, default branch ${default_branch}, ${rules.length} rules`;
        },
      };
    },
  },
  fetching('git clone', ['clone', '--quiet', '--bare']),
  fetching('git clone --depth 1', ['clone', '--quiet', '--bare', '--depth', '1']),
];

function push(
  name: string,
  subject: (
    fixtures: Fixtures,
    ground: Ground,
    tree: string,
  ) => Promise<{ readonly refspecs: readonly string[]; readonly state: () => Promise<string> }>,
): Operation {
  return {
    name,
    costly: true,
    async prepare(fixtures): Promise<Work> {
      const ground = await fixtures.ground();
      const tree = await treeOf(fixtures, ground);
      const { refspecs, state } = await subject(fixtures, ground, tree);
      const options = refspecs.filter((spec) => spec.startsWith('--'));
      const refs = refspecs.filter((spec) => !spec.startsWith('--'));
      return { run: () => pushing(fixtures, tree, [...options, fixtures.remote(ground), ...refs]), state };
    },
  };
}

/** A clone that breaks off leaves nothing; one that succeeds is sound and complete. */
function fetching(name: string, args: readonly string[]): Operation {
  return {
    name,
    costly: true,
    reads: true,
    async prepare(fixtures) {
      const ground = await fixtures.ground();
      const folder = fixtures.git.path(fixtures.fresh('clone'));
      let cloned = false;
      return {
        async run() {
          rmSync(folder, { recursive: true, force: true });
          const { code, stderr } = await fixtures.git.run([...args, fixtures.remote(ground), folder]);
          cloned = code === 0;
          return cloned ? { kind: 'done' } : failed(stderr);
        },
        async state() {
          if (!cloned) return 'before';
          await fixtures.git.sound(folder);
          const tip = await fixtures.git.ok(folder, 'rev-parse', 'main');
          return tip === ground.main[1] ? 'after' : `main at ${tip}`;
        },
      };
    },
  };
}

async function pushing({ git }: Fixtures, tree: string, args: readonly string[]): Promise<Told> {
  const { code, stderr } = await git.run(['push', '--quiet', ...args], { cwd: tree });
  return code === 0 ? { kind: 'done' } : failed(stderr);
}

/** What git prints of a server that is out of reach; of anything else it says that it was refused. */
function failed(stderr: string): Told {
  const words = stderr.trim();
  if (/internals|TypeError|\bat \w+ \(|node:/.test(words)) return { kind: 'wrong', words };
  const unavailable =
    /error: 503|HTTP 503|503 Service Unavailable|internal error|unavailable|RPC failed|early EOF|hung up/i;
  return { kind: unavailable.test(words) ? 'unavailable' : 'refused', words };
}

/** One work tree for each ground, at the tip of its `main`. */
export async function treeOf(fixtures: Fixtures, ground: Ground): Promise<string> {
  const tree = fixtures.git.path(`tree-${ground.id}`);
  const there = await fixtures.git.run(['-C', tree, 'reset', '--quiet', '--hard', ground.main[1]]);
  if (there.code !== 0)
    await fixtures.git.ok(fixtures.git.home, 'clone', '--quiet', fixtures.remote(ground), tree);
  return tree;
}

/** A new file on what is checked out. @returns the commit */
export async function commit(fixtures: Fixtures, tree: string): Promise<string> {
  const file = fixtures.fresh('file');
  mkdirSync(join(tree, 'new'), { recursive: true });
  writeFileSync(join(tree, 'new', file), `${file}\n`);
  await fixtures.git.ok(tree, 'add', '.');
  await fixtures.git.ok(tree, 'commit', '--quiet', '-m', file);
  return fixtures.git.ok(tree, 'rev-parse', 'HEAD');
}

/** A branch with a commit of its own. @returns its full name */
async function pushed(fixtures: Fixtures, ground: Ground, tree: string): Promise<string> {
  const name = `refs/heads/${fixtures.fresh('pushed')}`;
  await commit(fixtures, tree);
  await fixtures.git.ok(tree, 'push', '--quiet', fixtures.remote(ground), `HEAD:${name}`);
  return name;
}

/** Where the refs stand, all in the same place. */
export async function moved(
  fixtures: Fixtures,
  ground: Ground,
  names: readonly string[],
  before: string | undefined,
  then: string | undefined,
): Promise<string> {
  const values = new Set(await Promise.all(names.slice(0, 4).map((name) => refOf(fixtures, ground, name))));
  if (values.size > 1) return `refs apart: ${[...values]}`;
  const [value] = values;
  return value === before ? 'before' : value === then ? 'after' : String(value);
}
