import * as z from 'zod/mini';
import { handOver } from '../../store/labels/hand-over.ts';
import { untilNoneLeft } from '../../store/table/delete-page.ts';
import { continuedWith, defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { LABEL_PROMOTED_JOB, LABEL_REMOVED_JOB } from './labels.ts';
import { mergePromoted } from './promote.ts';

export const jobs = [
  defineJob({
    name: LABEL_REMOVED_JOB,
    body: () => z.object({ labelId: idField(), successorId: z.optional(idField()) }),
    run: async ({ store }, { labelId, successorId }, { deadline }) => {
      const handedOver =
        successorId === undefined ||
        (await untilNoneLeft(() => handOver(store, labelId, successorId), deadline));
      return handedOver && untilNoneLeft(() => store.labels.forget(labelId), deadline);
    },
  }),
  defineJob({
    name: LABEL_PROMOTED_JOB,
    body: () =>
      z.object({ labelId: idField(), title: textField(), groupId: idField(), from: z.optional(idField()) }),
    run: async (deps, { from, ...promoted }, { deadline }) =>
      continuedWith(
        await mergePromoted(deps, { ...promoted, ...(from === undefined ? {} : { from }) }, deadline),
      ),
  }),
];
