import * as z from 'zod/mini';
import { SETTLE_JOB } from '../../store/labels/settle.ts';
import { FOLLOW_JOB } from '../../store/labels/uses.ts';
import { CLOSES_NOTHING_JOB } from '../../store/merge-requests/closing.ts';
import { FORGET_VERSIONS_JOB } from '../../store/merge-requests/kind.ts';
import {
  AUTO_MERGE_JOB,
  CHECK_MERGE_REQUEST_JOB,
  CLOSE_SOURCELESS_JOB,
  CLOSE_UNRELATED_JOB,
  FOLLOW_PUSH_JOB,
  REBASE_JOB,
  REMOVE_SOURCE_JOB,
  RESOLVE_OUTDATED_JOB,
  RETARGET_JOB,
  TELL_DEPLOYED_JOB,
} from '../../store/merge-requests/merge-requests.ts';
import { UNASSIGN_MERGE_REQUESTS_JOB } from '../../store/tracked/unassign.ts';
import { follow } from '../issues/follow.ts';
import { STEPS, settle } from '../issues/settle.ts';
import { continuedWith, defineJob } from '../job.ts';
import { idField, sourceKindField, textField } from '../job-fields.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { unassign, unassigningFields } from '../tracked/unassign.ts';
import { followPush } from './after-push.ts';
import { mergeAfterPipeline, removeSourceBranch } from './auto-merge.ts';
import { checkMergeRequest } from './check.ts';
import { tellDeployed } from './deployed.ts';
import { followWithMergeRequests, settleMergeRequests } from './follow.ts';
import { forgetVersions } from './forget.ts';
import { rebaseMergeRequest } from './rebase.ts';
import { resolveOutdated } from './resolve-outdated.ts';
import { retargetChained } from './retarget.ts';
import { closeSourceless, closeUnrelated } from './unrelated.ts';

const address = () => ({ projectId: idField(), iid: idField() });
const commits = () =>
  z.object({ headSha: textField(), baseSha: z.nullable(textField()), startSha: textField() });

/** Milliseconds until what was being changed during the first run is looked at again. */
const AGAIN_MS = 60_000;
/** Where an earlier run stopped among the issues, or among the merge requests that come after these. */
const among = () => z.exactOptional(z.literal('merge-requests'));

export const jobs = [
  defineJob({
    name: SETTLE_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        from: z.optional(
          z.object({ step: z.enum(STEPS), after: z.optional(z.union([z.number(), z.string()])) }),
        ),
        among: among(),
      }),
    run: async (deps, { among, ...settling }, { deadline }) => {
      if (among === undefined) {
        const rest = await settle(deps, settling, deadline);
        if (rest !== undefined) return { body: rest };
      }
      const { from: _, ...whole } = settling;
      const rest = await settleMergeRequests(deps, among === undefined ? whole : settling, deadline);
      return continuedWith(rest && { ...rest, among: 'merge-requests' });
    },
  }),
  defineJob({
    name: FOLLOW_JOB,
    body: () =>
      z.object({
        facet: z.enum(['label', 'milestone', 'iteration', 'epic']),
        valueId: idField(),
        kind: sourceKindField(),
        id: idField(),
        successorId: z.optional(z.nullable(idField())),
        from: z.optional(
          z.object({
            row: z.enum(['DIRECT', 'DEEP']),
            projectId: idField(),
            after: z.optional(z.string()),
          }),
        ),
        again: z.optional(z.boolean()),
        among: among(),
      }),
    run: async (deps, { among, ...following }, { deadline }) => {
      if (among === undefined) {
        const rest = await follow(deps, following, deadline);
        if (rest !== undefined) return { body: rest };
      }
      const { from: _, ...whole } = following;
      const rest = await followWithMergeRequests(deps, among === undefined ? whole : following, deadline);
      if (rest !== undefined) return { body: { ...rest, among: 'merge-requests' } };
      return following.again === true ? undefined : { body: { ...whole, again: true }, delayMs: AGAIN_MS };
    },
  }),
  defineJob({
    name: CHECK_MERGE_REQUEST_JOB,
    body: () => z.object(address()),
    run: (deps, body, { deadline, lastDelivery }) =>
      checkMergeRequest(deps, body, { deadline, last: lastDelivery }),
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
    name: FORGET_VERSIONS_JOB,
    body: () => z.object(address()),
    run: (deps, body, { deadline }) => forgetVersions(deps, body, deadline),
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
    name: RETARGET_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        iids: z.array(idField()),
        branch: textField(),
        targetBranch: textField(),
        actorId: idField(),
        baseUrl: z.string(),
      }),
    run: retargetChained,
  }),
  defineJob({
    name: CLOSE_UNRELATED_JOB,
    body: () =>
      z.object({
        projectId: idField(),
        actorId: z.nullable(idField()),
        baseUrl: z.string(),
        from: z.exactOptional(
          z.object({ side: z.enum(['source', 'target']), after: z.exactOptional(textField()) }),
        ),
      }),
    run: async (deps, body, { deadline }) => continuedWith(await closeUnrelated(deps, body, deadline)),
  }),
  defineJob({
    name: CLOSE_SOURCELESS_JOB,
    body: () => z.object({ mergeRequests: z.array(z.object(address())), actorId: z.nullable(idField()) }),
    run: async (deps, body, { deadline }) => {
      const mergeRequests = await closeSourceless(deps, body, deadline);
      return continuedWith(mergeRequests && { ...body, mergeRequests });
    },
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
