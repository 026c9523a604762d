import * as z from 'zod/mini';
import { CLOSES_NOTHING_JOB } from '../../store/merge-requests/closing.ts';
import {
  AUTO_MERGE_JOB,
  CHECK_MERGE_REQUEST_JOB,
  FOLLOW_PUSH_JOB,
  REBASE_JOB,
  REFRESH_MERGE_REQUEST_JOB,
  REMOVE_SOURCE_JOB,
  RESOLVE_OUTDATED_JOB,
  TELL_DEPLOYED_JOB,
} from '../../store/merge-requests/merge-requests.ts';
import { UNASSIGN_MERGE_REQUESTS_JOB } from '../../store/tracked/unassign.ts';
import { continuedWith, defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { unassign, unassigningFields } from '../tracked/unassign.ts';
import { followPush } from './after-push.ts';
import { mergeAfterPipeline, removeSourceBranch } from './auto-merge.ts';
import { tellDeployed } from './deployed.ts';
import { checkMergeRequest } from './mergeability.ts';
import { rebaseMergeRequest } from './rebase.ts';
import { refreshMergeRequest } from './refresh.ts';
import { resolveOutdated } from './resolve-outdated.ts';

const address = () => ({ projectId: idField(), iid: idField() });
const commits = () =>
  z.object({ headSha: textField(), baseSha: z.nullable(textField()), startSha: textField() });

export const jobs = [
  defineJob({
    name: CHECK_MERGE_REQUEST_JOB,
    body: () => z.object(address()),
    run: (deps, body, { deadline, lastDelivery }) =>
      checkMergeRequest(deps, body, { deadline, last: lastDelivery }),
  }),
  defineJob({
    name: REFRESH_MERGE_REQUEST_JOB,
    body: () => z.object({ ...address(), userId: idField(), baseUrl: z.string() }),
    run: refreshMergeRequest,
  }),
  defineJob({
    name: FOLLOW_PUSH_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        branches: z.array(z.object({ name: textField(), from: textField(), to: textField() })),
        actorId: z.nullable(idField()),
        baseUrl: z.string(),
      }),
    run: (deps, body, { deadline }) => followPush(deps, body, deadline),
  }),
  defineJob({
    name: UNASSIGN_MERGE_REQUESTS_JOB,
    body: unassigningFields,
    run: async (deps, unassigning, { deadline }) => {
      const { mergeRequestUses: uses, mergeRequests: records } = deps.store;
      return continuedWith(await unassign(deps, { uses, records }, unassigning, deadline));
    },
  }),
  defineJob({
    name: CLOSES_NOTHING_JOB,
    body: () => z.object({ ...address(), closes: z.array(z.object(address())) }),
    run: ({ store }, { closes, ...mergeRequest }) =>
      retryWhileStale(() => store.closing.clear(mergeRequest, closes)),
  }),
  defineJob({
    name: REBASE_JOB,
    body: () =>
      z.object({ ...address(), id: textField(), baseUrl: z.string(), skipCi: z.optional(z.boolean()) }),
    run: (deps, body, { deadline, lastDelivery }) =>
      rebaseMergeRequest(deps, body, { deadline, last: lastDelivery }),
  }),
  defineJob({
    name: AUTO_MERGE_JOB,
    body: () => z.object({ ...address(), baseUrl: z.string() }),
    run: mergeAfterPipeline,
  }),
  defineJob({
    name: REMOVE_SOURCE_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        branch: textField(),
        sha: textField(),
        userId: idField(),
        baseUrl: z.string(),
      }),
    run: removeSourceBranch,
  }),
  defineJob({
    name: TELL_DEPLOYED_JOB,
    body: () => z.object({ projectId: idField(), deploymentId: idField(), from: z.optional(z.int()) }),
    run: async (deps, body, { deadline }) => continuedWith(await tellDeployed(deps, body, deadline)),
  }),
  defineJob({
    name: RESOLVE_OUTDATED_JOB,
    body: () =>
      z.object({
        ...address(),
        before: commits(),
        after: commits(),
        number: z.int(),
        actorId: z.nullable(idField()),
        baseUrl: z.string(),
        from: z.optional(z.int()),
      }),
    run: async (deps, body, { deadline }) => continuedWith(await resolveOutdated(deps, body, deadline)),
  }),
];
