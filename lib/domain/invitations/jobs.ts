import * as z from 'zod/mini';
import { defineJob } from '../job.ts';
import { textField } from '../job-fields.ts';
import { acceptConfirmedInvitations } from './invitations.ts';
import { CONFIRMED_JOB } from './on-confirmed.ts';

export const jobs = [
  defineJob({
    name: CONFIRMED_JOB,
    body: () => z.object({ email: textField() }),
    run: (deps, { email }, { deadline }) => acceptConfirmedInvitations(deps, email, deadline),
  }),
];
