import * as z from 'zod/mini';
import { removeLazyRepository } from '../../store/repository/lazy-removal.ts';
import { MEASURE_SNIPPET_JOB, REMOVE_SNIPPET_JOB } from '../../store/snippets/snippets.ts';
import { untilNoneLeft } from '../../store/table/delete-page.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { measureSnippet } from './measure.ts';

export const jobs = [
  defineJob({
    name: MEASURE_SNIPPET_JOB,
    body: () => z.object({ snippetId: idField() }),
    run: (deps, { snippetId }) => measureSnippet(deps, snippetId),
  }),
  defineJob({
    name: REMOVE_SNIPPET_JOB,
    body: () => z.object({ snippetId: idField(), storagePrefix: z.exactOptional(textField()) }),
    // No first write follows: it would find no record.
    run: async ({ store }, { snippetId: id, storagePrefix }, { deadline }) =>
      (await untilNoneLeft(() => store.storageMoves.removeOf({ kind: 'snippet', id }), deadline)) &&
      removeLazyRepository(store, { kind: 'snippet', id, storagePrefix }, deadline),
  }),
];
