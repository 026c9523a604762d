/**
 * Search of notes by words. A row for each of the first words of a note leads to it, in the partition of its project and
 * in no index: people write many more notes than they search for, so a search outside of a project looks at some
 * projects, one by one.
 */

import { BEGINNING, beginningOfText } from '../../records/texts.ts';
import type { Key } from '../row-keys/key.ts';
import { noteOfWord, wordsOfNotes } from '../row-keys/notes.ts';
import { formsOf, hasTerms, wordsOf } from '../search/words.ts';
import { mapLimit } from '../table/map-limit.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { type Direction, type KeySource, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import type { NoteAddress, NoteRecord, Notes } from './notes.ts';

export interface NoteQuery extends PageRequest {
  readonly projectIds: readonly number[];
  /** The longest first, at least one: notes are found by it, and have the others. */
  readonly words: readonly string[];
  readonly direction: Direction;
  /** Which notes the reader may see. */
  readonly visible: (notes: readonly NoteRecord[]) => Promise<readonly boolean[]>;
}

/** Hits that are judged for the total, behind those of the page. */
const COUNTED_HITS = 200;
/** Projects that are looked at at the same time. */
const CONCURRENCY = 20;

export class NoteSearch {
  readonly #table: Table;
  readonly #notes: Notes;
  constructor(table: Table, notes: Notes) {
    this.#table = table;
    this.#notes = notes;
  }

  /** Returns notes that have all of the words in their first {@link BEGINNING} characters, in the order of creation. */
  async page(query: NoteQuery): Promise<Page<NoteRecord>> {
    const { projectIds, words, direction, visible } = query;
    const addresses = new Map<number, NoteAddress>();
    const sources: KeySource[] = [];
    await mapLimit(CONCURRENCY, projectIds, async (id) => {
      sources.push(...(await this.#sources(id, query, addresses)));
    });
    const load = async (ids: readonly number[]): Promise<(NoteRecord | undefined)[]> => {
      const notes = await this.#notes.getMany(ids.map((id) => addresses.get(id)!));
      const hits = notes.filter((note) => note !== undefined && hasWords(note, words)) as NoteRecord[];
      const verdicts = await visible(hits);
      const shown = new Set(hits.filter((_, i) => verdicts[i]));
      return notes.map((note) => (note !== undefined && shown.has(note) ? note : undefined));
    };
    return cutPage(mergeKeys(sources, direction), query, {
      load,
      where: () => true,
      batchSize: query.perPage + 1,
      countWalk: COUNTED_HITS,
    });
  }

  async #sources(
    projectId: number,
    { words, direction, ...request }: NoteQuery,
    addresses: Map<number, NoteAddress>,
  ): Promise<KeySource[]> {
    const { partition, prefix } = wordsOfNotes(projectId);
    const forms = await formsOf(this.#table, wordsOfNotes(projectId), words[0]!);
    return forms.map((form) => {
      const rows = { partition: partition(form), prefix: `${prefix}${form}#`, only: ['pk', 'sk'] };
      return querySource(this.#table, rows, direction, chunkFor(request, forms.length), (item) => {
        const { place, ...address } = noteOfWord(item as unknown as Key);
        addresses.set(address.id, address);
        return { sort: place, id: address.id };
      });
    });
  }
}

const hasWords = ({ body }: NoteRecord, words: readonly string[]): boolean =>
  hasTerms({ words, number: undefined }, wordsOf(beginningOfText(body).slice(0, BEGINNING)));
