import { isUtf8 } from 'node:buffer';
import { asBuffer } from '../../bytes/as-buffer.ts';
import { BlameLimit } from '../../git/history.ts';
import type { CommitRecord, GitRepository } from '../../git/repository.ts';
import { TextBudget } from '../../git/text-budget.ts';
import { lookupPath } from '../../git/tree/path.ts';
import { badRequest, notFound } from '../errors.ts';
import { bounded, type FileRecord } from '../repository/read.ts';
import { rememberingLimits } from '../repository/remembered-limits.ts';

/** Consecutive lines last changed by one commit. */
export interface BlameRange {
  readonly commit: CommitRecord;
  /** Without line feeds. */
  readonly lines: readonly string[];
}

/**
 * Returns the commits that last changed the lines of a file.
 *
 * @param lines only this range, counted from 1, both ends included; lines beyond the end of the file are ignored
 * @throws 400 when the history is too long, or the versions of the file too large to be compared
 */
export async function blameFile(
  git: GitRepository,
  file: FileRecord,
  lines?: { readonly start: number; readonly end: number },
): Promise<BlameRange[]> {
  const { entry, commit, data } = file;
  const path = lookupPath(entry.path);
  if (path === undefined) throw notFound('File');
  const ranges = await bounded(() => {
    const mode = Number.parseInt(entry.mode, 8);
    const only = lines && { lines: { start: lines.start - 1, end: lines.end } };
    const cacheKey = ['blame', commit, path, entry.id, `${lines?.start} ${lines?.end}`];
    return rememberingLimits(cacheKey, () =>
      git.history.blame(commit, { path, entry: { mode, oid: entry.id }, ...only }),
    ).catch(throwBlameLimit);
  });
  const oids = [...new Set(ranges.map((range) => range.commit))];
  const commits = new Map((await git.commits(oids)).map((record) => [record.oid, record]));
  if (ranges.length > MAX_RANGES) throw tooManyRanges();
  const text = linesOf(data);
  // Every range repeats its commit.
  const texts = new TextBudget(256);
  return ranges.map((range) => ({
    commit: texts.commit(commits.get(range.commit)!),
    lines: text.slice(range.start, range.end),
  }));
}

/** Ranges of one answer. */
const MAX_RANGES = 20_000;

const tooManyRanges = () =>
  badRequest(
    `more than ${MAX_RANGES} ranges of lines: ask for a part of the file with range[start] and range[end]`,
  );

function throwBlameLimit(error: unknown): never {
  if (!(error instanceof BlameLimit)) throw error;
  throw badRequest('the file is too large, or has changed too much, to tell where its lines came from');
}

/** Decodes as UTF-8 if the whole file is valid, else as Latin-1. A carriage return is part of its line. */
function linesOf(data: Uint8Array): string[] {
  const lines = asBuffer(data)
    .toString(isUtf8(data) ? 'utf8' : 'latin1')
    .split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
