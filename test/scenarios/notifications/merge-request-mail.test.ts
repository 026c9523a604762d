/** Mail about merge requests: who is sent it for each thing that happens to them, why, and what it says. */
import { beforeAll, expect, test } from 'vitest';
import { settled } from '../../harness/settled.ts';
import { EIGHT, header, ownMail, reasons } from '../mail/mail-fixture.ts';

const { service, people, call, prefer, forget, mails } = ownMail([...EIGHT, 'ivy']);
/** What users choose at the level `custom`. */
const CHOSEN = [
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'merge_merge_request',
  'merge_when_pipeline_succeeds',
];
let project: string;
let branches = 0;
const ids = (...names: string[]) => names.map((name) => people[name]!.id);

beforeAll(async () => {
  const json = { name: 'house', visibility: 'public', initialize_with_readme: true };
  project = `/projects/${(await call('ada', 'POST', '/projects', json)).id}`;
  for (const [name, access_level] of [
    ['bob', 30],
    ['cyd', 40],
    ['ivy', 20],
  ] as const)
    await call('ada', 'POST', `${project}/members`, { user_id: people[name]!.id, access_level });
  await prefer('dan', project, { level: 'watch' });
  const chosen = Object.fromEntries(CHOSEN.map((event) => [event, true]));
  await prefer('eve', project, { level: 'custom', ...chosen });
  await prefer('fay', project, { level: 'custom' });
  await prefer('gus', project, { level: 'disabled' });
  await prefer('hal', project, { level: 'mention' });
  await call('ada', 'POST', `${project}/labels`, { name: 'bug', color: '#000' });
  for (const who of ['fay', 'gus']) await call(who, 'POST', `${project}/labels/bug/subscribe`);
  await settled();
});

const commit = (who: string, branch: string, file_path: string, more: object = {}) => {
  const actions = [{ action: 'create', file_path, content: 'x' }];
  return call(who, 'POST', `${project}/repository/commits`, {
    branch,
    commit_message: 'x',
    actions,
    ...more,
  });
};

/** A merge request of Bob, of a new branch. */
async function proposed(json: object = {}) {
  const branch = `topic-${++branches}`;
  const { id: head } = await commit('bob', branch, branch, { start_branch: 'main' });
  await settled();
  forget();
  const given = { title: 'Door', source_branch: branch, target_branch: 'main', ...json };
  const { iid, id } = await call('bob', 'POST', `${project}/merge_requests`, given);
  return { iid, id, branch, head, path: `${project}/merge_requests/${iid}` };
}

/** The first lines of the mails, and whom each was sent to with which reason. */
async function told() {
  const found = await mails();
  const lines = Object.values(found).flatMap((all) => all.map(({ text }) => text!.split('\n')[0]!));
  return { lines: [...new Set(lines)], sent: reasons(found) };
}
const each = (expected: object) =>
  Object.fromEntries(Object.entries(expected).map(([name, reason]) => [name, [reason]]));

test('one that is new is told to whom it mentions, is assigned to, asks for a review, and who watch', async () => {
  const description = '@gus @hal: the **door**';
  const json = { description, assignee_ids: ids('cyd'), reviewer_ids: ids('ivy'), labels: 'bug' };
  const { iid, id, branch } = await proposed(json);
  const found = await mails();
  expect(reasons(found)).toEqual(
    each({
      cyd: 'assigned',
      dan: 'watching',
      eve: 'custom',
      fay: 'subscribed',
      hal: 'mentioned',
      ivy: 'review_requested',
    }),
  );
  const mail = found['ivy']![0]!;
  expect(mail.subject).toBe(`house | Door (!${iid})`);
  expect(mail.text).toContain(`bob (@bob) created merge request !${iid}.`);
  expect(mail.text).toContain(`It proposes to merge ${branch} into main.`);
  expect(mail.text).toContain(`${service.url}/ada/house/-/merge_requests/${iid}\n`);
  expect(mail.html).toContain('<strong>door</strong>');
  const thread = `<merge_request_${id}.project_${project.split('/').at(-1)}@127.0.0.1>`;
  expect(mail).toMatchObject({ inReplyTo: thread, references: thread });
  expect(header(mail, 'x-lemnos-mergerequest-iid')).toBe(`${iid}`);
});

test('each thing that happens to one is a mail of its own, to those whom it concerns', async () => {
  const milestone = await call('ada', 'POST', `${project}/milestones`, { title: 'v1' });
  const { iid, path, branch, head } = await proposed({ assignee_ids: ids('cyd'), reviewer_ids: ids('ivy') });
  await settled();
  const it = `merge request !${iid}`;
  const thread = { bob: 'author', cyd: 'assigned', dan: 'watching', ivy: 'review_requested' };
  const { dan: _, ...involved } = thread;
  const change = (json: object) => () => call('ada', 'PUT', path, json);
  const later = { merge_when_pipeline_succeeds: true };
  const report = async (state: string) => {
    const { sha } = await call('ada', 'GET', path);
    return call('ada', 'POST', `${project}/statuses/${sha}`, { state, ref: branch });
  };
  expect(head).toHaveLength(40);
  for (const [what, happens, line, expected] of [
    ['title', change({ title: 'Gate' }), '', {}],
    ['close', change({ state_event: 'close' }), `closed ${it}.`, { ...thread, eve: 'custom' }],
    ['reopen', change({ state_event: 'reopen' }), `reopened ${it}.`, { ...thread, eve: 'custom' }],
    [
      'push',
      () => commit('ada', branch, 'more'),
      `pushed to the source branch of ${it}.`,
      { ...involved, eve: 'custom' },
    ],
    ['approve', () => call('ada', 'POST', `${path}/approve`), `approved ${it}.`, thread],
    ['unapprove', () => call('ada', 'POST', `${path}/unapprove`), `took back the approval of ${it}.`, thread],
    ['milestone', change({ milestone_id: milestone.id }), `changed the milestone of ${it} to v1.`, thread],
    [
      'assign',
      change({ assignee_ids: ids('hal') }),
      `assigned ${it} to hal (@hal).`,
      { ...thread, cyd: 'participating', eve: 'custom', hal: 'assigned' },
    ],
    [
      'assign back',
      change({ assignee_ids: ids('cyd') }),
      `assigned ${it} to cyd (@cyd).`,
      { ...thread, eve: 'custom', hal: 'participating' },
    ],
    [
      'ask for a review',
      change({ reviewer_ids: ids('hal') }),
      `asked hal (@hal) for a review of ${it}.`,
      { ...thread, hal: 'review_requested', ivy: 'participating' },
    ],
    [
      'ask another',
      change({ reviewer_ids: ids('ivy') }),
      `asked ivy (@ivy) for a review of ${it}.`,
      { ...thread, hal: 'participating' },
    ],
    ['label', change({ add_labels: 'bug' }), `gave ${it} the label bug.`, { fay: 'subscribed' }],
    ['mention', change({ description: '@hal @gus' }), `mentioned you in ${it}.`, { hal: 'mentioned' }],
    ['run', () => report('running'), '', {}],
    [
      'merge later',
      () => call('ada', 'PUT', `${path}/merge`, later),
      `wants ${it} to be merged when its pipeline succeeds.`,
      { ...thread, eve: 'custom' },
    ],
    ['merge', () => report('success'), `merged ${it}.`, { ...thread, eve: 'custom' }],
  ] as const) {
    await settled();
    forget();
    await happens();
    const { lines, sent } = await told();
    expect([what, sent], JSON.stringify(lines)).toEqual([what, each(expected)]);
    expect(lines).toEqual(line === '' ? [] : [`ada (@ada) ${line}`]);
  }
  expect(await call('ada', 'GET', path)).toMatchObject({ state: 'merged' });
});

test('that the last discussion is resolved, and what is said in one, is told to those who take part', async () => {
  const { path, iid } = await proposed({ reviewer_ids: ids('ivy') });
  await settled();
  forget();
  const { id } = await call('ivy', 'POST', `${path}/discussions`, { body: 'Why?' });
  expect(reasons(await mails())).toEqual(each({ bob: 'author', dan: 'watching' }));
  await settled();
  forget();
  await call('ada', 'PUT', `${path}/discussions/${id}`, { resolved: true });
  const { lines, sent } = await told();
  expect(sent).toEqual(each({ bob: 'author', dan: 'watching', ivy: 'review_requested' }));
  expect(lines).toEqual([`ada (@ada) resolved all discussions of merge request !${iid}.`]);
});

test('one of a project that does not show them to everybody is told to its members alone', async () => {
  await call('ada', 'PUT', project, { merge_requests_access_level: 'private' });
  await proposed({ description: '@hal', reviewer_ids: ids('ivy') });
  expect(reasons(await mails())).toEqual(each({ ivy: 'review_requested' }));
  await call('ada', 'PUT', project, { merge_requests_access_level: 'enabled' });
});
