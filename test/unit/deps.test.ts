import { afterEach, expect, test } from 'vitest';
import { perClients } from '../../functions/deps.ts';
import { useTransport } from '../../lib/store/clients.ts';

afterEach(() => useTransport({}));

const counted = (fails: (call: number) => boolean = () => false) => {
  let calls = 0;
  return perClients(() => {
    if (fails(++calls)) throw new Error('no table yet');
    return calls;
  });
};

test('what a function works with is made once', () => {
  const made = counted();
  expect([made(), made(), made()]).toEqual([1, 1, 1]);
});

test('what could not be made is tried again, and then kept', () => {
  const made = counted((call) => call === 1);
  expect(made).toThrow('no table yet');
  expect([made(), made()]).toEqual([2, 2]);
});

test('over other clients it is made again', () => {
  const made = counted();
  expect(made()).toBe(1);
  useTransport({});
  expect([made(), made()]).toEqual([2, 2]);
});
