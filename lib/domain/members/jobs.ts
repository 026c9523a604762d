import * as z from 'zod/mini';
import { requesterField } from '../audit-events/requester-field.ts';
import { defineJob } from '../job.ts';
import { idField, sourceKindField, textField } from '../job-fields.ts';
import { LEAVE_JOB, removeDescendantMemberships } from './cascade-removal.ts';
import { EXPIRY_JOB, endMembership } from './expiry.ts';

export const jobs = [
  defineJob({
    name: LEAVE_JOB,
    formerNames: ['group.leave-below'],
    body: () => z.object({ groupId: idField(), userId: idField(), until: textField(), by: requesterField() }),
    run: (deps, body) => removeDescendantMemberships(deps, body),
  }),
  defineJob({
    name: EXPIRY_JOB,
    body: () =>
      z.object({ kind: sourceKindField(), id: idField(), userId: idField(), expiresAt: textField() }),
    run: (deps, body) => endMembership(deps, body),
  }),
];
