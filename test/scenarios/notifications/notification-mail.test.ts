/** Mail about comments and pipelines: who is sent it, once, what it says, and how it is ended. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { enqueueNotification, notificationMessage } from '../../../lib/domain/notifications/enqueue.ts';
import { sendNotification } from '../../../lib/domain/notifications/send.ts';
import { unsubscribeLink } from '../../../lib/domain/notifications/unsubscribe.ts';
import { messageText } from '../../../lib/store/outbox/outbox.ts';
import { settled } from '../../harness/settled.ts';
import { report as reportJob, smallRunner } from '../../harness/small-runner.ts';
import { EIGHT, header, linkIn, ownMail, reasons } from '../mail/mail-fixture.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, people, call, prefer, mails, forget } = ownMail(EIGHT);
let story: Pushed;
let sha: string;

beforeAll(async () => {
  story = await pushedProject(service, people['ada']!, 'story', (git) => {
    const commit = (n: number, author: string) =>
      `commit refs/heads/main\nmark :${n}\nauthor A <${author}> ${1.6e9 + n} +0000\ncommitter C <nobody@example.org> ${1.6e9 + n} +0000\ndata 9\nA <b> ${n}\n\nM 100644 inline a\ndata 2\n${n}\n\n`;
    git.feed(
      commit(1, 'bob@example.com') + commit(2, 'ada@example.com') + commit(3, 'x@example.org'),
      'fast-import',
      '--quiet',
    );
  });
  sha = story.git.oid('main~2');
  await member('bob', 40);
  await member('cyd', 20);
  await settled();
});
afterAll(() => story.git[Symbol.dispose]());

const member = (name: string, access_level: number) =>
  call('ada', 'POST', `/projects/${story.id}/members`, { user_id: people[name]!.id, access_level });
const comment = (name: string, note: string, commit = sha) =>
  call(name, 'POST', `${story.repository}/commits/${commit}/comments`, { note });
const report = (name: string, state: string, ref = 'main', commit = sha) =>
  call(name, 'POST', `/projects/${story.id}/statuses/${commit}`, { state, ref });

describe('mail about a note on an issue', () => {
  test('goes to who subscribed, and no longer to participants who unsubscribed', async () => {
    const issues = `/projects/${story.id}/issues`;
    const { iid } = await call('bob', 'POST', issues, { title: 'Talk' });
    await call('cyd', 'POST', `${issues}/${iid}/notes`, { body: 'Yes' });
    expect(reasons(await mails())).toEqual({ bob: ['author'] });
    forget();
    await call('bob', 'POST', `${issues}/${iid}/unsubscribe`);
    await call('dan', 'POST', `${issues}/${iid}/subscribe`);
    await call('ada', 'POST', `${issues}/${iid}/notes`, { body: 'No' });
    expect(reasons(await mails())).toEqual({ cyd: ['participating'], dan: ['subscribed'] });
  });
});

describe('mail about a commit comment', () => {
  test('goes to the commit’s author, participants, mentioned users and watchers, and to nobody else', async () => {
    await prefer('dan', `/projects/${story.id}`, { level: 'watch' });
    await prefer('eve', `/projects/${story.id}`, { level: 'custom', new_note: true });
    await prefer('fay', `/projects/${story.id}`, { level: 'custom', new_note: false });
    await prefer('gus', '', { level: 'watch' });
    await comment('ada', 'first, look @cyd and @nobody and gus@example.com, `@hal`');
    expect(reasons(await mails())).toEqual({
      bob: ['author'],
      cyd: ['mentioned'],
      dan: ['watching'],
      eve: ['custom'],
    });
  });

  test('goes to those who commented or were mentioned earlier, not to the author of the comment', async () => {
    await comment('bob', 'second');
    expect(reasons(await mails())).toEqual({
      ada: ['participating'],
      cyd: ['participating'],
      dan: ['watching'],
      eve: ['custom'],
    });
  });

  test('has the headers, links and footers that mail programs and readers need', async () => {
    const { id } = await call('ada', 'GET', `/projects/${story.id}`);
    await comment('ada', 'Grüße **alle**\n<script>alert(1)</script> & more');
    const { bob } = await mails();
    const [mail] = bob!;
    expect(mail!.subject).toBe(`Re: story | A <b> 1 (${sha.slice(0, 8)})`);
    expect(mail!.text).toContain('ada (@ada) commented on commit');
    expect(mail!.text).toContain('Grüße **alle**\n<script>alert(1)</script> & more');
    expect(mail!.html).toContain('<p>Grüße <strong>alle</strong></p>\n &amp; more');
    expect(mail!.html).not.toMatch(/script|alert/);
    expect(mail!.text).toContain(`${service.url}/ada/story/-/commit/${sha}#note_`);
    expect(mail!.text).toContain('because you are its author');
    const thread = `<commit_${sha}.project_${id}@127.0.0.1>`;
    expect(mail).toMatchObject({ inReplyTo: thread, references: thread });
    expect(mail!.messageId).toMatch(new RegExp(`^<note_\\d+\\.to_${people['bob']!.id}@127\\.0\\.0\\.1>$`));
    expect(header(mail!, 'list-id')).toBe(`ada/story <${id}.story.ada.127.0.0.1>`);
    expect(header(mail!, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(header(mail!, 'auto-submitted')).toBe('auto-generated');
    expect(header(mail!, 'precedence')).toBe('list');
    for (const brand of ['lemnos', 'gitlab']) {
      expect(header(mail!, `x-${brand}-project`)).toBe('story');
      expect(header(mail!, `x-${brand}-project-id`)).toBe(String(id));
      expect(header(mail!, `x-${brand}-project-path`)).toBe('ada/story');
      expect(header(mail!, `x-${brand}-commit-id`)).toBe(sha);
    }
    expect(mail!.text).toContain(linkIn(mail!));
  });

  test('may contain any characters', async () => {
    await comment('ada', 'odd \uffff\ufffe \u0001 @bob');
    expect((await mails())['bob']![0]!.text).toContain('odd');
  });

  test('is plain text where the instance disables HTML', async () => {
    await call('root', 'PUT', '/application/settings', { html_emails_enabled: false });
    await comment('ada', 'plain');
    const { bob } = await mails();
    expect(bob![0]!.html).toBeUndefined();
    await call('root', 'PUT', '/application/settings', { html_emails_enabled: true });
  });

  test.each([
    ['disabled', [], []],
    ['mention', [], ['mentioned']],
    ['participating', ['participating'], ['mentioned']],
    ['watch', ['participating'], ['mentioned']],
  ])('goes to the right recipients at the level %s', async (level, unasked, called) => {
    await prefer('cyd', `/projects/${story.id}`, { level });
    await comment('ada', 'once more');
    expect(reasons(await mails())['cyd'] ?? []).toEqual(unasked);
    forget();
    await comment('ada', 'once more, @cyd');
    expect(reasons(await mails())['cyd'] ?? []).toEqual(called);
    await prefer('cyd', `/projects/${story.id}`, { level: 'global' });
  });

  test('is not sent where the project disables mail', async () => {
    await call('ada', 'PUT', `/projects/${story.id}`, { emails_disabled: true });
    await comment('bob', '@ada');
    expect(await mails()).toEqual({});
    await call('ada', 'PUT', `/projects/${story.id}`, { emails_disabled: false });
  });

  test('goes to the chosen notification address, as long as it belongs to the recipient', async () => {
    const json = { email: 'cyd-mail@example.com', skip_confirmation: true };
    const added = await call('root', 'POST', `/users/${people['cyd']!.id}/emails`, json);
    await prefer('cyd', '', { notification_email: 'cyd-mail@example.com' });
    await comment('ada', 'hello @cyd');
    expect(Object.keys(await mails())).toContain('cyd-mail');
    await call('cyd', 'DELETE', `/user/emails/${added.id}`);
    forget();
    await comment('ada', 'hello again @cyd');
    expect(Object.keys(await mails())).toContain('cyd');
  });

  test('is not sent to blocked users or to unknown commit addresses', async () => {
    // Bots, and people whose address nobody has confirmed, may watch and are sent nothing.
    const json = { name: 'bot', scopes: ['api'], access_level: 20 };
    const bot = await call('ada', 'POST', `/projects/${story.id}/access_tokens`, json);
    const ivy = await service.user('ivy', { skip_confirmation: false });
    await settled();
    forget();
    for (const token of [bot.token, ivy.token]) {
      const path = `/projects/${story.id}/notification_settings`;
      expect((await service.call('PUT', path, { token, json: { level: 'watch' } })).status).toBe(200);
    }
    await call('root', 'POST', `/users/${people['dan']!.id}/block`);
    await comment('ada', 'hello', story.git.oid('main'));
    expect(reasons(await mails())).toEqual({ eve: ['custom'] });
    await call('root', 'POST', `/users/${people['dan']!.id}/unblock`);
  });

  test('goes to the members of a mentioned group if the author can see the group', async () => {
    for (const [path, visibility] of [
      ['crew', 'public'],
      ['hidden', 'private'],
      ['quiet', 'public'],
    ]) {
      const group = await call('hal', 'POST', '/groups', { name: path, path, visibility });
      await call('hal', 'POST', `/groups/${group.id}/members`, {
        user_id: people['gus']!.id,
        access_level: 10,
      });
      if (path === 'quiet') await call('hal', 'PUT', `/groups/${group.id}`, { mentions_disabled: true });
    }
    await settled();
    forget();
    const commit = story.git.oid('main');
    await comment('ada', 'who is there, @hidden and @quiet?', commit);
    expect(Object.keys(await mails())).not.toContain('gus');
    await comment('ada', 'who is there, @crew?', commit);
    expect(reasons(await mails())).toMatchObject({ gus: ['mentioned'], hal: ['mentioned'] });
  });

  test('goes to every member for @all', async () => {
    await comment('ada', '@all', story.git.oid('main~1'));
    expect(reasons(await mails())).toEqual({
      bob: ['mentioned'],
      cyd: ['mentioned'],
      dan: ['watching'],
      eve: ['custom'],
    });
  });
});

describe('notification settings of ancestor groups', () => {
  test('apply to descendants until a closer setting overrides them', async () => {
    const group = await call('ada', 'POST', '/groups', {
      name: 'above',
      path: 'above',
      visibility: 'public',
    });
    const sub = await call('ada', 'POST', '/groups', {
      name: 'sub',
      path: 'sub',
      parent_id: group.id,
      visibility: 'public',
    });
    const project = await call('ada', 'POST', '/projects', {
      name: 'inner',
      namespace_id: sub.id,
      visibility: 'public',
    });
    await call('ada', 'POST', `/projects/${project.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'begin',
      actions: [{ action: 'create', file_path: 'a', content: 'a' }],
    });
    // As a member of the group who watches everything.
    await call('ada', 'POST', `/groups/${group.id}/members`, {
      user_id: people['gus']!.id,
      access_level: 10,
    });
    await prefer('bob', `/groups/${group.id}`, { level: 'watch' });
    await prefer('cyd', `/groups/${group.id}`, { level: 'watch' });
    await prefer('cyd', `/groups/${sub.id}`, { level: 'mention' });
    await prefer('dan', `/groups/${group.id}`, { level: 'disabled' });
    await prefer('dan', `/projects/${project.id}`, { level: 'custom', new_note: true });
    await prefer('eve', `/groups/${sub.id}`, { level: 'watch' });
    await prefer('eve', `/projects/${project.id}`, { level: 'disabled' });
    await settled();
    forget();
    const [{ id: commit }] = await call('ada', 'GET', `/projects/${project.id}/repository/commits`);
    const note = () =>
      call('ada', 'POST', `/projects/${project.id}/repository/commits/${commit}/comments`, { note: 'x' });
    await note();
    expect(reasons(await mails())).toEqual({ bob: ['watching'], dan: ['custom'], gus: ['watching'] });
    await call('ada', 'PUT', `/groups/${group.id}`, { emails_disabled: true });
    forget();
    await note();
    expect(await mails()).toEqual({});
  });
});

describe('notification mail is not sent to those without access', () => {
  test('because they left, or the project or its code is hidden from them', async () => {
    const commit = story.git.oid('main');
    const { body: note } = await service.call('POST', `${story.repository}/commits/${commit}/comments`, {
      token: people['ada']!.token,
      json: { note: 'nothing special' },
    });
    expect(note).toBeDefined();
    await settled();
    await call('ada', 'PUT', `/projects/${story.id}`, { visibility: 'private' });
    forget();
    await comment('ada', 'secret @dan @gus @crew @cyd', commit);
    // Those who watch it still, without being let in.
    expect(Object.keys(await mails())).toEqual(['cyd']);
    await call('ada', 'DELETE', `/projects/${story.id}/members/${people['cyd']!.id}`);
    forget();
    await comment('ada', 'more secrets @cyd', commit);
    expect(await mails()).toEqual({});
    await member('cyd', 10);
    await settled();
    forget();
    // A guest sees no code of a private project.
    await comment('ada', 'and more @cyd', commit);
    expect(await mails()).toEqual({});
    await call('ada', 'PUT', `/projects/${story.id}`, { visibility: 'public' });
    await call('ada', 'PUT', `/projects/${story.id}/members/${people['cyd']!.id}`, { access_level: 20 });
  });

  test('because the project was hidden or deleted between the comment and its mail', async () => {
    const project = await pushedProject(service, people['hal']!, 'fleeting', (git) =>
      git.feed(
        'commit refs/heads/main\ncommitter C <c@example.org> 1600000000 +0000\ndata 1\nx\nM 100644 inline a\ndata 1\na\n',
        'fast-import',
        '--quiet',
      ),
    );
    const commit = project.git.oid('main');
    project.git[Symbol.dispose]();
    await prefer('dan', `/projects/${project.id}`, { level: 'watch' });
    const note = await call('hal', 'POST', `${project.repository}/commits/${commit}/comments`, { note: 'x' });
    expect(note.note).toBe('x');
    expect(Object.keys(await mails())).toEqual(['dan']);
    const notes = await deps().store.notes.list(project.id, { kind: 'commit', id: commit }, {
      page: 1,
      perPage: 1,
      count: false,
    } as never);
    await call('hal', 'PUT', `/projects/${project.id}`, { visibility: 'private' });
    forget();
    const late = enqueueNotification(
      deps(),
      { kind: 'anonymous' },
      {
        kind: 'note',
        projectId: project.id,
        commit,
        noteId: notes.items[0]!.id,
      },
    );
    await deps().store.outbox.commit([], [late]);
    expect(await mails()).toEqual({});
    await call('hal', 'DELETE', `/projects/${project.id}`);
    await deps().store.outbox.commit([], [{ ...late, id: `${late.id.slice(0, -1)}0` }]);
    expect(await mails()).toEqual({});
  });
});

describe('notification mail is sent once', () => {
  test('however often the job runs and wherever it stopped', async () => {
    await comment('ada', 'once @bob');
    const before = await mails();
    expect(reasons(before)).toMatchObject({ bob: ['mentioned'], dan: ['watching'], eve: ['custom'] });
    const notes = await deps().store.notes.list(story.id, { kind: 'commit', id: sha }, {
      page: 1,
      perPage: 100,
      count: false,
    } as never);
    const happening = {
      kind: 'note',
      projectId: story.id,
      commit: sha,
      noteId: notes.items.at(-1)!.id,
    } as const;
    const notification = { actorId: people['ada']!.id, baseUrl: service.url, happening };
    forget();
    // Stops before each page, four jobs of it at once, and goes on with what is left.
    const run = async (): Promise<number> => {
      let left: typeof notification | undefined = notification;
      let slices = 0;
      while (left !== undefined) {
        left = (await sendNotification(deps(), 'same-job', left, 0)) as typeof left;
        slices++;
      }
      return slices;
    };
    await Promise.all([run(), run(), run(), run()]);
    await run();
    expect(reasons(await mails())).toEqual(reasons(before));
  });

  test('when the worker receives the same message twice', async () => {
    await settled();
    const notes = await deps().store.notes.list(story.id, { kind: 'commit', id: sha }, {
      page: 1,
      perPage: 100,
      count: false,
    } as never);
    const message = notificationMessage({
      actorId: people['ada']!.id,
      baseUrl: service.url,
      happening: { kind: 'note', projectId: story.id, commit: sha, noteId: notes.items.at(-1)!.id },
    });
    const record = (n: number) => ({
      messageId: `${message.id}${n}`,
      body: messageText(message),
      attributes: {},
    });
    for (let n = 0; n < 2; n++)
      await service.host.invoke('maintenance', { Records: [record(n), record(n + 2)] });
    for (const all of Object.values(await mails())) expect(all).toHaveLength(1);
    expect(Object.keys(await mails())).toContain('bob');
  });
});

describe('mail about a pipeline', () => {
  test('tells its author of failures and fixes, and of success only on request', async () => {
    const subjects = async () => {
      const found = await mails();
      expect(Object.keys(found).filter((name) => name !== 'bob')).toEqual([]);
      forget();
      return (found['bob'] ?? []).map(({ subject }) => subject);
    };
    const short = sha.slice(0, 8);
    await report('bob', 'running');
    expect(await subjects()).toEqual([]);
    await report('bob', 'success');
    expect(await subjects()).toEqual([]);
    await report('bob', 'failed');
    expect(await subjects()).toEqual([`story | Failed pipeline for main | ${short}`]);
    await report('bob', 'running');
    await report('bob', 'success');
    expect(await subjects()).toEqual([`story | Fixed pipeline for main | ${short}`]);
    const next = story.git.oid('main~1');
    await report('bob', 'failed', 'main', next);
    expect(await subjects()).toEqual([`story | Failed pipeline for main | ${next.slice(0, 8)}`]);
    const last = story.git.oid('main');
    await report('bob', 'running', 'other', last);
    await report('bob', 'success', 'other', last);
    expect(await subjects()).toEqual([]);
    await report('bob', 'success', 'main', last);
    expect(await subjects()).toEqual([`story | Fixed pipeline for main | ${last.slice(0, 8)}`]);
    await prefer('bob', `/projects/${story.id}`, {
      level: 'custom',
      success_pipeline: true,
      failed_pipeline: false,
    });
    await report('bob', 'failed', 'side', last);
    expect(await subjects()).toEqual([]);
    await report('bob', 'success', 'third', last);
    expect(await subjects()).toEqual([`story | Successful pipeline for third | ${last.slice(0, 8)}`]);
    await prefer('bob', `/projects/${story.id}`, { level: 'mention' });
    await report('bob', 'failed', 'third', last);
    expect(await subjects()).toEqual([]);
    await prefer('bob', `/projects/${story.id}`, { level: 'global' });
    await report('bob', 'failed', 'hostile: \u2028 name', last).catch(() => undefined);
  });
});

test('mail about a pipeline of jobs tells who pushed of its failure, and when that is fixed', async () => {
  const { id } = await call('ada', 'POST', '/projects', { name: 'piped' });
  const { runners_token } = await call('ada', 'GET', `/projects/${id}`);
  await call('ada', 'POST', `/projects/${id}/members`, { user_id: people['bob']!.id, access_level: 40 });
  const runner = await smallRunner(service, runners_token);
  const subjects = async () => {
    const found = await mails();
    forget();
    return Object.entries(found).flatMap(([name, all]) => all.map(({ subject }) => `${name}: ${subject}`));
  };
  await subjects();
  const ends = async (n: number, state: string) => {
    const actions = [
      {
        action: n === 0 ? 'create' : 'update',
        file_path: '.gitlab-ci.yml',
        content: `# ${n}\na: { script: [x] }`,
      },
    ];
    const { short_id } = await call('bob', 'POST', `/projects/${id}/repository/commits`, {
      ...{ branch: 'main', commit_message: `${n}`, actions },
    });
    await settled();
    const taken = await runner.take();
    expect((await reportJob(service, taken.body, state)).status).toBe(200);
    return short_id;
  };
  const first = await ends(0, 'failed');
  expect(await subjects()).toEqual([`bob: piped | Failed pipeline for main | ${first}`]);
  const second = await ends(1, 'success');
  expect(await subjects()).toEqual([`bob: piped | Fixed pipeline for main | ${second}`]);
  await ends(2, 'success');
  expect(await subjects()).toEqual([]);
});

describe('the unsubscribe link in mail', () => {
  const open = async (link: string, method = 'GET', body?: string) => {
    const answer = await fetch(link, {
      method,
      ...(body === undefined
        ? {}
        : { body, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }),
    });
    return { status: answer.status, text: await answer.text() };
  };

  test('unsubscribes from one conversation without signing in, any number of times', async () => {
    await comment('ada', 'talk to me @bob');
    const link = linkIn((await mails())['bob']![0]!);
    // Looking at it does nothing, and names nothing.
    const page = await open(link);
    expect(page).toMatchObject({ status: 200 });
    expect(page.text).not.toContain('story');
    forget();
    await comment('ada', 'still there?');
    expect(Object.keys(await mails())).toContain('bob');
    // RFC 8058, section 3.1.
    for (let n = 0; n < 2; n++)
      expect(await open(link, 'POST', 'List-Unsubscribe=One-Click')).toMatchObject({ status: 200 });
    forget();
    await comment('ada', 'gone?');
    expect(Object.keys(await mails())).not.toContain('bob');
    // A mentioned user still gets this mail, and mail of other conversations.
    await comment('ada', '@bob!');
    await comment('ada', '@bob, another', story.git.oid('main~1'));
    expect((await mails())['bob']).toHaveLength(2);
    await comment('bob', 'I answer');
    forget();
    await comment('ada', 'and is left alone');
    expect(Object.keys(await mails())).not.toContain('bob');
  });

  test('unsubscribes from a project where the mail is about the project', async () => {
    await prefer('fay', `/projects/${story.id}`, { level: 'global' });
    await member('fay', 30);
    await settled();
    forget();
    await call('ada', 'PUT', `/projects/${story.id}`, { path: 'saga' });
    const link = linkIn((await mails())['fay']![0]!);
    const form = /action="([^"]+)"/.exec((await open(link)).text)![1]!.replaceAll('&#38;', '&');
    expect((await open(new URL(form, link).href, 'POST', '')).text).toContain(
      'no longer receive mail about this project',
    );
    expect(await call('fay', 'GET', `/projects/${story.id}/notification_settings`)).toEqual({
      level: 'disabled',
    });
    forget();
    await call('ada', 'PUT', `/projects/${story.id}`, { path: 'epic' });
    expect(Object.keys(await mails())).not.toContain('fay');
  });

  test.each(['', 'x', '1.project.1.AAAAAAAAAAAAAAAAAAAAAA', `${'1.'.repeat(90)}`, '%00', '1.project.1'])(
    'with the invalid token %s does nothing',
    async (token) => {
      const link = `${service.url}/users/unsubscribe?token=${token}`;
      for (const method of ['GET', 'POST']) expect((await open(link, method)).status).toBe(400);
    },
  );

  test('works, and reveals nothing, after its recipient lost access or was deleted', async () => {
    const secret = await call('ada', 'POST', '/projects', { name: 'secret plans', visibility: 'private' });
    const ned = await service.user('ned');
    people['ned'] = ned;
    for (const method of ['POST', 'DELETE']) {
      const path = `/projects/${secret.id}/members${method === 'POST' ? '' : `/${ned.id}`}`;
      await call('ada', method, path, method === 'POST' ? { user_id: ned.id, access_level: 20 } : undefined);
      await settled();
    }
    const { store } = deps();
    const link = await unsubscribeLink(
      deps(),
      ned.id,
      { source: { kind: 'project', id: secret.id } },
      service.url,
    );
    const opened = async () => {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const { status, text } = await open(link, method);
        expect([method, status]).toEqual([method, 200]);
        expect(text).not.toContain('secret');
      }
    };
    await opened();
    const source = { kind: 'project', id: secret.id } as const;
    expect(await store.notificationSettings.get(ned.id, source)).toMatchObject({ level: 'disabled' });
    await call('ada', 'DELETE', `/projects/${secret.id}`);
    await settled();
    await opened();
    await call('root', 'DELETE', `/users/${ned.id}`);
    await settled();
    await opened();
    expect(await store.notificationSettings.get(ned.id, source)).toEqual({ events: {} });
  });

  test('cannot be altered to unsubscribe another user or from another subject', async () => {
    await comment('ada', 'talk to me @cyd', story.git.oid('main~1'));
    const link = linkIn((await mails())['cyd']![0]!);
    const { cyd, ada } = people;
    for (const forged of [
      link.replace(`token=${cyd!.id}.`, `token=${ada!.id}.`),
      link.replace(`.commit.${story.id}.`, '.commit.77.'),
      `${link}0`,
      link.slice(0, -1),
      link.replace('.commit.', '.project.'),
    ])
      expect([forged, (await open(forged, 'POST')).status]).toEqual([forged, 400]);
  });
});
