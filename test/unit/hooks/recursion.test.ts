import { expect, test } from 'vitest';
import { callHeader, causingHooks, hookCallOf, mayHear } from '../../../lib/domain/hooks/recursion.ts';
import type { HookDelivery } from '../../../lib/records/hooks.ts';
import type { HookDeliveries } from '../../../lib/store/hooks/deliveries.ts';
import {
  message,
  messageInOrder,
  messageText,
  outboxWrites,
  parseMessage,
} from '../../../lib/store/outbox/outbox.ts';
import { correlated, hookCall } from '../../../lib/telemetry/correlation.ts';

const made: HookDelivery = {
  ...{ id: '01JD0000000000000000000000-000000', hookId: 7, eventId: 'e', trigger: 'push_events' },
  ...{ event: 'Push Hook', payload: new Uint8Array(), state: 'waiting', attempts: 0, createdAt: '' },
  ...{ key: '11111111-2222-4333-8444-555555555555', causedBy: [3, 5] },
};
const deliveries = {
  get: async (hookId: number, id: string) => (hookId === 7 && id === made.id ? made : undefined),
} as unknown as HookDeliveries;
const called = (headers: Record<string, string>) =>
  correlated('r', () => causingHooks(deliveries, hookCall()), hookCallOf(new Headers(headers)));

test('a request with the header of a call goes back to it, and to the calls before', async () => {
  expect(await called(callHeader(made))).toEqual([3, 5, 7]);
  expect(await called({})).toEqual([]);
});

test('a call that nobody made is none', async () => {
  expect(await called(callHeader({ ...made, key: '0'.repeat(36) }))).toEqual([]);
  expect(await called(callHeader({ ...made, hookId: 8 }))).toEqual([]);
  const { key: _, ...former } = made;
  expect(callHeader(former)).toEqual({});
});

test('a header of another form is not looked at', () => {
  for (const text of [
    '7',
    `x.${made.id}.${made.key}`,
    `7.${'1'.repeat(81)}.${made.key}`,
    `7.a.${made.key}, 8`,
  ])
    expect(hookCallOf(new Headers({ 'X-Hook-Call': text }))).toBeUndefined();
});

test('no more than four calls lead to one another, and hooks of the instance hear of the last all the same', () => {
  const of = (id: number, kind: 'project' | 'system') =>
    ({ id, owner: kind === 'system' ? { kind } : { kind, id: 1 } }) as const;
  expect(mayHear([1, 2, 3], of(9, 'project'))).toBe(true);
  expect(mayHear([1, 2, 3, 4], of(9, 'project'))).toBe(false);
  expect(mayHear([1, 2, 3, 4], of(9, 'system'))).toBe(true);
  expect(mayHear([1, 9], of(9, 'system'))).toBe(false);
});

test('messages to workers, and their rows, name the call that they go back to', () => {
  const promised = correlated(
    'r',
    () => messageInOrder('maintenance', 'x', { list: 'l', body: {} }),
    '7.a.b',
  );
  expect(parseMessage(messageText(promised))).toMatchObject({ hookCall: '7.a.b' });
  const rows = outboxWrites([promised]).map(({ put }) => put['hookCall']);
  expect(rows).toEqual(['7.a.b', '7.a.b']);
  const plain = correlated('r', () => message('maintenance', 'x', {}));
  expect(outboxWrites([plain])[0]!.put).not.toHaveProperty('hookCall');
});
