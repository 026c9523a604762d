import { getIssue } from '../../domain/issues/issues.ts';
import * as time from '../../domain/issues/time-tracking.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { timeStats } from '../tracked/present.ts';
import { ofIssue } from './params.ts';
import * as shapes from './shapes.ts';

const area = 'issues';
const path = '/projects/:id/issues/:issue_iid' as const;
const access = project('read_issues');
const returns = { body: shapes.timeStats };
const UNITS = 'A day has 8 hours, a week 5 days, a month 4 weeks; a number alone means hours.';
const absent = { status: 404, description: 'Issue not found' };
const errors = [absent, { status: 409, description: 'Others keep changing the issue' }];
const invalid = { status: 400, description: 'The duration is invalid' };

const stats = endpoint({
  method: 'GET',
  path: `${path}/time_stats`,
  area,
  summary: 'Get the time tracked on an issue',
  access: project('read_issues', { anonymous: true }),
  params: ofIssue,
  returns,
  errors: [absent],
  handle: async ({ actor, project, params }, deps) =>
    timeStats((await getIssue(deps, actor, project, params.issue_iid)).issue),
});

const setEstimate = endpoint({
  method: 'POST',
  path: `${path}/time_estimate`,
  area,
  summary: 'Set the time that an issue is estimated to take',
  description: UNITS,
  access,
  params: ofIssue,
  body: () => p.params({ duration: p.string({ required: true, description: 'Such as `3h 30m`' }) }),
  returns: { ...returns, status: 200 },
  errors: [invalid, ...errors],
  handle: async ({ actor, project, params, body }, deps) =>
    timeStats(await time.trackTime(deps, actor, project, params.issue_iid, time.estimate(body.duration))),
});

const addSpent = endpoint({
  method: 'POST',
  path: `${path}/add_spent_time`,
  area,
  summary: 'Add time spent on an issue',
  description: UNITS,
  access,
  params: ofIssue,
  body: () =>
    p.params({
      duration: p.string({ required: true, description: 'Such as `3h 30m`; `-1h` is subtracted' }),
      summary: p.string({ description: 'Ignored: what the time was spent on is not shown anywhere' }),
    }),
  returns,
  errors: [invalid, ...errors],
  handle: async ({ actor, project, params, body }, deps) =>
    timeStats(await time.trackTime(deps, actor, project, params.issue_iid, time.spend(body.duration))),
});

const reset = (name: string, summary: string, change: time.TimeChange) =>
  endpoint({
    method: 'POST',
    path: `${path}/${name}`,
    area,
    summary,
    access,
    params: ofIssue,
    returns: { ...returns, status: 200 },
    errors,
    handle: async ({ actor, project, params }, deps) =>
      timeStats(await time.trackTime(deps, actor, project, params.issue_iid, change)),
  });

export const issueTimeEndpoints = [
  stats,
  setEstimate,
  reset('reset_time_estimate', 'Remove the estimate of an issue', time.resetEstimate),
  addSpent,
  reset('reset_spent_time', 'Remove the time spent on an issue', time.resetSpent),
];
