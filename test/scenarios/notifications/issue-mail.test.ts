/** Mail about issues: who is sent it, why, once, and what it says. */
import { beforeAll, describe, expect, test } from 'vitest';
import { handler as noon } from '../../../functions/daily.ts';
import { deps } from '../../../functions/deps.ts';
import { dayIn } from '../../../lib/domain/days.ts';
import { mailMessage } from '../../../lib/domain/mail/message.ts';
import { contentOf } from '../../../lib/domain/notifications/content.ts';
import type { ChangeOfIssue, DomainEvent } from '../../../lib/domain/notifications/enqueue.ts';
import { currentAddress, recipientOf } from '../../../lib/domain/notifications/recipients.ts';
import { sendNotification } from '../../../lib/domain/notifications/send.ts';
import { settled } from '../../harness/settled.ts';
import { EIGHT, header, linkIn, ownMail, reasons } from '../mail/mail-fixture.ts';

const { service, people, call, prefer, forget, mails } = ownMail(EIGHT);
let project: string;

const member = (name: string, access_level: number) =>
  call('ada', 'POST', `${project}/members`, { user_id: people[name]!.id, access_level });
const ids = (...names: string[]) => names.map((name) => people[name]!.id);

/** @returns the path of a new issue, without the mail about it */
async function issue(who: string, json: object = {}): Promise<string> {
  const { iid } = await call(who, 'POST', `${project}/issues`, { title: 'Door', ...json });
  await settled();
  forget();
  return `${project}/issues/${iid}`;
}

beforeAll(async () => {
  project = `/projects/${(await call('ada', 'POST', '/projects', { name: 'house', visibility: 'public' })).id}`;
  await member('bob', 10);
  await member('cyd', 20);
  await settled();
});

describe('mail about an issue', () => {
  const ISSUE_EVENTS = ['new_issue', 'close_issue', 'reopen_issue', 'reassign_issue'];
  beforeAll(async () => {
    await prefer('dan', project, { level: 'watch' });
    await prefer('eve', project, {
      level: 'custom',
      ...Object.fromEntries(ISSUE_EVENTS.map((event) => [event, true])),
    });
    await prefer('fay', project, { level: 'custom' });
    await prefer('gus', project, { level: 'disabled' });
    await prefer('hal', project, { level: 'mention' });
    for (const name of ['bug', 'urgent'])
      await call('ada', 'POST', `${project}/labels`, { name, color: '#000' });
    for (const who of ['fay', 'gus']) await call(who, 'POST', `${project}/labels/bug/subscribe`);
  });
  const texts = async () =>
    Object.fromEntries(
      Object.entries(await mails()).map(([name, all]) => [name, all.map(({ text }) => text!.split('\n')[0])]),
    );

  test('that is new goes to those it mentions, is assigned to, or who watch its project or a label of it', async () => {
    const description = '@bob @gus @hal and `@fay`: the **door**\n<script>alert(1)</script>';
    const json = { title: 'Door', description, assignee_ids: ids('cyd'), labels: 'bug,urgent' };
    const { iid, id } = await call('ada', 'POST', `${project}/issues`, json);
    const found = await mails();
    expect(reasons(found)).toEqual({
      bob: ['mentioned'],
      cyd: ['assigned'],
      dan: ['watching'],
      eve: ['custom'],
      fay: ['subscribed'],
      hal: ['mentioned'],
    });
    const mail = found['bob']![0]!;
    expect(mail.subject).toBe(`house | Door (#${iid})`);
    expect(mail.text).toContain(
      `ada (@ada) created issue #${iid}.\n\nIt is assigned to cyd (@cyd).\n\n${description}`,
    );
    expect(mail.text).toContain(`${service.url}/ada/house/-/issues/${iid}\n`);
    expect(mail.html).toContain('<strong>door</strong>');
    expect(mail.html).not.toContain('<script>');
    const thread = `<issue_${id}.project_${project.split('/').at(-1)}@127.0.0.1>`;
    expect(mail).toMatchObject({ inReplyTo: thread, references: thread });
    for (const [name, value] of Object.entries({
      'issue-iid': `${iid}`,
      'issue-state': 'opened',
      confidentialissue: 'false',
      author: 'ada',
    }))
      for (const brand of ['lemnos', 'gitlab']) expect(header(mail, `x-${brand}-${name}`)).toBe(value);
    // A note joins the same thread, also for those who were only mentioned.
    forget();
    await call('ada', 'POST', `${project}/issues/${iid}/notes`, { body: 'more' });
    const later = await mails();
    expect(reasons(later)).toEqual({ bob: ['participating'], cyd: ['assigned'], dan: ['watching'] });
    expect(later['bob']![0]).toMatchObject({ subject: `Re: house | Door (#${iid})`, references: thread });
  });

  test('that changes is one of each kind of change, to those whom that kind concerns', async () => {
    const milestone = await call('ada', 'POST', `${project}/milestones`, { title: 'v1' });
    const path = await issue('bob', { description: '@bob' });
    const number = `#${path.split('/').at(-1)}`;
    const { id } = await call('ada', 'GET', path);
    const thread = `<issue_${id}.project_${project.split('/').at(-1)}@127.0.0.1>`;
    const everybody = { bob: 'author', cyd: 'assigned', dan: 'watching', eve: 'custom' };
    await call('ada', 'PUT', path, { assignee_ids: ids('cyd') });
    await settled();
    for (const [change, text, expected] of [
      [{ title: 'Gate', weight: 3, due_date: '2030-01-01' }, '', {}],
      [{ state_event: 'close' }, `ada (@ada) closed issue ${number}.`, everybody],
      [{ state_event: 'close' }, '', {}],
      [{ state_event: 'reopen' }, `ada (@ada) reopened issue ${number}.`, everybody],
      [
        { assignee_ids: ids('hal') },
        `ada (@ada) assigned issue ${number} to hal (@hal).`,
        { ...everybody, cyd: 'participating', hal: 'assigned' },
      ],
      [
        { assignee_ids: [] },
        `ada (@ada) removed the assignees of issue ${number}: hal (@hal).`,
        { bob: 'author', dan: 'watching', eve: 'custom', hal: 'participating' },
      ],
      [
        { milestone_id: milestone.id },
        `ada (@ada) changed the milestone of issue ${number} to v1.`,
        { bob: 'author', dan: 'watching' },
      ],
      [
        { milestone_id: null },
        `ada (@ada) removed the milestone of issue ${number}.`,
        { bob: 'author', dan: 'watching' },
      ],
      [
        { description: '@bob @hal @gus' },
        `ada (@ada) mentioned you in issue ${number}.`,
        { hal: 'mentioned' },
      ],
      [{ description: '@bob @hal @gus!' }, '', {}],
      [{ labels: 'urgent' }, '', {}],
      [{ labels: 'urgent,bug' }, `ada (@ada) gave issue ${number} the label bug.`, { fay: 'subscribed' }],
      [{ remove_labels: 'bug' }, '', {}],
    ] as const) {
      forget();
      await call('ada', 'PUT', path, change);
      const asReasons = Object.fromEntries(
        Object.entries(expected).map(([name, reason]) => [name, [reason]]),
      );
      const sent = await mails();
      expect([change, reasons(sent)]).toEqual([change, asReasons]);
      for (const mail of Object.values(sent).flat())
        expect(mail).toMatchObject({
          subject: `Re: house | Gate (${number})`,
          ...{ inReplyTo: thread, references: thread },
        });
      for (const line of Object.values(await texts())) expect(line).toEqual([text]);
    }
    forget();
    await call('ada', 'PUT', path, { state_event: 'close', add_labels: 'bug', milestone_id: milestone.id });
    expect(reasons(await mails())).toEqual({
      bob: ['author', 'author'],
      dan: ['watching', 'watching'],
      eve: ['custom'],
      fay: ['subscribed'],
    });
  });

  test('ends with the link that it has, except for those whom it is assigned to', async () => {
    const path = await issue('bob');
    await call('ada', 'PUT', path, { state_event: 'close' });
    const link = linkIn((await mails())['bob']![0]!);
    expect((await fetch(link, { method: 'POST' })).status).toBe(200);
    forget();
    await call('ada', 'PUT', path, { state_event: 'reopen' });
    expect(Object.keys(await mails())).not.toContain('bob');
    await call('ada', 'PUT', path, { assignee_ids: ids('bob') });
    expect(reasons(await mails())).toMatchObject({ bob: ['assigned'] });
  });

  test('that moves to another project is told as moved where it was, and as new where it is', async () => {
    const other = await call('ada', 'POST', '/projects', { name: 'shed', visibility: 'public' });
    await prefer('hal', `/projects/${other.id}`, { level: 'watch' });
    await settled();
    const path = await issue('bob');
    await call('ada', 'POST', `${path}/move`, { to_project_id: other.id });
    const found = await texts();
    expect(found['dan']).toEqual([`ada (@ada) moved issue #${path.split('/').at(-1)} to another project.`]);
    expect(found['hal']).toEqual(['ada (@ada) created issue #1.']);
  });

  test('that is confidential goes to nobody else than those who may see it', async () => {
    const json = { title: 'Key', confidential: true, description: '@dan @bob', labels: 'bug' };
    const { iid } = await call('ada', 'POST', `${project}/issues`, json);
    expect(await mails()).toEqual({});
    await call('ada', 'PUT', `${project}/issues/${iid}`, { assignee_ids: ids('bob'), state_event: 'close' });
    expect(reasons(await mails())).toEqual({ bob: ['assigned', 'assigned'] });
  });

  test('that is due tomorrow goes to those who take part, or chose it, once', async () => {
    const due_date = dayIn(new Date(), 1);
    await prefer('eve', project, { issue_due: true });
    const json = { assignee_ids: ids('cyd'), due_date };
    const path = await issue('ada', { ...json, title: 'Roof', description: '**soon**' });
    const later = await issue('ada', { ...json, title: 'Later' });
    await call('ada', 'PUT', later, { due_date: dayIn(new Date(), 2) });
    const never = await issue('ada', { ...json, title: 'Never' });
    await call('ada', 'PUT', never, { due_date: null });
    const done = await issue('ada', { ...json, title: 'Done' });
    await call('ada', 'PUT', done, { state_event: 'close' });
    await settled();
    forget();
    for (let times = 0; times < 2; times++) await noon();
    const found = await mails();
    expect(reasons(found)).toEqual({ ada: ['author'], cyd: ['assigned'], eve: ['custom'] });
    const [mail] = found['cyd']!;
    expect(mail!.subject).toBe(`Re: house | Roof (#${path.split('/').at(-1)})`);
    expect(mail!.text).toMatch(/^Issue #\d+ is due on [A-Z][a-z]+ \d+, \d+\.\n\n\*\*soon\*\*\n\nhttp:/);
    // As the job finds it: in pages, and none of those that changed.
    const titles: string[] = [];
    for (let shard = 0; shard < 4; shard++) {
      for (let after: string | undefined = ''; after !== undefined; ) {
        const page = await deps().store.issues.dueOn(due_date, shard, 1, after === '' ? undefined : after);
        const records = await deps().store.issues.getMany(page.issues);
        titles.push(...records.map((record) => record!.title));
        after = page.next;
      }
    }
    expect(titles).toEqual(['Roof']);
  });

  test('is sent once, however often its job runs and wherever it stopped', async () => {
    const { iid, project_id: projectId } = await call('ada', 'POST', `${project}/issues`, {
      title: 'Once',
      labels: 'bug',
      assignee_ids: ids('cyd'),
    });
    await settled();
    forget();
    const [{ id: labelId }] = await call('ada', 'GET', `${project}/labels?search=bug`);
    const notification = {
      actorId: people['ada']!.id,
      baseUrl: service.url,
      happening: {
        kind: 'issue',
        projectId,
        iid,
        changes: [{ what: 'closed' }, { what: 'relabelled', labelIds: [labelId] }],
      },
    } as const;
    const run = async (): Promise<void> => {
      let left: Parameters<typeof sendNotification>[2] | undefined = notification;
      while (left !== undefined) left = await sendNotification(deps(), 'same-issue-job', left, 0);
    };
    await Promise.all([run(), run(), run()]);
    await run();
    expect(reasons(await mails())).toEqual({
      cyd: ['assigned'],
      dan: ['watching'],
      eve: ['custom'],
      fay: ['subscribed'],
    });
  });
});

describe('mail of each kind', () => {
  const tomorrow = dayIn(new Date(), 1);
  const CHANGES: readonly ChangeOfIssue[] = [
    ...([{ what: 'opened' }, { what: 'closed' }, { what: 'reopened' }, { what: 'moved' }] as const),
    ...([
      { what: 'reassigned', formerIds: [] },
      { what: 'replanned', milestoneId: null },
    ] as const),
    ...([
      { what: 'described', former: [] },
      { what: 'due', day: tomorrow },
    ] as const),
    { what: 'relabelled', labelIds: [] },
  ];

  test('is for who may see the issue as it is when it is sent, also where it was decided before', async () => {
    const [{ id: labelId }] = await call('ada', 'GET', `${project}/labels?search=bug`);
    const json = { title: 'Hatch', description: 'for @dan', due_date: tomorrow, labels: 'bug' };
    const path = await issue('ada', json);
    const { id: noteId } = await call('ada', 'POST', `${path}/notes`, { body: 'for @dan' });
    const at = { projectId: Number(project.split('/').at(-1)), iid: Number(path.split('/').at(-1)) };
    const happenings: DomainEvent[] = [
      ...CHANGES.map((change): DomainEvent => {
        const changes = [change.what === 'relabelled' ? { ...change, labelIds: [labelId] } : change];
        return { kind: 'issue', ...at, changes };
      }),
      { kind: 'issue-note', ...at, noteId },
    ];
    const given = { id: 'each', actorId: people['ada']!.id, baseUrl: service.url };
    const decided = await Promise.all(
      happenings.map(async (happening) => {
        const found = await contentOf(deps(), { ...given, happening });
        return recipientOf(people['dan']!.id, found!.about);
      }),
    );
    const addresses = () => Promise.all(decided.map((recipient) => currentAddress(deps(), recipient)));
    expect(await addresses()).toEqual(decided.map(() => 'dan@example.com'));
    await call('ada', 'PUT', path, { confidential: true });
    expect(await addresses()).toEqual(decided.map(() => undefined));
    await call('ada', 'PUT', path, { assignee_ids: ids('dan') });
    expect(await addresses()).toEqual(decided.map(() => 'dan@example.com'));
    await call('ada', 'PUT', project, { issues_access_level: 'private' });
    expect(await addresses()).toEqual(decided.map(() => undefined));
    await call('ada', 'PUT', project, { issues_access_level: 'enabled' });
    await call('ada', 'DELETE', path);
    expect(await addresses()).toEqual(decided.map(() => undefined));
  });
});

describe('mail about a note', () => {
  const note = (who: string, path: string, json: object) => call(who, 'POST', `${path}/notes`, json);

  test('on a confidential issue goes to its author and its assignees too, whatever their level', async () => {
    const path = await issue('bob', { confidential: true });
    await note('ada', path, { body: '@dan @cyd' });
    expect(reasons(await mails())).toEqual({ bob: ['author'], cyd: ['mentioned'] });
    const assigned = await issue('ada', { confidential: true, assignee_ids: ids('bob') });
    await note('cyd', assigned, { body: 'well' });
    expect(reasons(await mails())).toMatchObject({ bob: [expect.any(String)], ada: ['author'] });
  });

  test('that is internal goes to those of the issue who may read it', async () => {
    const path = await issue('bob');
    await note('dan', path, { body: 'I join' });
    await settled();
    forget();
    await note('ada', path, { body: 'between us @cyd', internal: true });
    expect(reasons(await mails())).toEqual({ bob: ['author'], cyd: ['mentioned'] });
  });

  test('is not sent to those who may no longer see the issue, or an internal note, by then', async () => {
    const path = await issue('ada', { assignee_ids: ids('bob') });
    const iid = Number(path.split('/').at(-1));
    const source = { kind: 'project', id: Number(project.split('/').at(-1)) } as const;
    const waiting = async (internal: boolean) => {
      const messages = ['bob', 'cyd'].map((name) =>
        mailMessage(
          { to: `${name}@example.com`, subject: 'x', text: 'x' },
          { userId: people[name]!.id, source, ability: 'read_issues', issue: { iid, internal } },
        ),
      );
      await deps().store.outbox.commit([], messages);
      const sent = Object.entries(await mails()).flatMap(([name, all]) =>
        all.flatMap(({ subject }) => (subject === 'x' ? name : [])),
      );
      forget();
      return sent;
    };
    expect(await waiting(true)).toEqual(['bob', 'cyd']);
    await call('ada', 'PUT', path, { assignee_ids: [] });
    forget();
    expect(await waiting(true)).toEqual(['cyd']);
    expect(await waiting(false)).toEqual(['bob', 'cyd']);
    await call('ada', 'PUT', path, { confidential: true });
    expect(await waiting(false)).toEqual(['cyd']);
    await call('ada', 'DELETE', path);
    expect(await waiting(false)).toEqual([]);
  });
});
