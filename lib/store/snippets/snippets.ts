/** Snippets of users and projects: their records and lists. The repositories that hold their files are beside them. */

import { ownerOfSnippet, type SnippetOwner, type SnippetRecord } from '../../records/snippets.ts';
import type { Visibility } from '../../records/visibility.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import { removeNotesMessage } from '../notes/notes.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage } from '../outbox/outbox.ts';
import { idOf, MAX_ID, padded } from '../row-keys/key.ts';
import { listPartition, listPartitions } from '../row-keys/lists.ts';
import {
  PUBLIC_SNIPPETS,
  SNIPPET_LIST,
  snippetAgentKey,
  snippetKey,
  snippetListKey,
  snippetListPrefix,
  snippetsPartition,
  snippetTotalKey,
} from '../row-keys/snippets.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import { indexed, indexMessage, type Search, withSearchRows } from '../search/search.ts';
import { scheduleMeasuring } from '../statistics/statistics.ts';
import type { Counters } from '../table/counters.ts';
import type { Position } from '../table/cursor.ts';
import { chunkFor, countSources, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import {
  type Countable,
  type Direction,
  indexSource,
  type KeySource,
  listSource,
  mergeKeys,
  querySource,
} from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import {
  ABSENT,
  type Check,
  type Item,
  PRESENT,
  type Put,
  unchangedSince,
  type Write,
} from '../table/write.ts';

/** The job that removes the repository of a deleted snippet: `{ snippetId, storagePrefix? }`. */
export const REMOVE_SNIPPET_JOB = 'snippet.remove';

/** The job that measures a snippet of a project: `{ snippetId }`. */
export const MEASURE_SNIPPET_JOB = 'snippet.measure';

/** Items that the transaction of a commit to a snippet has beside its search rows, at most: a first one has about twenty. */
const COMMIT_ITEMS = 30;

/** With what program and from where a snippet was created. */
export interface SnippetAgent {
  readonly userAgent: string;
  /** IPv4 or IPv6. */
  readonly address: string;
}

/** What of a snippet can be changed. */
export type SnippetChange = Partial<
  Pick<SnippetRecord, 'title' | 'description' | 'visibility' | 'files' | 'author'>
>;

export interface SnippetPageRequest extends PageRequest {
  /** Returns only the snippets that follow this position in the list. */
  readonly after?: Position;
}

export class Snippets {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  readonly #search: Search;
  constructor(table: Table, counters: Counters, outbox: Outbox, search: Search) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
    this.#search = search;
  }

  nextId(): Promise<number> {
    return this.#counters.next('snippet');
  }

  async get(id: number): Promise<SnippetRecord | undefined> {
    return recordOf(await this.#table.get(snippetKey(id)));
  }

  /** Returns records in the order of the ids; undefined for a deleted one. One round trip per hundred. */
  async getMany(ids: readonly number[]): Promise<(SnippetRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map(snippetKey))).map(recordOf);
  }

  /** Returns what a snippet was created with; undefined where nothing was recorded. */
  async agent(id: number): Promise<SnippetAgent | undefined> {
    const row = await this.#table.get(snippetAgentKey(id));
    return row && { userAgent: row['userAgent'] as string, address: row['address'] as string };
  }

  /**
   * The writes that create a snippet, for the transaction of its first commit. They are refused as `snippet` where the id
   * is taken, as `project` or `user` when the owner is deleted.
   */
  creation(snippet: SnippetRecord, agent?: SnippetAgent): Write[] {
    const agentRow: Put[] =
      agent === undefined ? [] : [{ put: { ...snippetAgentKey(snippet.id), ...agent } }];
    return [
      { put: itemOf(snippet), if: ABSENT, reason: 'snippet' },
      { put: { ...snippetListKey(snippet) } },
      ownerExists(ownerOfSnippet(snippet)),
      ...agentRow,
    ];
  }

  /** The writes that change a snippet, refused as `snippet` when it was changed or deleted since it was read. */
  changing(before: SnippetRecord, change: SnippetChange, now: Date): Write[] {
    const after = changed(before, change, now);
    const [from, to] = [snippetListKey(before), snippetListKey(after)];
    return [
      { put: itemOf(after), ...unchanged(before) },
      ...(from.sk === to.sk ? [] : [{ delete: from }, { put: { ...to } }]),
    ];
  }

  /** For the transaction of {@link creation}: what makes the next search find it by its title. */
  searchable({ id, title }: SnippetRecord): ReturnType<typeof indexed> {
    return indexed('snippet', id, [title], COMMIT_ITEMS);
  }

  /**
   * Commits a transaction with the writes of {@link changing}, and what makes the next search find it by its new title.
   * @param commit is called twice where a worker was just writing search rows
   */
  retitled(
    { id, title: before }: SnippetRecord,
    { title = before }: SnippetChange,
    commit: (rows: readonly Put[], messages: readonly OutboxMessage[]) => Promise<void>,
  ): Promise<void> {
    if (title === before) return commit([], []);
    return withSearchRows(this.#table, { kind: 'snippet', id, texts: [title] }, COMMIT_ITEMS, (rows) =>
      commit(rows, [indexMessage('snippet', id)]),
    );
  }

  /** The write of a push, which leaves the record with these files; refused as `snippet` when it is deleted. */
  pushed(id: number, files: readonly string[], now: Date): Write {
    return {
      update: snippetKey(id),
      set: { files: [...files], updatedAt: now.toISOString() },
      add: { version: 1 },
      if: PRESENT,
      reason: 'snippet',
    };
  }

  /** For the transaction that writes to the repository of a snippet: what has it measured, where a project counts it. */
  measuring({ id, projectId }: Pick<SnippetRecord, 'id' | 'projectId'>): OutboxMessage[] {
    return projectId === null ? [] : [message(MAINTENANCE, MEASURE_SNIPPET_JOB, { snippetId: id })];
  }

  /**
   * Notes the bytes of a snippet's packs, and adds the difference to what was noted to the total of its project.
   * @param before as read before measuring. @throws Stale when it was changed or deleted since
   */
  async measured(before: SnippetRecord, repositorySize: number, now: Date): Promise<void> {
    const by = repositorySize - (before.repositorySize ?? 0);
    if (by === 0) return;
    const noted = { update: snippetKey(before.id), set: { repositorySize }, add: { version: 1 } };
    await this.#commit([{ ...noted, ...unchanged(before) }, ...counted(before, by, now)], []);
  }

  /** Bytes of the snippets of a project. */
  async total(projectId: number): Promise<number> {
    return ((await this.#table.get(snippetTotalKey(projectId)))?.['bytes'] as number | undefined) ?? 0;
  }

  /** What {@link changing} leaves. */
  after(before: SnippetRecord, change: SnippetChange, now: Date): SnippetRecord {
    return changed(before, change, now);
  }

  /** @returns the record after the change. @throws Stale when it was changed or deleted since it was read */
  async change(before: SnippetRecord, change: SnippetChange, now: Date): Promise<SnippetRecord> {
    const writes = this.changing(before, change, now);
    await this.retitled(before, change, (rows, messages) => this.#commit([...writes, ...rows], messages));
    return changed(before, change, now);
  }

  /**
   * Deletes a snippet, which its project counts no longer; jobs remove its repository and what searches find it by.
   * @throws Stale when it was changed or deleted since it was read
   */
  remove(snippet: SnippetRecord, now: Date): Promise<void> {
    const { id, projectId, repositorySize = 0 } = snippet;
    const notes = projectId === null ? [] : [removeNotesMessage(projectId, { kind: 'snippet', id })];
    return this.#remove(snippet, counted(snippet, -repositorySize, now), notes);
  }

  /** As {@link remove}, for a snippet whose owner is deleted: what counts it goes, too, and its notes. */
  removeWithOwner(snippet: SnippetRecord): Promise<void> {
    return this.#remove(snippet);
  }

  /** Deletes the total of a deleted project that has no more snippets. */
  async removeTotal(projectId: number): Promise<void> {
    await this.#table.delete({ delete: snippetTotalKey(projectId) });
  }

  #remove(
    snippet: SnippetRecord,
    alongside: readonly Write[] = [],
    messages: readonly OutboxMessage[] = [],
  ): Promise<void> {
    const { id, storagePrefix } = snippet;
    const writes = [
      { delete: snippetKey(id), ...unchanged(snippet) },
      { delete: snippetListKey(snippet) },
      { delete: snippetAgentKey(id) },
      ...alongside,
    ];
    return this.#commit(writes, [
      message(MAINTENANCE, REMOVE_SNIPPET_JOB, { snippetId: id, ...(storagePrefix && { storagePrefix }) }),
      indexMessage('snippet', id),
      ...messages,
    ]);
  }

  /** For transactions that need the snippet; refused as `snippet` when it is deleted. */
  stays(id: number): Check {
    return { check: snippetKey(id), if: PRESENT, reason: 'snippet' };
  }

  /** The personal snippets of a user, or those of a project, the newest first. @throws StoreError `bad-page` */
  async page(
    owner: SnippetOwner,
    visibilities: readonly Visibility[],
    request: SnippetPageRequest,
  ): Promise<Page<SnippetRecord>> {
    const partition = snippetsPartition(owner);
    const chunk = chunkFor(request, visibilities.length);
    const { after } = request;
    const sources = visibilities.map((visibility) => {
      const prefix = snippetListPrefix(visibility);
      const keys = after
        ? { from: `${prefix}${padded(MAX_ID - after.id + 1)}`, to: `${prefix}~` }
        : { prefix };
      return querySource(this.#table, { partition, ...keys, only: ['sk'] }, 'asc', chunk, ({ sk }) => ({
        sort: (sk as string).slice(prefix.length),
        id: MAX_ID - idOf(sk as string),
      }));
    });
    return this.#cut(sources, 'asc', request, () => true);
  }

  /** All public personal snippets, the newest first. Read from an index, which may be late. @throws StoreError `bad-page` */
  async publicPage(request: SnippetPageRequest): Promise<Page<SnippetRecord>> {
    const partitions = listPartitions(PUBLIC_SNIPPETS);
    const chunk = chunkFor(request, partitions.length);
    const before = request.after && { to: padded(request.after.id - 1) };
    const sources = partitions.map((partition) =>
      indexSource(this.#table, { index: 'byId', partition, ...before }, 'desc', chunk),
    );
    return this.#cut(sources, 'desc', request, isListed);
  }

  /**
   * Snippets with all words of a term in their title, in the order of creation: of the newest 2,000 that match.
   * @param visible which of them the reader may see. @throws StoreError `bad-page`
   */
  async searchPage(
    { term, direction, ...request }: PageRequest & { readonly term: string; readonly direction: Direction },
    visible: (snippets: readonly SnippetRecord[]) => Promise<readonly boolean[]>,
  ): Promise<Page<SnippetRecord>> {
    const hits = await this.#search.find('snippet', term);
    const keys = hits.ids.map((id) => ({ sort: padded(id), id }));
    const load = async (ids: readonly number[]) => {
      const snippets = await this.getMany(ids);
      const matching = snippets.filter((each) => each !== undefined && hits.matches([each.title]));
      const verdicts = await visible(matching as SnippetRecord[]);
      const shown = new Set(matching.filter((_, i) => verdicts[i]));
      return snippets.map((each) => (shown.has(each) ? each : undefined));
    };
    const page = await cutPage(mergeKeys([listSource(keys, direction)], direction), request, {
      load,
      where: () => true,
    });
    return hits.complete ? page : { ...page, total: undefined, truncated: true };
  }

  /** Returns snippets of an owner, for its removal. @returns whether others are left */
  async some(
    owner: SnippetOwner,
    limit = 25,
  ): Promise<{ readonly snippets: readonly SnippetRecord[]; readonly more: boolean }> {
    const partition = snippetsPartition(owner);
    const page = await this.#table.query({ partition, prefix: SNIPPET_LIST, only: ['sk'], limit });
    const snippets = await this.getMany(page.items.map(({ sk }) => MAX_ID - idOf(sk as string)));
    return { snippets: snippets.filter((each) => each !== undefined), more: page.next !== undefined };
  }

  async #cut(
    sources: readonly (KeySource & Countable)[],
    direction: Direction,
    request: PageRequest,
    isIn: (snippet: SnippetRecord) => boolean,
  ): Promise<Page<SnippetRecord>> {
    const total = request.count ? countSources(sources) : undefined;
    // Its failure is thrown where it is awaited.
    total?.catch(() => {});
    const load = async (ids: readonly number[]) =>
      (await this.getMany(ids)).map((snippet) => (snippet && isIn(snippet) ? snippet : undefined));
    const page = await cutPage(mergeKeys(sources, direction), request, { load });
    return { ...page, total: await total };
  }

  async #commit(writes: readonly Write[], messages: readonly OutboxMessage[]): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['project', 'user']) if (error.has(what)) throw new Missing(what);
      throw error.has('snippet') ? new Stale('snippet') : error;
    }
  }
}

/** Attributes that the record has as a row, beside its fields. */
export const indexOf = (snippet: SnippetRecord): Item => ({
  who: userPartition(snippet.author.id),
  what: userRow('SNIPPET', snippet.id),
  ...(isListed(snippet)
    ? { list: listPartition(PUBLIC_SNIPPETS, snippet.id), byId: padded(snippet.id) }
    : {}),
});

const isListed = ({ projectId, visibility }: SnippetRecord): boolean =>
  projectId === null && visibility === 'public';

const itemOf = (snippet: SnippetRecord) => ({ ...snippetKey(snippet.id), ...snippet, ...indexOf(snippet) });

function recordOf(item: Item | undefined): SnippetRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _pk, sk: _sk, w: _w, who: _who, what: _what, list: _list, byId: _byId, ...record } = item;
  return record as unknown as SnippetRecord;
}

const changed = (before: SnippetRecord, change: SnippetChange, now: Date): SnippetRecord => ({
  ...before,
  ...change,
  updatedAt: now.toISOString(),
  version: before.version + 1,
});

/** The writes that add bytes of a snippet to the total of its project, and have the project measured. */
const counted = ({ projectId }: SnippetRecord, bytes: number, now: Date): Write[] =>
  projectId === null || bytes === 0
    ? []
    : [{ update: snippetTotalKey(projectId), add: { bytes } }, scheduleMeasuring(projectId, now)];

const unchanged = (record: SnippetRecord) => unchangedSince(record, 'snippet');

const ownerExists = ({ kind, id }: SnippetOwner): Check =>
  kind === 'project' ? checkSourceExists({ kind, id }) : { check: userKey(id), if: PRESENT, reason: 'user' };
