import { readAhead } from '../batch-misses.ts';
import { CorruptData, type ObjectStore, type SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { parseCommit, parseCommitLinks } from '../parse.ts';
import { inSlices } from '../slices.ts';
import { asBuffer } from '../tree/entry.ts';
import { type WalkBounds, WalkBudget } from './log-query.ts';

/** Somebody who wrote commits. */
export interface AuthorCount {
  readonly name: string;
  /** As their newest commit spells it. */
  readonly email: string;
  readonly commits: number;
}

interface Person {
  readonly name: string;
  email: string;
  commits: number;
  newest: number;
}

/** A person and how one of their spellings writes the address. */
interface Spelling {
  readonly person: Person;
  readonly email: string;
}

const STEPS_PER_TURN = 2_048;
/** Commits fetched together when one has to be. */
const READ_AHEAD = 64;

/**
 * Everybody who wrote a commit that `tip` reaches, merges left out, as `git shortlog -sne --no-merges` counts; but
 * addresses that differ in case only are one. In no order.
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
  /** By the author's bytes: each spelling is decoded once. */
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

/** `Name <mail>` as its bytes, with what the commit says of its encoding; undefined when the line is odd. */
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
