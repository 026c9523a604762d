import type { ProjectRecord } from '../../records/projects.ts';
import type { TopicRecord } from '../../records/topics.ts';
import { distinct } from '../../store/topics/assignments.ts';
import { isShown } from '../../store/topics/item.ts';
import { log } from '../../telemetry/log.ts';
import type { Deps } from '../deps.ts';

/**
 * Returns the names that a project gets for the topics of a request: those of the topics where they exist, which may
 * differ in case. A topic that only private projects have keeps its spelling to itself.
 */
export async function topicNames({ store }: Deps, requested: readonly string[]): Promise<string[]> {
  const names = distinct(requested);
  if (names.length === 0) return names;
  const topics = await store.topicRecords.byNames(names);
  return names.map((name, i) => {
    const topic = topics[i];
    return topic !== undefined && isShown(topic) ? topic.name : name;
  });
}

/** Counts a changed project with its topics before the answer. A job comes later for what failed here. */
export async function assignTopics(
  { store, now }: Deps,
  { id, topics }: Pick<ProjectRecord, 'id' | 'topics'>,
  previous: readonly string[] = [],
): Promise<void> {
  if (topics.length === 0 && previous.length === 0) return;
  try {
    await store.topicAssignments.assign(id, now());
  } catch (error) {
    log('warn', 'topics of a project are left to the job', { projectId: id, error: String(error) });
  }
}

/** More projects are not sorted by another order than that of their ids: the list of all projects is walked instead. */
const MAX_SORTED = 10_000;

/**
 * Finds the rows to read for a list of the projects with these topics.
 * @returns undefined when no project has them all
 */
export async function topicsOfList(
  { store }: Deps,
  { names, id }: { readonly names: readonly string[]; readonly id?: number | undefined },
): Promise<{ readonly names: readonly string[]; readonly ofTopic?: number } | undefined> {
  const [named, byId] = await Promise.all([
    store.topicRecords.byNames([...new Set(names)]),
    id === undefined ? undefined : store.topicRecords.get(id),
  ]);
  if (id !== undefined && byId === undefined) return undefined;
  const topics = [...named, ...(byId === undefined ? [] : [byId])];
  if (topics.includes(undefined)) return undefined;
  const rarest = (topics as TopicRecord[]).toSorted((a, b) => a.projectsCount - b.projectsCount)[0];
  return {
    names: byId === undefined ? names : [...names, byId.name],
    ...(rarest !== undefined && rarest.projectsCount <= MAX_SORTED ? { ofTopic: rarest.id } : {}),
  };
}
