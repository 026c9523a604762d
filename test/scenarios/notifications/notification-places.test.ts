/** Notification mail about moved projects and about memberships. */
import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { enqueueNotification, notificationMessage } from '../../../lib/domain/notifications/enqueue.ts';
import { message } from '../../../lib/store/outbox/outbox.ts';
import { person, scimGroup } from '../../harness/scim.ts';
import { settled } from '../../harness/settled.ts';
import { EIGHT, header, ownMail, reasons } from '../mail/mail-fixture.ts';

const { service, people, call, prefer, mails, forget } = ownMail(EIGHT);
let story: { readonly id: number };

beforeAll(async () => {
  story = await call('ada', 'POST', '/projects', { name: 'story', visibility: 'public' });
  for (const [name, access_level] of [
    ['bob', 40],
    ['cyd', 20],
  ] as const) {
    const json = { user_id: people[name]!.id, access_level };
    await call('ada', 'POST', `/projects/${story.id}/members`, json);
  }
});

describe('mail about a moved project', () => {
  test('tells its members the new path', async () => {
    await prefer('cyd', `/projects/${story.id}`, { level: 'custom', moved_project: false });
    await call('ada', 'PUT', `/projects/${story.id}`, { path: 'tale' });
    const found = await mails();
    expect(reasons(found)).toEqual({ bob: ['member'] });
    const [mail] = found['bob']!;
    expect(mail!.subject).toBe('story | Project was moved');
    expect(mail!.text).toContain('The project ada/story was moved to ada/tale.');
    expect(mail!.text).toContain(`git remote set-url origin ${service.url}/ada/tale.git`);
    forget();
    await call('ada', 'PUT', `/projects/${story.id}`, { name: 'Story' });
    expect(await mails()).toEqual({});
    const group = await call('ada', 'POST', '/groups', {
      name: 'shelf',
      path: 'shelf',
      visibility: 'public',
    });
    await call('ada', 'PUT', `/projects/${story.id}/transfer`, { namespace: group.id });
    expect((await mails())['bob']![0]!.text).toContain('The project ada/tale was moved to shelf/tale.');
  });
});

describe('mail about projects moved with their group or owner', () => {
  const subjects = async () => {
    const found = await mails();
    const lines = Object.entries(found).flatMap(([name, all]) =>
      all.map(({ text }) => `${name}: ${/The project (\S+ was moved to \S+)\./.exec(text!)![1]}`),
    );
    forget();
    return lines.sort();
  };
  const group = (name: string, parent_id?: number) =>
    call('ada', 'POST', '/groups', { name, path: name, visibility: 'private', parent_id });
  const joins = (kind: string, { id }: { id: number }, name: string) =>
    call('ada', 'POST', `/${kind}/${id}/members`, { user_id: people[name]!.id, access_level: 20 });

  test('tells the members of a moved group’s projects once each', async () => {
    const [top, other] = [await group('fleet'), await group('harbour')];
    const inner = await group('boats', top.id);
    const project = (name: string, namespace_id: number) =>
      call('ada', 'POST', '/projects', { name, namespace_id, visibility: 'private' });
    const [flag, row, mute] = [
      await project('flagship', top.id),
      await project('rowing', inner.id),
      await project('mute', top.id),
    ];
    await call('ada', 'PUT', `/projects/${mute.id}`, { emails_disabled: true });
    await joins('groups', top, 'bob');
    await joins('projects', flag, 'cyd');
    await joins('projects', row, 'gus');
    // Members of where it goes, who could not know where it was.
    await joins('groups', other, 'hal');
    await prefer('gus', `/projects/${row.id}`, { level: 'custom', moved_project: false });
    await settled();
    forget();

    await call('ada', 'PUT', `/groups/${top.id}`, { name: 'Fleet' });
    expect(await subjects()).toEqual([]);

    await call('ada', 'POST', `/groups/${top.id}/transfer`, { group_id: other.id });
    expect(await subjects()).toEqual([
      'bob: fleet/boats/rowing was moved to harbour/fleet/boats/rowing',
      'bob: fleet/flagship was moved to harbour/fleet/flagship',
      'cyd: fleet/flagship was moved to harbour/fleet/flagship',
    ]);
    // The job of the move, and of one of its projects, again.
    const { store } = deps();
    const moved = enqueueNotification(
      deps(),
      { kind: 'anonymous' },
      {
        kind: 'moved',
        projectId: flag.id,
        from: 'harbour/fleet/flagship',
      },
    );
    await store.outbox.commit([], [moved, message('maintenance', 'group.move', { groupId: top.id })]);
    expect(await subjects()).toEqual([]);

    await call('ada', 'PUT', `/groups/${other.id}`, { path: 'port' });
    expect((await subjects()).filter((line) => line.startsWith('hal'))).toEqual([
      'hal: harbour/fleet/boats/rowing was moved to port/fleet/boats/rowing',
      'hal: harbour/fleet/flagship was moved to port/fleet/flagship',
    ]);
  });

  test('tells members when the owner’s username changes', async () => {
    const { id } = await call('eve', 'POST', '/projects', { name: 'own', visibility: 'private' });
    await call('eve', 'POST', `/projects/${id}/members`, { user_id: people['bob']!.id, access_level: 20 });
    await prefer('eve', '', { level: 'participating' });
    await settled();
    forget();
    await call('root', 'PUT', `/users/${people['eve']!.id}`, { username: 'eva' });
    expect(await subjects()).toEqual([
      'bob: eve/own was moved to eva/own',
      'eve: eve/own was moved to eva/own',
    ]);
  });

  test('is limited, so that nobody can flood the mailboxes of others', async () => {
    const { store, now } = deps();
    const limit = { kind: 'told-moves', limit: 1_000, seconds: 3_600 };
    const { id: actorId } = people['hal']!;
    const told = (actor: number) =>
      notificationMessage({
        actorId: actor,
        baseUrl: service.url,
        happening: { kind: 'moved', projectId: story.id, from: 'somewhere/else' },
      });
    await Promise.all(
      Array.from({ length: 1_000 }, () => store.rateLimits.take(limit, String(actorId), now())),
    );
    await store.outbox.commit([], [told(actorId)]);
    expect(await subjects()).toEqual([]);
    await store.outbox.commit([], [told(people['gus']!.id)]);
    expect(await subjects()).not.toEqual([]);
  });
});

describe('mail about memberships', () => {
  test('goes to the user who was added or changed', async () => {
    const of = async () =>
      Object.entries(await mails()).map(([name, all]) => [name, ...all.map(({ subject }) => subject)]);
    await call('ada', 'POST', `/projects/${story.id}/members`, {
      user_id: people['fay']!.id,
      access_level: 20,
    });
    expect(await of()).toEqual([['fay', 'Access to the project shelf/tale was granted']]);
    forget();
    await call('ada', 'PUT', `/projects/${story.id}/members/${people['fay']!.id}`, { access_level: 30 });
    expect(await of()).toEqual([['fay', 'Access to the project shelf/tale was changed']]);
    forget();
    await call('ada', 'PUT', `/projects/${story.id}/members/${people['fay']!.id}`, {
      access_level: 30,
      expires_at: '2199-01-01',
    });
    expect(await of()).toEqual([]);
    const group = await call('ada', 'GET', '/groups/shelf');
    await call('hal', 'POST', `/groups/${group.id}/access_requests`);
    expect(await of()).toEqual([['ada', 'hal requests access to shelf']]);
    await prefer('ada', `/groups/${group.id}`, { level: 'disabled' });
    forget();
    await call('dan', 'POST', `/groups/${group.id}/access_requests`);
    expect(await of()).toEqual([]);
    await prefer('ada', `/groups/${group.id}`, { level: 'global' });
    forget();
    await call('ada', 'DELETE', `/groups/${group.id}/access_requests/${people['hal']!.id}`);
    const found = await mails();
    expect(found['hal']!.map(({ subject }) => subject)).toEqual(['Access to the group shelf was denied']);
    expect(header(found['hal']![0]!, 'list-unsubscribe')).toBeUndefined();
  });

  test('tells the invited user of the membership and the inviter of the answer', async () => {
    const of = async () => {
      const found = Object.entries(await mails()).flatMap(([name, all]) =>
        all.map(({ subject, text }) => `${name}: ${subject}: ${text!.split('\n')[0]}`),
      );
      forget();
      return found.filter((line) => !line.includes('invites you')).sort();
    };
    const invited = async (email: string, place: string) => {
      await call('gus', 'POST', `${place}/invitations`, { email, access_level: 20 });
      await settled();
      const [mail] = await service.mailTo(email);
      return /invitation_token=([\w-]+)/.exec(mail!.text!)![1]!;
    };
    const answer = (invitation_token: string, said: string) =>
      fetch(`${service.url}/users/invitation`, {
        method: 'POST',
        body: new URLSearchParams({ invitation_token, answer: said }),
      });
    const { id } = await call('gus', 'POST', '/groups', {
      name: 'club',
      path: 'club',
      visibility: 'private',
    });
    const project = await call('gus', 'POST', '/projects', { name: 'rules', namespace_id: id });

    // An account that has the address by and by.
    await invited('kim@example.com', `/groups/${id}`);
    expect(await of()).toEqual([]);
    await service.user('kim');
    expect(await of()).toEqual([
      'gus: Invitation to the group club was accepted: You invited kim@example.com to the group club. kim (@kim) accepted.',
      'kim: Access to the group club was granted: You were added to the group club as Reporter.',
    ]);

    const token = await invited('nobody@example.com', `/projects/${project.id}`);
    for (const _ of [1, 2]) await answer(token, 'decline');
    expect(await of()).toEqual([
      'gus: Invitation to the project club/rules was declined: You invited nobody@example.com to the project club/rules. They declined.',
    ]);

    // Who wants no mail of it, and who is let in there no more, is told nothing.
    await prefer('gus', `/projects/${project.id}`, { level: 'disabled' });
    await answer(await invited('else@example.com', `/projects/${project.id}`), 'decline');
    await prefer('gus', `/projects/${project.id}`, { level: 'global' });
    const late = await invited('later@example.com', `/groups/${id}`);
    await call('root', 'POST', `/groups/${id}/members`, { user_id: people['ada']!.id, access_level: 50 });
    await call('root', 'DELETE', `/groups/${id}/members/${people['gus']!.id}`);
    await settled();
    forget();
    await answer(late, 'decline');
    expect(await of()).toEqual([]);
  });

  test('is the same for members imported from another project', async () => {
    const to = await call('ada', 'POST', '/projects', { name: 'sequel', visibility: 'private' });
    await call('ada', 'POST', `/projects/${to.id}/import_project_members/${story.id}`);
    const found = await mails();
    expect(Object.keys(found).sort()).toEqual(['bob', 'cyd', 'fay']);
    for (const [mail, ...others] of Object.values(found))
      expect([mail!.subject, others]).toEqual(['Access to the project ada/sequel was granted', []]);
  });

  test('is the same for members added by an identity provider, once their address is confirmed', async () => {
    const ways = { trusted_email_domains: ['example.com'], default_membership_role: 20 };
    const { agent } = await scimGroup(service, people['hal']!.token, 'corp', ways);
    const told = async () => {
      const found = await mails();
      forget();
      return Object.entries(found).map(([name, all]) => [name, ...all.map(({ subject }) => subject)]);
    };
    const granted = 'Access to the group corp was granted';
    const lets = (name: string, at = 'example.com') =>
      agent('POST', '/Users', person(name, { emails: [{ value: `${name}@${at}`, primary: true }] }));
    for (const name of ['lea', 'fay']) {
      expect((await lets(name)).status).toBe(201);
      expect(await told()).toEqual([[name, granted]]);
    }
    // They are asked to confirm it.
    expect((await lets('max', 'elsewhere.example')).status).toBe(201);
    expect(await told()).toEqual([['max@elsewhere.example', 'Confirm your email address']]);
  });

  test('is not sent to users who disabled mail', async () => {
    await prefer('eve', '', { level: 'disabled' });
    await prefer('eve', `/projects/${story.id}`, { level: 'global' });
    await call('ada', 'POST', `/projects/${story.id}/members`, {
      user_id: people['eve']!.id,
      access_level: 20,
    });
    expect(await mails()).toEqual({});
  });
});
