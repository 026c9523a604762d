import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Oid, parseOid, ZERO_OID } from '../../lib/git/oid.ts';
import { type PackDescription, RefConflict } from '../../lib/git/ports.ts';
import { parseRefName, type RefName } from '../../lib/git/refname.ts';
import { type Host, history, startHost, Workspace } from '../git/wire-host.ts';

let host: Host;
let work: Workspace;

beforeEach(async () => {
  [host, work] = await Promise.all([startHost(), Workspace.create()]);
  await work.git('.', ['init', '-q', '-b', 'main', 'local']);
  await work.git('local', ['remote', 'add', 'origin', host.url]);
});

afterEach(async () => {
  await Promise.all([host.close(), work.remove()]);
  expect(host.errors).toEqual([]);
});

const git = (...args: string[]) => work.git('local', args);
const push = (...args: string[]) => work.tryGit('local', ['push', 'origin', ...args]);

async function commit(message: string, file = 'file.txt', content = `${message}\n`): Promise<string> {
  await writeFile(work.path(`local/${file}`), content);
  await git('add', '.');
  await git('commit', '-q', '-m', message);
  return (await git('rev-parse', 'HEAD')).trim();
}

async function remote(): Promise<Record<string, string>> {
  const lines = (await git('ls-remote', 'origin')).trim().split('\n').filter(Boolean);
  return Object.fromEntries(lines.map((line) => line.split('\t').reverse()));
}

async function sound(): Promise<void> {
  await work.git('.', ['clone', '-q', '--mirror', host.url, 'proof.git']);
  await work.git('proof.git', ['fsck', '--strict', '--full', '--connectivity-only']);
  await work.git('proof.git', ['fsck', '--strict', '--full']);
}

async function moveMain(to: string): Promise<void> {
  const name = parseRefName('refs/heads/main')!;
  const from = (await host.memory.refs.get([name])).get(name)?.oid ?? ZERO_OID;
  await host.memory.refs.compareAndSwap([{ name, from, to: parseOid(to)! }]);
}

/** Packs that the host stores and rolls back from now on. */
function recorded(): [stored: string[], rolledBack: string[]] {
  const { objects } = host.memory;
  const { newPack, rollbackPack } = objects;
  const stored: string[] = [];
  const rolledBack: string[] = [];
  objects.newPack = async (content, about) => {
    const pack = await newPack(content, about);
    stored.push(pack.id);
    return pack;
  };
  objects.rollbackPack = async (pack) => {
    rolledBack.push(pack.id);
    await rollbackPack(pack);
  };
  return [stored, rolledBack];
}

/** The next `times` transactions find that a collection began since the push looked. */
function collectDuring(times: number, collect: () => Promise<void>): void {
  const { refs } = host.memory;
  const { compareAndSwap } = refs;
  let left = times;
  refs.compareAndSwap = async (updates, options) => {
    if (left-- <= 0) return compareAndSwap(updates, options);
    await collect();
    throw new RefConflict([{ name: null, reason: 'collected' }]);
  };
}

/** What a collection does with packs that nothing reaches: their objects stay, in packs of another kind. */
async function allToGarbage(which = (_: PackDescription) => true): Promise<void> {
  const { objects } = host.memory;
  const garbage: PackDescription[] = [];
  const listed = await objects.listPacks();
  for (const pack of listed.filter(which)) {
    const read = (part: 'pack' | 'index') => objects.open(pack, part).read(0, 1e9);
    const content = { kind: 'bytes', pack: await read('pack'), index: await read('index') } as const;
    garbage.push(
      await objects.newPack(content, { source: 'unreachable-garbage', objectCount: pack.objectCount }),
    );
  }
  host.memory.relist(() => [...listed.filter((pack) => !which(pack)), ...garbage]);
}

/** And later, with the packs of garbage. */
async function withoutGarbage(): Promise<void> {
  host.memory.relist((packs) => packs.filter(({ source }) => source !== 'unreachable-garbage'));
}

describe('a push', () => {
  it('creates, updates and deletes refs, and reports each', async () => {
    const one = await commit('one');
    await git('tag', '-a', '-m', 'first', 'v1');
    const tag = (await git('rev-parse', 'v1')).trim();
    const { stderr } = await push('main', 'main:topic/a', 'v1');
    expect(stderr).toMatch(/\[new branch\] +main -> main/);
    expect(stderr).toMatch(/\[new tag\] +v1 -> v1/);
    expect(await remote()).toEqual({
      HEAD: one,
      'refs/heads/main': one,
      'refs/heads/topic/a': one,
      'refs/tags/v1': tag,
      'refs/tags/v1^{}': one,
    });
    const two = await commit('two');
    expect((await push('main', ':topic/a')).stderr).toMatch(/- \[deleted\] +topic\/a/);
    expect(await remote()).toMatchObject({ 'refs/heads/main': two });
    await sound();
    expect(host.pushes.filter((one) => one.updated.length > 0)).toMatchObject([
      {
        updated: [
          { name: 'refs/heads/main', from: ZERO_OID, to: one, kind: 'create', forced: false },
          { name: 'refs/heads/topic/a', kind: 'create' },
          { name: 'refs/tags/v1', to: tag, kind: 'create' },
        ],
        rejected: [],
        pack: { source: 'receive', objectCount: 4 },
      },
      {
        updated: [
          { name: 'refs/heads/main', from: one, to: two, kind: 'update', forced: false },
          { name: 'refs/heads/topic/a', from: one, to: ZERO_OID, kind: 'delete', forced: false },
        ],
        rejected: [],
        pack: { objectCount: 3 },
      },
    ]);
  });

  it('of stored objects adds no pack', async () => {
    await commit('one');
    await push('main');
    await push('main:again');
    expect(host.pushes.at(-1)).toMatchObject({ updated: [{ name: 'refs/heads/again' }], pack: undefined });
    expect(await host.memory.objects.listPacks()).toHaveLength(1);
  });

  it('of a large history arrives in chunks, after git’s probe request', async () => {
    await work.git('local', ['fast-import', '--quiet', '--force'], history(300));
    const noise = Array.from({ length: 20_000 }, (_, i) => `${Math.sin(i)}`).join('\n');
    await git('reset', '-q', '--hard');
    await commit('noise', 'noise.txt', noise);
    await git('-c', 'http.postBuffer=65536', 'push', '-q', 'origin', 'refs/heads/*', 'refs/tags/*');
    expect(host.requests.filter((request) => request === 'POST git-receive-pack')).toHaveLength(2);
    expect(await git('ls-remote', '--refs', 'origin')).toBe(
      await git('for-each-ref', '--format=%(objectname)%09%(refname)', 'refs/heads', 'refs/tags'),
    );
    await sound();
  });

  it('shows progress, unless told to be quiet', async () => {
    await commit('one');
    expect((await push('--progress', 'main')).stderr).toMatch(
      /remote: Indexing objects: 100% \(3\/3\), done\./,
    );
    await commit('two');
    expect((await push('--quiet', 'main')).stderr).toBe('');
  });

  it('from a shallow clone connects to the stored history', async () => {
    for (let i = 0; i < 5; i++) await commit(`${i}`);
    await push('main');
    await work.git('.', ['clone', '-q', '--depth=1', host.url, 'shallow']);
    await writeFile(work.path('shallow/new.txt'), 'new');
    await work.git('shallow', ['add', '.']);
    await work.git('shallow', ['commit', '-q', '-m', 'on a shallow clone']);
    await work.git('shallow', ['push', '-q', 'origin', 'main']);
    await sound();
    expect(await work.git('proof.git', ['rev-list', '--count', 'main'])).toBe('6\n');
  });

  it('from a shallow clone of a history that is not stored is refused per ref, as by git', async () => {
    const stored = await commit('one');
    await push('main');
    await work.git('.', ['clone', '-q', '--bare', host.url, 'oracle.git']);
    await git('checkout', '-q', '--orphan', 'other');
    for (let i = 0; i < 3; i++) await commit(`other ${i}`);
    await work.git('.', ['clone', '-q', '--depth=1', `file://${work.path('local')}`, 'shallow']);
    await work.git('shallow', ['fetch', '-q', host.url, 'main']);
    const refs = ['HEAD:refs/heads/other', 'HEAD:refs/tags/t', `${stored}:refs/heads/known`];
    const refsAfter = async (url: string) => {
      const result = await work.tryGit('shallow', ['push', '--porcelain', url, ...refs]);
      expect(result.code).toBe(1);
      const listed = await work.git('shallow', ['ls-remote', url]);
      return [...result.stdout.split('\n').filter((line) => line.includes(':refs/')), listed];
    };
    const expected = await refsAfter(`file://${work.path('oracle.git')}`);
    expect(await refsAfter(host.url)).toEqual(expected);
    expect(expected.join()).toContain('(shallow update not allowed)');
    expect(host.pushes.at(-1)!.pack).toBeUndefined();
    await sound();
  });
});

it('deleting an absent ref succeeds, as in git', async () => {
  await commit('one');
  const { code, stderr } = await push('main', ':refs/heads/absent');
  expect(code).toBe(0);
  expect(stderr).toMatch(/remote: warning: deleting a non-existent ref/);
  expect(stderr).toMatch(/ - \[deleted\] +absent/);
  expect(host.pushes.at(-1)!.updated.map(({ name }) => name)).toEqual(['refs/heads/main']);
  expect(Object.keys(await remote())).toEqual(['HEAD', 'refs/heads/main']);
});

describe('HEAD after the first push', () => {
  it.each([
    [['trunk', 'main', 'master'], 'refs/heads/main'],
    [['trunk', 'master'], 'refs/heads/master'],
    [['trunk', 'zoo'], 'refs/heads/trunk'],
  ])('is right for the branches %j', async (names, head) => {
    await commit('one');
    await push(...names.map((name) => `HEAD:refs/heads/${name}`));
    expect(await host.memory.refs.head()).toBe(head);
    await push('HEAD:refs/heads/master', 'HEAD:refs/heads/main');
    expect(await host.memory.refs.head()).toBe(head);
  });
});

describe('a forced push', () => {
  it('is distinguished from a fast-forward', async () => {
    await commit('one');
    const old = await commit('two');
    await push('main');
    await git('reset', '-q', '--hard', 'HEAD~1');
    const other = await commit('another two');
    await push('--force', 'main');
    expect(host.pushes.at(-1)?.updated).toMatchObject([
      { from: old, to: other, kind: 'update', forced: true },
    ]);
    await sound();
  });

  it('can be refused by the policy', async () => {
    await commit('one');
    const old = await commit('two');
    await push('main');
    host.options.authorize = ({ forced }) => (forced ? 'non-fast-forward' : undefined);
    await git('reset', '-q', '--hard', 'HEAD~1');
    const { code, stderr } = await push('--force', 'main', 'HEAD~0:refs/heads/free');
    expect(code).toBe(1);
    expect(stderr).toMatch(/! \[remote rejected\] main -> main \(non-fast-forward\)/);
    expect(await remote()).toMatchObject({ 'refs/heads/main': old, 'refs/heads/free': expect.any(String) });
    await sound();
  });
});

describe('as in git a push is refused', () => {
  beforeEach(async () => {
    await commit('one');
    await push('main', 'main:a');
    await commit('two');
  });

  it.each([
    ['deleting the branch of HEAD', [':main'], /main \(deletion of the current branch prohibited\)/],
    ['a blob as a branch', ['HEAD:file.txt:refs/heads/blob'], /.*/],
    ['a branch below a branch', ['main:refs/heads/a/b'], /a\/b \(failed to update ref/],
    ['a name without a namespace', ['main:refs/x'], /\(funny refname\)/],
    ['a branch called HEAD', ['main:refs/heads/HEAD'], /\(funny refname\)|not a valid/],
  ])('for %s', async (_, args, message) => {
    const before = await remote();
    const { code, stderr } = await push(...args);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
    expect(await remote()).toEqual(before);
  });

  it('for a name that is not UTF-8, which it tells in words', async () => {
    const before = await remote();
    // Arguments are UTF-8; a packed ref can have any name.
    const tip = (await git('rev-parse', 'main')).trim();
    await writeFile(work.path('local/.git/packed-refs'), `${tip} refs/heads/br\u00e9\n`, 'latin1');
    const { code, stderr } = await push('--all');
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/the name of a ref is not UTF-8/);
    expect(await remote()).toEqual(before);
  });

  it('to a read-only repository', async () => {
    host.memory.refusal = 'read-only';
    const { stderr } = await push('main');
    expect(stderr).toMatch(/\(repository is read-only at the moment, try again later\)/);
  });

  it('beyond the size limit, with a reason', async () => {
    host.options.limits = { maxRequestBytes: 20_000 };
    await commit('large', 'large.txt', Array.from({ length: 9000 }, (_, i) => `${Math.cos(i)}`).join('\n'));
    const before = await remote();
    const { code, stderr } = await push('main');
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/request exceeds maximum allowed size \(20000 bytes\)/);
    expect(await remote()).toEqual(before);
  });

  it('to hidden refs', async () => {
    host.options.pushable = (name) => !name.startsWith('refs/keep/');
    expect((await push('main:refs/keep/1')).stderr).toMatch(/\(deny updating a hidden ref\)/);
  });
});

it('a push refused before its pack is examined is read to the end all the same', async () => {
  await commit('large', 'large.bin', randomBytes(12_000_000).toString('latin1'));
  const { stderr } = await push('main:refs/x');
  expect(stderr).toMatch(/! \[remote rejected\] main -> refs\/x \(funny refname\)/);
});

it('a push above the size limit is read to the end and gets the reason', async () => {
  await commit('large', 'large.bin', randomBytes(12_000_000).toString('latin1'));
  host.options.limits = { maxRequestBytes: 2_000_000 };
  const { stderr } = await push('main');
  expect(stderr).toMatch(/unpack failed: request exceeds maximum allowed size \(2000000 bytes\)/);
  expect(await remote()).toEqual({});
});

describe('a push that lost a race', () => {
  it('on an update is told to fetch first', async () => {
    const one = await commit('one');
    await push('main');
    const two = await commit('two');
    await push('main:elsewhere');
    await commit('three');
    host.before = async (request) => {
      if (request === 'POST git-receive-pack') await moveMain(two);
    };
    const { code, stderr } = await push('main', 'main:fresh');
    expect(code).toBe(1);
    expect(stderr).toMatch(/! \[rejected\] +main -> main \(fetch first\)/);
    expect(stderr).toMatch(/\[new branch\] +main -> fresh/);
    expect(await remote()).toMatchObject({ 'refs/heads/main': two });
    expect(one).not.toBe(two);
    await sound();
  });

  it('during the transaction is told the same, and its other refs are updated', async () => {
    await commit('one');
    await push('main');
    const two = await commit('two');
    await push('main:elsewhere');
    await commit('three');
    host.options.authorize = async ({ name }) => {
      if (name === 'refs/heads/fresh') await moveMain(two);
      return undefined;
    };
    const { stderr } = await push('main', 'main:fresh');
    expect(stderr).toMatch(/! \[rejected\] +main -> main \(fetch first\)/);
    expect(stderr).toMatch(/\[new branch\] +main -> fresh/);
    expect(await remote()).toMatchObject({ 'refs/heads/main': two });
    await sound();
  });

  it('on a creation is told that the ref exists', async () => {
    const one = await commit('one');
    await push('main:elsewhere');
    await commit('two');
    host.before = async (request) => {
      if (request === 'POST git-receive-pack') await moveMain(one);
    };
    const { stderr } = await push('main');
    expect(stderr).toMatch(/! \[remote rejected\] main -> main \(reference already exists\)/);
  });

  it('fails as a whole if atomic', async () => {
    await commit('one');
    await push('main');
    const two = await commit('two');
    await push('main:elsewhere');
    await commit('three');
    host.options.authorize = async ({ name }) => {
      if (name === 'refs/heads/fresh') await moveMain(two);
      return undefined;
    };
    const packs = await host.memory.objects.listPacks();
    const [stored, rolledBack] = recorded();
    const { code, stderr } = await push('--atomic', 'main', 'main:fresh');
    expect(code).toBe(1);
    expect(stderr).toMatch(/! \[rejected\] +main -> main \(fetch first\)/);
    expect(stderr).toMatch(/! \[remote rejected\] main -> fresh \(atomic push failure\)/);
    expect(await remote()).not.toHaveProperty(['refs/heads/fresh']);
    expect(await host.memory.objects.listPacks()).toEqual(packs);
    expect(stored).toHaveLength(1);
    expect(rolledBack).toEqual(stored);
  });

  it('against a garbage collection checks connectivity again and succeeds', async () => {
    await commit('one');
    await push('main');
    const two = await commit('two');
    collectDuring(1, async () => {});
    expect((await push('main')).code).toBe(0);
    expect(await remote()).toMatchObject({ 'refs/heads/main': two });
    await sound();
  });

  it('against a collection that marked its base unreachable resurrects the objects', async () => {
    await commit('one');
    await push('main', 'main:elsewhere');
    const two = await commit('two');
    collectDuring(1, allToGarbage);
    expect((await push('main')).code).toBe(0);
    expect(await remote()).toMatchObject({ 'refs/heads/main': two });
    await withoutGarbage();
    await sound();
  });

  it.each(['a commit upon it', 'nothing but the ref'])(
    'against the deletion and collection of its base branch succeeds with %s',
    async (what) => {
      const text = Array.from({ length: 400 }, (_, i) => `line ${i} ${Math.sin(i)}`).join('\n');
      await commit('one');
      await push('main');
      const base = await host.memory.objects.listPacks();
      const two = await commit('two', 'large.txt', text);
      await push('main:dropped');
      if (what === 'a commit upon it') await commit('three', 'large.txt', `${text}\nand one more`);
      host.before = async (request) => {
        if (request !== 'POST git-receive-pack') return;
        host.before = undefined;
        await host.memory.refs.compareAndSwap([
          { name: 'refs/heads/dropped' as RefName, from: two as Oid, to: ZERO_OID },
        ]);
        await allToGarbage((pack) => base.every(({ id }) => pack.id !== id));
      };
      const { code, stderr } = await push('HEAD:back');
      expect(stderr).toMatch(/HEAD -> back/);
      expect(code).toBe(0);
      await withoutGarbage();
      await sound();
      expect(await work.git('proof.git', ['show', 'back:large.txt'])).toContain(text);
    },
  );

  it('against a collection that already deleted its base is refused', async () => {
    const one = await commit('one');
    await push('main', 'main:elsewhere');
    await commit('two');
    collectDuring(1, async () => {
      await allToGarbage();
      await withoutGarbage();
    });
    const [stored, rolledBack] = recorded();
    const { stderr } = await push('main');
    expect(stderr).toMatch(/! \[remote rejected\] main -> main \(missing necessary objects\)/);
    expect(await remote()).toMatchObject({ 'refs/heads/main': one });
    expect(rolledBack).toEqual(stored.slice(0, 1));
  });

  it('against collections one after the other gives up', async () => {
    const one = await commit('one');
    await push('main');
    await commit('two');
    collectDuring(1000, async () => {});
    const [stored, rolledBack] = recorded();
    const { stderr } = await push('main');
    expect(stderr).toMatch(/! \[remote rejected\] main -> main \(failed to update ref\)/);
    expect(await remote()).toMatchObject({ 'refs/heads/main': one });
    expect(rolledBack).toEqual(stored);
  });

  it('with seven others is refused without damage: one of the eight wins', async () => {
    await commit('base');
    await push('main');
    const names = Array.from({ length: 8 }, (_, i) => `racer${i}`);
    for (const name of names) {
      await work.git('.', ['clone', '-q', host.url, name]);
      await writeFile(work.path(`${name}/${name}`), name);
      await work.git(name, ['add', '.']);
      await work.git(name, ['commit', '-q', '-m', name]);
    }
    const results = await Promise.all(
      names.map((name) => work.tryGit(name, ['push', 'origin', 'main', `HEAD:refs/heads/${name}`])),
    );
    const main = (await remote())['refs/heads/main'];
    const winners = results.filter(({ code }) => code === 0);
    expect(winners).toHaveLength(1);
    for (const { code, stderr } of results)
      if (code !== 0) expect(stderr).toMatch(/\((fetch first|non-fast-forward)\)/);
    const tips = await Promise.all(
      names.map(async (name) => (await work.git(name, ['rev-parse', 'HEAD'])).trim()),
    );
    expect(tips).toContain(main);
    await sound();
  });
});

describe('the push policy', () => {
  it('gets each update, the new commits and the push options', async () => {
    const one = await commit('one');
    const seen: unknown[] = [];
    host.options.authorize = async (update, { store, pushOptions }) => {
      const { type, data } = await store.read(update.to);
      seen.push([
        update.kind,
        update.name,
        type,
        Buffer.from(data).toString().endsWith('one\n'),
        pushOptions,
      ]);
      return update.name === 'refs/heads/no' ? 'you shall not push' : undefined;
    };
    const { stderr } = await push('-o', 'ci.skip', '-o', 'title=a b', 'main', 'main:no');
    expect(stderr).toMatch(/! \[remote rejected\] main -> no \(you shall not push\)/);
    expect(seen).toEqual([
      ['create', 'refs/heads/main', 'commit', true, ['ci.skip', 'title=a b']],
      ['create', 'refs/heads/no', 'commit', true, ['ci.skip', 'title=a b']],
    ]);
    expect(host.pushes.at(-1)).toMatchObject({
      updated: [{ to: one }],
      rejected: [{ name: 'refs/heads/no', reason: 'you shall not push' }],
      pushOptions: ['ci.skip', 'title=a b'],
    });
  });

  it('is followed, where refs moved, by what the push leads to, which tells lines and cannot undo it', async () => {
    const one = await commit('one');
    const seen: unknown[] = [];
    host.options.authorize = ({ name }) => (name === 'refs/heads/no' ? 'no' : undefined);
    host.options.conclude = async ({ updated, rejected, pushOptions }) => {
      seen.push([updated.map(({ name }) => name), rejected.map(({ name }) => name), pushOptions]);
      return 'see\nthere\n';
    };
    const { stderr } = await push('-o', 'x', 'main', 'main:no');
    expect(stderr).toMatch(/remote: see *\nremote: there/);
    expect(seen).toEqual([[['refs/heads/main'], ['refs/heads/no'], ['x']]]);
    await push('main:no');
    expect(seen).toHaveLength(1);
    host.options.conclude = async () => {
      throw new Error('afterwards');
    };
    expect((await push('main:other')).code).toBe(0);
    expect(await remote()).toMatchObject({ 'refs/heads/main': one, 'refs/heads/other': one });
    expect(host.errors.splice(0)).toEqual([new Error('afterwards')]);
  });

  it('leaves no pack behind when it refuses everything', async () => {
    await commit('one');
    host.options.authorize = () => 'no';
    expect((await push('main')).code).toBe(1);
    expect(await host.memory.objects.listPacks()).toEqual([]);
    expect(await remote()).toEqual({});
  });
});
