/** What conflicts besides lines of texts: links, modules, modes, files that both sides add, move or delete. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world, as } = ownWorld();

const file = (name: string, text: string, mode = '100644') =>
  `M ${mode} inline ${name}\ndata ${text.length}\n${text}\n`;
const link = (name: string, to: string) => file(name, to, '120000');
const module = (name: string, digit: string) => `M 160000 ${digit.repeat(40)} ${name}\n`;
const LINES = '1\n2\n3\n4\n5\n6\n';

const BASE = [
  file('edited.txt', LINES),
  file('run.sh', LINES),
  file('gone.txt', LINES),
  file('old.txt', `${LINES}7\n8\n`),
  link('link', 'edited.txt'),
  module('module', 'a'),
].join('');

/** Both sides of a merge, and the files in conflict: none where it merges. */
const CASES: Readonly<Record<string, readonly [ours: string, theirs: string, conflicts: readonly string[]]>> =
  {
    'a module is moved to two commits': [module('module', 'b'), module('module', 'c'), ['module']],
    'a module is moved and removed': [module('module', 'b'), 'D module\n', ['module']],
    'a link is led to two places': [link('link', 'run.sh'), link('link', 'old.txt'), ['link']],
    'a file is edited and becomes a link': [
      file('edited.txt', `${LINES}7\n`),
      link('edited.txt', 'run.sh'),
      ['edited.txt'],
    ],
    'both add a file': [file('new.txt', 'one\n'), file('new.txt', 'two\n'), ['new.txt']],
    'both add a link': [link('new', 'run.sh'), link('new', 'old.txt'), ['new']],
    'both add the same': [file('new.txt', 'one\n'), file('new.txt', 'one\n') + file('more.txt', 'm\n'), []],
    'one edits what the other deletes': [file('gone.txt', `0\n${LINES}`), 'D gone.txt\n', ['gone.txt']],
    'one makes executable what the other edits': [
      file('run.sh', LINES, '100755'),
      file('run.sh', `0\n${LINES}`),
      [],
    ],
    'both move a file': [
      'R old.txt here.txt\n',
      'R old.txt there.txt\n',
      ['here.txt', 'old.txt', 'there.txt'],
    ],
  };
const names = Object.keys(CASES);

let project: Pushed;
let path: string;
beforeAll(async () => {
  const owner = { username: 'owner', token: world.tokens.owner! };
  const commit = (branch: string, changes: string, from = '') =>
    `commit refs/heads/${branch}\ncommitter C <c@example.com> 1600000000 +0000\ndata 1\nx\n${from}${changes}\n`;
  project = await pushedProject(service, owner, 'kinds', (git) => {
    const sides = names.flatMap((name, i) => {
      const [ours, theirs] = CASES[name]!;
      const from = 'from refs/heads/main\n';
      return [commit(`ours-${i}`, ours, from), commit(`theirs-${i}`, theirs, from)];
    });
    git.feed([commit('main', BASE), ...sides].join(''), 'fast-import', '--quiet');
  });
  path = `/projects/${project.id}`;
});
afterAll(() => project.git[Symbol.dispose]());

/** The files in conflict, as git names them, without the second name that it gives a file beside a link. */
function conflictsOf(ours: string, theirs: string): string[] {
  const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', ours, theirs];
  const { status, stdout } = spawnSync('git', args, { cwd: project.git.directory, encoding: 'utf8' });
  expect([0, 1]).toContain(status);
  const [, ...rest] = stdout.trimEnd().split('\n');
  const names = rest.filter((line) => line !== '').map((line) => line.replace(/~(?:ours|theirs)-\d+$/, ''));
  return status === 0 ? [] : [...new Set(names)];
}

test.each(names)('%s: what conflicts is told with its files, and not merged', async (name) => {
  const i = names.indexOf(name);
  const [, , expected] = CASES[name]!;
  const branches = { source_branch: `theirs-${i}`, target_branch: `ours-${i}` };
  expect(conflictsOf(branches.target_branch, branches.source_branch)).toEqual(expected);
  const { body: made } = await as('owner', 'POST', `${path}/merge_requests`, { title: name, ...branches });
  const at = `${path}/merge_requests/${made.iid}`;
  const { body: shown } = await as('owner', 'GET', at);
  const isClean = expected.length === 0;
  expect([shown.merge_status, shown.has_conflicts, (shown.conflicts ?? []).toSorted()]).toEqual([
    isClean ? 'can_be_merged' : 'cannot_be_merged',
    !isClean,
    expected,
  ]);
  const { status, body } = await as('owner', 'PUT', `${at}/merge`, { should_remove_source_branch: false });
  const tip = (await as('owner', 'GET', `${path}/repository/branches/ours-${i}`)).body.commit.id;
  if (isClean) expect([status, body.merge_commit_sha]).toEqual([200, tip]);
  else {
    expect([status, body]).toEqual([406, { message: 'Branch cannot be merged' }]);
    expect(tip).toBe(project.git.oid(`ours-${i}`));
  }
});
