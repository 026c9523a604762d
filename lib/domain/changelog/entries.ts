import { HistoryLimit } from '../../git/history.ts';
import type { Oid } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { parseTrailers } from '../../git/trailers.ts';
import { changelogFailure } from './failure.ts';

/** One change: a commit with the trailer. */
export interface Entry {
  readonly commit: Oid;
  readonly title: string;
  readonly authorEmail: string;
  /** By key; the last value of a repeated one. */
  readonly trailers: Readonly<Record<string, string>>;
}

export interface CommitRange {
  /** Exclusive. */
  readonly from: Oid;
  readonly to: Oid;
}

const MAX_COMMITS = 15_000;
/** Commits read at a time. */
const BATCH_SIZE = 256;
/** Maximum total of characters in titles and trailers. */
const MAX_TEXT = 4_000_000;

const REVERTED = /^This reverts commit ([0-9a-f]{40})/gim;

/**
 * Returns the commits of a range that have the trailer, grouped by its value, newest first; a commit with several
 * values is in several groups. Commits reverted within the range are left out, unless the revert was reverted too.
 *
 * @throws 422 for a range too large
 */
export async function changelogEntries(
  git: GitRepository,
  { from, to }: CommitRange,
  trailer: string,
): Promise<Map<string, Entry[]>> {
  const range = await walk(git, { from, to });
  const entries = new Map<string, Entry[]>();
  const reverted = new Set<string>();
  let text = 0;
  for (let i = 0; i < range.length; i += BATCH_SIZE) {
    for (const { oid, message, author } of await git.commits(range.slice(i, i + BATCH_SIZE))) {
      if (reverted.has(oid)) continue;
      const { title, body } = split(message);
      for (const [, sha] of body.matchAll(REVERTED)) reverted.add(sha!.toLowerCase());
      const all = parseTrailers(message);
      const values = new Set(all.filter(({ key }) => key === trailer).map(({ value }) => value));
      if (values.size === 0) continue;
      const trailers = Object.fromEntries(all.map(({ key, value }) => [key, value]));
      text += (title.length + JSON.stringify(trailers).length) * values.size;
      if (text > MAX_TEXT) throw changelogFailure('the range has too much text: narrow it');
      for (const value of values) {
        const group = entries.get(value) ?? [];
        group.push({ commit: oid, title, authorEmail: author.email, trailers });
        entries.set(value, group);
      }
    }
  }
  return entries;
}

async function walk(git: GitRepository, { from, to }: CommitRange): Promise<Oid[]> {
  const tooMany = () => changelogFailure(`the range has more than ${MAX_COMMITS} commits: narrow it`);
  try {
    const nodes = await git.history.log({ tips: [to], exclude: [from], limit: MAX_COMMITS + 1 });
    if (nodes.length > MAX_COMMITS) throw tooMany();
    return nodes.map((node) => node.oid);
  } catch (error) {
    throw error instanceof HistoryLimit ? tooMany() : error;
  }
}

function split(message: string): { title: string; body: string } {
  const text = message.trimStart();
  const end = text.indexOf('\n');
  return end < 0
    ? { title: text.trimEnd(), body: '' }
    : { title: text.slice(0, end).trimEnd(), body: text.slice(end) };
}
