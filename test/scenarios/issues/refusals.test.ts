/** What issues, labels and milestones refuse, to whom, and with what words. */
import { beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as } = ownWorld();

const UNAUTHORIZED = { message: '401 Unauthorized' };
const FORBIDDEN = { message: '403 Forbidden' };
const HIDDEN = { message: '404 Project Not Found' };
const NO_RECORD = { message: '404 Not found' };
const NO_LABEL = { message: '404 Label Not Found' };
const NO_AWARD = { message: '404 Award Emoji Not Found' };

/** Ids by name, for the braces of a path. */
const ids: Record<string, number> = {};
const filled = (path: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(ids[name] ?? world.ids[name]));

beforeAll(async () => {
  const made = async (name: string, path: string, json: object) => {
    const { status, body } = await as('owner', 'POST', filled(path), json);
    expect(status, JSON.stringify(body)).toBe(201);
    ids[name] = path.endsWith('issues') || path.endsWith('epics') ? body.iid : body.id;
  };
  await made('group', '/groups', { name: 'Rules', path: 'rules', visibility: 'public' });
  await made('off', '/projects', { name: 'off', visibility: 'public', issues_access_level: 'disabled' });
  await made('issue', '/projects/{public}/issues', { title: 'seen' });
  await made('secret', '/projects/{public}/issues', { title: 'secret', confidential: true });
  await made('unseen', '/projects/{private}/issues', { title: 'unseen' });
  await made('label', '/projects/{public}/labels', { name: 'bug', color: 'red' });
  await made('milestone', '/projects/{public}/milestones', { title: 'v1' });
  await made('elsewhere', '/projects/{private}/milestones', { title: 'elsewhere' });
  await made('above', '/groups/{group}/labels', { name: 'ours', color: 'red' });
  await made('epic', '/groups/{group}/epics', { title: 'goal' });
  // What is named by nothing is no label of this name.
  await made('undefined', '/projects/{public}/labels', { name: 'undefined', color: 'red' });
  await made('planned', '/groups/{group}/milestones', { title: 'planned' });
});

const ISSUE = '/projects/{public}/issues/{issue}';
const SECRET = '/projects/{public}/issues/{secret}';
const LABELS = '/projects/{public}/labels';
const MILESTONES = '/projects/{public}/milestones';

test.each<[Who, string, object | undefined, number, object]>([
  ['anonymous', 'GET /issues', undefined, 401, UNAUTHORIZED],
  ['anonymous', 'GET /issues?scope=assigned_to_me', undefined, 401, UNAUTHORIZED],
  ['anonymous', 'GET /issues_statistics', undefined, 401, UNAUTHORIZED],
  ['anonymous', 'GET /issues/1', undefined, 401, UNAUTHORIZED],
  ['owner', 'GET /issues/1', undefined, 403, FORBIDDEN],
  ['administrator', 'GET /issues/999999', undefined, 404, NO_RECORD],
  ['stranger', 'GET /groups/999999/issues', undefined, 404, { message: '404 Group Not Found' }],
  ['stranger', 'GET /projects/{private}/issues', undefined, 404, HIDDEN],
  ['stranger', 'GET /projects/{private}/issues/{unseen}', undefined, 404, HIDDEN],
  ['owner', 'GET /projects/{public}/issues/999999', undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}`, undefined, 404, NO_RECORD],
  ['anonymous', 'POST /projects/{public}/issues', { title: 'x' }, 401, UNAUTHORIZED],
  ['stranger', 'POST /projects/{private}/issues', { title: 'x' }, 404, HIDDEN],
  ['owner', 'POST /projects/{off}/issues', { title: 'x' }, 403, FORBIDDEN],
  ['owner', 'GET /projects/{off}/issues', undefined, 403, FORBIDDEN],
  ['anonymous', `PUT ${ISSUE}`, { title: 'x' }, 401, UNAUTHORIZED],
  ['guest', `PUT ${ISSUE}`, { title: 'x' }, 403, FORBIDDEN],
  ['guest', `PUT ${SECRET}`, { title: 'x' }, 404, NO_RECORD],
  ['owner', `PUT ${ISSUE}`, { title: '' }, 400, { message: { title: ["can't be blank"] } }],
  [
    'owner',
    `PUT ${ISSUE}`,
    { title: 'x'.repeat(256) },
    400,
    { message: { title: ['is too long (maximum is 255 characters)'] } },
  ],
  ['owner', `PUT ${ISSUE}`, { title: null }, 400, { message: { title: ["can't be blank"] } }],
  ['owner', `PUT ${ISSUE}`, { confidential: null }, 400, { error: 'confidential is empty' }],
  ['owner', `PUT ${ISSUE}`, { due_date: '2030-02-31' }, 400, { error: 'due_date is invalid' }],
  ['owner', `PUT ${ISSUE}`, { issue_type: 'wish' }, 400, { error: 'issue_type does not have a valid value' }],
  [
    'owner',
    `PUT ${ISSUE}`,
    { weight: -1 },
    400,
    { message: { weight: ['must be greater than or equal to 0'] } },
  ],
  ['anonymous', `DELETE ${ISSUE}`, undefined, 401, UNAUTHORIZED],
  ['maintainer', `DELETE ${ISSUE}`, undefined, 403, FORBIDDEN],
  ['guest', `DELETE ${SECRET}`, undefined, 404, { message: '404 Issue Not Found' }],
  ['anonymous', `POST ${ISSUE}/move`, { to_project_id: 1 }, 401, UNAUTHORIZED],
  ['anonymous', `POST ${ISSUE}/subscribe`, undefined, 401, UNAUTHORIZED],
  ['guest', `POST ${SECRET}/subscribe`, undefined, 404, NO_RECORD],
  ['guest', `POST ${SECRET}/todo`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/participants`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/time_stats`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/related_merge_requests`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/closed_by`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/links`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/award_emoji`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/resource_label_events`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/resource_state_events`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/resource_milestone_events`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/resource_weight_events`, undefined, 404, NO_RECORD],
  ['guest', `GET ${SECRET}/resource_iteration_events`, undefined, 404, NO_RECORD],
  ['guest', `POST ${ISSUE}/time_estimate`, { duration: '1h' }, 403, FORBIDDEN],
  ['guest', `POST ${ISSUE}/add_spent_time`, { duration: '1h' }, 403, FORBIDDEN],
  ['guest', `POST ${ISSUE}/reset_time_estimate`, undefined, 403, FORBIDDEN],
  ['guest', `POST ${ISSUE}/reset_spent_time`, undefined, 403, FORBIDDEN],
  ['owner', `GET ${ISSUE}/award_emoji/999999`, undefined, 404, NO_AWARD],
  ['owner', `DELETE ${ISSUE}/award_emoji/999999`, undefined, 404, NO_AWARD],
  ['owner', `POST ${ISSUE}/award_emoji`, {}, 400, { error: 'name is missing' }],
  ['owner', `GET ${ISSUE}/links/999999`, undefined, 404, NO_RECORD],
  ['owner', `GET ${ISSUE}/resource_label_events/999999`, undefined, 404, NO_RECORD],

  ['anonymous', `GET ${LABELS}`, undefined, 401, UNAUTHORIZED],
  ['stranger', 'GET /projects/{private}/labels', undefined, 404, HIDDEN],
  ['guest', `POST ${LABELS}`, { name: 'x', color: 'red' }, 403, FORBIDDEN],
  ['guest', `PUT ${LABELS}/bug`, { color: 'red' }, 403, FORBIDDEN],
  ['guest', `DELETE ${LABELS}/bug`, undefined, 403, FORBIDDEN],
  ['guest', `PUT ${LABELS}/bug/promote`, undefined, 403, FORBIDDEN],
  ['owner', `GET ${LABELS}/none`, undefined, 404, NO_LABEL],
  ['owner', `PUT ${LABELS}/none`, { color: 'red' }, 404, NO_LABEL],
  ['owner', `DELETE ${LABELS}/none`, undefined, 404, NO_LABEL],
  ['owner', `PUT ${LABELS}/none/promote`, undefined, 404, NO_LABEL],
  ['owner', `POST ${LABELS}/none/unsubscribe`, undefined, 404, NO_LABEL],
  ['owner', `POST ${LABELS}`, { name: 'bug', color: 'red' }, 409, { message: 'Label already exists' }],
  ['stranger', 'POST /groups/{group}/labels', { name: 'x', color: 'red' }, 403, FORBIDDEN],
  ['owner', 'POST /groups/{group}/labels', { color: 'red' }, 400, { error: 'name is missing' }],
  ['owner', 'POST /groups/{group}/labels', { name: 'x' }, 400, { error: 'color is missing' }],
  [
    'owner',
    'POST /groups/{group}/labels',
    { name: 'x', color: 'x' },
    400,
    { message: { color: ['must be a valid color code'] } },
  ],
  [
    'owner',
    'POST /groups/{group}/labels',
    { name: 'ours', color: 'red' },
    409,
    { message: 'Label already exists' },
  ],
  [
    'owner',
    'PUT /groups/{group}/labels/ours',
    { new_name: null },
    400,
    { message: { title: ["can't be blank", 'is invalid'] } },
  ],
  [
    'owner',
    `PUT ${LABELS}/bug`,
    { color: null },
    400,
    { message: { color: ['must be a valid color code'] } },
  ],
  ['owner', `PUT ${LABELS}`, { name: null, color: 'red' }, 404, NO_LABEL],
  ['owner', `DELETE ${LABELS}?label_id=`, undefined, 404, NO_LABEL],
  ['owner', 'PUT /groups/{group}/labels/none', { color: 'red' }, 404, NO_LABEL],
  ['owner', 'DELETE /groups/{group}/labels/none', undefined, 404, NO_LABEL],
  ['stranger', 'DELETE /groups/{group}/labels/ours', undefined, 403, FORBIDDEN],

  ['anonymous', `GET ${MILESTONES}`, undefined, 401, UNAUTHORIZED],
  ['guest', `POST ${MILESTONES}`, { title: 'x' }, 403, FORBIDDEN],
  ['guest', `PUT ${MILESTONES}/{milestone}`, { title: 'x' }, 403, FORBIDDEN],
  ['guest', `DELETE ${MILESTONES}/{milestone}`, undefined, 403, FORBIDDEN],
  ['guest', `POST ${MILESTONES}/{milestone}/promote`, undefined, 403, FORBIDDEN],
  ['owner', `GET ${MILESTONES}/{elsewhere}`, undefined, 404, NO_RECORD],
  ['owner', `GET ${MILESTONES}/{elsewhere}/issues`, undefined, 404, NO_RECORD],
  ['owner', `GET ${MILESTONES}/{elsewhere}/merge_requests`, undefined, 404, NO_RECORD],
  ['owner', `DELETE ${MILESTONES}/{elsewhere}`, undefined, 404, NO_RECORD],
  ['owner', `POST ${MILESTONES}/{elsewhere}/promote`, undefined, 404, NO_RECORD],
  ['owner', 'POST /groups/{group}/milestones', {}, 400, { error: 'title is missing' }],
  [
    'owner',
    'POST /groups/{group}/milestones',
    { title: 'planned' },
    400,
    { message: 'Failed to create milestone {:title=>["has already been taken"]}' },
  ],
  [
    'owner',
    'PUT /groups/{group}/milestones/{planned}',
    { start_date: '2030-02-01', due_date: '2030-01-01' },
    400,
    { message: 'Failed to update milestone {:due_date=>["must be greater than start date"]}' },
  ],
  [
    'owner',
    `PUT ${MILESTONES}/{milestone}`,
    { title: null },
    400,
    { message: `Failed to update milestone {:title=>["can't be blank"]}` },
  ],
  [
    'owner',
    'PUT /groups/{group}/epics/{epic}',
    { title: null },
    400,
    { message: { title: ["can't be blank"] } },
  ],
  ['stranger', 'POST /groups/{group}/milestones', { title: 'x' }, 403, FORBIDDEN],
  ['owner', 'GET /groups/{group}/milestones/{milestone}', undefined, 404, NO_RECORD],
])('%s: %s %j is refused', async (who, request, json, status, body) => {
  const [method, path] = filled(request).split(' ') as [string, string];
  const answer = await as(who, method, path, json);
  expect([answer.status, answer.body]).toEqual([status, body]);
});

test.each([
  ISSUE,
  `${LABELS}/bug`,
  `${MILESTONES}/{milestone}`,
  '/groups/{group}/labels/ours',
  '/groups/{group}/milestones/{planned}',
])('%s is not deleted when it was changed since', async (path) => {
  const headers = { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
  const answer = await service.call('DELETE', filled(path), { token: world.tokens.owner!, headers });
  expect([answer.status, answer.body]).toEqual([412, { message: '412 Precondition Failed' }]);
  expect((await as('owner', 'GET', filled(path))).status).toBe(200);
});

test('labels of an issue that is not there are not created', async () => {
  for (const given of [{ labels: 'left-behind' }, { add_labels: 'left-behind' }]) {
    const answer = await as('owner', 'PUT', filled('/projects/{public}/issues/9999'), given);
    expect([answer.status, answer.body]).toEqual([404, NO_RECORD]);
  }
  expect((await as('owner', 'GET', filled(`${LABELS}/left-behind`))).status).toBe(404);
});
