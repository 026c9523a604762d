import { expect, test } from 'vitest';
import { failureReply } from '../../../lib/http/errors.ts';
import { StoreUnavailable } from '../../../lib/store/errors.ts';

test('a store out of reach is a 503 that tells nothing of it', () => {
  const answer = failureReply(new StoreUnavailable(true, new Error('ECONNREFUSED table.internal')));
  expect([answer?.status, answer?.body]).toEqual([503, '{"message":"503 Service Unavailable"}']);
});

test('an error that nobody foresaw has no answer of its own', () => {
  expect(failureReply(new TypeError('x is undefined'))).toBeUndefined();
});
