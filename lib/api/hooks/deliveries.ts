import { listDeliveries, resendDelivery } from '../../domain/hooks/deliveries.ts';
import { SYSTEM_EXAMPLE, tryHook } from '../../domain/hooks/examples.ts';
import { getHook } from '../../domain/hooks/hooks.ts';
import * as p from '../../http/params.ts';
import { HOOK_SWITCHES } from '../../records/hooks.ts';
import { counted, endpoint } from '../endpoint.ts';
import { absent, area, HOOKS_OF, placeOf } from './kinds.ts';
import { shownDelivery } from './present.ts';
import * as shapes from './shapes.ts';

const triggers = HOOK_SWITCHES.filter((name) => name !== 'repository_update_events');

/** Deliveries of hooks: looking at them, sending one again, trying a hook. */
export const deliveryEndpoints = HOOKS_OF.flatMap(({ path, of, access, param, system }) => {
  const one = `${path}/:${param}`;
  const hookId = () => ({ [param]: p.integer({ required: true, description: 'ID of the hook' }) });
  const idIn = (params: object) => (params as Readonly<Record<string, number>>)[param]!;
  const list = endpoint({
    method: 'GET',
    path: `${one}/events`,
    area,
    summary: `List recent calls of a hook of ${of}`,
    description: 'Those of the last seven days, the newest first, without secrets.',
    access,
    params: () => p.params(hookId()),
    query: () =>
      p.params({
        status: p.string({ description: 'Return only calls that were answered with this status' }),
      }),
    returns: { body: shapes.deliveries },
    paginate: 'offset',
    errors: [absent],
    handle: async ({ params, query, page, ...context }, deps) => {
      const place = placeOf(context);
      const hook = await getHook(deps, place, idIn(params));
      const found = await listDeliveries(deps, place, hook.id, counted(page));
      const shown = found.items.map((delivery) => shownDelivery(deps, hook, delivery));
      const { status } = query;
      return {
        ...found,
        items: status === undefined ? shown : shown.filter((each) => each.response_status === status),
      };
    },
  });
  const resend = endpoint({
    method: 'POST',
    path: `${one}/events/:hook_event_id/resend`,
    area,
    summary: `Request another call of a hook of ${of}`,
    description:
      'Sends the same, with the same id of the event. The answer comes later: list the calls to see it.',
    access,
    params: () =>
      p.params({
        ...hookId(),
        hook_event_id: p.string({ required: true, description: 'ID of the call' }),
      }),
    returns: { body: shapes.delivery },
    errors: [{ status: 404, description: 'There is no such hook or call' }],
    handle: async ({ params, ...context }, deps) => {
      const place = placeOf(context);
      const hook = await getHook(deps, place, idIn(params));
      const id = (params as unknown as { readonly hook_event_id: string }).hook_event_id;
      return shownDelivery(deps, hook, await resendDelivery(deps, place, hook.id, id));
    },
  });
  if (system)
    return [
      list,
      resend,
      endpoint({
        method: 'POST',
        path: one,
        area,
        summary: 'Start a test call of a hook of the instance',
        description: 'Sends the example that is the answer.',
        access,
        params: () => p.params(hookId()),
        returns: { body: shapes.example },
        errors: [absent],
        handle: async ({ actor, params, ...context }, deps) => {
          await tryHook(deps, actor, placeOf(context), idIn(params), 'push_events');
          return { event_name: SYSTEM_EXAMPLE.name, ...SYSTEM_EXAMPLE.attributes };
        },
      }),
    ];
  return [
    list,
    resend,
    endpoint({
      method: 'POST',
      path: `${one}/test/:trigger`,
      area,
      summary: `Start a test call of a hook of ${of}`,
      description:
        'Sends an event about the newest thing of its kind, also to a hook that is called no more. The answer comes later: list the calls to see it.',
      access,
      params: () =>
        p.params({
          ...hookId(),
          trigger: p.oneOf(triggers, { required: true, description: 'What the event is about' }),
        }),
      returns: { body: shapes.tried },
      errors: [absent, { status: 422, description: 'There is nothing that the event could be about' }],
      handle: async ({ actor, params, ...context }, deps) => {
        const { trigger } = params as unknown as { readonly trigger: (typeof triggers)[number] };
        await tryHook(deps, actor, placeOf(context), idIn(params), trigger);
        return { message: '201 Created' };
      },
    }),
  ];
});
