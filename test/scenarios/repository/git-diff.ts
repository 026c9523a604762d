import { EMPTY_TREE } from '../../../lib/git/oid.ts';
import { decodePath, type RawPath } from '../../../lib/git/tree/path.ts';
import type { GitFixture } from '../../git/history-fixture.ts';

export interface ShownDiff {
  readonly old_path: string;
  readonly new_path: string;
  readonly a_mode: string;
  readonly b_mode: string;
  readonly new_file: boolean;
  readonly renamed_file: boolean;
  readonly deleted_file: boolean;
  readonly diff: string;
}

/** What `git diff` prints between two commits, file by file, as the interface is to show it. */
export function gitDiff(git: GitFixture, ...range: string[]): ShownDiff[] {
  const patches = git
    .git('diff', '--no-color', '-M', '-l1000', ...range)
    .split(/^(?=diff --git )/m)
    .filter(Boolean);
  const shown: ShownDiff[] = [];
  const raw = git.git('diff', '--raw', '-z', '--abbrev=40', '-M', '-l1000', ...range).split('\0');
  for (let i = 0; i < raw.length - 1; ) {
    const [a = '', b = '', , , status = ''] = raw[i++]!.slice(1).split(' ');
    const from = pathOf(raw[i++]!);
    const to = /^[RC]/.test(status) ? pathOf(raw[i++]!) : from;
    const common = { old_path: from, new_path: to, renamed_file: status.startsWith('R') };
    const modes = (old: string, after: string) => ({ a_mode: modeOf(old), b_mode: modeOf(after) });
    const next = () => textOf(patches.shift() ?? '');
    if (status === 'T') {
      shown.push({ ...common, ...modes(a, '0'), new_file: false, deleted_file: true, diff: next() });
      shown.push({ ...common, ...modes('0', b), new_file: true, deleted_file: false, diff: next() });
    } else {
      const [new_file, deleted_file] = [status === 'A', status === 'D'];
      shown.push({ ...common, ...modes(a, b), new_file, deleted_file, diff: next() });
    }
  }
  return shown;
}

/** Of a commit against its first parent. */
export function gitCommitDiff(git: GitFixture, commit: string): ShownDiff[] {
  const [parent = EMPTY_TREE] = git.git('rev-list', '--parents', '-1', commit).trim().split(' ').slice(1);
  return gitDiff(git, parent, commit);
}

const modeOf = (mode: string) => (/^0+$/.test(mode) ? '0' : mode);
const pathOf = (raw: string) => decodePath(raw as RawPath);

/** From the first hunk on; the sentence about binary files stands for its hunks. */
function textOf(patch: string): string {
  const text = /^((?:@@|Binary files) [\s\S]*)/m.exec(patch)?.[1] ?? '';
  const bytes = Buffer.from(text, 'latin1');
  const utf8 = bytes.toString('utf8');
  return Buffer.from(utf8).equals(bytes) ? utf8 : text;
}
