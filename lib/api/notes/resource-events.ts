import type { ProjectAccess } from '../../domain/access/types.ts';
import { getNotedEvent, type LoadedEvent, listNotedEvents } from '../../domain/notes/noted-events.ts';
import * as p from '../../http/params.ts';
import type { NotedChange } from '../../records/notes.ts';
import { type ApiDeps, BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { presentedIterations } from '../iterations/present.ts';
import { labelDetails } from '../labels/present.ts';
import { presentedMilestones } from '../milestones/presented.ts';
import { TYPES } from '../noteable-types.ts';
import { author as authorOf } from '../users/present.ts';
import { withParams } from '../with-params.ts';
import { absent, type NotedPath } from './discussions.ts';
import * as shapes from './resource-event-shapes.ts';

/** The endpoints of events of some kinds below an object: what has changed there, when, and by whom. */
export const resourceEventEndpoints = (
  noted: NotedPath<ProjectAccess>,
  kinds: readonly (keyof typeof KINDS)[],
) => kinds.flatMap((kind) => endpointsOf(noted, kind));

type Presented = (events: readonly LoadedEvent[], deps: ApiDeps, baseUrl: string) => Promise<object[]>;

const inEvent = ({ id, note, author }: LoadedEvent, baseUrl: string) => ({
  id,
  user: authorOf(author, note.author, baseUrl),
  created_at: note.createdAt,
});

const ofResource = (event: LoadedEvent, baseUrl: string) => ({
  ...inEvent(event, baseUrl),
  resource_type: TYPES[event.note.noteable.kind],
  resource_id: Number(event.note.noteable.id),
});

const KINDS = {
  label: {
    shape: shapes.labelEvent,
    list: shapes.labelEvents,
    present: async (events, _deps, baseUrl) =>
      events.map((event) => ({
        ...ofResource(event, baseUrl),
        label: event.label === undefined ? null : labelDetails(event.label),
        action: event.action,
      })),
  },
  state: {
    shape: shapes.stateEvent,
    list: shapes.stateEvents,
    present: async (events, _deps, baseUrl) =>
      events.flatMap((event) =>
        event.change.kind === 'state' ? [{ ...ofResource(event, baseUrl), state: event.change.state }] : [],
      ),
  },
  milestone: {
    shape: shapes.milestoneEvent,
    list: shapes.milestoneEvents,
    present: async (events, deps, baseUrl) => {
      const records = new Map(
        events.flatMap(({ milestone }) => (milestone ? [[milestone.id, milestone]] : [])),
      );
      const shown = records.size === 0 ? [] : await presentedMilestones(deps, [...records.values()], baseUrl);
      const milestones = new Map(shown.map((each) => [each.id, each]));
      return events.flatMap((event) =>
        event.change.kind === 'milestone'
          ? [
              {
                ...ofResource(event, baseUrl),
                milestone: milestones.get(event.change.milestoneId) ?? null,
                action: event.action,
                state: event.change.state,
              },
            ]
          : [],
      );
    },
  },
  iteration: {
    shape: shapes.iterationEvent,
    list: shapes.iterationEvents,
    present: async (events, deps, baseUrl) => {
      const records = new Map(
        events.flatMap(({ iteration }) => (iteration ? [[iteration.id, iteration]] : [])),
      );
      const shown = records.size === 0 ? [] : await presentedIterations(deps, [...records.values()], baseUrl);
      const iterations = new Map(shown.map((each) => [each.id, each]));
      return events.map((event) => ({
        ...ofResource(event, baseUrl),
        iteration: iterations.get(event.iteration?.id ?? 0) ?? null,
        action: event.action,
      }));
    },
  },
  weight: {
    shape: shapes.weightEvent,
    list: shapes.weightEvents,
    present: async (events, _deps, baseUrl) =>
      events.flatMap((event) =>
        event.change.kind === 'weight'
          ? [
              {
                ...inEvent(event, baseUrl),
                issue_id: Number(event.note.noteable.id),
                weight: event.change.weight,
              },
            ]
          : [],
      ),
  },
} satisfies Readonly<
  Record<
    NotedChange['kind'],
    { readonly shape: unknown; readonly list: unknown; readonly present: Presented }
  >
>;

function endpointsOf(
  { path, area, object, missing, access, open, ...noted }: NotedPath<ProjectAccess>,
  kind: keyof typeof KINDS,
) {
  const { shape, list: listShape, present } = KINDS[kind];
  const common = { area, access } as const;
  const at = <T extends p.Shape>(rest: T) => withParams(noted.params(), rest);

  const list = endpoint({
    ...common,
    method: 'GET',
    path: `${path}/resource_${kind}_events`,
    summary: `List the ${kind} events of ${object}`,
    params: () => at({}),
    returns: { body: listShape },
    ...BY_ROWS,
    errors: [absent(missing)],
    handle: async ({ actor, project, params, page, request }, deps) => {
      const on = await open(deps, actor, project, params);
      const { items, ...rest } = await listNotedEvents(deps, on, kind, counted(page));
      return { ...rest, items: await present(items, deps, request.baseUrl) };
    },
  });

  const get = endpoint({
    ...common,
    method: 'GET',
    path: `${path}/resource_${kind}_events/:event_id`,
    summary: `Get a ${kind} event of ${object}`,
    params: () => at({ event_id: p.integer({ required: true, description: 'ID of the event' }) }),
    returns: { body: shape },
    errors: [absent(missing, 'event')],
    handle: async ({ actor, project, params, request }, deps) => {
      const on = await open(deps, actor, project, params);
      const event = await getNotedEvent(deps, on, kind, params.event_id);
      return (await present([event], deps, request.baseUrl))[0]!;
    },
  });

  return [list, get];
}
