import * as z from 'zod/mini';
import { MAINTAIN_JOB } from '../../store/maintenance/last-runs.ts';
import { PACKS_GC_JOB, sweepUnlisted } from '../../store/repository/unlisted-pack-gc.ts';
import { defineJob, outcomeOf } from '../job.ts';
import { textField } from '../job-fields.ts';
import { maintainRepository } from './run.ts';

export const jobs = [
  defineJob({
    name: MAINTAIN_JOB,
    body: () =>
      z.object({
        repositoryId: textField(),
        collect: z._default(z.boolean(), false),
        refs: z._default(z.boolean(), false),
      }),
    run: async (deps, body, context) => outcomeOf(await maintainRepository(deps, body, context)),
  }),
  defineJob({
    name: PACKS_GC_JOB,
    formerNames: ['network.look'],
    body: () =>
      z.object({
        networkId: textField(),
        repositoryId: textField(),
        storagePrefix: z.exactOptional(textField()),
        unlisted: z._default(z.array(textField()), []),
        since: textField(),
      }),
    run: ({ store, now }, body) => sweepUnlisted(store, body, now()),
  }),
];
