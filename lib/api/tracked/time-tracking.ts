import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import * as time from '../../domain/tracked/time.ts';
import type { ProjectRule } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import type { SystemNote } from '../../records/notes.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { withParams } from '../with-params.ts';
import { timeStats } from './present.ts';
import * as shapes from './shapes.ts';

/** What time is tracked on. */
export interface TimedPath {
  readonly path: `/projects/:id/${string}`;
  readonly area: string;
  /** In summaries: `an issue`. */
  readonly object: string;
  /** In errors: `Issue`. */
  readonly missing: string;
  readonly access: ProjectRule<false>;
  readonly readers: ProjectRule<boolean>;
  /** The path parameter with its number. */
  readonly number: string;
  get(deps: ApiDeps, actor: Actor, access: ProjectAccess, iid: number): Promise<time.TrackedTime>;
  track(
    deps: ApiDeps,
    actor: Actor,
    access: ProjectAccess,
    iid: number,
    change: time.TimeChange,
    notes?: readonly SystemNote[],
  ): Promise<time.TrackedTime>;
}

const returns = { body: shapes.timeStats };
const UNITS = 'A day has 8 hours, a week 5 days, a month 4 weeks; a number alone means hours.';
const invalid = { status: 400, description: 'The duration is invalid' };

/** The endpoints of the time that work on an object is estimated to take and took. */
export function timeEndpoints({
  path,
  area,
  object,
  missing,
  access,
  readers,
  number,
  get,
  track,
}: TimedPath) {
  const absent = { status: 404, description: `${missing} not found` };
  const errors = [absent, { status: 409, description: 'Others keep changing it' }];
  const params = () =>
    withParams(
      {
        id: p.string({ required: true, description: 'ID or URL-encoded full path of the project' }),
        [number]: p.integer({ required: true, description: `Number of ${object} in the project` }),
      },
      {},
    );
  const iidOf = (given: Readonly<Record<string, string | number>>) => Number(given[number]);

  const stats = endpoint({
    method: 'GET',
    path: `${path}/time_stats`,
    area,
    summary: `Get the time tracked on ${object}`,
    access: readers,
    params,
    returns,
    errors: [absent],
    handle: async ({ actor, project, params }, deps) =>
      timeStats(await get(deps, actor, project, iidOf(params))),
  });

  const setEstimate = endpoint({
    method: 'POST',
    path: `${path}/time_estimate`,
    area,
    summary: `Set the time that ${object} is estimated to take`,
    description: UNITS,
    access,
    params,
    body: () => p.params({ duration: p.string({ required: true, description: 'Such as `3h 30m`' }) }),
    returns: { ...returns, status: 200 },
    errors: [invalid, ...errors],
    handle: async ({ actor, project, params, body }, deps) =>
      timeStats(await track(deps, actor, project, iidOf(params), time.estimate(body.duration))),
  });

  const addSpent = endpoint({
    method: 'POST',
    path: `${path}/add_spent_time`,
    area,
    summary: `Add time spent on ${object}`,
    description: UNITS,
    access,
    params,
    body: () =>
      p.params({
        duration: p.string({ required: true, description: 'Such as `3h 30m`; `-1h` is subtracted' }),
        summary: p.string({
          default: '',
          maxLength: 255,
          description: 'What it was spent on, at most 255 characters: the system note tells',
        }),
      }),
    returns,
    errors: [invalid, ...errors],
    handle: async ({ actor, project, params, body: { duration, summary } }, deps) => {
      const notes = time.spentNotes(duration, summary);
      return timeStats(await track(deps, actor, project, iidOf(params), time.spend(duration), notes));
    },
  });

  const reset = (name: string, summary: string, change: time.TimeChange) =>
    endpoint({
      method: 'POST',
      path: `${path}/${name}`,
      area,
      summary,
      access,
      params,
      returns: { ...returns, status: 200 },
      errors,
      handle: async ({ actor, project, params }, deps) =>
        timeStats(await track(deps, actor, project, iidOf(params), change)),
    });

  return [
    stats,
    setEstimate,
    reset('reset_time_estimate', `Remove the estimate of ${object}`, time.resetEstimate),
    addSpent,
    reset('reset_spent_time', `Remove the time spent on ${object}`, time.resetSpent),
  ];
}
