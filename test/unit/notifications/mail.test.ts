/** What other people wrote cannot make a mail say something else than it does. */
import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { invitationMail } from '../../../lib/domain/invitations/mail.ts';
import { type MailContent, mailOf, withAuthor } from '../../../lib/domain/notifications/mail.ts';
import type { InvitationRecord } from '../../../lib/records/invitations.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { type Mail, Mailer } from '../../../lib/store/mail/transport.ts';

const sender = { baseUrl: 'https://git.example.com/stage', serviceName: 'Lemnos', html: true };
const reader = {
  userId: 7,
  source: { kind: 'project', id: 2 },
  ability: 'read_history',
  address: 'ada@example.com',
  reason: 'mentioned',
  unsubscribe: 'https://git.example.com/stage/users/unsubscribe?token=7.project.1.x',
} as const;
const letter = (hostile: string): MailContent => ({
  subject: hostile,
  lines: [hostile],
  quote: hostile,
  url: 'https://git.example.com/stage/a/b',
  thread: 'commit_1.project_2',
  message: 'note_3',
  project: { id: 2, name: hostile, path: 'b', fullPath: 'a/b' },
  facts: { 'Pipeline-Ref': hostile },
});

/** As it travels. @param refused senders that SES does not know */
async function sent(mail: Mail, refused: readonly string[] = []) {
  let raw: Uint8Array | undefined;
  const client = {
    send: async (command: { input: { Content: { Raw: { Data: Uint8Array } } } }) => {
      raw = command.input.Content.Raw.Data;
      const { from } = await PostalMime.parse(raw);
      if (refused.includes(from!.address!)) throw Object.assign(new Error(), { name: 'MessageRejected' });
    },
  };
  await new Mailer('Lemnos <lemnos@example.com>', client as never).send(mail);
  return { raw: Buffer.from(raw!).toString('latin1'), mail: await PostalMime.parse(raw!) };
}
const mailFor = (hostile: string) => mailOf(letter(hostile), reader, sender).body as unknown as Mail;

const HOSTILE = [
  'x\r\nBcc: all@example.com',
  'x\nX-Lemnos-NotificationReason: own_activity\n\n<p>',
  '"><script>alert(1)</script>',
  '</blockquote></body></html><img src=x onerror=alert(1)>',
  '\u2028Bcc: all@example.com\u0085',
  '=?utf-8?q?=0D=0ABcc:_all@example.com?=',
  'Ж'.repeat(500),
  '\u202egnp.exe',
  '',
];

describe.each(HOSTILE)('%j', (hostile) => {
  test('is rendered as plain text in a mail', async () => {
    const { mail } = await sent(mailFor(hostile));
    expect(mail.to).toEqual([{ address: 'ada@example.com', name: '' }]);
    expect(mail.bcc ?? []).toEqual([]);
    expect(mail.cc ?? []).toEqual([]);
    const keys = mail.headers.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(mail.headers.find(({ key }) => key === 'x-lemnos-notificationreason')?.value).toBe('mentioned');
    expect(mail.html).not.toMatch(/<(script|img)/);
    expect(mail.html!.match(/<\/body>/g)).toHaveLength(1);
    expect(mail.text).toContain('because you were mentioned');
  });
});

describe.each(HOSTILE)('%j as a name', (hostile) => {
  const name = `Eve${hostile}\n\nYour account ends. Go to https://evil.example.com\u2029now\u202d`;
  const linesOf = ({ body }: { body: Readonly<Record<string, unknown>> }) =>
    (body as unknown as Mail).text.split(/[\n\r\u0085\u2028\u2029]/).length;

  test('adds no lines to a mail and reverses no text', () => {
    const { quote: _, ...told } = letter('x');
    const mail = mailOf({ ...told, lines: [`${name} commented on \nhere:`] }, reader, sender);
    expect(linesOf(mail)).toBe(linesOf(mailOf({ ...told, lines: ['x'] }, reader, sender)));
    const { text, html } = mail.body as unknown as Mail;
    expect(`${text}${html}`).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  test('adds no lines to an invitation', () => {
    const invitation = { email: 'ada@example.com', source: { kind: 'group', id: 1 } } as InvitationRecord;
    const by = (inviter: string) =>
      invitationMail(invitation, { name: inviter, username: 'eve' } as UserRecord, 'a/b', {
        baseUrl: 'https://git.example.com',
        token: 'x',
      });
    expect(linesOf(by(name))).toBe(linesOf(by('Eve')));
  });
});

test('any names keep each mail header on one line', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (name) => {
      const { mail } = await sent(mailFor(name.toWellFormed()));
      expect(mail.to).toEqual([{ address: 'ada@example.com', name: '' }]);
      expect(mail.bcc ?? []).toEqual([]);
      expect(mail.messageId).toBe('<note_3.to_7@git.example.com>');
      expect(mail.references).toBe('<commit_1.project_2@git.example.com>');
    }),
    { numRuns: 50 },
  );
});

describe('a mail that has an author', () => {
  const from = async (author: Mail['author'], refused?: readonly string[]) =>
    (await sent({ to: 'bo@example.net', subject: 's', text: 't', ...(author && { author }) }, refused)).mail
      .from;
  const name = 'Ada (@ada)';

  test('has their name, and the address of the configured sender', async () => {
    expect(await from({ name })).toEqual({ name, address: 'lemnos@example.com' });
    expect(await from(undefined)).toEqual({ name: 'Lemnos', address: 'lemnos@example.com' });
  });

  test('has their address where that is in the domain of the configured sender', async () => {
    const own = { name, address: 'ada@example.com' };
    expect(await from(own)).toEqual(own);
    expect(await from({ name, address: 'ada@EXAMPLE.com' })).toEqual(own);
    for (const address of ['ada@sub.example.com', 'ada@example.com.evil.net', 'ada@notexample.com'])
      expect(await from({ name, address })).toEqual({ name, address: 'lemnos@example.com' });
  });

  test('has the configured address where no other of its domain may send', async () => {
    const own = { name, address: 'ada@example.com' };
    expect(await from(own, [own.address])).toEqual({ name, address: 'lemnos@example.com' });
    await expect(from(own, [own.address, 'lemnos@example.com'])).rejects.toThrow();
  });

  test.each(HOSTILE)('called %j has one sender', async (hostile) => {
    const { mail } = await sent({ to: 'bo@example.net', subject: 's', text: 't', author: { name: hostile } });
    expect(mail.from!.address).toBe('lemnos@example.com');
    expect(mail.bcc ?? []).toEqual([]);
  });
});

test('a long text is cut between characters', async () => {
  const { mail } = await sent(mailFor(`${'a'.repeat(9_999)}🎉${'b'.repeat(300_000)}`));
  expect(mail.text!.length).toBeLessThan(400_000);
  expect(mail.text).toContain('[...]');
  expect(mail.text).not.toContain('\ufffd');
});

describe('no line is longer than mail allows (RFC 5322, section 2.1.1)', () => {
  const path = Array.from({ length: 20 }, () => 'p'.repeat(255)).join('/');
  const long: MailContent = {
    ...letter('x'),
    subject: `${'n'.repeat(255)} | ${'t'.repeat(5000)}`,
    lines: [`${'n'.repeat(5000)} commented`],
    quote: 'q'.repeat(50_000),
    url: `https://git.example.com/${path}`,
    project: { id: 2, name: 'n'.repeat(255), path: 'p'.repeat(255), fullPath: path },
    facts: { 'Pipeline-Ref': 'r'.repeat(5000), Author: '🎉'.repeat(2000) },
  };

  test('with deep groups, long names and long texts', async () => {
    const { raw, mail } = await sent(mailOf(long, reader, sender).body as unknown as Mail);
    expect(Math.max(...raw.split('\r\n').map(({ length }) => length))).toBeLessThanOrEqual(998);
    expect(mail.headers.find(({ key }) => key === 'list-id')?.value).toMatch(
      /^.+ <2\.[a-zA-Z0-9.-]{1,240}\.git\.example\.com>$/,
    );
    expect(mail.text).toContain(path);
    expect(mail.headers.find(({ key }) => key === 'x-lemnos-author')?.value).not.toContain('\ufffd');
  });
});

test('the author of an action is named once, whatever their name is', () => {
  const ada = { name: 'Ada\nBcc: x', username: 'ada' };
  const pipeline = { ...letter('x'), lines: ['A pipeline has failed.'] };
  const note = { ...letter('x'), lines: ['Ada (@ada) commented:'], namesAuthor: true } as const;
  const { text } = mailOf(withAuthor(pipeline, ada), reader, sender).body as unknown as Mail;
  expect(text).toContain('A pipeline has failed.\n\nThis was done by Ada Bcc: x (@ada).\n\n');
  expect(withAuthor(note, ada)).toEqual(note);
  // A resource named after its owner does not say who acted.
  const branch = { ...pipeline, lines: ['A pipeline has failed for by-(@ada).'] };
  expect(withAuthor(branch, ada).lines).toHaveLength(2);
});

test('what a recipient has to be allowed to read is judged again when the mail is sent', () => {
  for (const about of [{ issue: { iid: 3, internal: true } }, { snippet: { id: 4 } }, { epic: { id: 5 } }]) {
    const { body } = mailOf(letter('x'), { ...reader, ...about }, sender);
    const { userId, source, ability } = reader;
    expect(body).toMatchObject({ reader: { userId, source, ability, ...about } });
    expect(body['reader']).not.toHaveProperty('unsubscribe');
  }
});
