/**
 * What the people of one merge request from a fork get from every endpoint about it: its author and its reviewer, who are
 * members of nothing, and a Maintainer of its target. The other tables are about people by their role alone.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allEndpoints } from '../../lib/api/all.ts';
import { type Answer, type Service, startService } from '../harness/service.ts';
import { settled } from '../harness/settled.ts';
import { done } from './fixtures.ts';

const PEOPLE = ['author', 'reviewer', 'maintainer'] as const;
type Person = (typeof PEOPLE)[number];

/** Statuses of the author, the reviewer and the Maintainer, in this order on one merge request; then what is sent. */
const ROWS = `
GET    /                                          200 200 200
PUT    /                                          200 403 200 {"title": "Another"}
DELETE /                                          403 403 403
GET    /commits                                   200 200 200
GET    /changes                                   200 200 200
GET    /diffs                                     200 200 200
GET    /versions                                  200 200 200
GET    /versions/{version}                        200 200 200
GET    /closes_issues                             200 200 200
GET    /context_commits                           200 200 200
POST   /context_commits                           201 403 400 {"commits": ["{sha}"]}
DELETE /context_commits                           400 403 400 {"commits": ["{sha}"]}
GET    /participants                              200 200 200
GET    /reviewers                                 200 200 200
GET    /pipelines                                 200 200 200
POST   /pipelines                                 403 403 400
POST   /todo                                      201 304 201
POST   /subscribe                                 304 304 201
POST   /unsubscribe                               201 201 304

GET    /merge_ref                                 200 200 200
PUT    /rebase                                    202 403 403
POST   /cancel_merge_when_pipeline_succeeds       401 401 406
PUT    /merge                                     401 401 200

GET    /approvals                                 200 200 200
POST   /approvals                                 403 403 201 {"approvals_required": 1}
GET    /approval_state                            200 200 200
POST   /approve                                   401 401 201
POST   /unapprove                                 401 401 404
PUT    /reset_approvals                           401 401 401
GET    /approval_rules                            200 200 200
GET    /approval_rules/{rule}                     200 200 200
POST   /approval_rules                            403 403 201 {"name": "Some", "approvals_required": 1, "user_ids": [{maintainer}]}
PUT    /approval_rules/{rule}                     403 403 200 {"approvals_required": 2}
DELETE /approval_rules/{rule}                     403 403 204

GET    /notes                                     200 200 200
GET    /notes/{note}                              200 200 200
POST   /notes                                     201 201 201 {"body": "fine"}
PUT    /notes/{note}                              403 403 200 {"body": "better"}
DELETE /notes/{note}                              403 403 204
GET    /discussions                               200 200 200
GET    /discussions/{talk}                        200 200 200
POST   /discussions                               201 201 201 {"body": "fine"}
PUT    /discussions/{talk}                        200 403 200 {"resolved": true}
POST   /discussions/{talk}/notes                  201 201 201 {"body": "fine"}
GET    /discussions/{talk}/notes/{note}           200 200 200
PUT    /discussions/{talk}/notes/{note}           403 403 200 {"body": "better"}
DELETE /discussions/{talk}/notes/{note}           403 403 204

GET    /award_emoji                               200 200 200
GET    /award_emoji/{award}                       200 200 200
POST   /award_emoji                               201 201 201 {"name": "tada"}
DELETE /award_emoji/{award}                       401 401 401
GET    /notes/{note}/award_emoji                  200 200 200
GET    /notes/{note}/award_emoji/{nod}            200 200 200
POST   /notes/{note}/award_emoji                  201 201 201 {"name": "tada"}
DELETE /notes/{note}/award_emoji/{nod}            401 401 401

GET    /resource_label_events                     200 200 200
GET    /resource_label_events/{labelled}          200 200 200
GET    /resource_state_events                     200 200 200
GET    /resource_state_events/{closed}            200 200 200
GET    /resource_milestone_events                 200 200 200
GET    /resource_milestone_events/{planned}       200 200 200

GET    /time_stats                                200 200 200
POST   /time_estimate                             403 403 200 {"duration": "1h"}
POST   /reset_time_estimate                       403 403 200
POST   /add_spent_time                            403 403 201 {"duration": "1h"}
POST   /reset_spent_time                          403 403 200
`;

interface Row {
  readonly method: string;
  readonly path: string;
  readonly expected: readonly number[];
  readonly json: string | undefined;
}

const rows: Row[] = ROWS.split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [, method, path, statuses, json] = /^(\w+) +(\/\S*) +((?:\d{3} ?){3})(\{.*\})?$/.exec(line)!;
    const expected = statuses!.trim().split(' ').map(Number);
    return { method: method!, path: path === '/' ? '' : path!, expected, json };
  });

let service: Service;
let tokens: Record<Person | 'owner', string>;
const ids: Record<string, number> = {};
let target: string;
let fork: string;
let sha: string;
let made = 0;

beforeAll(async () => {
  service = await startService();
  const people = await Promise.all(['owner', ...PEOPLE].map((name) => service.user(name)));
  tokens = Object.fromEntries(people.map(({ username, token }) => [username, token])) as typeof tokens;
  for (const { username, id } of people) ids[username] = id;
  const project = await as('owner', 'POST', '/projects', { name: 'target', visibility: 'public' });
  target = `/projects/${project.id}`;
  await as('owner', 'POST', `${target}/members`, { user_id: ids['maintainer'], access_level: 40 });
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }];
  const commit = { branch: 'main', commit_message: 'x', actions };
  sha = (await as('owner', 'POST', `${target}/repository/commits`, commit)).id;
  await as('owner', 'POST', `${target}/labels`, { name: 'label', color: '#112233' });
  ids['milestone'] = (await as('owner', 'POST', `${target}/milestones`, { title: 'milestone' })).id;
  fork = `/projects/${(await as('author', 'POST', `${target}/fork`, { path: 'fork' })).id}`;
  await settled();
});
afterAll(() => service.stop());

const call = (who: Person | 'owner', method: string, path: string, json?: object): Promise<Answer> =>
  service.call(method, path, { token: tokens[who], ...(json && { json }) });
const as = async (...request: Parameters<typeof call>): Promise<Answer['body']> =>
  done(await call(...request), request[2]);

/** A new merge request of the author's fork. @returns what asks a row's endpoint about it */
async function proposed() {
  const branch = `topic${++made}`;
  const actions = [{ action: 'create', file_path: branch, content: branch }];
  const commit = { branch, start_branch: 'main', commit_message: 'x', actions };
  await as('author', 'POST', `${fork}/repository/commits`, commit);
  const target_project_id = Number(target.split('/')[2]);
  const proposal = { title: 'Topic', source_branch: branch, target_branch: 'main', target_project_id };
  const { iid } = await as('author', 'POST', `${fork}/merge_requests`, proposal);
  const at = `${target}/merge_requests/${iid}`;
  await as('owner', 'PUT', at, {
    reviewer_ids: [ids['reviewer']],
    milestone_id: ids['milestone'],
    add_labels: 'label',
  });
  const talk = await as('owner', 'POST', `${at}/discussions`, { body: 'see' });
  const first = async (list: string) => (await as('owner', 'GET', `${at}/${list}`))[0].id;
  const add = async (path: string, json: object) => (await as('owner', 'POST', `${at}/${path}`, json)).id;
  const note = talk.notes[0].id;
  const found: Record<string, () => unknown> = {
    sha: () => sha,
    maintainer: () => ids['maintainer'],
    note: () => note,
    talk: () => talk.id,
    award: () => add('award_emoji', { name: 'heart' }),
    nod: () => add(`notes/${note}/award_emoji`, { name: 'heart' }),
    rule: () => add('approval_rules', { name: 'All', approvals_required: 0 }),
    version: () => first('versions'),
    labelled: () => first('resource_label_events'),
    planned: () => first('resource_milestone_events'),
    closed: async () => {
      for (const state_event of ['close', 'reopen']) await as('owner', 'PUT', at, { state_event });
      return first('resource_state_events');
    },
  };
  const names = new Map<string, unknown>();
  return async ({ method, path, json }: Row) => {
    for (const [, name] of (path + (json ?? '')).matchAll(/\{(\w+)\}/g))
      if (!names.has(name!)) names.set(name!, await found[name!]!());
    const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => String(names.get(name)));
    const sent = json === undefined ? undefined : JSON.parse(filled(json));
    return (who: Person) => call(who, method, at + filled(path), sent);
  };
}

test('every endpoint about one merge request has a row', () => {
  const known = new Set(rows.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, ':')}`));
  const about = '/projects/:id/merge_requests/:merge_request_iid';
  const wanted = allEndpoints
    .filter(({ path }) => path.startsWith(about))
    .map(({ method, path }) => `${method} ${path.slice(about.length).replace(/:\w+/g, ':')}`);
  expect([...known].sort()).toEqual(wanted.sort());
});

describe('the author, the reviewer and a Maintainer of the target get', () => {
  let shared: ReturnType<typeof proposed> | undefined;
  test.each(rows)('$method $path: $expected', async (row) => {
    // What only reads may be about the same one.
    if (row.method === 'GET') shared ??= proposed();
    const ask = await (await (row.method === 'GET' ? shared! : proposed()))(row);
    const answers: Answer[] = [];
    for (const who of PEOPLE) answers.push(await ask(who));
    const told = answers.map(({ body }) => JSON.stringify(body).slice(0, 200)).join('\n');
    expect(
      answers.map(({ status }) => status),
      told,
    ).toEqual(row.expected);
  });
});

test('of a target that became private the author and the reviewer get nothing, from no endpoint', async () => {
  const about = await proposed();
  const asks = [];
  for (const row of rows) asks.push({ row, ask: await about(row) });
  await as('owner', 'PUT', target, { visibility: 'private' });
  for (const { row, ask } of asks)
    for (const who of ['author', 'reviewer'] as const) {
      const { status, body } = await ask(who);
      expect([status, body], `${who}: ${row.method} ${row.path}`).toEqual([
        404,
        { message: '404 Project Not Found' },
      ]);
    }
});
