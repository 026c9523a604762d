/** Mail about epics and notes on them: who is sent it, and why. */
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
  expect(mail).toMatchObject(inThread(epic));
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

const during = async (happens: () => Promise<unknown>) => {
  await settled();
  forget();
  await happens();
  return mails();
};
/** All mail about an epic is in one thread. */
const inThread = ({ id }: { id: number }) => {
  const thread = `<epic_${id}.group_${groupId}@127.0.0.1>`;
  return { inReplyTo: thread, references: thread };
};
const note = (who: string, epic: { id: number }, json: object) =>
  call(who, 'POST', `${group}/epics/${epic.id}/notes`, json);

test('a note is told to its epic’s author, participants, those it mentions and who watches the group', async () => {
  const { epic } = await told({ description: 'Ask @eve' });
  const first = await during(() => note('dan', epic, { body: 'Where, @fay?' }));
  // Fay does not see the group.
  expect(reasons(first)).toEqual({
    ada: ['author'],
    bob: ['watching'],
    cyd: ['watching'],
    eve: ['participating'],
  });
  const [mail] = first['eve']!;
  expect(mail!.subject).toBe(`Re: plans | Harbour (&${epic.iid})`);
  expect(mail!.text).toMatch(new RegExp(`\\(@dan\\) commented on epic &${epic.iid}:\\s+(> )?Where, @fay\\?`));
  expect(mail!.text).toContain(`${epic.web_url}#note_`);
  expect(mail).toMatchObject(inThread(epic));
  const second = await during(() => note('ada', epic, { body: 'Here.' }));
  expect(reasons(second)).toMatchObject({ dan: ['participating'], eve: ['participating'] });
  expect(second).not.toHaveProperty('ada');
});

test('an internal note, and one on a confidential epic, is told to those who may read it', async () => {
  const open = await told({});
  const told1 = await during(() => note('dan', open.epic, { body: 'Inside @bob', internal: true }));
  expect(Object.keys(told1).toSorted()).toEqual(['ada', 'cyd']);
  const hidden = await told({ confidential: true });
  const told2 = await during(() => note('dan', hidden.epic, { body: 'Hidden @bob' }));
  expect(Object.keys(told2).toSorted()).toEqual(['ada', 'cyd']);
});

test('that an epic is closed and opened again is told to its participants and who watches the group', async () => {
  const { epic } = await told({});
  await note('eve', epic, { body: 'Mine' });
  const at = `${group}/epics/${epic.iid}`;
  const closed = await during(() => call('dan', 'PUT', at, { state_event: 'close' }));
  expect(reasons(closed)).toEqual({
    ada: ['author'],
    bob: ['watching'],
    cyd: ['watching'],
    eve: ['participating'],
  });
  expect(closed['eve']![0]!.text).toContain(`(@dan) closed epic &${epic.iid}.`);
  expect(closed['eve']![0]).toMatchObject({
    subject: `Re: plans | Harbour (&${epic.iid})`,
    ...inThread(epic),
  });
  expect(await during(() => call('dan', 'PUT', at, { state_event: 'close', title: 'Port' }))).toEqual({});
  const reopened = await during(() => call('dan', 'PUT', at, { state_event: 'reopen' }));
  expect(reopened['eve']![0]!.text).toContain(`(@dan) reopened epic &${epic.iid}.`);
  expect(reopened['eve']![0]).toMatchObject(inThread(epic));
});

test('who leaves the conversation of an epic by the link in a mail hears no more of it', async () => {
  const { epic } = await told({});
  await note('eve', epic, { body: 'Mine' });
  const first = await during(() => note('ada', epic, { body: 'One' }));
  const link = new URL(/https?:\/\/\S+users\/unsubscribe\S+/.exec(first['eve']![0]!.text!)![0]);
  const { unsubscribe } = await import('../../../lib/domain/notifications/unsubscribe.ts');
  const from = await unsubscribe(deps(), link.searchParams.get('token')!);
  expect(from).toMatchObject({ thread: { noteable: { kind: 'epic', id: epic.id, groupId } } });
  expect(await during(() => note('ada', epic, { body: 'Two' }))).not.toHaveProperty('eve');
});
