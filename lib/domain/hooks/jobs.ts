import * as z from 'zod/mini';
import { HOOK_CALLED_JOB } from '../../outbound/hook-call.ts';
import type { HookOwner } from '../../records/hooks.ts';
import { TELL_HOOKS_JOB, type ToldToHooks } from '../hook-events/tell.ts';
import { defineJob } from '../job.ts';
import { idField, textField } from '../job-fields.ts';
import { callEnded, nextCall } from './calls.ts';
import { NEXT_CALL_JOB } from './deliveries.ts';
import { deliverEvent, deliverInOrder } from './fan-out.ts';

const ownerField = (): z.ZodMiniType<HookOwner> =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('project'), id: idField() }),
    z.object({ kind: z.literal('group'), id: idField() }),
    z.object({ kind: z.literal('system') }),
  ]);

const toldField = () =>
  z.object({
    actorId: z.nullable(idField()),
    baseUrl: z.string(),
    at: textField(),
    scene: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('project'), id: idField(), groupIds: z.array(idField()) }),
      z.object({ kind: z.literal('group'), groupIds: z.array(idField()) }),
      z.object({ kind: z.literal('system') }),
    ]),
    // Made by this service alone, of many kinds.
    events: z.array(z.looseObject({ kind: textField() })),
  }) as unknown as z.ZodMiniType<ToldToHooks>;

export const jobs = [
  defineJob({
    name: TELL_HOOKS_JOB,
    // Messages of an earlier release have the event itself.
    body: () => z.union([z.object({ list: textField(), id: z.exactOptional(textField()) }), toldField()]),
    run: (deps, body, context) =>
      'list' in body
        ? deliverInOrder(deps, { id: context.messageId, ...body }, context)
        : deliverEvent(deps, body, context.messageId),
  }),
  defineJob({
    name: NEXT_CALL_JOB,
    body: () => z.object({ owner: ownerField(), hookId: idField(), slug: z.exactOptional(textField()) }),
    run: (deps, body, { messageId }) => nextCall(deps, body, messageId),
  }),
  defineJob({
    name: HOOK_CALLED_JOB,
    // The function that reports it talks to foreign servers: everything has its limit.
    body: () =>
      z.object({
        owner: ownerField(),
        hookId: idField(),
        deliveryId: textField(),
        holder: textField(),
        slug: z.exactOptional(textField()),
        outcome: z.object({
          status: z.nullable(z.number()),
          headers: z.record(z.string(), z.string().check(z.maxLength(1_000))),
          body: z.string().check(z.maxLength(128 * 1024)),
          milliseconds: z.number(),
          failure: z.exactOptional(z.string().check(z.maxLength(100))),
        }),
      }),
    run: (deps, body, { messageId }) => callEnded(deps, body, messageId),
  }),
];
