/** Time that issues are estimated to take, and that is spent on them. */
import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';

const { as, world } = ownWorld();

async function issue(): Promise<string> {
  const issues = `/projects/${world.ids['public']}/issues`;
  const { status, body } = await as('guest', 'POST', issues, { title: 'Work' });
  expect(status).toBe(201);
  return `${issues}/${body.iid}`;
}

describe('time', () => {
  test('is estimated and spent, shown with the issue, and noted', async () => {
    const path = await issue();
    const none = {
      time_estimate: 0,
      total_time_spent: 0,
      human_time_estimate: null,
      human_total_time_spent: null,
    };
    expect((await as('anonymous', 'GET', `${path}/time_stats`)).body).toEqual(none);
    const steps = [
      ['time_estimate', '1w 2d', 200, { time_estimate: 201_600, human_time_estimate: '1w 2d' }],
      ['add_spent_time', '1h30m', 201, { total_time_spent: 5400, human_total_time_spent: '1h 30m' }],
      ['add_spent_time', '-30m', 201, { total_time_spent: 3600 }],
      ['add_spent_time', '2', 201, { total_time_spent: 10_800, time_estimate: 201_600 }],
      ['reset_time_estimate', undefined, 200, { time_estimate: 0, total_time_spent: 10_800 }],
      ['reset_spent_time', undefined, 200, none],
    ] as const;
    for (const [name, duration, status, stats] of steps) {
      const json = duration === undefined ? undefined : { duration };
      const answer = await as('reporter', 'POST', `${path}/${name}`, json);
      expect(answer, name).toMatchObject({ status, body: stats });
      expect((await as('guest', 'GET', path)).body.time_stats).toEqual(answer.body);
    }
    const notes = (await as('guest', 'GET', `${path}/notes?sort=asc&activity_filter=only_activity`)).body;
    expect(notes.map(({ body }: { body: string }) => body)).toEqual([
      'changed time estimate to 1w 2d',
      'added 1h 30m of time spent',
      'subtracted 30m of time spent',
      'added 2h of time spent',
      'removed time estimate',
      'removed time spent',
    ]);
  });

  test('that is spent may have a summary, which is noted in one line', async () => {
    const path = await issue();
    const given = [
      { duration: '1h', summary: '  typing\nand thinking ' },
      { duration: '-30m', summary: 'x'.repeat(255) },
      { duration: '1h', summary: ' ' },
      { duration: '0', summary: 'nothing' },
    ];
    for (const json of given)
      expect((await as('reporter', 'POST', `${path}/add_spent_time`, json)).status).toBe(201);
    const long = { duration: '1h', summary: 'x'.repeat(256) };
    expect((await as('reporter', 'POST', `${path}/add_spent_time`, long)).status).toBe(400);
    const notes = (await as('guest', 'GET', `${path}/notes?sort=asc&activity_filter=only_activity`)).body;
    expect(notes.map(({ body }: { body: string }) => body)).toEqual([
      'added 1h of time spent: typing and thinking',
      `subtracted 30m of time spent: ${'x'.repeat(255)}`,
      'added 1h of time spent',
    ]);
  });

  test('that many spend at once is added up', async () => {
    const path = await issue();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => as('reporter', 'POST', `${path}/add_spent_time`, { duration: '1h' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect((await as('guest', 'GET', `${path}/time_stats`)).body.human_total_time_spent).toBe('1d');
  });

  const estimate = { time_estimate: ['must have a valid format and be greater than or equal to zero.'] };
  const format = { base: ['Time spent must be formatted correctly. For example: 1h 30m.'] };
  test.each([
    ['time_estimate', {}, { error: 'duration is missing' }],
    ['time_estimate', { duration: 'soon' }, { message: estimate }],
    ['time_estimate', { duration: '-1h' }, { message: estimate }],
    ['time_estimate', { duration: '999999999mo' }, { message: estimate }],
    ['add_spent_time', {}, { error: 'duration is missing' }],
    ['add_spent_time', { duration: '' }, { message: format }],
    ['add_spent_time', { duration: '1 fortnight' }, { message: format }],
    ['add_spent_time', { duration: '999999999mo' }, { message: { base: ['Time spent is too long'] } }],
    [
      'add_spent_time',
      { duration: '-1m' },
      { message: { base: ['Time to subtract exceeds the total time spent'] } },
    ],
  ])('is refused by %s as %j', async (name, json, body) => {
    expect(await as('owner', 'POST', `${await issue()}/${name}`, json)).toMatchObject({ status: 400, body });
  });
});
