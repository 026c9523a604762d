import { expect, test } from 'vitest';
import { CorruptData } from '../../../lib/git/corrupt-data.ts';
import { failureReply } from '../../../lib/http/errors.ts';
import { StoreUnavailable } from '../../../lib/store/errors.ts';

test('an unreachable store is a 503 without details', () => {
  const answer = failureReply(new StoreUnavailable(true, new Error('ECONNREFUSED table.internal')));
  expect([answer?.status, answer?.body]).toEqual([503, '{"message":"503 Service Unavailable"}']);
});

test('an object that is not what another one names it as is not found', () => {
  const answer = failureReply(new CorruptData('object-malformed', 'is a blob, not a tree'));
  expect([answer?.status, answer?.body]).toEqual([404, '{"message":"404 Object Not Found"}']);
});

test('damage of a pack has no response of its own', () => {
  expect(failureReply(new CorruptData('pack-entry', 'is damaged'))).toBeUndefined();
});

test('an unknown error has no response of its own', () => {
  expect(failureReply(new TypeError('x is undefined'))).toBeUndefined();
});
