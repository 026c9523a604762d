import type { NoteRecord } from '../../lib/store/notes/notes.ts';
import { idOf } from '../../lib/store/row-keys/key.ts';
import { noteKey, threadKey } from '../../lib/store/row-keys/notes.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import { userKey, userPartition, userRow } from '../../lib/store/row-keys/users.ts';
import { keyText, rowCheck } from './rows.ts';

/** Notes are of projects that exist, at their place, and found under their author. */
export const notes = rowCheck(['note'], function* (rows) {
  for (const row of rows.of('NOTES#')) {
    const { id, projectId, noteable, author } = row as unknown as NoteRecord;
    if (keyText(noteKey(projectId, noteable, id)) !== keyText(row))
      yield `note ${id} stands at ${keyText(row)}`;
    if (rows.get(projectKey(projectId)) === undefined)
      yield `note ${id} is of project ${projectId}, which does not exist`;
    const ghosts = rows.get(userKey(author.id))?.['type'] === 'ghost' && row['who'] === undefined;
    if (!ghosts && (row['who'] !== userPartition(author.id) || row['what'] !== userRow('NOTE', id)))
      yield `note ${id} is not found under user ${author.id}`;
  }
});

/** Who takes part in a thread is found under the project of the thread and under the user. */
export const participants = rowCheck(['participant'], function* (rows) {
  for (const row of rows.of('THREADS#')) {
    const [kind, commit, user] = row.sk.split('#') as ['commit', string, string];
    const [projectId, userId] = [idOf(row.pk), idOf(user)];
    if (keyText(threadKey(projectId, { kind, id: commit }, userId)) !== keyText(row))
      yield `a participant stands at ${keyText(row)}`;
    if (rows.get(projectKey(projectId)) === undefined)
      yield `${keyText(row)} is of a project that does not exist`;
    if (row['who'] !== userPartition(userId) || row['what'] !== userRow('THREAD', projectId))
      yield `${keyText(row)} is not found under user ${userId}`;
  }
});
