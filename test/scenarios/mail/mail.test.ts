import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { mailMessage } from '../../../lib/domain/mail/message.ts';
import type { Mail } from '../../../lib/store/mail/transport.ts';
import { messageText } from '../../../lib/store/outbox/outbox.ts';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const mail = (to: string, more: Partial<Mail> = {}): Mail => ({
  to,
  subject: 'Hello',
  text: 'A line.',
  ...more,
});

const send = (of: Mail) => deps().store.outbox.commit([], [mailMessage(of)]);

/** Hands the worker messages as the queue does, and answers those that come again. */
async function deliver(...mails: ReturnType<typeof mailMessage>[]): Promise<string[]> {
  const answer = await service.host.invoke('mail', {
    Records: mails.map((each) => ({ messageId: each.id, body: messageText(each), attributes: {} })),
  });
  return (answer as { batchItemFailures: { itemIdentifier: string }[] }).batchItemFailures.map(
    ({ itemIdentifier }) => itemIdentifier,
  );
}

describe('a mail', () => {
  test('arrives as it was written', async () => {
    const text = `${'Grüße, a line that is longer than mail allows without being folded. '.repeat(20)}\n\n.\nEnd 🎉`;
    await send(
      mail('a@example.com', {
        subject: 'Überraschung: \r\nBcc: all@example.com',
        text,
        html: '<p>Grüße</p>',
        headers: { References: '<thread@lemnos.example>' },
      }),
    );
    const [got] = await service.mailTo('a@example.com');
    expect(got).toMatchObject({
      from: { name: 'Lemnos', address: 'lemnos@localhost' },
      to: [{ address: 'a@example.com' }],
      subject: 'Überraschung: Bcc: all@example.com',
      references: '<thread@lemnos.example>',
    });
    expect(got!.text?.trim()).toBe(text);
    expect(got!.html).toContain('<p>Grüße</p>');
    expect(got!.bcc).toBeUndefined();
    expect(got!.headers).toContainEqual(expect.objectContaining({ key: 'auto-submitted' }));
  });

  test.each([
    '',
    'nobody',
    'a@example.com\r\nBcc: b@example.com',
    'a@example.com, b@example.com',
    'A <a@example.com>',
  ])('goes to a single address: %j is refused', (to) =>
    expect(() => mailMessage(mail(to))).toThrow('not a valid address'),
  );

  test('may contain no file names, URLs or extra headers', async () => {
    await send(
      mail('files@example.com', {
        text: '{"path":"/etc/passwd"}',
        headers: { 'X-Name': 'one\r\nBcc: b@example.com' },
      }),
    );
    const [got] = await service.mailTo('files@example.com');
    expect(got!.text?.trim()).toBe('{"path":"/etc/passwd"}');
    expect(got!.bcc).toBeUndefined();
  });

  test('is sent once when its message is repeated', async () => {
    const twice = mailMessage(mail('twice@example.com'));
    const mark = mailMessage(mail('twice@example.com', { subject: 'mark' }));
    expect(await deliver(twice, twice)).toEqual([]);
    expect(await deliver(twice, mark)).toEqual([]);
    const got = await service.mailTo('twice@example.com', 2);
    expect(got.map(({ subject }) => subject)).toEqual(['Hello', 'mark']);
  });

  test('is retried alone when SES fails temporarily', async () => {
    const [late, fine] = [mailMessage(mail('late@example.com')), mailMessage(mail('fine@example.com'))];
    const fault = { kind: 'error', code: 'MessageRejected' } as const;
    service.host.ses.faults.inject({ on: 'late@example.com', fault });
    expect(await deliver(late, fine)).toEqual([late.id]);
    expect(await deliver(late)).toEqual([]);
    expect(await service.mailTo('late@example.com')).toHaveLength(1);
    expect(await service.mailTo('fine@example.com')).toHaveLength(1);
  });

  test('is not retried when SES rejects it for good', async () => {
    const fault = { kind: 'error', code: 'BadRequestException' } as const;
    service.host.ses.faults.inject({ on: 'never@example.com', fault });
    expect(await deliver(mailMessage(mail('never@example.com')))).toEqual([]);
  });

  test('that cannot be parsed goes to the dead letters', async () => {
    const { id } = mailMessage(mail('x@example.com'));
    expect(await deliver({ id, queue: 'mail', type: 'mail.other', body: {} })).toEqual([id]);
  });
});
