import { readAhead } from '../batch-misses.ts';
import { CorruptData } from '../corrupt-data.ts';
import type { ObjectStore, SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { parseCommit, parseCommitLinks } from '../parse.ts';
import { inSlices } from '../slices.ts';
import { asBuffer } from '../tree/entry.ts';
import { type WalkBounds, WalkBudget } from './log-query.ts';

/** An author and the number of their commits. */
export interface AuthorCount {
  readonly name: string;
  /** As spelled in their newest commit. */
  readonly email: string;
  readonly commits: number;
}

interface Person {
  readonly name: string;
  email: string;
  commits: number;
  newest: number;
}

/** A person, and the email address as one of their commits spells it. */
interface Spelling {
  readonly person: Person;
  readonly email: string;
}

const STEPS_PER_TURN = 2_048;
/** Commits prefetched when one is missing. */
const READ_AHEAD = 64;

/**
 * Counts the commits that `tip` reaches by author, without merges, as `git shortlog -sne --no-merges` does, except that
 * addresses are compared case-insensitively. In no particular order.
 *
 * @throws HistoryLimit, ObjectMissing, CorruptData
 */
export async function countAuthors(
  store: ObjectStore,
  tip: Oid,
  bounds: WalkBounds = {},
): Promise<AuthorCount[]> {
  const budget = new WalkBudget(bounds);
  const seen = new Set<Oid>([tip]);
  const waiting: Oid[] = [tip];
  /** By the raw bytes of the author, so that each spelling is decoded once. */
  const spellings = new Map<string, Spelling>();
  const people = new Map<string, Person>();

  const authorOf = (data: Uint8Array): Spelling => {
    const bytes = spellingOf(asBuffer(data));
    const known = bytes === undefined ? undefined : spellings.get(bytes);
    if (known) return known;
    const { name, email } = parseCommit(data).author;
    const key = `${email.toLowerCase()}\0${name}`;
    const person = people.get(key) ?? { name, email, commits: 0, newest: Number.NEGATIVE_INFINITY };
    people.set(key, person);
    const spelling = { person, email };
    if (bytes !== undefined) spellings.set(bytes, spelling);
    return spelling;
  };

  const read = (objects: SyncObjects) => (oid: Oid) => {
    const { type, data } = objects.read(oid);
    if (type !== 'commit') throw new CorruptData('object-malformed', `${oid} is a ${type}, not a commit`);
    return data;
  };
  const step = (objects: SyncObjects): boolean => {
    const oid = waiting.at(-1);
    if (oid === undefined) return true;
    const data = readAhead(oid, () => waiting.slice(-READ_AHEAD), read(objects));
    const { parents, committed } = parseCommitLinks(data);
    waiting.pop();
    budget.spend();
    for (const parent of parents) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      waiting.push(parent);
    }
    if (parents.length > 1) return false;
    const { person, email } = authorOf(data);
    person.commits++;
    if (committed > person.newest) {
      person.newest = committed;
      person.email = email;
    }
    return false;
  };
  await inSlices(store, STEPS_PER_TURN, step, bounds.signal);
  return [...people.values()].map(({ name, email, commits }) => ({ name, email, commits }));
}

const AUTHOR = Buffer.from('\nauthor ');

/** The raw bytes of `Name <mail>`, with the commit's encoding header; undefined when the line is malformed. */
function spellingOf(commit: Buffer): string | undefined {
  const start = commit.indexOf(AUTHOR);
  const end = start < 0 ? -1 : commit.indexOf(0x0a, start + 1);
  if (end < 0) return undefined;
  const close = commit.lastIndexOf(0x3e, end);
  if (close <= start) return undefined;
  const committer = commit.indexOf(0x0a, end + 1);
  const rest = committer < 0 ? '' : commit.toString('latin1', committer + 1, committer + 40);
  const encoding = /^encoding [^\n]*\n/.exec(rest)?.[0] ?? '';
  return `${encoding}${commit.toString('latin1', start + AUTHOR.length, close + 1)}`;
}
