import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { nextTurn, Pace, TURN_MS, turnIsOver, underWatch } from '../../../lib/git/work.ts';

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
  void setImmediate().then(() => (ran = true));
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

it('all that was done in a turn counts, whoever did it', async () => {
  await nextTurn();
  let now = 1000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  try {
    const before = new Pace();
    now += TURN_MS - 1;
    expect(before.due()).toBe(false);
    const pace = new Pace();
    now += 1;
    expect(pace.due()).toBe(true);
    pace.begin();
    expect(pace.due()).toBe(true);
    await pace.rest();
    expect(pace.due()).toBe(false);
  } finally {
    clock.mockRestore();
  }
});

it('of works that wait, one goes on in each turn of the event loop', async () => {
  const gone: number[] = [];
  const works = [1, 2, 3].map(async (work) => {
    await nextTurn();
    gone.push(work);
  });
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await setImmediate();
    expect(gone).toEqual(expected);
  }
  await Promise.all(works);
});
