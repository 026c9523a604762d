import { asBuffer } from '../../bytes/as-buffer.ts';
import { readAhead } from '../batch-misses.ts';
import { CorruptData } from '../corrupt-data.ts';
import type { ObjectStore, SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { parseCommit, parseCommitLinks } from '../parse.ts';
import { inSlices } from '../slices.ts';
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
/** Approximate bytes of the names and addresses that are kept, and people. */
const KEPT_BYTES = 1024 * 1024;
const KEPT_PEOPLE = 10_000;

/** The authors of the commits that `tip` reaches, counted once. */
export class CountedAuthors {
  readonly tip: Oid;
  readonly #people: ReadonlyMap<string, Person>;

  private constructor(tip: Oid, people: ReadonlyMap<string, Person>) {
    this.tip = tip;
    this.#people = people;
  }

  /**
   * Counts the commits that `tip` reaches by author, without merges, as `git shortlog -sne --no-merges` does, except that
   * addresses are compared case-insensitively.
   *
   * @throws HistoryLimit, ObjectMissing, CorruptData
   */
  static async count(store: ObjectStore, tip: Oid, bounds: WalkBounds = {}): Promise<CountedAuthors> {
    const seen = new Set<Oid>([tip]);
    const people = await authorsOf(store, [tip], bounds, (parents, waiting) => {
      for (const parent of parents) {
        if (seen.has(parent)) continue;
        seen.add(parent);
        waiting.push(parent);
      }
    });
    return new CountedAuthors(tip, people);
  }

  /**
   * The authors of what a later `tip` reaches.
   *
   * @param added what `tip` reaches beyond these
   * @throws HistoryLimit, ObjectMissing, CorruptData
   */
  async and(
    store: ObjectStore,
    tip: Oid,
    added: readonly Oid[],
    bounds: WalkBounds = {},
  ): Promise<CountedAuthors> {
    const people = new Map(this.#people);
    for (const [key, person] of await authorsOf(store, [...added], bounds)) {
      const before = people.get(key);
      const newer = before === undefined || person.newest > before.newest ? person : before;
      people.set(key, { ...newer, commits: person.commits + (before?.commits ?? 0) });
    }
    return new CountedAuthors(tip, people);
  }

  get size(): number {
    return this.#people.size;
  }

  /** Whether they are few and short enough to be kept in memory. */
  get mayBeKept(): boolean {
    if (this.size > KEPT_PEOPLE) return false;
    let bytes = 0;
    for (const { name, email } of this.#people.values()) bytes += 2 * (name.length + email.length);
    return bytes <= KEPT_BYTES;
  }

  /** In no particular order. */
  list(): AuthorCount[] {
    return [...this.#people.values()].map(({ name, email, commits }) => ({ name, email, commits }));
  }
}

/**
 * Counts the authors of commits.
 *
 * @param waiting the commits, the last one first
 * @param follow adds those that follow a commit to the ones that wait; without it only these are counted
 */
async function authorsOf(
  store: ObjectStore,
  waiting: Oid[],
  bounds: WalkBounds,
  follow?: (parents: readonly Oid[], waiting: Oid[]) => void,
): Promise<Map<string, Person>> {
  const budget = new WalkBudget(bounds);
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
    follow?.(parents, waiting);
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
  return people;
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
