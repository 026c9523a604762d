import * as z from 'zod/mini';
import type { Noteable } from '../../records/notes.ts';
import { REMOVE_NOTES_JOB } from '../../store/notes/notes.ts';
import { untilNoneLeft } from '../../store/table/delete-page.ts';
import type { Deps } from '../deps.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';

export const jobs = [
  defineJob({
    name: REMOVE_NOTES_JOB,
    body: () => z.object({ projectId: idField(), noteable: noteableField(), noteId: z.optional(idField()) }),
    run: (deps, { noteId, ...thread }, { deadline }) =>
      noteId === undefined
        ? removeNotes(deps, thread, deadline)
        : untilNoneLeft(() => deps.store.awards.removeOfNote({ ...thread, noteId }), deadline),
  }),
];

export const noteableField = (): z.ZodMiniType<Noteable> =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('commit'), id: textField() }),
    z.object({ kind: z.literal('issue'), id: idField() }),
    z.object({ kind: z.literal('merge-request'), id: idField() }),
    z.object({ kind: z.literal('snippet'), id: idField() }),
    z.object({ kind: z.literal('alert'), id: idField() }),
    z.object({ kind: z.literal('epic'), id: idField(), groupId: idField() }),
  ]);

/** Removes the notes and awards of a deleted object and who took part in its conversation. Idempotent. @returns whether all are gone */
async function removeNotes(
  { store }: Deps,
  thread: { readonly projectId: number; readonly noteable: Noteable },
  deadline: number,
): Promise<boolean> {
  const step = async () => {
    const { more, texts } = await store.notes.removeOfNoteable(thread.projectId, thread.noteable);
    await store.texts.drop(...texts);
    return more;
  };
  return (
    (await untilNoneLeft(step, deadline)) &&
    // After the notes, without which none is awarded any more.
    (await untilNoneLeft(() => store.awards.removeOfNoteable(thread.projectId, thread.noteable), deadline)) &&
    untilNoneLeft(() => store.threads.removeOfNoteable(thread), deadline)
  );
}
