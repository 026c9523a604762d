/** Discussions with more replies than their row names, and more notes than one answer has room for. */
import { expect, test } from 'vitest';
import { discussionIdOf } from '../../../lib/domain/notes/discussion-id.ts';
import { snapshotOf } from '../../../lib/records/authors.ts';
import { type DiscussionRecord, type NoteRecord, REPLIES_IN_ROW } from '../../../lib/records/notes.ts';
import { repliedTo } from '../../../lib/store/notes/discussions.ts';
import { copiedWrites } from '../../../lib/store/notes/notes.ts';
import { furtherRepliesPrefix, notesPartition } from '../../../lib/store/row-keys/notes.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { world, as } = ownWorld();

const issues = () => `/projects/${world.ids['public']}/issues`;
const owner = (method: string, path: string, json?: unknown) => as('owner', method, path, json);
async function made(path: string, json: unknown) {
  const { status, body } = await owner('POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
const textsOf = (discussion: { notes: { body: string }[] }) => discussion.notes.map(({ body }) => body);

const EXTRA = 3;
const FIRST = 'first';
const replyTexts = Array.from({ length: REPLIES_IN_ROW + EXTRA }, (_, n) => `reply ${n}`);

/** An issue with a discussion, and some replies more than its row names. */
async function talk() {
  const issue = await made(issues(), { title: 'Long' });
  const path = `${issues()}/${issue.iid}`;
  const { id } = await made(`${path}/discussions`, { body: FIRST });
  const at = `${path}/discussions/${id}`;
  const notes = [];
  for (const body of replyTexts) notes.push(await made(`${at}/notes`, { body }));
  return { issue, path, at, notes: notes as { id: number }[] };
}

const furtherRows = async (issueId: number) => {
  const on = { kind: 'issue', id: issueId } as const;
  const rows = { partition: notesPartition(world.ids['public']!, on), prefix: furtherRepliesPrefix(on) };
  return (await world.store.table.query(rows)).items.length;
};

test('replies go on after those that the row names: they are shown, changed, deleted and copied as the others', async () => {
  const { issue, path, at, notes } = await talk();
  const all = [FIRST, ...replyTexts];
  expect(textsOf((await owner('GET', at)).body)).toEqual(all);
  expect((await owner('GET', at)).body).not.toHaveProperty('more_notes_after');
  expect(textsOf((await owner('GET', `${path}/discussions`)).body[0])).toEqual(all);
  expect(await furtherRows(issue.id)).toBe(EXTRA);
  const rest = await owner('GET', `${at}?id_after=${notes.at(-2)!.id}`);
  expect([rest.status, textsOf(rest.body)]).toEqual([200, [replyTexts.at(-1)]]);

  const last = notes.at(-1)!.id;
  expect((await owner('GET', `${at}/notes/${last}`)).body).toMatchObject({
    id: last,
    type: 'DiscussionNote',
  });
  const { notes: others } = await made(`${path}/discussions`, { body: 'another' });
  expect(await owner('GET', `${at}/notes/${others[0].id}`)).toMatchObject({
    status: 404,
    body: { message: '404 Note Not Found' },
  });
  expect((await owner('PUT', `${at}/notes/${last}`, { body: 'changed' })).body.body).toBe('changed');

  const { iid } = await made(`${path}/clone`, { to_project_id: world.ids['public'], with_notes: true });
  await settled();
  const copies = (await owner('GET', `${issues()}/${iid}/discussions`)).body as {
    notes: { body: string }[];
  }[];
  const copy = copies.find(({ notes: [first] }) => first!.body === FIRST)!;
  expect(textsOf(copy)).toEqual([...all.slice(0, -1), 'changed']);

  for (const id of [notes[0]!.id, notes.at(-2)!.id])
    expect((await owner('DELETE', `${at}/notes/${id}`)).status).toBe(204);
  expect(await furtherRows(issue.id)).toBe(EXTRA - 1);
  await made(`${at}/notes`, { body: 'after' });
  expect(textsOf((await owner('GET', at)).body)).toEqual([
    ...[FIRST, ...replyTexts.slice(1, -2)],
    ...['changed', 'after'],
  ]);

  expect((await owner('DELETE', path)).status).toBe(204);
  await settled();
  expect(await furtherRows(issue.id)).toBe(0);
});

test('a discussion with more notes than an answer has room for tells after which note others follow', async () => {
  const issue = await made(issues(), { title: 'Longer' });
  const projectId = world.ids['public']!;
  const noteable = { kind: 'issue', id: issue.id } as const;
  const [ROOM, SHORT, COUNT] = [3_000, 2, 3_005];
  const author = snapshotOf((await world.store.users.get(world.ids['owner']!))!);
  const nextId = (await world.store.notes.reserveIds(COUNT + SHORT)) - COUNT - SHORT + 1;
  const noteOf = (id: number, firstId: number): NoteRecord => ({
    ...{ id, projectId, noteable, iid: issue.iid, body: `${id - firstId}`, author, line: null },
    ...(id === firstId ? {} : { inDiscussion: firstId }),
    ...{ discussed: true, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' },
  });
  async function write(firstId: number, count: number) {
    let begun: DiscussionRecord | undefined;
    for (let from = 0; from < count; from += 18) {
      const ids = Array.from({ length: Math.min(18, count - from) }, (_, n) => firstId + from + n);
      const before: DiscussionRecord = begun ?? {
        ...{ firstId, projectId, noteable, individual: false, replies: [], version: 1 },
        noteClass: 'comment',
      };
      const discussion = ids.filter((id) => id !== firstId).reduce(repliedTo, before);
      const notes = ids.map((id) => noteOf(id, firstId));
      await world.store.table.transact(copiedWrites([{ discussion, begun, notes }], () => false));
      begun = { ...discussion, version: before.version + (begun === undefined ? 0 : 1) };
    }
  }
  await write(nextId, COUNT);
  await write(nextId + COUNT, SHORT);

  const discussions = `${issues()}/${issue.iid}/discussions`;
  const at = `${discussions}/${discussionIdOf(projectId, noteable, nextId)}`;
  const first = (await owner('GET', at)).body;
  expect([first.notes.length, first.more_notes_after]).toEqual([ROOM, nextId + ROOM - 1]);
  const rest = (await owner('GET', `${at}?id_after=${first.more_notes_after}`)).body;
  expect(textsOf(rest)).toEqual(['3000', '3001', '3002', '3003', '3004']);
  expect(rest).not.toHaveProperty('more_notes_after');

  const listed = (await owner('GET', discussions)).body;
  expect(listed).toMatchObject([{ more_notes_after: nextId + ROOM - SHORT - 1 }, {}]);
  expect(listed.map(({ notes }: { notes: unknown[] }) => notes.length)).toEqual([ROOM - SHORT, SHORT]);
  expect(listed[1]).not.toHaveProperty('more_notes_after');
});
