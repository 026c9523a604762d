import { spawnSync } from 'node:child_process';
import type { Oid } from '../../lib/git/oid.ts';
import { type GitFixture, random } from './history-fixture.ts';

type File = { mode: string; data: string };
type Tree = Map<string, File>;
type Pick = (below: number) => number;

/** Two branches to be merged, by name. */
export type MergeCase = readonly [ours: string, theirs: string];

/**
 * Makes pairs of branches that changed the same few files: edits, moves, of whole directories too, copies, deletions,
 * changes of mode and type, files for directories and the other way round. Each third pair is a criss-cross,
 * with two merge bases. Files end in a newline: git before 2.43.2 ignores what follows the last newline when it
 * detects renames.
 */
export function generateMerges(fixture: GitFixture, seed: number, count: number): MergeCase[] {
  const pick = random(seed);
  const cases: MergeCase[] = [];
  let stream = '';
  let mark = 0;
  let clock = 1_600_000_000;
  const commit = (branch: string, parents: number[], tree: Tree): number => {
    clock += 10;
    stream += `commit refs/heads/${branch}\nmark :${++mark}\ncommitter C <c@example.com> ${clock} +0000\n${data(branch)}`;
    for (const [i, parent] of parents.entries()) stream += `${i === 0 ? 'from' : 'merge'} :${parent}\n`;
    stream += `deleteall\n${[...tree].map(rowOf).join('')}`;
    return mark;
  };
  for (let n = 0; n < count; n++) {
    const base = newTree(pick);
    const root = commit(`base${n}`, [], base);
    let [one, other] = [base, base];
    let [oneParent, otherParent] = [root, root];
    if (n % 3 === 2) {
      [one, other] = [edited(pick, base), edited(pick, base)];
      const [a, b] = [commit(`left${n}`, [root], one), commit(`right${n}`, [root], other)];
      [one, other] = [mixed(pick, one, other), mixed(pick, one, other)];
      oneParent = commit(`ours${n}`, [a, b], one);
      otherParent = commit(`theirs${n}`, [b, a], other);
    }
    commit(`ours${n}`, [oneParent], edited(pick, one));
    commit(`theirs${n}`, [otherParent], edited(pick, other));
    cases.push([`ours${n}`, `theirs${n}`]);
  }
  fixture.feed(stream, 'fast-import', '--quiet', '--force');
  return cases;
}

/**
 * Makes pairs of branches to be rebased, `target<n>` and `source<n>`: sources of several commits, some of them empty, some
 * merged from a side branch, some applied to the target as well; with messages and authors that are not plain.
 */
export function generateBranches(fixture: GitFixture, seed: number, count: number): void {
  const pick = random(seed);
  let stream = '';
  let mark = 0;
  let clock = 1_600_000_000;
  const commit = (branch: string, parents: number[], tree: Tree): number => {
    clock += 10;
    const message = MESSAGES[pick(MESSAGES.length)]!;
    const encoding = message.includes('\xe9') ? 'encoding ISO-8859-1\n' : '';
    stream += `commit refs/heads/${branch}\nmark :${++mark}\n`;
    const author = AUTHORS[encoding ? 0 : pick(AUTHORS.length)];
    stream += `author ${author} ${clock - 5} ${['+0000', '-0730', '+0545'][pick(3)]}\n`;
    stream += `committer C <c@example.com> ${clock} +0000\n${encoding}${data(message)}`;
    for (const [i, parent] of parents.entries()) stream += `${i === 0 ? 'from' : 'merge'} :${parent}\n`;
    stream += `deleteall\n${[...tree].map(rowOf).join('')}`;
    return mark;
  };
  for (let n = 0; n < count; n++) {
    const base = newTree(pick);
    const root = commit(`root${n}`, [], base);
    const steps: [before: Tree, after: Tree][] = [];
    let [head, tree] = [root, base];
    for (let i = 0; i < 1 + pick(4); i++) {
      const before = tree;
      tree = pick(6) ? edited(pick, tree, 1 + pick(2)) : tree;
      steps.push([before, tree]);
      head = commit(`source${n}`, [head], tree);
      if (pick(6) > 0) continue;
      const side = commit(`side${n}`, [root], edited(pick, base, 1));
      head = commit(`source${n}`, [head, side], tree);
    }
    let [targetHead, targetTree] = [root, base];
    for (let i = 0; i < pick(4); i++) {
      const [before, after] = steps[pick(steps.length)]!;
      targetTree = pick(3) ? edited(pick, targetTree, 1) : applied(targetTree, before, after);
      targetHead = commit(`target${n}`, [targetHead], targetTree);
    }
    if (targetHead === root) stream += `reset refs/heads/target${n}\nfrom :${root}\n\n`;
  }
  fixture.feed(stream, 'fast-import', '--quiet', '--force');
}

const MESSAGES = [
  'one\n',
  'no line end',
  '\n\nblank lines before\n\n\nand after\n\n',
  'caf\xe9\n',
  'a\n\n# b\n\nc: d\n',
];
const AUTHORS = ['A U Thor <a@example.com>', '\xc3\x89mile <e@example.com>', 'No Mail <>'];

/** The tree with the files that differ between two others as the second of them has them. */
function applied(tree: Tree, before: Tree, after: Tree): Tree {
  const result: Tree = new Map(tree);
  for (const path of before.keys()) if (!after.has(path)) result.delete(path);
  for (const [path, file] of after) if (before.get(path) !== file) put(result, path, file);
  return result;
}

function rowOf([path, file]: [string, File]): string {
  if (file.mode === '160000') return `M 160000 ${file.data} ${path}\n`;
  return `M ${file.mode} inline ${path}\n${data(file.data)}`;
}

/** The result of git. */
export function gitMergeTree(fixture: GitFixture, ours: string, theirs: string) {
  const merge = ['merge-tree', '--write-tree', '--allow-unrelated-histories', ours, theirs];
  const { status, stdout, stderr } = spawnSync('git', merge, {
    cwd: fixture.directory,
    env: { PATH: process.env['PATH'], HOME: fixture.directory, GIT_CONFIG_NOSYSTEM: '1' },
  });
  if (status !== 0 && status !== 1) throw new Error(`git merge-tree: ${stderr}`);
  return { clean: status === 0, tree: stdout.toString('latin1').slice(0, 40) as Oid };
}

const PATHS = [
  'a',
  'b.txt',
  'dir/a',
  'dir/b.txt',
  'dir/sub/c',
  'lib/x.ts',
  'lib/y.ts',
  'link',
  'module',
  'z/z',
];
const NEW_PATHS = [
  'c',
  'dir/c',
  'lib/z.ts',
  'new/x.ts',
  'new/b.txt',
  'other/sub/c',
  'dir',
  'lib/x.ts/in',
  'z',
];

function newTree(pick: Pick): Tree {
  const tree: Tree = new Map();
  for (const path of PATHS) {
    if (pick(5) === 0) continue;
    if (path === 'link') tree.set(path, { mode: '120000', data: 'target' });
    else if (path === 'module') tree.set(path, { mode: '160000', data: '1'.repeat(40) });
    else tree.set(path, { mode: pick(5) ? '100644' : '100755', data: newText(pick) });
  }
  return tree;
}

function newText(pick: Pick): string {
  if (pick(15) === 0) return `\0${pick(1000)}\n`;
  return Array.from({ length: 4 + pick(25) }, () => line(pick)).join('');
}

function line(pick: Pick): string {
  const words = ['begin', 'end', '}', '', '  return x;', 'call(a, b);'];
  return `${words[pick(words.length)]}${pick(3) ? pick(30) : ''}\n`;
}

function edited(pick: Pick, before: Tree, edits = 1 + pick(4)): Tree {
  const tree = new Map(before);
  for (let i = 0; i < edits; i++) {
    const path = [...tree.keys()][pick(tree.size)];
    if (path === undefined) break;
    const file = tree.get(path)!;
    const to = NEW_PATHS[pick(NEW_PATHS.length)]!;
    const roll = pick(15);
    if (roll < 4) tree.set(path, changed(pick, file));
    else if (roll < 6) move(tree, path, to, file);
    else if (roll === 6) move(tree, path, to, changed(pick, file));
    else if (roll === 7) tree.delete(path);
    else if (roll === 8) put(tree, to, changed(pick, file));
    else if (roll === 9) put(tree, to, { mode: '100644', data: newText(pick) });
    else if (roll === 10 && file.mode.startsWith('100')) {
      tree.set(path, { ...file, mode: file.mode === '100644' ? '100755' : '100644' });
    } else if (roll === 12 || roll === 13) {
      moveDirectory(pick, tree, path);
    } else if (roll === 14) {
      const name = `${path.slice(0, path.lastIndexOf('/') + 1)}${['new', 'newer', 'x.ts'][pick(3)]}`;
      put(tree, name, { mode: '100644', data: newText(pick) });
    } else if (roll === 11 && pick(3) === 0) {
      tree.set(path, { mode: '120000', data: `to ${pick(3)}` });
    }
  }
  return tree;
}

function move(tree: Tree, from: string, to: string, file: File): void {
  tree.delete(from);
  put(tree, to, file);
}

/** Moves all files of the path's directory, or of the one above it, and a few of them elsewhere. */
function moveDirectory(pick: Pick, tree: Tree, path: string): void {
  const parts = path.split('/').slice(0, -1);
  const from = parts.slice(0, pick(2) ? parts.length : 1).join('/');
  if (from === '') return;
  const to = ['moved', 'moved/deep', 'lib', 'dir', 'dir/sub', 'z2'][pick(6)]!;
  for (const [old, file] of [...tree]) {
    if (!old.startsWith(`${from}/`)) continue;
    const rest = old.slice(from.length + 1);
    const target = pick(6) ? `${to}/${rest}` : pick(2) ? `apart/${rest}` : rest;
    tree.delete(old);
    put(tree, target, pick(4) ? file : changed(pick, file));
  }
}

/** A possible merge result, with conflicts resolved arbitrarily. */
function mixed(pick: Pick, one: Tree, other: Tree): Tree {
  const tree: Tree = new Map(one);
  for (const [path, file] of other) if (pick(2) === 0) put(tree, path, file);
  for (const path of one.keys()) if (!other.has(path) && pick(2) === 0) tree.delete(path);
  return tree;
}

function changed(pick: Pick, file: File): File {
  if (file.mode === '120000') return { ...file, data: `to ${pick(3)}` };
  if (file.mode === '160000') return { ...file, data: String(1 + pick(4)).repeat(40) };
  const lines = file.data.split(/(?<=\n)/);
  for (let i = 0; i < 1 + pick(3); i++) {
    lines.splice(pick(lines.length + 1), pick(3), ...Array.from({ length: pick(4) }, () => line(pick)));
  }
  return { ...file, data: lines.join('') };
}

function put(tree: Tree, path: string, file: File): void {
  for (const other of tree.keys()) {
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) tree.delete(other);
  }
  tree.set(path, file);
}

function data(text: string): string {
  return `data ${text.length}\n${text}\n`;
}
