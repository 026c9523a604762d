/** Places in the diffs of a merge request that notes are about. */

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { FileChange } from '../../git/diff/changes.ts';
import type { ComparedLine, LineMap } from '../../git/diff/line-map.ts';
import { type Oid, ZERO_OID } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { decodePath } from '../../git/tree/path.ts';
import type { DiffVersion, MergeRequestRecord } from '../../records/merge-requests.ts';
import type { DiffRefs, NotePosition, PlacedLine } from '../../records/notes.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { badRequest } from '../errors.ts';
import type { LineRequest, PositionRequest } from '../notes/position-request.ts';
import { bounded, codeOf } from '../repository/read.ts';

/** Versions that are read at once, and looked through in all. */
const VERSIONS = 100;
const MAX_VERSIONS = 1_000;

const invalid = (problem: string) => badRequest(`Note {:position=>["${problem}"]}`);

/**
 * Finds a place in the diff of one of the merge request's versions.
 * @throws 400 where the three commits are of none, the file is not changed there, or the diff does not have the line
 */
export async function positionOf(
  deps: Deps,
  access: ProjectAccess,
  record: MergeRequestRecord,
  request: PositionRequest,
): Promise<NotePosition> {
  // All versions, also of a fork's branch, are in the repository that it belongs to.
  const git = codeOf(deps, access);
  const { kind, oldPath = request.newPath, newPath = request.oldPath } = request;
  const refs = {
    baseSha: request.baseSha.toLowerCase(),
    startSha: request.startSha.toLowerCase(),
    headSha: request.headSha.toLowerCase(),
  };
  if (oldPath === undefined || newPath === undefined) throw invalid('needs old_path or new_path');
  if (!(await hasVersion(deps, record, refs)))
    throw invalid('base_sha, start_sha and head_sha are of no version of the merge request');
  const file = await changedFile(git, refs, { oldPath, newPath });
  if (file === undefined) throw invalid('the file is not changed in this version');
  const at = { ...refs, oldPath: decodePath(file.oldPath), newPath: decodePath(file.newPath) };
  if (kind === 'file') return { ...at, on: { kind } };
  if (kind === 'image') return { ...at, on: { kind, ...pointOf(request) } };
  const { oldLine = null, newLine = null, range } = request;
  if (oldLine === null && newLine === null) throw invalid('needs old_line or new_line');
  const map = await lineMapOf(git, file);
  if (map === undefined) throw invalid('the file is binary or too large: only position_type file or image');
  const placed = (line: ComparedLine): PlacedLine => {
    const numbers = map.numbersOf(line);
    if (numbers === undefined)
      throw badRequest('Note {:line_code=>["can\'t be blank", "must be a valid line code"]}');
    return { ...line, code: lineCode(at, numbers) };
  };
  const line = placed({ oldLine, newLine });
  if (range === undefined) return { ...at, on: { kind, line } };
  const [start, end] = [placed(numbersOf(map, range.start)), placed(numbersOf(map, range.end))];
  return { ...at, on: { kind, line, range: { start, end } } };
}

function pointOf({ width, height, x, y }: PositionRequest) {
  if (width === undefined || height === undefined || x === undefined || y === undefined)
    throw invalid('needs width, height, x and y');
  if (x < 0 || y < 0 || x > width || y > height) throw invalid('x and y are outside of the image');
  return { width, height, x, y };
}

/** A line by its numbers, or the one that the diff counts as its code does, be it added, deleted or unchanged. */
function numbersOf(map: LineMap, request: LineRequest): ComparedLine {
  const { code, oldLine = null, newLine = null } = request;
  if (oldLine !== null || newLine !== null) return { oldLine, newLine };
  const [, old, after] = /^[0-9a-f]{40}_(\d{1,9})_(\d{1,9})$/.exec(code ?? '') ?? [];
  if (old === undefined) throw invalid('line_range needs lines');
  const numbers = [Number(old), Number(after)] as const;
  const both: ComparedLine = { oldLine: numbers[0], newLine: numbers[1] };
  const lines = [both, { ...both, oldLine: null }, { ...both, newLine: null }];
  return lines.find((line) => isDeepStrictEqual(map.numbersOf(line), numbers)) ?? both;
}

/** Names a line in the diff of a file. @param numbers as the diff counts them */
export const lineCode = (
  { newPath }: Pick<NotePosition, 'newPath'>,
  [old, after]: readonly [number, number],
): string => `${createHash('sha1').update(newPath).digest('hex')}_${old}_${after}`;

async function hasVersion({ store }: Deps, record: MergeRequestRecord, refs: DiffRefs): Promise<boolean> {
  const isSame = ({ baseSha, startSha, headSha }: DiffVersion) =>
    baseSha === refs.baseSha && startSha === refs.startSha && headSha === refs.headSha;
  if (isSame(record.diff)) return true;
  let before = record.diff.number;
  for (let seen = 0; seen < MAX_VERSIONS && before > 1; seen += VERSIONS) {
    const { items } = await store.mergeRequests.versions(record, VERSIONS, before);
    if (items.some(isSame)) return true;
    before = items.at(-1)?.number ?? 1;
  }
  return false;
}

type Paths = Pick<NotePosition, 'oldPath' | 'newPath'>;

/** The two versions of a changed file; {@link ZERO_OID} where it is not there. */
export type ChangedFile = Pick<FileChange, 'oldPath' | 'newPath' | 'oldId' | 'newId'>;

/** Returns the change of a file between base and head; undefined where it is not changed. One name finds a moved file. */
async function changedFile(
  git: GitRepository,
  { baseSha, headSha }: Pick<DiffRefs, 'baseSha' | 'headSha'>,
  { oldPath, newPath }: Paths,
): Promise<ChangedFile | undefined> {
  const files = await bounded(() => git.changedFiles(baseSha as Oid, headSha as Oid));
  const isAt = (side: 'oldPath' | 'newPath', path: string) => (file: ChangedFile) =>
    decodePath(file[side]) === path;
  return oldPath === newPath
    ? (files.find(isAt('newPath', newPath)) ?? files.find(isAt('oldPath', oldPath)))
    : files.filter(isAt('oldPath', oldPath)).find(isAt('newPath', newPath));
}

/** @returns undefined for what is no text, or too large */
export const lineMapOf = (git: GitRepository, { oldId, newId }: ChangedFile): Promise<LineMap | undefined> =>
  git.lineMap(oldId, newId);

/** The object of a file in a commit. */
export async function fileIn(git: GitRepository, commit: string, path: string): Promise<Oid> {
  const entry = await git.entryAt(commit as Oid, path);
  return entry?.type === 'blob' ? entry.id : ZERO_OID;
}
