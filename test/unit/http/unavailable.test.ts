import { expect, test } from 'vitest';
import { failureReply } from '../../../lib/http/errors.ts';
import { StoreUnavailable } from '../../../lib/store/errors.ts';

test('an unreachable store is a 503 without details', () => {
  const answer = failureReply(new StoreUnavailable(true, new Error('ECONNREFUSED table.internal')));
  expect([answer?.status, answer?.body]).toEqual([503, '{"message":"503 Service Unavailable"}']);
});

test('an unknown error has no response of its own', () => {
  expect(failureReply(new TypeError('x is undefined'))).toBeUndefined();
});
