import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { CommitRequest } from '../../lib/git/commit-changes.ts';
import { EditError, NothingToCommit, UnsoundObjects } from '../../lib/git/edit-errors.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { ObjectMissing } from '../../lib/git/objects.ts';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import type { Identity } from '../../lib/git/parse.ts';
import { type ObjectDatabase, RefConflict } from '../../lib/git/ports.ts';
import type { RefDatabase } from '../../lib/git/ref-database.ts';
import { parseRefName } from '../../lib/git/refname.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { GitFixture } from './history-fixture.ts';

const MAIN = parseRefName('refs/heads/main')!;
const TRUNK = parseRefName('refs/heads/trunk')!;
const author: Identity = {
  name: 'A U Thor',
  email: 'author@example.com',
  seconds: 1_700_000_000,
  timezone: '+0100',
};
const committer: Identity = {
  name: 'C O Mitter',
  email: 'committer@example.com',
  seconds: 1_700_000_000,
  timezone: '+0100',
};
const bytes = (text: string) => Buffer.from(text);

/** The repository's packs, as a directory that git reads. */
async function asGitDirectory(
  memory: MemoryRepository,
  directory: string,
): Promise<(...args: string[]) => string> {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', directory, ...args], { encoding: 'utf8', stdio: 'pipe' });
  git('init', '--quiet', '--bare', '.');
  for (const pack of await memory.objects.listPacks()) {
    for (const part of ['pack', 'index'] as const) {
      const access = memory.objects.open(pack, part);
      const file = join(directory, 'objects/pack', `pack-${pack.id}.${part === 'pack' ? 'pack' : 'idx'}`);
      writeFileSync(file, await access.read(0, access.size));
    }
  }
  for (const ref of (await memory.refs.all()).refs) git('update-ref', ref.name, ref.oid);
  return git;
}

describe('commits through the API', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lemnos-git-'));
  let memory: MemoryRepository;
  let repository: GitRepository;
  const open = (ports: { objects: ObjectDatabase; refs: RefDatabase } = memory) =>
    new GitRepository({ objects: ports.objects, refs: ports.refs, store: new PackStore(ports.objects) });
  const request = (rest: Partial<CommitRequest>): CommitRequest => ({
    branch: MAIN,
    expected: ZERO_OID,
    actions: [{ action: 'create', path: 'README', content: bytes('hello\n') }],
    author,
    committer,
    message: 'first',
    ...rest,
  });

  beforeEach(() => {
    memory = new MemoryRepository();
    repository = open();
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('a commit is byte for byte that of git', async () => {
    const made = await repository.commitChanges(request({ message: 'first\n\nwith ü and no end of line' }));
    using fixture = new GitFixture();
    const blob = fixture.feed('hello\n', 'hash-object', '-w', '--stdin').trim();
    fixture.git('update-index', '--add', '--cacheinfo', `100644,${blob},README`);
    const tree = fixture.git('write-tree').trim();
    const message = Buffer.from('first\n\nwith ü and no end of line').toString('latin1');
    expect(made.commit).toBe(fixture.feed(message, 'commit-tree', tree).trim());
    expect(made.tree).toBe(tree);
  });

  test('the first commit of an empty repository sets HEAD, later branches do not', async () => {
    const first = await repository.commitChanges(request({ branch: TRUNK }));
    expect(await memory.refs.head()).toBe(TRUNK);
    await repository.commitChanges(
      request({ branch: MAIN, parent: first.commit, actions: [{ action: 'delete', path: 'README' }] }),
    );
    await repository.commitChanges(
      request({ branch: parseRefName('refs/heads/orphan')!, message: 'no parents' }),
    );
    expect(await memory.refs.head()).toBe(TRUNK);
    expect((await repository.resolve('HEAD'))?.commit).toBe(first.commit);
  });

  test('git reads the written commits', async () => {
    let tip: Oid = ZERO_OID;
    for (let n = 0; n < 5; n++) {
      const made = await repository.commitChanges(
        request({
          expected: tip,
          ...(tip === ZERO_OID ? {} : { parent: tip }),
          actions: [
            { action: 'create', path: `dir/${n}/file`, content: bytes(`${n}\n`), executable: n === 3 },
          ],
          message: `commit ${n}`,
        }),
      );
      expect(made.previous).toBe(tip);
      tip = made.commit;
    }
    const tag = await repository.createAnnotatedTag({
      name: parseRefName('refs/tags/v1')!,
      target: tip,
      tagger: author,
      message: 'one\n',
    });
    const git = await asGitDirectory(memory, directory);
    git('fsck', '--strict', '--full');
    expect(git('log', '--format=%s', 'main').trim().split('\n')).toEqual(
      [4, 3, 2, 1, 0].map((n) => `commit ${n}`),
    );
    expect(git('ls-tree', '-r', '--format=%(objectmode) %(path)', 'main')).toContain('100755 dir/3/file');
    expect(git('tag', '-n', '--list').trim()).toMatch(/^v1 +one$/);
    expect(await repository.resolve('v1')).toMatchObject({
      commit: tip,
      tag: { oid: tag, message: 'one\n' },
    });
    expect((await memory.refs.get([parseRefName('refs/tags/v1')!])).values().next().value).toMatchObject({
      peeled: tip,
    });
  });

  test('existing objects are not stored again', async () => {
    const first = await repository.commitChanges(request({}));
    await repository.commitChanges(
      request({
        expected: first.commit,
        parent: first.commit,
        actions: [{ action: 'move', from: 'README', path: 'd/R' }],
        message: '2',
      }),
    );
    const [newest] = await memory.objects.listPacks();
    expect(newest!.objectCount).toBe(3);
    const second = (await repository.resolve('main'))!.commit;
    await repository.commitChanges(
      request({
        expected: second,
        parent: second,
        actions: [{ action: 'move', from: 'd/R', path: 'README' }],
        message: '3',
      }),
    );
    expect((await memory.objects.listPacks())[0]!.objectCount).toBe(1);
  });

  test('refusals change nothing', async () => {
    const first = await repository.commitChanges(request({}));
    const packs = await memory.objects.listPacks();
    const on = { expected: first.commit, parent: first.commit };
    const same = [{ action: 'update' as const, path: 'README', content: bytes('hello\n') }];
    await expect(repository.commitChanges(request({ ...on, actions: same }))).rejects.toThrow(
      NothingToCommit,
    );
    await expect(repository.commitChanges(request(on))).rejects.toThrow(EditError);
    await expect(repository.commitChanges(request({}))).rejects.toThrow(RefConflict);
    await expect(
      repository.commitChanges(
        request({ ...on, branch: parseRefName('refs/heads/none')!, actions: same, allowEmpty: true }),
      ),
    ).rejects.toThrow(RefConflict);
    await expect(
      repository.commitChanges(request({ branch: TRUNK, parent: '1'.repeat(40) as Oid })),
    ).rejects.toThrow(ObjectMissing);
    await expect(
      repository.commitChanges(
        request({
          branch: parseRefName('refs/heads/main/below')!,
          parent: first.commit,
          actions: [],
          allowEmpty: true,
        }),
      ),
    ).rejects.toMatchObject({ rejections: [{ reason: 'prefix-conflict' }] });
    expect(await memory.objects.listPacks()).toEqual(packs);
    expect((await memory.refs.all()).refs).toMatchObject([{ name: MAIN, oid: first.commit }]);
    const empty = await repository.commitChanges(request({ ...on, actions: same, allowEmpty: true }));
    expect(empty.tree).toBe(first.tree);
  });

  test('commits pass the same checks as pushes', async () => {
    const gitmodules = '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=evil\n';
    const evil = { action: 'create' as const, path: '.gitmodules', content: bytes(gitmodules) };
    await expect(repository.commitChanges(request({ actions: [evil] }))).rejects.toThrow(UnsoundObjects);
    // Whether the content was stored under another name does not matter.
    const notes = parseRefName('refs/heads/notes')!;
    const named = await repository.commitChanges(
      request({ branch: notes, actions: [{ ...evil, path: 'notes' }] }),
    );
    const move = { action: 'move' as const, path: '.gitmodules', from: 'notes' };
    for (const action of [evil, move])
      await expect(
        repository.commitChanges(
          request({ branch: notes, expected: named.commit, parent: named.commit, actions: [action] }),
        ),
      ).rejects.toThrow(UnsoundObjects);
    const honest = { ...evil, content: bytes(gitmodules.replace('--upload-pack=evil', '../other')) };
    await repository.commitChanges(request({ actions: [honest] }));
    expect((await memory.refs.all()).refs).toHaveLength(2);
  });

  test('force moves the branch to another base', async () => {
    const first = await repository.commitChanges(request({}));
    const on = { expected: first.commit, parent: first.commit };
    const second = await repository.commitChanges(
      request({ ...on, actions: [{ action: 'delete', path: 'README' }] }),
    );
    const again = {
      expected: second.commit,
      parent: first.commit,
      actions: [{ action: 'create' as const, path: 'x', content: bytes('') }],
    };
    await expect(repository.commitChanges(request(again))).rejects.toThrow(RefConflict);
    const forced = await repository.commitChanges(request({ ...again, force: true }));
    expect((await repository.commit(forced.commit)).parents).toEqual([first.commit]);
    expect((await repository.resolve('main'))?.commit).toBe(forced.commit);
  });

  test('a lost race is retried if the other writer changed other paths, else refused', async () => {
    const first = await repository.commitChanges(request({}));
    const on = { expected: first.commit, parent: first.commit };
    const other = await open().commitChanges(
      request({ ...on, actions: [{ action: 'create', path: 'other', content: bytes('') }] }),
    );
    const late = await repository.commitChanges(
      request({ ...on, actions: [{ action: 'update', path: 'README', content: bytes('late\n') }] }),
    );
    expect(late.attempts).toBe(2);
    expect((await repository.commit(late.commit)).parents).toEqual([other.commit]);
    const clash = request({
      ...on,
      actions: [{ action: 'update', path: 'README', content: bytes('clash\n') }],
    });
    await expect(repository.commitChanges(clash)).rejects.toMatchObject({
      rejections: [{ reason: 'stale' }],
    });
    const reading = request({
      ...on,
      actions: [{ action: 'create', path: 'z', content: bytes('') }],
      reads: ['README'],
    });
    await expect(repository.commitChanges(reading)).rejects.toThrow(RefConflict);
    expect((await repository.commitChanges({ ...reading, reads: ['absent'] })).attempts).toBe(2);
    await expect(
      repository.commitChanges(
        request({
          ...on,
          actions: [{ action: 'create', path: 'y', content: bytes('') }],
          retry: { attempts: 1 },
        }),
      ),
    ).rejects.toThrow(RefConflict);
  });

  test('fifty concurrent writers of distinct files all commit', async () => {
    const first = await repository.commitChanges(request({}));
    // Each port answers with a delay, as over a network.
    const slow: { objects: ObjectDatabase; refs: RefDatabase } = {
      objects: {
        listPacks: (options) => memory.objects.listPacks(options),
        open: (pack, part) => memory.objects.open(pack, part),
        rollbackPack: (pack) => memory.objects.rollbackPack(pack),
        newPack: async (content, about) => {
          await setTimeout(1 + Math.random() * 10);
          return memory.objects.newPack(content, about);
        },
      },
      refs: {
        all: (options) => memory.refs.all(options),
        view: (options) => memory.refs.view(options),
        page: (query) => memory.refs.page(query),
        get: async (names) => {
          await setTimeout(1 + Math.random() * 5);
          return memory.refs.get(names);
        },
        head: () => memory.refs.head(),
        headRef: () => memory.refs.headRef(),
        pinned: () => memory.refs.pinned(),
        recentTips: () => memory.refs.recentTips(),
        compareAndSwap: async (updates, options) => {
          await setTimeout(1 + Math.random() * 5);
          await memory.refs.compareAndSwap(updates, options);
          await setTimeout(1 + Math.random() * 5);
        },
      },
    };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        open(slow).commitChanges(
          request({
            expected: first.commit,
            parent: first.commit,
            actions: [{ action: 'create', path: `writers/${n}`, content: bytes(`${n}`) }],
            message: `writer ${n}`,
            // As often as anybody tries, but for so long as it takes.
            retry: { timeoutMs: 300_000 },
          }),
        ),
      ),
    );
    const accepted = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value.commit] : [],
    );
    expect(accepted.length).toBeGreaterThanOrEqual(48);
    const tip = (await repository.resolve('main'))!.commit;
    const log = await repository.log({ tips: [tip], limit: 100 });
    expect(
      log
        .map((commit) => commit.oid)
        .filter((oid) => oid !== first.commit)
        .sort(),
    ).toEqual(accepted.sort());
    const listed = await repository.listTree(tip, { path: 'writers', limit: 100 });
    expect(listed!.entries).toHaveLength(accepted.length);
  });

  test('refs are created and deleted conditionally', async () => {
    const first = await repository.commitChanges(request({}));
    await repository.createRef(TRUNK, first.commit);
    await expect(repository.createRef(TRUNK, first.commit)).rejects.toMatchObject({
      rejections: [{ reason: 'exists' }],
    });
    await expect(repository.createRef(parseRefName('refs/heads/x')!, '2'.repeat(40) as Oid)).rejects.toThrow(
      ObjectMissing,
    );
    await expect(repository.deleteRef(TRUNK, '2'.repeat(40) as Oid)).rejects.toThrow(RefConflict);
    await repository.deleteRef(TRUNK, first.commit);
    expect(await repository.ref(TRUNK)).toBeUndefined();
  });

  test('objects in garbage packs are resurrected before a ref refers to them', async () => {
    const first = await repository.commitChanges(request({}));
    const second = await repository.commitChanges(
      request({
        expected: first.commit,
        parent: first.commit,
        actions: [{ action: 'create', path: 'new', content: bytes('kept?') }],
        message: '2',
      }),
    );
    await memory.refs.compareAndSwap([{ name: MAIN, from: second.commit, to: first.commit }]);
    memory.relist(([newest, ...rest]) => [{ ...newest!, source: 'unreachable-garbage' }, ...rest]);
    repository = open();
    await repository.createRef(TRUNK, second.commit);
    const again = await repository.commitChanges(
      request({
        expected: first.commit,
        parent: first.commit,
        actions: [{ action: 'create', path: 'new', content: bytes('kept?') }],
        message: '3',
      }),
    );
    memory.relist((packs) => packs.filter((pack) => pack.source !== 'unreachable-garbage'));
    repository = open();
    const record = await repository.entryAt(again.commit, 'new');
    expect(Buffer.from((await repository.readBlob(record!.id))!).toString()).toBe('kept?');
    expect((await repository.commit(second.commit)).message).toBe('2');
    expect(await repository.entryAt(second.commit, 'new')).toEqual(record);
  });
});
