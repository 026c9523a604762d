import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EditAction, editTree } from '../../lib/git/edit.ts';
import { EditError, type EditErrorCode } from '../../lib/git/edit-errors.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { EMPTY_TREE, type Oid } from '../../lib/git/oid.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { hashObject } from '../../lib/git/parse.ts';
import { buildPack } from '../harness/build-pack.ts';
import { GitFixture } from './history-fixture.ts';

const bytes = (text: string) => Buffer.from(text);

describe('editing trees', () => {
  const fixture = new GitFixture();
  let store: PackStore;
  let root: Oid;

  beforeAll(async () => {
    const blob = (text: string) => fixture.feed(text, 'hash-object', '-w', '--stdin').trim();
    const rows = [
      `100644 ${blob('read me')}\tREADME`,
      `100755 ${blob('#!/bin/sh\n')}\tbin/run`,
      `100644 ${blob('b')}\ta.b`,
      `100644 ${blob('only')}\ta/deep/er/only`,
      `100644 ${blob('x')}\ta/x`,
      `120000 ${blob('README')}\tlink`,
      `160000 ${'1'.repeat(40)}\tsub`,
    ];
    fixture.feed(`${rows.join('\n')}\n`, 'update-index', '--index-info');
    root = fixture.git('write-tree').trim() as Oid;
    fixture.git('update-ref', 'refs/heads/main', fixture.git('commit-tree', '-m', 'base', root).trim());
    ({ store } = await fixture.load());
  });
  afterAll(() => fixture[Symbol.dispose]());

  /** Stores every object of the result with git, which checks every tree. */
  async function edited(...actions: EditAction[]): Promise<string[]> {
    const { tree, objects } = await editTree(store, root, actions);
    for (const { type, oid, data } of objects) {
      const text = Buffer.from(data).toString('latin1');
      expect(fixture.feed(text, 'hash-object', '-w', '--stdin', '-t', type).trim()).toBe(oid);
    }
    fixture.git('fsck', '--strict', '--no-dangling', tree);
    return fixture.lines('ls-tree', '-r', '--format=%(objectmode) %(path)', tree);
  }
  const before = [
    '100644 README',
    '100644 a.b',
    '100644 a/deep/er/only',
    '100644 a/x',
    '100755 bin/run',
    '120000 link',
    '160000 sub',
  ];

  test('create, with parent directories', async () => {
    const rows = await edited(
      { action: 'create', path: 'new/dir/file', content: bytes('1') },
      { action: 'create', path: 'a-b', content: bytes('') },
      { action: 'create', path: 'new/run', content: bytes('2'), executable: true },
    );
    expect(rows).toEqual(
      [...before, '100644 a-b', '100644 new/dir/file', '100755 new/run'].sort((a, b) =>
        a.slice(7) < b.slice(7) ? -1 : 1,
      ),
    );
  });

  test('update keeps the mode', async () => {
    expect(await edited({ action: 'update', path: 'bin/run', content: bytes('#!/bin/false\n') })).toEqual(
      before,
    );
  });

  test('a directory is removed with its last file, and so are empty parents', async () => {
    expect(await edited({ action: 'delete', path: 'a/deep/er/only' })).toEqual(
      before.filter((r) => !r.includes('only')),
    );
    const { tree } = await editTree(store, root, [
      { action: 'delete', path: 'a/deep/er/only' },
      { action: 'delete', path: 'a/x' },
    ]);
    expect(fixture.lines('ls-tree', '--name-only', root)).toContain('a');
    await edited({ action: 'delete', path: 'a/deep/er/only' }, { action: 'delete', path: 'a/x' });
    expect(fixture.lines('ls-tree', '--name-only', tree)).not.toContain('a');
  });

  test('deleting everything leaves the empty tree', async () => {
    const actions = before.map((row): EditAction => ({ action: 'delete', path: row.slice(7) }));
    expect((await editTree(store, root, actions)).tree).toBe(EMPTY_TREE);
  });

  test('move keeps content and mode, or sets new content', async () => {
    const run = fixture.oid(`${root}:bin/run`);
    const { tree } = await editTree(store, root, [{ action: 'move', from: 'bin/run', path: 'tools/run' }]);
    await edited({ action: 'move', from: 'bin/run', path: 'tools/run' });
    expect(fixture.lines('ls-tree', '-r', tree, 'tools')).toEqual([`100755 blob ${run}\ttools/run`]);
    expect(await edited({ action: 'move', from: 'a/x', path: 'a/x/y/z', content: bytes('') })).toContain(
      '100644 a/x/y/z',
    );
    expect(await edited({ action: 'move', from: 'a/deep/er/only', path: 'a/deep/er/other' })).toContain(
      '100644 a/deep/er/other',
    );
    expect(await edited({ action: 'move', from: 'sub', path: 'mod/sub' })).toContain('160000 mod/sub');
  });

  test('chmod', async () => {
    expect(await edited({ action: 'chmod', path: 'README', executable: true })).toContain('100755 README');
    expect(await edited({ action: 'chmod', path: 'bin/run', executable: false })).toContain('100644 bin/run');
  });

  test('each action applies to the result of those before it', async () => {
    const rows = await edited(
      { action: 'delete', path: 'README' },
      { action: 'create', path: 'README/now/a/directory', content: bytes('x') },
      { action: 'move', from: 'a/x', path: 'y' },
      { action: 'create', path: 'a/x', content: bytes('again') },
      { action: 'update', path: 'y', content: bytes('moved') },
      { action: 'chmod', path: 'y', executable: true },
    );
    expect(rows).toEqual(expect.arrayContaining(['100644 README/now/a/directory', '100644 a/x', '100755 y']));
  });

  test('edits without effect give the same tree', async () => {
    expect((await editTree(store, root, [])).tree).toBe(root);
    expect((await editTree(store, root, [{ action: 'chmod', path: 'README', executable: false }])).tree).toBe(
      root,
    );
    const back: EditAction[] = [
      { action: 'create', path: 'n/m', content: bytes('') },
      { action: 'delete', path: 'n/m' },
    ];
    expect((await editTree(store, root, back)).tree).toBe(root);
  });

  const content = bytes('');
  const refused: [EditErrorCode, EditAction][] = [
    ['exists', { action: 'create', path: 'README', content }],
    ['exists', { action: 'create', path: 'sub', content }],
    ['exists', { action: 'move', from: 'a.b', path: 'README' }],
    ['exists', { action: 'move', from: 'a.b', path: 'a.b' }],
    ['directory-exists', { action: 'create', path: 'a', content }],
    ['directory-exists', { action: 'create', path: 'a/deep', content }],
    ['directory-exists', { action: 'move', from: 'a.b', path: 'a' }],
    ['missing', { action: 'update', path: 'no', content }],
    ['missing', { action: 'update', path: 'a', content }],
    ['missing', { action: 'update', path: 'README/x', content }],
    ['missing', { action: 'delete', path: 'a/deep' }],
    ['missing', { action: 'delete', path: 'no/such/file' }],
    ['missing', { action: 'delete', path: '.git/config' }],
    ['missing', { action: 'move', from: 'no', path: 'yes' }],
    ['missing', { action: 'chmod', path: 'no', executable: true }],
    ['parent-is-file', { action: 'create', path: 'README/x/y', content }],
    ['parent-is-file', { action: 'create', path: 'sub/x', content }],
    ['parent-is-file', { action: 'move', from: 'a.b', path: 'link/x' }],
    ['not-a-regular-file', { action: 'update', path: 'sub', content }],
    ['not-a-regular-file', { action: 'chmod', path: 'link', executable: true }],
    ['not-a-regular-file', { action: 'move', from: 'sub', path: 'n', content }],
    ['invalid-path', { action: 'create', path: 'a/../b', content }],
    ['invalid-path', { action: 'create', path: '.GIT/hooks/x', content }],
    ['invalid-path', { action: 'move', from: '../a', path: 'b' }],
    ['invalid-path', { action: 'delete', path: '' }],
  ];
  test.each(refused)('%s: %o', async (code, action) => {
    const error = await editTree(store, root, [{ action: 'create', path: 'fine', content }, action]).catch(
      (e) => e,
    );
    expect(error).toBeInstanceOf(EditError);
    expect(error).toMatchObject({ code, index: 1 });
  });

  test('any sequence of actions gives the same tree as a map of paths, with the id of git', async () => {
    const path = fc.constantFrom(
      'README',
      'a',
      'a.b',
      'a-',
      'a/x',
      'a/x/y',
      'a/deep',
      'a/deep/er/only',
      'z/é',
      'sub/x',
      'bin/run',
    );
    const action = fc.oneof(
      fc.record({ action: fc.constant('create' as const), path, content: fc.uint8Array({ maxLength: 3 }) }),
      fc.record({ action: fc.constant('update' as const), path, content: fc.uint8Array({ maxLength: 3 }) }),
      fc.record({ action: fc.constant('delete' as const), path }),
      fc.record({ action: fc.constant('move' as const), path, from: path }),
      fc.record({ action: fc.constant('chmod' as const), path, executable: fc.boolean() }),
    );
    const start = new Map(
      fixture
        .lines('ls-tree', '-r', root)
        .map((row) => [row.split('\t')[1]!, { mode: row.slice(0, 6), oid: row.split(/[ \t]/)[2]! }]),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 8 }), async (candidates) => {
        const model = new Map(start);
        const actions: EditAction[] = [];
        for (const candidate of candidates) {
          const accepted = applyToModel(model, candidate);
          if (accepted) actions.push(candidate);
          else await expect(editTree(store, root, [...actions, candidate])).rejects.toThrow(EditError);
        }
        const { tree } = await editTree(store, root, actions);
        expect(tree).toBe(treeOf(model));
      }),
      { numRuns: 300 },
    );
    // The model's ids are those of git.
    const rows = [...start].map(([name, { mode, oid }]) => `${mode} ${oid}\t${name}\n`).join('');
    fixture.git('read-tree', '--empty');
    fixture.feed(rows, 'update-index', '--index-info');
    expect(fixture.git('write-tree').trim()).toBe(treeOf(start));
  });
});

type Model = Map<string, { mode: string; oid: string }>;

/** The same rules on a flat map. @returns whether the action was allowed */
function applyToModel(model: Model, action: EditAction): boolean {
  const target = new Map(model);
  const old = model.get(action.action === 'move' ? action.from : action.path);
  if (action.action !== 'create' && !old) return false;
  if (action.action === 'move') {
    if (action.from === action.path) return false;
    target.delete(action.from);
  }
  if (action.action === 'create' || action.action === 'move') {
    for (const path of target.keys()) {
      if (path === action.path || path.startsWith(`${action.path}/`) || action.path.startsWith(`${path}/`))
        return false;
    }
    const oid = action.action === 'create' ? hashObject('blob', action.content) : old!.oid;
    target.set(action.path, { mode: old?.mode ?? '100644', oid });
    if (action.action === 'create') target.set(action.path, { mode: '100644', oid });
  } else if (action.action === 'update') {
    target.set(action.path, { mode: old!.mode, oid: hashObject('blob', action.content) });
  } else if (action.action === 'delete') target.delete(action.path);
  else target.set(action.path, { mode: action.executable ? '100755' : '100644', oid: old!.oid });
  model.clear();
  for (const [path, file] of target) model.set(path, file);
  return true;
}

/** Tree ids from a flat map, by grouping. */
function treeOf(model: Model): string {
  const rows = new Map<string, Buffer>();
  const below = new Map<string, Model>();
  const row = (mode: string, name: string, oid: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);
  for (const [path, file] of model) {
    const [name, ...rest] = path.split('/') as [string, ...string[]];
    if (rest.length === 0) rows.set(name, row(file.mode, name, file.oid));
    else below.set(name, (below.get(name) ?? new Map()).set(rest.join('/'), file));
  }
  for (const [name, files] of below) rows.set(`${name}/`, row('40000', name, treeOf(files)));
  const sorted = [...rows].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return hashObject('tree', Buffer.concat(sorted.map(([, bytesOfRow]) => bytesOfRow)));
}

test('a file below 20,000 directories can be changed, though none can be created there', async () => {
  const DEPTH = 20_000;
  const chain = (content: string) => {
    const blob = { type: 'blob' as const, data: bytes(content) };
    const objects: { type: 'blob' | 'tree'; data: Buffer }[] = [blob];
    let entry = `100644 f\0`;
    let below = hashObject('blob', blob.data);
    for (let level = 0; level <= DEPTH; level++) {
      const data = Buffer.concat([bytes(entry), Buffer.from(below, 'hex')]);
      objects.push({ type: 'tree', data });
      below = hashObject('tree', data);
      entry = '40000 d\0';
    }
    return { objects, root: below };
  };
  const before = chain('old');
  const repository = new MemoryRepository();
  const { content, objectCount } = buildPack(before.objects);
  const pack = await repository.objects.newPack(content, { source: 'receive', objectCount });
  await repository.refs.compareAndSwap([], { packs: [pack] });
  const path = `${'d/'.repeat(DEPTH)}f`;
  const store = new PackStore(repository.objects);
  const edited = await editTree(store, before.root, [{ action: 'update', path, content: bytes('new') }]);
  expect(edited.tree).toBe(chain('new').root);
  const create = editTree(store, before.root, [{ action: 'create', path: `${path}2`, content: bytes('x') }]);
  await expect(create).rejects.toMatchObject({ code: 'invalid-path', problem: 'too-long' });
});
