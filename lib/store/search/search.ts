/** Substring search of projects, groups, users and snippets; see `trigrams.ts` for the meaning of the rows. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SearchKind } from '../../records/search.ts';
import { ConditionFailed, type Refusal, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
import { folded, idOf } from '../row-keys/key.ts';
import { gramKey, indexedKey } from '../row-keys/search.ts';
import { type Table, TRANSACTION_ITEMS } from '../table/table.ts';
import { ABSENT, type Item, type Put } from '../table/write.ts';
import { gramsOf, lookupGrams, matchesWords, wordsOf } from './trigrams.ts';

/** The maintenance queue's job that updates the search rows of a project, user, group or snippet. */
export const INDEX_JOB = 'search.index';

/** For the transaction that creates, renames or deletes one of these. */
export const indexMessage = (kind: SearchKind, id: number): OutboxMessage =>
  message(MAINTENANCE, INDEX_JOB, { kind, id });

/** Trigrams that a creation writes itself; the names of nearly everything have fewer. */
const MAX_GRAMS = 60;

/**
 * For the transaction that creates a project, user or group: its search rows, so that the next request finds it. They
 * are left to the worker where they would not fit.
 * @param others number of the transaction's other writes and messages
 */
export function indexed(
  kind: SearchKind,
  id: number,
  texts: readonly string[],
  others: number,
): { readonly writes: readonly Put[]; readonly messages: readonly OutboxMessage[] } {
  const text = joined(texts);
  const grams = gramsOf(text.split('\n'));
  if (grams.size > MAX_GRAMS || others + grams.size + 1 > TRANSACTION_ITEMS)
    return { writes: [], messages: [indexMessage(kind, id)] };
  return {
    writes: [
      { put: { ...indexedKey(kind, id), texts: [text], version: 1, complete: true } },
      ...[...grams].map((gram) => ({ put: { ...gramKey(kind, gram, id), text } })),
    ],
    messages: [],
  };
}

/** What a search finds after a transaction. */
interface Renamed {
  readonly kind: SearchKind;
  readonly id: number;
  readonly texts: readonly string[];
}

/**
 * Commits a transaction that renames a project, user or group, together with the search rows of its new texts, so that
 * the next request finds it by them. The rows of its former texts are left to the worker, as are all of them where they
 * would not fit, and where the worker is just writing others; the transaction has to enqueue {@link indexMessage}.
 * @param renamed undefined when nothing is renamed
 * @param others number of the transaction's other writes and messages
 */
export async function withSearchRows(
  table: Table,
  renamed: Renamed | undefined,
  others: number,
  commit: (rows: readonly Put[]) => Promise<void>,
): Promise<void> {
  const rows = renamed === undefined ? [] : await rowsBesideOthers(table, renamed, others);
  try {
    await commit(rows);
  } catch (error) {
    const indexing = error instanceof TransactionRefused && error.refusals.every(isIndexing);
    if (rows.length === 0 || !indexing) throw error;
    await commit([]);
  }
}

const isIndexing = ({ reason }: Refusal): boolean => reason === 'index';

async function rowsBesideOthers(table: Table, { kind, id, texts }: Renamed, others: number): Promise<Put[]> {
  const text = joined(texts);
  const grams = gramsOf(text.split('\n'));
  if (grams.size > MAX_GRAMS || others + grams.size + 1 > TRANSACTION_ITEMS) return [];
  const key = indexedKey(kind, id);
  const before = await table.get(key);
  const version = (before?.['version'] as number | undefined) ?? 0;
  // The worker finds the rows to delete by all texts that may have rows.
  const known = new Set([...((before?.['texts'] as string[] | undefined) ?? []), text]);
  return [
    {
      put: { ...key, texts: [...known], version: version + 1 },
      ...(version === 0 ? { if: ABSENT } : { if: '#version = :version', values: { version } }),
      reason: 'index',
    },
    ...[...grams].map((gram) => ({ put: { ...gramKey(kind, gram, id), text } })),
  ];
}

export interface Hits {
  /** Candidates, newest first; the caller still has to check each with {@link matches}. */
  readonly ids: readonly number[];
  /** False when a bound was reached: there may be more. */
  readonly complete: boolean;
  /** Whether a record matches, by its current texts. */
  matches(texts: readonly string[]): boolean;
}

/** Bounds on the cost of one search. */
export interface SearchBounds {
  /** Rows read first of each gram that is looked up. */
  readonly probe: number;
  /** Further rows of the rarest gram are read until about this many were read. */
  readonly rows: number;
  /** Maximum number of candidates returned. */
  readonly hits: number;
}

const BOUNDS: SearchBounds = { probe: 250, rows: 10_000, hits: 2000 };
const READ_ON = 1000;

export class Search {
  readonly #table: Table;
  readonly #bounds: SearchBounds;

  constructor(table: Table, bounds = BOUNDS) {
    this.#table = table;
    this.#bounds = bounds;
  }

  async find(kind: SearchKind, term: string): Promise<Hits> {
    const words = wordsOf(term);
    const matches = (texts: readonly string[]) => matchesWords(words, texts);
    const grams = lookupGrams(words);
    if (grams.length === 0) return { ids: [], complete: true, matches };
    // Strongly consistent, so that a search finds what the caller has just created: the newest rows are read first.
    const first = { limit: this.#bounds.probe, consistent: true };
    const probes = await Promise.all(grams.map((gram) => this.#read(kind, gram, words[0]!, first)));
    // A gram whose rows were all read has every candidate. Otherwise the rarest is the one that reached back furthest.
    let best = probes.find((probe) => probe.next === undefined) ?? probes[0]!;
    if (best.next !== undefined) {
      for (const probe of probes) if (probe.oldest < best.oldest) best = probe;
    }
    const { probe, rows, hits } = this.#bounds;
    const ids = [...best.ids];
    let next = best.next;
    for (let read = probe; next !== undefined && read < rows && ids.length < hits; read += READ_ON) {
      const page = await this.#read(kind, best.gram, words[0]!, { limit: READ_ON, startKey: next });
      ids.push(...page.ids);
      next = page.next;
    }
    return { ids: ids.slice(0, hits), complete: next === undefined && ids.length <= hits, matches };
  }

  async #read(
    kind: SearchKind,
    gram: string,
    word: string,
    { limit, consistent = false, startKey }: { limit: number; consistent?: boolean; startKey?: Item },
  ) {
    const page = await this.#table.query({
      partition: gramKey(kind, gram, 0).pk,
      reverse: true,
      limit,
      consistent,
      where: 'contains(#text, :word)',
      values: { word },
      only: ['sk'],
      ...(startKey === undefined ? {} : { startKey }),
    });
    const ids = page.items.map((item) => idOf(item['sk'] as string));
    const oldest = page.next === undefined ? 0 : idOf(page.next['sk'] as string);
    return { gram, ids, oldest, next: page.next };
  }

  /**
   * Updates the rows of a subject. The worker calls this for every `search.index` message; idempotent. The texts that
   * may have rows are recorded before any row is written, so that a worker that stops half way leaves no unknown rows.
   * @param texts returns the subject's current texts, or undefined when it was deleted
   */
  async index(
    kind: SearchKind,
    id: number,
    texts: () => Promise<readonly string[] | undefined>,
  ): Promise<void> {
    const attempted = new Set<string>();
    for (let n = 0; n < 8; n++) {
      if (n > 0) await sleep(Math.random() * 20 * 2 ** n);
      if (await this.#indexOnce(kind, id, texts, attempted)) return;
    }
    throw new Error(`search rows of ${kind} ${id} keep changing`);
  }

  /** @returns false when another worker updated the rows concurrently, or the texts changed meanwhile. */
  async #indexOnce(
    kind: SearchKind,
    id: number,
    texts: () => Promise<readonly string[] | undefined>,
    attempted: Set<string>,
  ): Promise<boolean> {
    const key = indexedKey(kind, id);
    const before = await this.#table.get(key);
    const version = (before?.['version'] as number | undefined) ?? 0;
    const wanted = joined(await texts());
    const known = new Set([...((before?.['texts'] as string[] | undefined) ?? []), ...attempted]);
    if (known.size === 0 && wanted === undefined) return true;
    // An incomplete row was written by another worker, which may have stopped half way.
    if (before?.['complete'] === true && known.size === 1 && wanted !== undefined && known.has(wanted))
      return true;
    const all = wanted === undefined ? known : new Set([...known, wanted]);
    for (const text of all) attempted.add(text);
    const unchanged = {
      if: version === 0 ? ABSENT : '#version = :version',
      values: version === 0 ? {} : { version },
    };
    try {
      await this.#table.put({ put: { ...key, texts: [...all], version: version + 1 }, ...unchanged });
      const present = wanted === undefined ? new Set<string>() : gramsOf(wanted.split('\n'));
      const stale = [...known].flatMap((text) => [...gramsOf(text.split('\n'))]);
      await each([...present], (gram) =>
        this.#table.put({ put: { ...gramKey(kind, gram, id), text: wanted } }),
      );
      await each(
        [...new Set(stale)].filter((gram) => !present.has(gram)),
        (gram) => this.#table.delete({ delete: gramKey(kind, gram, id) }),
      );
      const done = { if: '#version = :version', values: { version: version + 1 } };
      if (wanted === undefined) await this.#table.delete({ delete: key, ...done });
      else
        await this.#table.put({
          put: { ...key, texts: [wanted], version: version + 2, complete: true },
          ...done,
        });
      // The message of a later change may have been handled after the texts were read and before the rows were written.
      return joined(await texts()) === wanted;
    } catch (error) {
      if (error instanceof ConditionFailed) return false;
      throw error;
    }
  }
}

function joined(texts: readonly string[]): string;
function joined(texts: readonly string[] | undefined): string | undefined;
function joined(texts: readonly string[] | undefined): string | undefined {
  return texts === undefined ? undefined : folded(texts.join('\n'));
}

/** Runs for every input, sixteen at a time. */
async function each<T>(inputs: readonly T[], run: (input: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < inputs.length; i += 16) await Promise.all(inputs.slice(i, i + 16).map(run));
}
