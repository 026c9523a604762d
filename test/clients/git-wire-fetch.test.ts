import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseOid, ZERO_OID } from '../../lib/git/oid.ts';
import { parseRefName } from '../../lib/git/refname.ts';
import { DELIM, FLUSH, pkt } from '../../lib/git/wire/pkt-line.ts';
import { type Host, history, startHost, startOracle, Workspace } from '../git/wire-host.ts';

let host: Host;
let work: Workspace;
let oracle: Awaited<ReturnType<typeof startOracle>>;

beforeEach(async () => {
  [host, work] = await Promise.all([startHost(), Workspace.create()]);
  oracle = await startOracle(work.root);
  await work.git('.', ['init', '-q', '--bare', '-b', 'main', 'source.git']);
});

afterEach(async () => {
  await Promise.all([host.close(), oracle.close(), work.remove()]);
  expect(host.errors).toEqual([]);
});

/** Fills `source.git` and pushes all of it. */
async function published(stream: string): Promise<void> {
  await work.git('source.git', ['fast-import', '--quiet', '--force'], stream);
  await work.git('source.git', ['push', '-q', '--force', host.url, 'refs/*:refs/*']);
}

function refsOf(folder: string): Promise<string> {
  return work.git(folder, ['for-each-ref', '--format=%(objectname) %(objecttype) %(refname)']);
}

async function sound(folder: string): Promise<void> {
  const result = await work.tryGit(folder, ['fsck', '--strict', '--full']);
  expect(result).toMatchObject({ code: 0 });
  expect(result.stderr).not.toMatch(/error|warning|missing|broken/);
}

// Version 1 is 0 with one line more: `clones by version 1 too`, below, is all that can differ.
describe.each([0, 2])('fetch by protocol version %i', (version) => {
  const protocol = ['-c', `protocol.version=${version}`];

  it('clones everything, with HEAD on the default branch', async () => {
    await published(history(60));
    await work.git('.', [...protocol, 'clone', '-q', '--mirror', host.url, 'copy.git']);
    expect(await refsOf('copy.git')).toBe(await refsOf('source.git'));
    expect(await work.git('copy.git', ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main\n');
    await sound('copy.git');
    const all = ['rev-list', '--objects', '--all', '--no-object-names'];
    expect(sorted(await work.git('copy.git', all))).toEqual(sorted(await work.git('source.git', all)));
  });

  it('transfers new objects and not the common ones', async () => {
    await published(history(60));
    await work.git('.', [...protocol, 'clone', '-q', host.url, 'copy']);
    const before = await objectCount('copy');
    await published(history(70));
    await work.git('copy', [...protocol, 'fetch', '-q', '--tags', '--force', 'origin']);
    expect(await work.git('copy', ['rev-parse', 'origin/main'])).toBe(
      await work.git('source.git', ['rev-parse', 'main']),
    );
    await sound('copy');
    // 11 commits, their trees and blobs, two tags: of more than 400 objects.
    expect((await objectCount('copy')) - before).toBeLessThan(80);
    expect((await objectCount('copy')) - before).toBeGreaterThan(30);
  });

  it('finds the common commits below many commits of one side', async () => {
    await published(history(60));
    await work.git('.', [...protocol, 'clone', '-q', host.url, 'copy']);
    const parent = (await work.git('copy', ['rev-parse', 'HEAD'])).trim();
    let stream = '';
    for (let i = 0; i < 300; i++) {
      stream += `commit refs/heads/main\ncommitter B <b@example.org> ${1_800_000_000 + i} +0000\ndata 1\nx\n`;
      stream += `${i === 0 ? `from ${parent}\n` : ''}M 100644 inline mine/${i % 5}.txt\ndata 4\n${String(i).padStart(4)}\n`;
    }
    await work.git('copy', ['fast-import', '--quiet', '--force'], stream);
    const before = await objectCount('copy');
    await published(history(64));
    await work.git('copy', [...protocol, 'fetch', '-q', 'origin']);
    await sound('copy');
    expect((await objectCount('copy')) - before).toBeLessThan(60);
  });

  it('sends annotated tags along with the commits they tag', async () => {
    await published(history(20));
    await work.git('.', [...protocol, 'clone', '-q', '--no-tags', '--single-branch', host.url, 'copy']);
    expect(await work.git('copy', ['tag'])).toBe('');
    await work.git('.', [...protocol, 'clone', '-q', '--single-branch', host.url, 'tagged']);
    expect(await work.git('tagged', ['tag'])).toBe('light\nv1\nv1-signed-off\n');
    await sound('tagged');
    const rounds = host.requests.filter((request) => request === 'POST git-upload-pack').length;
    // One fetch each, and with version 2 one ls-refs each: no second fetch for the tags.
    expect(rounds).toBe(version === 2 ? 4 : 2);
  });

  it('clones an empty repository', async () => {
    const result = await work.tryGit('.', [...protocol, 'clone', host.url, 'copy']);
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('empty repository') });
    if (version === 2) {
      expect(await work.git('copy', ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main\n');
    }
  });

  it('lists and clones 2,000 refs', async () => {
    await published(history(5));
    const main = parseOid((await work.git('source.git', ['rev-parse', 'main'])).trim())!;
    const names = Array.from({ length: 2000 }, (_, i) => parseRefName(`refs/heads/many/${i}`)!);
    await host.memory.refs.compareAndSwap(names.map((name) => ({ name, from: ZERO_OID, to: main })));
    await work.git('.', [...protocol, 'clone', '-q', '--mirror', host.url, 'copy.git']);
    const expected = [
      ...names.map((name) => `${main} commit ${name}`),
      ...sorted(await refsOf('source.git')),
    ];
    expect(sorted(await refsOf('copy.git'))).toEqual(expected.sort());
    await sound('copy.git');
  });

  it.each([
    'blob:none',
    'blob:limit=40',
    'tree:0',
    'tree:2',
    'object:type=commit',
    'combine:blob:limit=40+tree:2',
  ])('clones partially with %s as git itself does, and the rest on demand', async (filter) => {
    await published(history(40));
    await work.git('source.git', ['config', 'uploadpack.allowFilter', 'true']);
    await work.git('source.git', ['config', 'uploadpack.allowAnySHA1InWant', 'true']);
    const options = [...protocol, 'clone', '-q', '--bare', `--filter=${filter}`];
    await work.git('.', [...options, host.url, 'copy.git']);
    await work.git('.', [...options, `${oracle.url}/source.git`, 'oracle.git']);
    const present = ['cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)'];
    expect(await work.git('copy.git', present)).toBe(await work.git('oracle.git', present));
    await sound('copy.git');
    for (const path of ['file.txt', 'dir/a3/deep.txt', 'side/9.sh']) {
      for (const commit of ['main', 'main~9']) {
        const show = (folder: string) => work.git(folder, ['show', `${commit}:${path}`]);
        expect(await show('copy.git')).toBe(await show('source.git'));
      }
    }
    await published(history(44));
    await work.git('copy.git', [...protocol, 'fetch', '-q', 'origin', '+refs/*:refs/all/*']);
    expect(await work.git('copy.git', ['show', 'refs/all/heads/main:file.txt'])).toBe(
      await work.git('source.git', ['show', 'main:file.txt']),
    );
    await sound('copy.git');
  });

  it.each([
    ['--depth=1', []],
    ['--depth=3', []],
    ['--shallow-since=@1700000030 +0000', []],
    ['--shallow-exclude=light', ['--branch=later']],
  ])('clones with %s as git itself does', async (option, more) => {
    await published(history(40));
    await published(
      `commit refs/heads/later\ncommitter B <b@example.org> 1900000000 +0000\ndata 1\nx\nfrom refs/heads/main^0\nM 100644 inline l\ndata 1\nl\n` +
        `commit refs/heads/later\ncommitter B <b@example.org> 1900000001 +0000\ndata 1\ny\nM 100644 inline l\ndata 1\nm\n`,
    );
    const options = [...protocol, 'clone', '-q', option, ...more];
    await work.git('.', [...options, host.url, 'copy']);
    await work.git('.', [...options, `${oracle.url}/source.git`, 'oracle']);
    const list = ['rev-list', '--objects', '--all', '--no-object-names'];
    expect(sorted(await work.git('copy', list))).toEqual(sorted(await work.git('oracle', list)));
    expect(await shallowFile('copy')).toEqual(await shallowFile('oracle'));
    await sound('copy');

    await work.git('copy', [...protocol, 'fetch', '-q', '--deepen=2']);
    await work.git('oracle', [...protocol, 'fetch', '-q', '--deepen=2']);
    expect(sorted(await work.git('copy', list))).toEqual(sorted(await work.git('oracle', list)));
    await sound('copy');

    await published(history(44));
    await work.git('copy', [...protocol, 'fetch', '-q', 'origin', '+refs/*:refs/remotes/all/*']);
    await sound('copy');

    await work.git('copy', [...protocol, 'fetch', '-q', '--unshallow']);
    expect(await shallowFile('copy')).toEqual([]);
    await sound('copy');
    await work.git('copy', [...protocol, 'fetch', '-q', 'origin', '+refs/*:refs/remotes/all/*']);
    const fetched = ['rev-list', '--objects', '--no-object-names', '--glob=refs/remotes/all/*'];
    expect(sorted(await work.git('copy', fetched))).toEqual(sorted(await work.git('source.git', list)));
  });

  it('sends a commit by id only if a ref reaches it', async () => {
    await published(history(30));
    const reached = (await work.git('source.git', ['rev-parse', 'main~12'])).trim();
    await work.git('.', ['init', '-q', 'copy']);
    await work.git('copy', [...protocol, 'fetch', '-q', host.url, reached]);
    expect(await work.git('copy', ['rev-parse', 'FETCH_HEAD'])).toBe(`${reached}\n`);
    await sound('copy');

    await work.git('source.git', [
      'push',
      '-q',
      host.url,
      ':refs/heads/side',
      ':refs/tags/v1',
      ':refs/tags/light',
    ]);
    await work.git('source.git', ['push', '-q', host.url, ':refs/tags/v1-signed-off']);
    const lost = await work.git('source.git', ['commit-tree', '-m', 'hidden', 'main^{tree}']);
    await work.git('source.git', ['push', '-q', host.url, `${lost.trim()}:refs/keep/1`]);
    const blob = await work.git('source.git', ['hash-object', '-w', '--stdin'], 'a secret');
    const tree = await work.git('source.git', ['mktree'], `100644 blob ${blob.trim()}\tsecret\n`);
    const secret = await work.git('source.git', ['commit-tree', '-m', 'secret', tree.trim()]);
    await work.git('source.git', ['push', '-q', host.url, `${secret.trim()}:refs/keep/2`]);
    for (const oid of [lost, secret, tree, blob, '1'.repeat(40)].map((one) => one.trim())) {
      host.options.visible = (name) => !name.startsWith('refs/keep/');
      const refused = await work.tryGit('copy', [...protocol, 'fetch', '-q', host.url, oid]);
      expect(refused).toMatchObject({
        code: 128,
        stderr: expect.stringContaining(`upload-pack: not our ref ${oid}`),
      });
    }
  });

  it('sends a tip that moved between the two requests', async () => {
    await published(history(30));
    const old = parseOid((await work.git('source.git', ['rev-parse', 'main'])).trim())!;
    const parent = parseOid((await work.git('source.git', ['rev-parse', 'main~1'])).trim())!;
    const name = parseRefName('refs/heads/main')!;
    await host.memory.refs.compareAndSwap([{ name, from: old, to: parent }]);
    let moved = false;
    host.before = async (request) => {
      if (moved || request !== 'POST git-upload-pack') return;
      moved = version !== 2 || host.requests.filter((one) => one === request).length > 1;
      if (moved) await host.memory.refs.compareAndSwap([{ name, from: parent, to: old }]);
    };
    await work.git('.', [...protocol, 'clone', '-q', '--single-branch', '--no-tags', host.url, 'copy']);
    expect(await work.git('copy', ['rev-parse', 'HEAD'])).toBe(`${parent}\n`);
    await sound('copy');
  });

  it.each([
    { what: 'deleted', filter: [] },
    { what: 'forced', filter: [] },
    { what: 'deleted', filter: ['--filter=blob:none'] },
    { what: 'forced', filter: ['--filter=blob:none'] },
  ])(
    'gives what refs pointed to that were $what between the two requests: $filter',
    async ({ what, filter }) => {
      await published(history(30));
      await work.git('source.git', ['config', 'uploadpack.allowFilter', 'true']);
      // A commit with a file of its own, an annotated tag of it, and one that is hidden.
      const blob = await work.git('source.git', ['hash-object', '-w', '--stdin'], 'only here');
      const tree = await work.git('source.git', ['mktree'], `100644 blob ${blob.trim()}\town\n`);
      const commit = ['commit-tree', '-m', 'own', '-p', 'main', tree.trim()];
      const own = (await work.git('source.git', commit)).trim();
      await work.git('source.git', ['tag', '-a', '-m', 'own', 'own-tag', own]);
      const tag = (await work.git('source.git', ['rev-parse', 'refs/tags/own-tag'])).trim();
      await work.git('source.git', ['update-ref', 'refs/heads/own', own]);
      const keep = (await work.git('source.git', ['commit-tree', '-m', 'kept', tree.trim()])).trim();
      const added = ['own', 'refs/tags/own-tag', `${keep}:refs/keep/1`];
      await work.git('source.git', ['push', '-q', host.url, ...added]);
      host.options.visible = (name) => !name.startsWith('refs/keep/');

      const main = parseOid((await work.git('source.git', ['rev-parse', 'main'])).trim())!;
      const gone = async () => {
        const to = what === 'deleted' ? ZERO_OID : main;
        await host.memory.refs.compareAndSwap(
          [
            ['refs/heads/own', own],
            ['refs/tags/own-tag', tag],
            ['refs/keep/1', keep],
          ].map(([name, from]) => ({
            ...{ name: parseRefName(name!)!, from: parseOid(from!)!, to },
            ...(what === 'forced' ? { forced: true } : {}),
          })),
        );
      };
      let moved = false;
      host.before = async (request) => {
        if (moved || request !== 'POST git-upload-pack') return;
        moved = version !== 2 || host.requests.filter((one) => one === request).length > 1;
        if (moved) await gone();
      };
      await work.git('.', [...protocol, 'clone', '-q', '--branch', 'own', ...filter, host.url, 'copy']);
      expect(moved).toBe(true);
      expect(await work.git('copy', ['rev-parse', 'HEAD', 'refs/tags/own-tag'])).toBe(`${own}\n${tag}\n`);
      expect(await work.git('copy', ['show', 'HEAD:own'])).toBe('only here');
      await sound('copy');

      // What stood below them too, for as long as that is remembered; what was hidden never.
      await work.git('.', ['init', '-q', 'late']);
      const fetch = (oid: string) => work.tryGit('late', [...protocol, 'fetch', '-q', host.url, oid]);
      expect(await fetch(keep)).toMatchObject({ code: 128, stderr: expect.stringContaining('not our ref') });
      expect(await fetch(blob.trim())).toMatchObject({ code: 0 });
      host.memory.oldTips.splice(0);
      await work.git('.', ['init', '-q', 'later']);
      for (const oid of [own, tag, tree.trim()]) {
        const refused = await work.tryGit('later', [...protocol, 'fetch', '-q', host.url, oid]);
        expect(refused).toMatchObject({ code: 128, stderr: expect.stringContaining(`not our ref ${oid}`) });
      }
    },
  );

  it('hides hidden refs', async () => {
    await published(history(10));
    host.options.visible = (name) => !name.startsWith('refs/tags/');
    const listed = await work.git('.', [...protocol, 'ls-remote', host.url]);
    expect(listed).toMatch(/\tHEAD\n.*\trefs\/heads\/main\n/s);
    expect(listed).not.toMatch(/tags/);
  });

  it('lists the refs that git lists for the same repository', async () => {
    await published(history(10));
    await host.memory.refs.compareAndSwap([], { head: parseRefName('refs/heads/side')! });
    await work.git('source.git', ['symbolic-ref', 'HEAD', 'refs/heads/side']);
    for (const options of [[], ['--symref'], ['--heads'], ['--tags'], ['--symref', '--refs']]) {
      const list = (url: string) => work.git('.', [...protocol, 'ls-remote', ...options, url]);
      expect(await list(host.url)).toBe(await list(`${oracle.url}/source.git`));
    }
  });

  it('shows progress', async () => {
    await published(history(10));
    const { stderr } = await work.tryGit('.', [...protocol, 'clone', '--progress', host.url, 'copy']);
    expect(stderr).toMatch(/remote: Enumerating objects: \d+, done\./);
    expect(stderr).toMatch(/remote: Total \d+ objects, \d+ bytes/);
  });
});

describe('the lines before the pack are byte for byte those of git upload-pack', () => {
  const commit = async (name: string) => (await work.git('source.git', ['rev-parse', name])).trim();
  const capabilities = 'multi_ack_detailed no-done ofs-delta shallow no-progress';

  it.each([
    ['a depth', async () => [[`want ${await commit('main')} ${capabilities}`], ['deepen 2'], [], ['done']]],
    [
      'a deeper boundary',
      async () => [
        [`want ${await commit('main')} ${capabilities}`],
        [`shallow ${await commit('main~1')}`, 'deepen 4'],
        [],
        [`have ${await commit('main')}`, 'done'],
      ],
    ],
    [
      'haves, without shallow commits',
      async () => [
        [`want ${await commit('main')} ${capabilities}`],
        [],
        [`have ${await commit('main~3')}`, 'done'],
      ],
    ],
  ])('version 0: %s', async (_, request) => {
    await published(history(20));
    const body = lines(await request());
    const expected = await answer(`${oracle.url}/source.git`, body, 0);
    expect(await answer(host.url, body, 0)).toEqual(expected);
    expect(expected).not.toBe('');
  });

  it.each([
    ['a depth', async () => [`want ${await commit('main')}`, 'deepen 2', 'done']],
    [
      'a deeper boundary',
      async () => [
        `want ${await commit('main')}`,
        `shallow ${await commit('main~1')}`,
        'deepen 4',
        `have ${await commit('main')}`,
        'done',
      ],
    ],
    ['haves', async () => [`want ${await commit('main')}`, `have ${await commit('main~3')}`]],
  ])('version 2: %s', async (_, request) => {
    await published(history(20));
    const body = Buffer.concat([
      pkt('command=fetch'),
      pkt('object-format=sha1'),
      DELIM,
      ...['no-progress', 'ofs-delta', ...(await request())].map((line) => pkt(line)),
      FLUSH,
    ]);
    const expected = await answer(`${oracle.url}/source.git`, body, 2);
    expect(await answer(host.url, body, 2)).toEqual(expected);
    expect(expected).toContain('packfile\n');
  });

  /** Sections of lines, with a flush after each but the last. */
  function lines(sections: readonly (readonly string[])[]): Buffer {
    const parts = sections.flatMap((section, index) => [
      ...section.map((line) => pkt(`${line}\n`)),
      ...(index === sections.length - 2 ? [FLUSH] : []),
    ]);
    return Buffer.concat(parts);
  }

  /** The answer up to the pack. */
  async function answer(url: string, body: Buffer, version: number): Promise<string> {
    const response = await fetch(`${url}/git-upload-pack`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-git-upload-pack-request',
        'Git-Protocol': `version=${version}`,
      },
      body: new Uint8Array(body),
    });
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
    const end = version === 2 ? text.indexOf('packfile\n') + 'packfile\n'.length : text.indexOf('PACK');
    return text.slice(0, end);
  }
});

it('fetch by protocol version 1 clones too', async () => {
  await published(history(20));
  await work.git('.', ['-c', 'protocol.version=1', 'clone', '-q', '--mirror', host.url, 'copy.git']);
  expect(await refsOf('copy.git')).toBe(await refsOf('source.git'));
  await sound('copy.git');
});

it('fetch ignores a have of an unknown object', async () => {
  await published(history(10));
  await work.git('.', ['init', '-q', 'stranger']);
  await work.git('stranger', ['fast-import', '--quiet'], history(120, 'b'));
  await work.git('stranger', ['fetch', '-q', host.url, 'main:theirs']);
  await sound('stranger');
});

async function objectCount(folder: string): Promise<number> {
  const counts = await work.git(folder, ['count-objects', '-v']);
  const value = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counts)?.[1]);
  return value('count') + value('in-pack');
}

async function shallowFile(folder: string): Promise<string[]> {
  const path = (await work.git(folder, ['rev-parse', '--git-path', 'shallow'])).trim();
  const { readFile } = await import('node:fs/promises');
  return sorted(await readFile(`${work.path(folder)}/${path}`, 'utf8').catch(() => ''));
}

function sorted(text: string): string[] {
  return text.split('\n').filter(Boolean).sort();
}
