import * as z from 'zod/mini';
import { BOT_JOB } from '../../store/tokens/tokens.ts';
import { requesterField } from '../audit-events/requester-field.ts';
import { continuedWith, defineJob } from '../job.ts';
import { idField } from '../job-fields.ts';
import { removeBot } from './bots.ts';
import { LIFETIME_JOB, shortenTokenLifetimes } from './lifetimes.ts';

export const jobs = [
  defineJob({
    name: BOT_JOB,
    body: () => z.object({ userId: idField() }),
    run: (deps, body) => removeBot(deps, body),
  }),
  defineJob({
    name: LIFETIME_JOB,
    body: () => z.object({ days: z.number(), after: z._default(z.number(), 0), by: requesterField() }),
    run: async (deps, body, { deadline }) => continuedWith(await shortenTokenLifetimes(deps, body, deadline)),
  }),
];
