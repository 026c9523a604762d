import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { callerAddress } from '../../../local/caller-address.ts';

const request = (forwarded?: string, remoteAddress: string | undefined = '192.0.2.1') =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the client address', () => {
  test.each(['198.51.100.7', '203.0.113.1, 198.51.100.7', undefined])(
    'is that of the connection, whatever X-Forwarded-For says: %s',
    (told) => {
      expect(callerAddress(request(told), {})).toBe('192.0.2.1');
      expect(callerAddress(request(told), { BEHIND_PROXY: '0' })).toBe('192.0.2.1');
    },
  );

  test.each([
    ['198.51.100.7', '198.51.100.7'],
    ['203.0.113.1, 198.51.100.7', '198.51.100.7'],
    ['203.0.113.1,2001:db8::7 ', '2001:db8::7'],
    ['198.51.100.7, unknown', '192.0.2.1'],
    ['', '192.0.2.1'],
    [undefined, '192.0.2.1'],
  ])('behind a proxy, who that saw: %s', (told, address) => {
    expect(callerAddress(request(told), { BEHIND_PROXY: '1' })).toBe(address);
  });
});
