import * as z from 'zod/mini';
import { PACKAGE_CONTENTS_JOB, PACKAGE_FILES_JOB } from '../../store/packages/packages.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';

export const jobs = [
  defineJob({
    name: PACKAGE_CONTENTS_JOB,
    body: () => z.object({ contents: z.array(textField()) }),
    run: ({ store }, body) => store.packages.sweep(body),
  }),
  defineJob({
    name: PACKAGE_FILES_JOB,
    body: () => z.object({ projectId: idField(), packageId: idField() }),
    run: async ({ store }, body, { deadline }) => {
      while (await store.packages.removeFiles(body)) if (Date.now() > deadline) return false;
      return true;
    },
  }),
];
