/** Topics of projects. All users give topics to their projects; administrators look after the topics themselves. */
import type { TopicRecord } from '../../records/topics.ts';
import { NameTaken, Stale } from '../../store/errors.ts';
import type { Page } from '../../store/table/paging.ts';
import { isShown } from '../../store/topics/item.ts';
import type { TopicQuery } from '../../store/topics/topics.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { type AvatarFile, newAvatar } from '../avatars/avatars.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound, refused } from '../errors.ts';
import { MAX_NAME_LENGTH, problemsOf } from '../name-rules.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

const MAX_DESCRIPTION = 1024;

export interface TopicInput {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly avatar?: AvatarFile | null | undefined;
}

/** Topics with the most projects first. Those that only private projects have are for administrators. */
export const listTopics = (
  { store }: Deps,
  actor: Actor,
  query: Omit<TopicQuery, 'all'>,
): Promise<Page<TopicRecord>> => store.topicRecords.list({ ...query, all: isAdministrator(actor) });

/** @throws 404, also for a topic that only private projects have, unless for administrators */
export async function getTopic({ store }: Deps, actor: Actor, id: number): Promise<TopicRecord> {
  const topic = await store.topicRecords.get(id);
  if (topic === undefined || !(isShown(topic) || isAdministrator(actor))) throw notFound('Topic');
  return topic;
}

/** Number of projects, as far as the actor may know of them. */
export const projectsCountFor = (actor: Actor, topic: TopicRecord): number =>
  isAdministrator(actor) ? topic.projectsCount : topic.shownCount;

/** @throws 400 by field */
export async function createTopic(deps: Deps, input: TopicInput & { name: string }): Promise<TopicRecord> {
  const name = input.name.trim();
  const { title = name, description = null } = input;
  requireValid({ name, title, description });
  const avatar = newAvatar(input.avatar);
  const topic = { name, title, description, avatar: avatar?.avatar ?? null, curated: true };
  return named(() =>
    deps.store.topicRecords.create(topic, deps.now(), (id) => avatar?.writes({ kind: 'topic', id }) ?? []),
  );
}

/** Changes a topic; a job gives its projects its new name. @throws 400 by field, 404 */
export async function updateTopic(
  deps: Deps,
  actor: Actor,
  id: number,
  { name, title, description, avatar: file }: TopicInput,
): Promise<TopicRecord> {
  const change = {
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
  requireValid(change);
  const avatar = newAvatar(file);
  const changed = { ...change, ...(avatar && { avatar: avatar.avatar }) };
  return named(() =>
    repeated(async () => {
      const topic = await getTopic(deps, actor, id);
      return deps.store.topicRecords.update(
        topic,
        changed,
        deps.now(),
        avatar?.writes({ kind: 'topic', id }) ?? [],
      );
    }),
  );
}

/** Deletes a topic. Projects lose it within the request as far as its time allows, and then by a job. @throws 404 */
export async function deleteTopic(deps: Deps, actor: Actor, id: number): Promise<void> {
  await repeated(async () => deps.store.topicRecords.remove(await getTopic(deps, actor, id), deps.now()));
  await followWithin(deps, id);
}

/** Merges a topic into another one, whose projects its projects become. @returns the other one. @throws 404, 400 */
export async function mergeTopics(
  deps: Deps,
  actor: Actor,
  sourceId: number,
  targetId: number,
): Promise<TopicRecord> {
  await repeated(async () => {
    const [source, target] = await Promise.all([sourceId, targetId].map((id) => getTopic(deps, actor, id)));
    if (sourceId === targetId) throw refused('The source topic and the target topic are identical.');
    await deps.store.topicRecords.remove(source!, deps.now(), target);
  });
  await followWithin(deps, sourceId);
  return getTopic(deps, actor, targetId);
}

/** The job goes on where a request stopped. */
const REQUEST_MS = 5_000;

async function followWithin({ store }: Deps, id: number): Promise<void> {
  // What fails here is left to the job.
  await store.topicAssignments.follow(id, 0, Date.now() + REQUEST_MS).catch(() => {});
}

function requireValid({
  name,
  title,
  description,
}: {
  readonly name?: string;
  readonly title?: string;
  readonly description?: string | null;
}): void {
  const tooLong = (text: string, length: number) =>
    text.length > length ? [`is too long (maximum is ${length} characters)`] : [];
  const present = (text: string) => (text.trim() === '' ? ["can't be blank"] : []);
  const problems = problemsOf({
    name:
      name === undefined
        ? []
        : [
            ...present(name),
            ...tooLong(name, MAX_NAME_LENGTH),
            ...(/[\n\r\v\f\u0085\u2028\u2029]/.test(name) ? ['has characters that are not allowed'] : []),
          ],
    title: title === undefined ? [] : [...present(title), ...tooLong(title, MAX_NAME_LENGTH)],
    description: tooLong(description ?? '', MAX_DESCRIPTION),
  });
  if (problems !== undefined) throw invalid(problems);
}

async function named(run: () => Promise<TopicRecord>): Promise<TopicRecord> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof NameTaken ? invalid({ name: ['has already been taken'] }) : error;
  }
}

/** A topic changes with every project that gets or loses it. */
async function repeated<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await retryOnConflict(run, (error) => error instanceof Stale);
  } catch (error) {
    throw error instanceof Stale ? conflict('409 Conflict: Resource lock') : error;
  }
}
