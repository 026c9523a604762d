/** Topics: their records and names. Which projects have them is in `assignments.ts`. */
import type { TopicRecord } from '../../records/topics.ts';
import { avatarWrite } from '../avatars/avatars.ts';
import { NameTaken, Stale, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type Outbox } from '../outbox/outbox.ts';
import { listPartitions } from '../row-keys/lists.ts';
import { topicKey } from '../row-keys/topics.ts';
import type { Counters } from '../table/counters.ts';
import { chunkFor, countSources, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { indexSource, mergeKeys } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { claim, type Names, release, renamed, takenNames } from '../table/unique-names.ts';
import { type Check, PRESENT, type Write } from '../table/write.ts';
import { byCount, fromItem, isShown, listClass, newTopicWrite, topicWrite } from './item.ts';

/** The maintenance queue's job that brings projects up to date with a renamed, merged or deleted topic: `{ topicId }`. */
export const FOLLOW_TOPIC_JOB = 'topic.follow';

export type NewTopic = Pick<TopicRecord, 'name' | 'title' | 'description' | 'avatar' | 'curated'>;
export type TopicChange = Partial<Pick<TopicRecord, 'name' | 'title' | 'description' | 'avatar'>>;

export interface TopicQuery extends PageRequest {
  /** Whether topics that only private projects have are included. */
  readonly all: boolean;
  /** Part of the name or title, ignoring case. */
  readonly search?: string;
  /** Only topics that no project has. */
  readonly unassigned?: boolean;
}

export class Topics {
  readonly #table: Table;
  readonly #names: Names;
  readonly #counters: Counters;
  readonly #outbox: Outbox;

  constructor(table: Table, names: Names, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#names = names;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  /** @param about further writes that need the id. @throws NameTaken */
  async create(
    topic: NewTopic,
    at: Date,
    about: (id: number) => readonly Write[] = () => [],
  ): Promise<TopicRecord> {
    const id = await this.#counters.next('topic');
    const counts = { projectsCount: 0, shownCount: 0 };
    const record: TopicRecord = { ...topic, id, ...counts, updatedAt: at.toISOString(), version: 1 };
    const owner = { type: 'topic', id } as const;
    await this.#commit([newTopicWrite(record), claim('topicname', topic.name, owner, 'name'), ...about(id)]);
    return record;
  }

  /** Returns a topic; undefined also for one that was deleted or merged. */
  async get(id: number): Promise<TopicRecord | undefined> {
    const topic = fromItem(await this.#table.get(topicKey(id)));
    return topic?.gone === undefined ? topic : undefined;
  }

  /** As {@link get}, and also topics that were deleted or merged. */
  async getEvenGone(ids: readonly number[]): Promise<(TopicRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map(topicKey))).map(fromItem);
  }

  /** Returns the topics with these names, ignoring case, in the order of the names: two round trips. */
  async byNames(names: readonly string[]): Promise<(TopicRecord | undefined)[]> {
    const ids = (await this.#names.holders('topicname', names)).map((holder) => holder?.id);
    const found = await this.getEvenGone(ids.filter((id) => id !== undefined));
    const byId = new Map(found.map((topic) => [topic?.id, topic]));
    return ids.map((id) => (id === undefined ? undefined : byId.get(id)));
  }

  /** Returns the ids of the topics with these names; creates those that do not exist. */
  async idsOf(names: readonly string[], at: Date): Promise<number[]> {
    const holders = await this.#names.holders('topicname', names);
    const ids: number[] = [];
    for (const [i, name] of names.entries()) ids.push(holders[i]?.id ?? (await this.#idOf(name, at)));
    return ids;
  }

  async #idOf(name: string, at: Date): Promise<number> {
    try {
      const created = { name, title: name, description: null, avatar: null, curated: false };
      return (await this.create(created, at)).id;
    } catch (error) {
      const holder = error instanceof NameTaken ? await this.#names.holder('topicname', name) : undefined;
      if (holder === undefined) throw error;
      return holder.id;
    }
  }

  /**
   * Changes a topic, which is shown to everybody from then on. A job renames it in its projects.
   * @throws NameTaken, Stale
   */
  async update(
    topic: TopicRecord,
    change: TopicChange,
    at: Date,
    alongside: readonly Write[],
  ): Promise<TopicRecord> {
    const changed = { ...change, curated: true, updatedAt: at.toISOString() };
    const { name = topic.name } = change;
    const owner = { type: 'topic', id: topic.id } as const;
    const names = name === topic.name ? [] : renamed('topicname', topic.name, name, owner, 'name');
    const messages = name === topic.name ? [] : [followed(topic.id)];
    await this.#commit([topicWrite(topic, changed), ...names, ...alongside], messages);
    return { ...topic, ...changed, version: topic.version + 1 };
  }

  /** Deletes a topic; or merges it into another one. A job changes its projects. @throws Stale */
  async remove(topic: TopicRecord, at: Date, into?: TopicRecord): Promise<void> {
    const { id } = topic;
    const gone = { gone: { into: into?.id ?? null }, avatar: null, updatedAt: at.toISOString() };
    await this.#commit(
      [
        topicWrite(topic, gone),
        release('topicname', topic.name, { type: 'topic', id }, 'name'),
        avatarWrite({ kind: 'topic', id }, undefined),
        ...(into === undefined ? [] : [stays(into)]),
      ],
      [followed(id)],
    );
  }

  /** Topics by number of projects that are not private, the most first. A filter looks at up to 5,000. */
  async list(query: TopicQuery): Promise<Page<TopicRecord>> {
    const classes = [listClass(true), ...(query.all ? [listClass(false)] : [])];
    const from = query.unassigned ? { from: byCount(0) } : {};
    const partitions = classes
      .flatMap(listPartitions)
      .map((partition) => ({ index: 'bySize' as const, partition, ...from }));
    const chunk = chunkFor(query, partitions.length);
    const after = query.rows?.after;
    const sources = partitions.map((each) => indexSource(this.#table, each, 'asc', chunk, after));
    const term = query.search?.trim().toLowerCase() ?? '';
    const matches = ({ name, title, projectsCount }: TopicRecord) =>
      !(query.unassigned && projectsCount > 0) &&
      [name, title].some((text) => text.toLowerCase().includes(term));
    const where = term === '' && !query.unassigned ? undefined : matches;
    const visible = (topic: TopicRecord | undefined) =>
      topic?.gone === undefined && topic !== undefined && (query.all || isShown(topic)) ? topic : undefined;
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, 'asc', after), query, {
        load: async (ids) => (await this.getEvenGone(ids)).map(visible),
        where,
      }),
      query.count && where === undefined ? countSources(sources) : undefined,
    ]);
    return where === undefined ? { ...page, total } : page;
  }

  async #commit(writes: readonly Write[], messages: Parameters<Outbox['commit']>[1] = []): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      throw takenNames(error) ?? new Stale('topic');
    }
  }
}

const followed = (topicId: number) => message(MAINTENANCE, FOLLOW_TOPIC_JOB, { topicId });

const stays = ({ id }: TopicRecord): Check => ({
  check: topicKey(id),
  if: `${PRESENT} AND attribute_not_exists(#gone)`,
  reason: 'topic',
});
