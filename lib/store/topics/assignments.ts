/**
 * Which projects have a topic: a row beside the project's record for each of its topics, with an index by topic. The
 * record's list of names is what counts; the rows and the topics' counts follow it, in transactions that check that the
 * record is unchanged. A topic's counts are changed together with the rows they count.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { byId } from '../../records/by-id.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { TopicRecord } from '../../records/topics.ts';
import { TransactionRefused } from '../errors.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../outbox/outbox.ts';
import { fromItem } from '../placement/project-item.ts';
import { folded, idOf, padded } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import { PROJECT_TOPIC, projectTopicKey, topicKey } from '../row-keys/topics.ts';
import { type IdSource, idsOfIndex } from '../table/id-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, type Item, PRESENT, type Put, type Write } from '../table/write.ts';
import { topicWrite } from './item.ts';
import type { Topics } from './topics.ts';

/** The maintenance queue's job that brings a project's rows up to date with its record: `{ projectId }`. */
export const ASSIGN_TOPICS_JOB = 'topics.assign';
/** The request that changes a project does it itself; the job is for requests that did not come to it. */
const ASSIGN_AFTER_MS = 30_000;

/** For the transaction that changes a project's topics or whether it is private. */
export const topicsChanged = (
  previous: Pick<ProjectRecord, 'topics' | 'visibility'> | undefined,
  { id, topics, visibility }: Pick<ProjectRecord, 'id' | 'topics' | 'visibility'>,
  now: Date,
): readonly Put[] => {
  const before = previous?.topics ?? [];
  const same = before.length === topics.length && before.every((name, i) => name === topics[i]);
  const exposed = (previous?.visibility === 'private') !== (visibility === 'private');
  if (same && (topics.length === 0 || !exposed)) return [];
  const due = new Date(now.getTime() + ASSIGN_AFTER_MS);
  return [outboxWrite(messageAt(MAINTENANCE, ASSIGN_TOPICS_JOB, { projectId: id }, due))];
};

interface Assignment {
  readonly topicId: number;
  /** As the project's record has it. */
  readonly name: string;
  /** Whether it is counted as one of a project that is not private. */
  readonly shown: boolean;
}

/** Topics changed in one transaction: two writes each. */
const TOPICS_AT_ONCE = 20;
/** Projects changed in one transaction: three writes each. */
const PROJECTS_AT_ONCE = 20;
const ATTEMPTS = 10;

/** Projects of a topic. The index may be late. */
export const idsOfTopic = (table: Table, topicId: number): IdSource =>
  idsOfIndex(table, topicKey(topicId).pk);

export class TopicAssignments {
  readonly #table: Table;
  readonly #topics: Topics;
  constructor(table: Table, topics: Topics) {
    this.#table = table;
    this.#topics = topics;
  }

  /** Brings the rows of a project up to date with its record; idempotent. Topics that do not exist are created. */
  async assign(projectId: number, now: Date): Promise<void> {
    await retried(async () => {
      const project = fromItem(await this.#table.get(projectKey(projectId)));
      if (project === undefined || project.deletedAt !== null) return;
      const previous = await this.#ofProject(projectId);
      const known = new Map(previous.map((each) => [each.name, each.topicId]));
      // A name that has a row already is that topic's, also while a rename is under way.
      const unknown = project.topics.filter((name) => !known.has(name));
      const ids = await this.#topics.idsOf(unknown, now);
      for (const [i, name] of unknown.entries()) known.set(name, ids[i]!);
      const shown = project.visibility !== 'private';
      const next = project.topics.map((name) => ({ topicId: known.get(name)!, name, shown }));
      const { version } = project;
      await this.#change(projectId, previous, next, [
        {
          check: projectKey(projectId),
          if: '#version = :version AND attribute_type(#deletedAt, :null)',
          values: { version, null: 'NULL' },
          reason: 'project',
        },
      ]);
    });
  }

  /** Deletes the rows of a deleted project. */
  async removeOfProject(projectId: number): Promise<void> {
    await retried(async () => this.#change(projectId, await this.#ofProject(projectId), [], []));
  }

  /**
   * Changes the projects of a topic that was renamed, merged or deleted, in the order of their ids.
   * @param after id of the project to go on behind; @param deadline milliseconds since 1970
   * @returns where to go on; undefined at the end of the index
   */
  async follow(topicId: number, after: number, deadline: number): Promise<number | undefined> {
    for (let at = after; ; ) {
      if (Date.now() > deadline) return at;
      const { items } = await this.#table.query({
        index: 'byUser',
        partition: topicKey(topicId).pk,
        from: padded(at + 1),
        limit: PROJECTS_AT_ONCE,
      });
      const ids = items.map(({ what }) => idOf(what as string));
      if (ids.length === 0) return undefined;
      try {
        await this.#followIn(topicId, ids);
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
        // One of them changes meanwhile: each on its own.
        for (const id of ids) await retried(() => this.#followIn(topicId, [id]));
      }
      at = ids.at(-1)!;
    }
  }

  async #followIn(topicId: number, projectIds: readonly number[]): Promise<void> {
    const [topic] = await this.#topics.getEvenGone([topicId]);
    if (topic === undefined) return;
    const target = await this.#replacementOf(topic);
    const keysOf = (id: number) => projectIds.map((projectId) => projectTopicKey(projectId, id));
    const [projects, rows, others] = await Promise.all([
      this.#table.batchGet(projectIds.map(projectKey)),
      this.#table.batchGet(keysOf(topicId)),
      target === undefined || target.id === topicId ? [] : this.#table.batchGet(keysOf(target.id)),
    ]);
    const counts = new Counts([topic, target]);
    const writes: Write[] = [];
    for (const [i, projectId] of projectIds.entries()) {
      const project = fromItem(projects[i]);
      const row = assignmentOf(rows[i]);
      // A worker removes the rows of a deleted project.
      if (project === undefined || project.deletedAt !== null || row === undefined) continue;
      if (target?.id === topicId && row.name === target.name) continue;
      const names = project.topics.flatMap((name) =>
        name !== row.name ? [name] : target === undefined ? [] : [target.name],
      );
      writes.push({
        update: projectKey(projectId),
        set: { topics: distinct(names) },
        add: { version: 1 },
        if: '#version = :previous AND attribute_type(#deletedAt, :null)',
        values: { previous: project.version, null: 'NULL' },
        reason: 'project',
      });
      if (target?.id === topicId) writes.push(rowWrite(projectId, { ...row, name: target.name }));
      else {
        writes.push(rowDelete(projectId, topicId));
        counts.add(topicId, -1, row.shown);
        if (target !== undefined && others[i] === undefined) {
          writes.push(rowWrite(projectId, { ...row, topicId: target.id, name: target.name }));
          counts.add(target.id, 1, row.shown);
        }
      }
    }
    if (writes.length > 0) await this.#table.transact([...writes, ...counts.writes()]);
  }

  /** Returns the topic whose name its projects are to have: itself after a rename, none after a deletion. */
  async #replacementOf(topic: TopicRecord): Promise<TopicRecord | undefined> {
    let current: TopicRecord | undefined = topic;
    // Merged into a topic that was merged itself.
    for (let n = 0; current?.gone !== undefined; n++) {
      const { into }: { into: number | null } = current.gone;
      if (into === null || n === 100) return undefined;
      [current] = await this.#topics.getEvenGone([into]);
    }
    return current;
  }

  async #ofProject(projectId: number): Promise<Assignment[]> {
    const rows: Assignment[] = [];
    const where = { partition: projectKey(projectId).pk, prefix: PROJECT_TOPIC };
    for await (const item of this.#table.queryAll(where)) rows.push(assignmentOf(item)!);
    return rows;
  }

  /** @throws TransactionRefused when the project or a topic changes meanwhile */
  async #change(
    projectId: number,
    previous: readonly Assignment[],
    next: readonly Assignment[],
    checks: readonly Check[],
  ): Promise<void> {
    const before = new Map(previous.map((each) => [each.topicId, each]));
    const after = new Map(next.map((each) => [each.topicId, each]));
    const ids = [...new Set([...before.keys(), ...after.keys()])].filter((id) => {
      const [old, current] = [before.get(id), after.get(id)];
      return old?.name !== current?.name || old?.shown !== current?.shown;
    });
    for (let i = 0; i < ids.length; i += TOPICS_AT_ONCE) {
      const some = ids.slice(i, i + TOPICS_AT_ONCE);
      const counts = new Counts(await this.#topics.getEvenGone(some));
      const writes = some.map((id): Write => {
        const [old, current] = [before.get(id), after.get(id)];
        if (old !== undefined) counts.add(id, -1, old.shown);
        if (current === undefined) return rowDelete(projectId, id);
        counts.add(id, 1, current.shown);
        return rowWrite(projectId, current, old === undefined);
      });
      await this.#table.transact([...checks, ...writes, ...counts.writes()]);
    }
  }
}

/** Changes of topics' counts, one write for each topic. */
class Counts {
  readonly #topics: ReadonlyMap<number, TopicRecord>;
  readonly #by = new Map<number, { projects: number; shown: number }>();

  constructor(topics: readonly (TopicRecord | undefined)[]) {
    this.#topics = byId(topics);
  }

  add(id: number, by: 1 | -1, shown: boolean): void {
    const sum = this.#by.get(id) ?? { projects: 0, shown: 0 };
    this.#by.set(id, { projects: sum.projects + by, shown: sum.shown + (shown ? by : 0) });
  }

  writes(): Write[] {
    return [...this.#by].flatMap(([id, { projects, shown }]) => {
      const topic = this.#topics.get(id);
      // Only a topic that is long gone has no record.
      if (topic === undefined || (projects === 0 && shown === 0)) return [];
      const counted = {
        projectsCount: topic.projectsCount + projects,
        shownCount: topic.shownCount + shown,
      };
      return [topicWrite(topic, counted)];
    });
  }
}

/** Drops repeated names, ignoring case. */
export function distinct(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.size < seen.add(folded(name)).size);
}

const rowWrite = (projectId: number, { topicId, name, shown }: Assignment, isNew = false): Put => ({
  put: {
    ...projectTopicKey(projectId, topicId),
    name,
    shown,
    who: topicKey(topicId).pk,
    what: padded(projectId),
  },
  ...(isNew ? { if: ABSENT } : {}),
  reason: 'assignment',
});

const rowDelete = (projectId: number, topicId: number): Write => ({
  delete: projectTopicKey(projectId, topicId),
  if: PRESENT,
  reason: 'assignment',
});

function assignmentOf(item: Item | undefined): Assignment | undefined {
  if (item === undefined) return undefined;
  return { topicId: idOf(item['sk'] as string), name: item['name'] as string, shown: item['shown'] === true };
}

/** Repeats what lost a race. @throws TransactionRefused in the end; the job that goes on is delivered again */
async function retried(run: () => Promise<void>): Promise<void> {
  for (let n = 1; ; n++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof TransactionRefused) || n === ATTEMPTS) throw error;
      await sleep(Math.random() * 10 * 2 ** n);
    }
  }
}
