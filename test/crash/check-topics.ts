import { decodeTime } from 'ulid';
import { idOf, orderedBy } from '../../lib/store/row-keys/key.ts';
import { nameKey } from '../../lib/store/row-keys/names.ts';
import { PROJECT_TOPIC, topicKey } from '../../lib/store/row-keys/topics.ts';
import { ASSIGN_TOPICS_JOB } from '../../lib/store/topics/assignments.ts';
import { byCount } from '../../lib/store/topics/item.ts';
import { livingOf } from './records.ts';
import { type Row, type Rows, rowCheck } from './rows.ts';

const topicsOf = (rows: Rows): readonly Row[] => rows.of('TOPIC#').filter(({ sk }) => sk === 'TOPIC');
const assignmentsOf = (rows: Rows): readonly Row[] =>
  rows.of('PROJECT#').filter(({ sk }) => sk.startsWith(PROJECT_TOPIC));

/** A topic counts the rows that lead to its projects, and its name leads to it. */
export const topics = rowCheck(['topic', 'topic-name', 'project-topic'], function* (rows) {
  const held = Map.groupBy(assignmentsOf(rows), ({ sk }) => idOf(sk));
  const names = new Map(rows.of('TOPICNAME#').map((row) => [row.pk, row['id']]));
  for (const topic of topicsOf(rows)) {
    const id = idOf(topic.pk);
    const own = held.get(id) ?? [];
    const counts = [own.length, own.filter(({ shown }) => shown === true).length];
    if (topic['projectsCount'] !== counts[0] || topic['shownCount'] !== counts[1])
      yield `topic ${id} counts ${topic['projectsCount']}, ${topic['shownCount']} projects and has ${counts}`;
    for (const row of own) {
      if (row['who'] !== topicKey(id).pk || idOf(row['what'] as string) !== idOf(row.pk))
        yield `topic ${id} does not lead to ${row.pk}`;
    }
    held.delete(id);
    if (topic['gone'] !== undefined) continue;
    const { pk } = nameKey('topicname', topic['name'] as string);
    if (names.get(pk) !== id) yield `the name of topic ${id} leads to ${names.get(pk)}`;
    names.delete(pk);
    if (topic['bySize'] !== orderedBy(byCount(topic['shownCount'] as number), id))
      yield `topic ${id} is out of order`;
  }
  for (const id of held.keys()) yield `projects have the topic ${id}, which does not exist`;
  for (const pk of names.keys()) yield `${pk} leads to no topic`;
});

/** Once the workers are done, a project has a row for each of its topics, and no other. */
export const topicAssignments = rowCheck(['project-topic'], function* (rows, settledAt) {
  const later = new Set(
    rows.of('OUTBOX#').flatMap((row) => {
      const { projectId } = row['body'] as { projectId?: number };
      return row['type'] === ASSIGN_TOPICS_JOB && decodeTime(row.sk) > settledAt ? [projectId] : [];
    }),
  );
  const gone = new Set(topicsOf(rows).flatMap((row) => (row['gone'] === undefined ? [] : [idOf(row.pk)])));
  const held = Map.groupBy(assignmentsOf(rows), ({ pk }) => idOf(pk));
  for (const { id, row } of livingOf(rows)) {
    const own = (held.get(id) ?? []).filter(({ sk }) => !gone.has(idOf(sk)));
    held.delete(id);
    if (later.has(id)) continue;
    const names = own.map(({ name }) => name).sort();
    const wanted = (row['topics'] as string[]).toSorted();
    if (names.join('\n') !== wanted.join('\n'))
      yield `project ${id} has the topics ${wanted} and rows of ${names}`;
    if (own.some(({ shown }) => shown !== (row['visibility'] !== 'private')))
      yield `project ${id} is counted with topics as if it were ${row['visibility'] === 'private' ? '' : 'not '}visible`;
  }
});
