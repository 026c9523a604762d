import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { nextTurn, Pace, turnIsOver, underWatch } from '../../../lib/git/work.ts';

it('a pace is due when its turn is over, and not after a rest', async () => {
  const pace = new Pace();
  await setTimeout(40);
  expect(pace.due()).toBe(true);
  await pace.rest();
  expect(pace.due()).toBe(false);
});

it('a chain of promises that wait for nothing is one turn, which is over after its time', async () => {
  await nextTurn();
  expect(turnIsOver()).toBe(false);
  for (const until = performance.now() + 40; performance.now() < until; ) await Promise.resolve();
  expect(turnIsOver()).toBe(true);
  await nextTurn();
  await nextTurn();
  expect(turnIsOver()).toBe(false);
});

it('a rest lets timers and other callbacks run', async () => {
  let ran = false;
  setImmediate(() => (ran = true));
  await new Pace().rest();
  expect(ran).toBe(true);
});

it('work under a watch ends with the reason of its signal where it yields, and other work goes on', async () => {
  const ends = new AbortController();
  const endless = async () => {
    for (;;) await nextTurn();
  };
  const abandoned = underWatch({ signal: ends.signal }, endless);
  ends.abort(new Error('the client has gone'));
  await expect(abandoned).rejects.toThrow('the client has gone');
  await nextTurn();
});
