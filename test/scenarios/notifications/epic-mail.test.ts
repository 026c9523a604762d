/** Mail about new epics: who is sent it, and why. */
import { beforeAll, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { currentAddress } from '../../../lib/domain/notifications/recipients.ts';
import { settled } from '../../harness/settled.ts';
import { ownMail, reasons } from '../mail/mail-fixture.ts';

const { people, call, prefer, forget, mails } = ownMail(['ada', 'bob', 'cyd', 'dan', 'eve', 'fay']);
let group = '';
let groupId = 0;

/** Those who are sent mail about a new epic, and why. */
async function told(json: object) {
  await settled();
  forget();
  const epic = await call('ada', 'POST', `${group}/epics`, { title: 'Harbour', ...json });
  await settled();
  return { epic, all: await mails() };
}

beforeAll(async () => {
  const given = { name: 'plans', path: 'plans', visibility: 'private' };
  groupId = (await call('ada', 'POST', '/groups', given)).id;
  group = `/groups/${groupId}`;
  for (const [name, access_level] of [
    ['bob', 10],
    ['cyd', 20],
    ['dan', 20],
    ['eve', 20],
  ] as const)
    await call('ada', 'POST', `${group}/members`, { user_id: people[name]!.id, access_level });
  await prefer('bob', group, { level: 'watch' });
  await prefer('cyd', group, { level: 'watch' });
  await prefer('dan', group, { level: 'custom', new_epic: true });
  await prefer('eve', group, { level: 'custom' });
});

test('a new epic is told to who watches its group or chose that, and to those it mentions', async () => {
  const { epic, all } = await told({ description: 'Ask @eve and @fay' });
  // Fay does not see the group, and Ada made it.
  expect(reasons(all)).toEqual({
    bob: ['watching'],
    cyd: ['watching'],
    dan: ['custom'],
    eve: ['mentioned'],
  });
  const [mail] = all['bob']!;
  expect(mail!.subject).toBe(`plans | Harbour (&${epic.iid})`);
  expect(mail!.text).toContain(`(@ada) created epic &${epic.iid}.`);
  expect(mail!.text).toContain(epic.web_url);
});

test('one that is confidential is told to those who may see it, as it is when the mail is sent', async () => {
  const { epic, all } = await told({ confidential: true });
  expect(reasons(all)).toEqual({ cyd: ['watching'], dan: ['custom'] });
  const open = await told({});
  const recipient = {
    userId: people['bob']!.id,
    source: { kind: 'group', id: groupId },
    ability: 'read_group',
  } as const;
  const address = (id: number) => currentAddress(deps(), { ...recipient, epic: { id } });
  expect(await address(epic.id)).toBeUndefined();
  expect(await address(open.epic.id)).toBeDefined();
  await call('ada', 'PUT', `${group}/epics/${open.epic.iid}`, { confidential: true });
  expect(await address(open.epic.id)).toBeUndefined();
});
