/** Mail about issues: who is sent it, why, once, and what it says. */
import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { mailMessage } from '../../../lib/domain/mail/message.ts';
import { settled } from '../../harness/settled.ts';
import { ownMail, reasons } from '../mail/mail-fixture.ts';

const { people, call, forget, mails } = ownMail(['ada', 'bob', 'cyd', 'dan']);
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
      const sent = Object.keys(await mails());
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
