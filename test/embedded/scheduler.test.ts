import type { ScheduledEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { type Clock, parseSchedule, startSchedule } from '../../local/scheduler.ts';

/** A clock that stands still until a test advances it. */
class TestClock implements Clock {
  #now = Date.parse('2026-03-01T10:00:00Z');
  #calls: { due: number; call: () => void }[] = [];

  now = () => this.#now;

  after(milliseconds: number, call: () => void): () => void {
    const entry = { due: this.#now + milliseconds, call };
    this.#calls.push(entry);
    return () => {
      this.#calls = this.#calls.filter((other) => other !== entry);
    };
  }

  get waiting(): number {
    return this.#calls.length;
  }

  async advance(seconds: number): Promise<void> {
    const end = this.#now + seconds * 1000;
    for (;;) {
      await settle();
      const next = this.#calls.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.due);
      next.call();
    }
    this.#now = end;
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

function start(schedule: string, handler: (event: ScheduledEvent) => Promise<unknown>) {
  const clock = new TestClock();
  const stop = new AbortController();
  const errors: unknown[] = [];
  const running = startSchedule({
    name: 'sweep',
    schedule,
    handler,
    clock,
    signal: stop.signal,
    onError: (error) => errors.push(error),
  });
  return { clock, stop, running, errors };
}

describe('a schedule', () => {
  it('calls at a fixed rate with an event as EventBridge does', async () => {
    const events: ScheduledEvent[] = [];
    const { clock, stop, running } = start('rate(1 minute)', async (event) => events.push(event));
    await clock.advance(59);
    expect(events).toEqual([]);
    await clock.advance(1);
    expect(events).toEqual([
      {
        version: '0',
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        'detail-type': 'Scheduled Event',
        source: 'aws.events',
        account: '000000000000',
        time: '2026-03-01T10:01:00Z',
        region: 'us-east-1',
        resources: ['arn:aws:events:us-east-1:000000000000:rule/sweep'],
        detail: {},
      },
    ]);
    await clock.advance(180);
    expect(events).toHaveLength(4);
    stop.abort();
    await running;
    expect(clock.waiting).toBe(0);
  });

  it('never overlaps its calls, skips missed times, and keeps its rhythm', async () => {
    const times: string[] = [];
    let finish = () => {};
    const { clock, stop, running } = start('rate(1 minute)', ({ time }) => {
      times.push(time.slice(11, 16));
      return times.length === 1 ? new Promise<void>((resolve) => (finish = resolve)) : Promise.resolve();
    });
    await clock.advance(60 * 3 + 30);
    expect(times).toEqual(['10:01']);
    finish();
    await clock.advance(90);
    expect(times).toEqual(['10:01', '10:04', '10:05']);
    stop.abort();
    await running;
  });

  it('continues after an error', async () => {
    let calls = 0;
    const { clock, stop, running, errors } = start('rate(2 hours)', async () => {
      if (++calls === 1) throw new Error('boom');
    });
    await clock.advance(4 * 3600);
    expect([calls, errors.length]).toEqual([2, 1]);
    stop.abort();
    await running;
  });

  it('ends after the call under way', async () => {
    let finish = () => {};
    let ended = false;
    const { clock, stop, running } = start(
      'rate(1 minute)',
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    void running.then(() => (ended = true));
    await clock.advance(60);
    stop.abort();
    await settle();
    expect(ended).toBe(false);
    finish();
    await running;
  });
});

describe('a schedule expression', () => {
  it.each([
    ['cron(0 12 * * ? *)', ['2026-03-01T12:00', '2026-03-02T12:00']],
    [
      'cron(0/20 10-11 * * ? *)',
      ['2026-03-01T10:20', '2026-03-01T10:40', '2026-03-01T11:00', '2026-03-01T11:20'],
    ],
    ['cron(15 3 ? * MON-FRI *)', ['2026-03-02T03:15', '2026-03-03T03:15']],
    ['cron(0 0 ? * 1 *)', ['2026-03-08T00:00', '2026-03-15T00:00']],
    ['cron(30 8 L * ? *)', ['2026-03-31T08:30', '2026-04-30T08:30', '2026-05-31T08:30']],
    ['cron(0 0 29 FEB ? *)', ['2028-02-29T00:00', '2032-02-29T00:00']],
    ['cron(59 23 31 12 ? 2026,2028)', ['2026-12-31T23:59', '2028-12-31T23:59']],
    ['cron(0 0 1 1,JUL ? *)', ['2026-07-01T00:00', '2027-01-01T00:00']],
    ['rate(5 minutes)', ['2026-03-01T10:05', '2026-03-01T10:10']],
    ['rate(1 day)', ['2026-03-02T10:00']],
  ])('%s', (schedule, expected) => {
    const next = parseSchedule(schedule);
    let at: number | undefined = Date.parse('2026-03-01T10:00:00Z');
    for (const time of expected) {
      at = next(at!);
      expect(new Date(at!).toISOString().slice(0, 16)).toBe(time);
    }
  });

  it('may have no further time', () => {
    expect(parseSchedule('cron(0 0 1 1 ? 2020)')(Date.parse('2026-03-01T10:00:00Z'))).toBeUndefined();
    expect(parseSchedule('cron(0 0 30 2 ? *)')(Date.parse('2026-03-01T10:00:00Z'))).toBeUndefined();
  });

  it.each([
    '* * * * *',
    'rate(0 minutes)',
    'rate(5 seconds)',
    'cron(0 12 * * *)',
    'cron(0 12 * * * *)',
    'cron(0 12 ? * ? *)',
    'cron(60 12 * * ? *)',
    'cron(5-1 12 * * ? *)',
    'cron(*/0 12 * * ? *)',
    'cron(0 12 15W * ? *)',
    'cron(0 12 ? * 2#1 *)',
  ])('%s is invalid', (schedule) => {
    expect(() => parseSchedule(schedule)).toThrow(SyntaxError);
  });
});
