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
 * Returns the positions in the order given, in the latest version where their lines are still there, and whole files and
 * images are what they were; otherwise as they were written: the commits then tell that they are outdated.
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
  const byNewPath = new Map(files.map((file) => [pathsOf(file).newPath, file]));
  const byOldPath = new Map(files.map((file) => [pathsOf(file).oldPath, file]));
  const renamed = renamesTo(git, latest.headSha);
  const fileOf = async ({ oldPath, newPath, headSha }: NotePosition): Promise<ChangedFile | undefined> =>
    byNewPath.get(newPath) ??
    byOldPath.get(oldPath) ??
    byNewPath.get((await renamed(headSha)).get(newPath) ?? newPath);
  const lookups = new Map<string, Promise<Later | undefined>>();
  const laterOf = (position: NotePosition): Promise<Later | undefined> => {
    const { baseSha: base, headSha, oldPath, newPath, on } = position;
    const key = JSON.stringify([base, headSha, oldPath, newPath, on.kind === 'text']);
    const known = lookups.get(key);
    if (known !== undefined) return known;
    if (lookups.size >= MAX_TRACED) return Promise.resolve(undefined);
    const found = fileOf(position).then((file) => file && later(git, position, file));
    lookups.set(key, found);
    return found;
  };
  const shown: (NotePosition | P)[] = [];
  for (const position of positions) {
    const found = position === undefined || !isFormer(position, latest) ? undefined : await laterOf(position);
    if (position === undefined || found === undefined) {
      shown.push(position);
      continue;
    }
    const at = { ...refs, ...pathsOf(found.file) };
    const on = position.on.kind === 'text' ? moved(position.on, at, found.tracing) : position.on;
    shown.push(on === undefined ? position : { ...at, on });
  }
  return shown;
}

/** A file of a position as the latest version changes it. */
interface Later {
  readonly file: ChangedFile;
  /** Of a place in a text. */
  readonly tracing: Tracing | undefined;
}

const pathsOf = (file: ChangedFile) => ({
  oldPath: decodePath(file.oldPath),
  newPath: decodePath(file.newPath),
});

/** @returns undefined where a whole file or an image is not what it was */
async function later(
  git: GitRepository,
  position: NotePosition,
  file: ChangedFile,
): Promise<Later | undefined> {
  if (position.on.kind === 'text') return { file, tracing: await tracing(git, position, file) };
  const before = await fileIn(git, position.headSha, position.newPath);
  const isSame = before === file.newId && pathsOf(file).newPath === position.newPath;
  return isSame ? { file, tracing: undefined } : undefined;
}

/** Finds the new paths of files that were moved since a former head. They are looked for where nothing else finds a file. */
function renamesTo(git: GitRepository, headSha: string) {
  const known = new Map<string, Promise<ReadonlyMap<string, string>>>();
  const find = async (from: string): Promise<ReadonlyMap<string, string>> => {
    const files = await bounded(() => git.changedFiles(from as Oid, headSha as Oid));
    return new Map(files.map(pathsOf).map(({ oldPath, newPath }) => [oldPath, newPath]));
  };
  return (from: string): Promise<ReadonlyMap<string, string>> => {
    const found = known.get(from) ?? find(from);
    known.set(from, found);
    return found;
  };
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
