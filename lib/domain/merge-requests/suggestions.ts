/** What notes on lines suggest to write in place of them: blocks such as ```` ```suggestion:-1+0 ````. */

import { ZERO_OID } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { MAX_SUGGESTIONS, type NotePosition, type Suggestion } from '../../records/notes.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { codeOf } from '../repository/read.ts';
import { fileIn } from './positions.ts';

/** Lines before the one of a note, and after it. */
const MAX_AROUND = 100;
/** UTF-16 units of all that one note suggests, and takes the place of; what goes beyond is no suggestion. */
const MAX_CONTENT = 65_536;
/** Bytes of a file of which lines are replaced. */
const MAX_FILE = 2 ** 20;

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const INFO = /^suggestion(?::-(\d{1,3})\+(\d{1,3}))?\s*$/;

export interface SuggestionBlock {
  readonly above: number;
  readonly below: number;
  /** Each line with its end; empty: the lines are to go. */
  readonly to: string;
}

/** Finds the suggestions of a text, at most {@link MAX_SUGGESTIONS}, in time linear in its length. */
export function suggestionBlocks(text: string): SuggestionBlock[] {
  const found: SuggestionBlock[] = [];
  let open: { readonly fence: string; readonly info: string; readonly lines: string[] } | undefined;
  for (const line of text.split('\n').map((each) => each.replace(/\r$/, ''))) {
    const [, fence = '', info = ''] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== '') open = { fence, info, lines: [] };
      continue;
    }
    if (!fence.startsWith(open.fence) || info.trim() !== '') {
      open.lines.push(line);
      continue;
    }
    const [isSuggestion, above = '0', below = '0'] = INFO.exec(open.info) ?? [];
    if (isSuggestion !== undefined && open.fence.startsWith('`'))
      found.push({
        above: Math.min(Number(above), MAX_AROUND),
        below: Math.min(Number(below), MAX_AROUND),
        to: open.lines.map((each) => `${each}\n`).join(''),
      });
    if (found.length === MAX_SUGGESTIONS) break;
    open = undefined;
  }
  return found;
}

/** The suggestions of a text about a line of the new version, with what they are to replace. */
export async function suggestedIn(
  deps: Deps,
  access: ProjectAccess,
  text: string,
  { headSha, newPath, on }: NotePosition,
): Promise<Suggestion[]> {
  const line = on.kind === 'text' ? on.line.newLine : null;
  const blocks = line === null ? [] : suggestionBlocks(text);
  if (line === null || blocks.length === 0) return [];
  const file = await linesOf(codeOf(deps, access), headSha, newPath);
  if (file === undefined || line > file.length) return [];
  let left = MAX_CONTENT;
  return blocks.flatMap(({ above, below, to: written }) => {
    const [start, end] = [Math.max(1, line - above), Math.min(file.length, line + below)];
    const from = textOf(file.slice(start - 1, end));
    const to = hasCarriageReturns(file, start, end) ? written.replaceAll('\n', '\r\n') : written;
    left -= from.length + to.length;
    return left < 0 ? [] : [{ above: line - start, below: end - line, from, to }];
  });
}

/** Whether lines end as on Windows: all of them; of the last one of a file, which has no end, the line before it tells. */
function hasCarriageReturns(file: readonly string[], start: number, end: number): boolean {
  const isEnded = (line: string) => line.endsWith('\n');
  const replaced = file.slice(start - 1, end).filter(isEnded);
  const telling = replaced.length > 0 ? replaced : file.slice(Math.max(0, start - 2), start - 1);
  return telling.length > 0 && telling.every((line) => line.endsWith('\r\n'));
}

/** The lines of a file with their ends, each byte as a character; undefined for none, and for one that is too large. */
export async function linesOf(
  git: GitRepository,
  commit: string,
  path: string,
): Promise<readonly string[] | undefined> {
  const oid = await fileIn(git, commit, path);
  const header = oid === ZERO_OID ? undefined : await git.blobHeader(oid);
  if (header === undefined || header.size > MAX_FILE) return undefined;
  const data = await git.readBlob(oid);
  return (
    data &&
    (Buffer.from(data)
      .toString('latin1')
      .match(/[^\n]*\n|[^\n]+$/g) ??
      [])
  );
}

/** Lines as text. */
const textOf = (lines: readonly string[]): string => Buffer.from(lines.join(''), 'latin1').toString('utf8');

/** Text as {@link linesOf} has it. */
export const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
