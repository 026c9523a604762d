/** A topic's record as a table item, with its index attributes. */
import type { TopicRecord } from '../../records/topics.ts';
import { orderedBy, padded } from '../row-keys/key.ts';
import { listPartition } from '../row-keys/lists.ts';
import { topicKey } from '../row-keys/topics.ts';
import { type Item, type Put, unchangedSince } from '../table/write.ts';

/** Whether everybody may know of a topic. The name of one that only private projects have is theirs. */
export const isShown = ({ curated, shownCount }: TopicRecord): boolean => curated || shownCount > 0;

/** `shown`: everybody may see them; `hidden`: administrators. */
export const listClass = (shown: boolean): string => `TOPIC#${shown ? 'shown' : 'hidden'}`;

const MOST = 999_999_999_999;

/** Sort key by number of projects, the most first. */
export const byCount = (count: number): string => padded(MOST - count);

/** How long a topic that is gone leads to the one that replaces it, for topics merged into it before. */
const GONE_DAYS = 30;

function toItem(topic: TopicRecord): Item & { pk: string; sk: string } {
  const { id, gone, updatedAt } = topic;
  if (gone !== undefined) {
    const ttl = Math.ceil(Date.parse(updatedAt) / 1000) + GONE_DAYS * 86_400;
    return { ...topicKey(id), ...topic, ttl };
  }
  return {
    ...topicKey(id),
    ...topic,
    list: listPartition(listClass(isShown(topic)), id),
    bySize: orderedBy(byCount(topic.shownCount), id),
  };
}

const NOT_OF_RECORD = new Set(['pk', 'sk', 'w', 'list', 'bySize', 'ttl']);

export function fromItem(item: Item | undefined): TopicRecord | undefined {
  if (item === undefined) return undefined;
  const own = Object.entries(item).filter(([name]) => !NOT_OF_RECORD.has(name));
  return Object.fromEntries(own) as unknown as TopicRecord;
}

/** The write of a changed topic, refused as `topic` when it was changed concurrently. */
export const topicWrite = (previous: TopicRecord, change: Partial<TopicRecord>): Put => ({
  put: toItem({ ...previous, ...change, version: previous.version + 1 }),
  ...unchangedSince(previous, 'topic'),
});

/** The write of a new topic. */
export const newTopicWrite = (topic: TopicRecord): Put => ({ put: toItem(topic) });
