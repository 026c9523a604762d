import * as z from 'zod/mini';
import { IMPORT_ORDER_JOB, IMPORT_STAGED_JOB, IMPORT_STARTED_JOB } from '../../outbound/stage-repository.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { beginImport, endImport, importStaged } from './finish.ts';
import { orderImport } from './order.ts';
import { IMPORT_ENDS_JOB } from './plan.ts';

const importFields = () => ({ projectId: idField(), importId: textField() });

/** Of the queue `ingest`. */
export const ingestJobs = [
  defineJob({
    name: IMPORT_ORDER_JOB,
    body: () => z.object({ ...importFields(), key: z.exactOptional(z.string()) }),
    run: orderImport,
  }),
  defineJob({
    name: IMPORT_STARTED_JOB,
    body: () => z.object(importFields()),
    run: beginImport,
  }),
  defineJob({
    name: IMPORT_STAGED_JOB,
    // The function that reports it talks to foreign servers: what is none of the known outcomes is a failure.
    body: () =>
      z.object({
        ...importFields(),
        outcome: z.exactOptional(z.string()),
        failure: z.exactOptional(z.string()),
      }),
    run: (deps, body, { lastDelivery }) => importStaged(deps, body, lastDelivery),
  }),
  defineJob({
    name: IMPORT_ENDS_JOB,
    body: () => z.object(importFields()),
    run: endImport,
  }),
];
