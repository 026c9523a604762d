/** Where notes on former versions of a merge request are in the latest one. */

import { type Tracing, traced } from '../../git/diff/line-map.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { decodePath } from '../../git/tree/path.ts';
import type { VersionCommits } from '../../records/merge-requests.ts';
import type { DiffRefs, NotePosition, PlacedLine, PlaceInFile } from '../../records/notes.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { bounded, codeOf } from '../repository/read.ts';
import { isFormer } from './former-position.ts';
import { type ChangedFile, fileIn, lineCode, lineMapOf } from './positions.ts';

/** Files that are traced for one answer, each in each version that has notes; the notes on others stay where they were written. */
export const MAX_TRACED = 30;

/**
 * Returns the positions in the order given, in the latest version where the same lines are still there; otherwise as they
 * were written: the commits then tell that they are outdated.
 */
export async function latestPositions<P extends NotePosition | undefined>(
  deps: Deps,
  access: ProjectAccess,
  latest: VersionCommits,
  positions: readonly P[],
): Promise<(NotePosition | P)[]> {
  const { baseSha } = latest;
  if (baseSha === null) return [...positions];
  const git = codeOf(deps, access);
  const refs: DiffRefs = { baseSha, startSha: latest.startSha, headSha: latest.headSha };
  const files = await bounded(() => git.changedFiles(baseSha as Oid, latest.headSha as Oid));
  const paths = (file: ChangedFile) => ({
    oldPath: decodePath(file.oldPath),
    newPath: decodePath(file.newPath),
  });
  const byNewPath = new Map(files.map((file) => [paths(file).newPath, file]));
  const byOldPath = new Map(files.map((file) => [paths(file).oldPath, file]));
  const tracings = new Map<string, Promise<Tracing | undefined>>();
  const tracingOf = (position: NotePosition, file: ChangedFile): Promise<Tracing | undefined> => {
    const { baseSha: base, headSha, oldPath, newPath } = position;
    const key = JSON.stringify([base, headSha, oldPath, newPath]);
    const known = tracings.get(key);
    if (known !== undefined) return known;
    if (tracings.size >= MAX_TRACED) return Promise.resolve(undefined);
    const found = tracing(git, position, file);
    tracings.set(key, found);
    return found;
  };
  const shown: (NotePosition | P)[] = [];
  for (const position of positions) {
    const file =
      position === undefined || !isFormer(position, latest)
        ? undefined
        : (byNewPath.get(position.newPath) ?? byOldPath.get(position.oldPath));
    if (position === undefined || file === undefined) {
      shown.push(position);
      continue;
    }
    const at = { ...refs, ...paths(file) };
    const on =
      position.on.kind === 'text' ? moved(position.on, at, await tracingOf(position, file)) : position.on;
    shown.push(on === undefined ? position : { ...at, on });
  }
  return shown;
}

/** @returns undefined where a file is no text any more, or too large */
async function tracing(
  git: GitRepository,
  { baseSha, headSha, oldPath, newPath }: NotePosition,
  file: ChangedFile,
): Promise<Tracing | undefined> {
  const [oldId, newId] = await Promise.all([fileIn(git, baseSha, oldPath), fileIn(git, headSha, newPath)]);
  const [heads, bases, later] = await Promise.all([
    lineMapOf(git, { ...file, oldId: newId }),
    lineMapOf(git, { ...file, oldId, newId: file.oldId }),
    lineMapOf(git, file),
  ]);
  return heads && bases && later && { heads, bases, later };
}

function moved(
  { line, range }: Extract<PlaceInFile, { kind: 'text' }>,
  at: DiffRefs & Pick<NotePosition, 'oldPath' | 'newPath'>,
  through: Tracing | undefined,
): PlaceInFile | undefined {
  const placed = (before: PlacedLine): PlacedLine | undefined => {
    const found = through && traced(before, through);
    return found && { ...found, code: lineCode(at, through.later.numbersOf(found)!) };
  };
  const now = placed(line);
  if (now === undefined) return undefined;
  if (range === undefined) return { kind: 'text', line: now };
  const [start, end] = [placed(range.start), placed(range.end)];
  // Several lines of which one is lost are not the lines that the note is about.
  return start && end && { kind: 'text', line: now, range: { start, end } };
}
