import { describe, expect, test } from 'vitest';
import { type AdvancingJob, advance } from '../../../lib/domain/jobs/advance.ts';
import { countsOf, sumOf } from '../../../lib/domain/jobs/status.ts';
import type { CiStatus, JobWhen } from '../../../lib/records/pipelines.ts';

const NOW = new Date('2026-03-04T05:06:07.000Z');

interface Given {
  /** `stage:name` */
  readonly at: string;
  readonly is?: CiStatus;
  readonly when?: JobWhen;
  readonly mayFail?: true;
  readonly needs?: readonly string[];
  readonly due?: string;
  readonly retried?: true;
}

const jobsOf = (given: readonly Given[]): AdvancingJob[] =>
  given.map(({ at, is = 'created', when = 'on_success', mayFail, needs, due, retried }, i) => ({
    id: i + 1,
    name: at.split(':')[1]!,
    stageIndex: Number(at.split(':')[0]),
    status: is,
    when,
    allowFailure: mayFail === true,
    ...(needs === undefined ? {} : { needs }),
    retried: retried === true,
    scheduledAt: due ?? null,
  }));

/** What moves, as `name status`. */
const moves = (...given: Given[]): string[] => {
  const jobs = jobsOf(given);
  return advance(jobs, NOW).map(({ id, to }) => `${jobs[id - 1]!.name} ${to}`);
};

describe('jobs of a pipeline', () => {
  test('of the first stage begin at once, those of later ones wait', () => {
    expect(moves({ at: '0:a' }, { at: '0:b' }, { at: '1:c' })).toEqual(['a pending', 'b pending']);
  });

  test('of the next stage begin when all before have succeeded', () => {
    expect(moves({ at: '0:a', is: 'success' }, { at: '0:b', is: 'running' }, { at: '1:c' })).toEqual([]);
    expect(moves({ at: '0:a', is: 'success' }, { at: '0:b', is: 'success' }, { at: '1:c' })).toEqual([
      'c pending',
    ]);
  });

  test('are skipped after a failure, in all stages that follow', () => {
    expect(moves({ at: '0:a', is: 'failed' }, { at: '1:b' }, { at: '2:c' })).toEqual([
      'b skipped',
      'c skipped',
    ]);
  });

  test('go on after a failure that is allowed', () => {
    expect(moves({ at: '0:a', is: 'failed', mayFail: true }, { at: '1:b' })).toEqual(['b pending']);
  });

  test.each<[JobWhen, CiStatus, string[]]>([
    ['on_failure', 'failed', ['b pending']],
    ['on_failure', 'success', ['b skipped']],
    ['always', 'failed', ['b pending']],
    ['always', 'success', ['b pending']],
    ['always', 'canceled', ['b skipped']],
    ['on_success', 'canceled', ['b skipped']],
    ['on_success', 'skipped', ['b pending']],
    ['manual', 'success', ['b manual']],
    ['manual', 'failed', ['b skipped']],
    ['delayed', 'success', ['b scheduled']],
  ])('with when %s after a stage that is %s', (when, is, expected) => {
    expect(moves({ at: '0:a', is }, { at: '1:b', when })).toEqual(expected);
  });

  test('wait behind a manual job, unless it need not be started', () => {
    expect(moves({ at: '0:a', is: 'manual' }, { at: '1:b' })).toEqual([]);
    expect(moves({ at: '0:a', is: 'manual', mayFail: true }, { at: '1:b' })).toEqual(['b pending']);
  });

  test('that are skipped let those go on that wait for a failure', () => {
    expect(moves({ at: '0:a', is: 'failed' }, { at: '1:b' }, { at: '2:c', when: 'on_failure' })).toEqual([
      'b skipped',
      'c pending',
    ]);
  });

  test('with needs wait for these alone', () => {
    const before: Given[] = [
      { at: '0:a', is: 'success' },
      { at: '0:slow', is: 'running' },
    ];
    expect(moves(...before, { at: '1:b', needs: ['a'] }, { at: '1:c' })).toEqual(['b pending']);
    expect(moves(...before, { at: '1:d', needs: [] })).toEqual(['d pending']);
    expect(moves(...before, { at: '1:e', needs: ['a', 'slow'] })).toEqual([]);
  });

  test('with needs are skipped where one of these did not run', () => {
    const skipped: Given = { at: '0:a', is: 'skipped' };
    expect(moves(skipped, { at: '1:b', needs: ['a'] })).toEqual(['b skipped']);
    expect(moves(skipped, { at: '1:b', needs: ['a'], when: 'always' })).toEqual(['b pending']);
    const unplayed: Given = { at: '0:a', is: 'manual', mayFail: true };
    expect(moves(unplayed, { at: '1:b', needs: ['a'] })).toEqual(['b skipped']);
  });

  test('may need one another within a stage, in any order', () => {
    expect(
      moves({ at: '0:c', needs: ['b'] }, { at: '0:b', needs: ['a'] }, { at: '0:a', is: 'failed' }),
    ).toEqual(['b skipped', 'c skipped']);
  });

  test('that wait for a time begin when it has come', () => {
    const delayed = { at: '0:a', is: 'scheduled', when: 'delayed' } as const;
    expect(moves({ ...delayed, due: '2026-03-04T05:06:07.000Z' })).toEqual(['a pending']);
    expect(moves({ ...delayed, due: '2026-03-04T05:06:07.001Z' })).toEqual([]);
  });

  test('that were replaced decide nothing', () => {
    expect(
      moves({ at: '0:a', is: 'failed', retried: true }, { at: '0:a', is: 'success' }, { at: '1:b' }),
    ).toEqual(['b pending']);
  });

  test('2,000 in one chain are decided together', () => {
    const chain = Array.from(
      { length: 2000 },
      (_, i): Given => ({
        at: `0:j${i}`,
        ...(i === 0 ? { is: 'failed' as const } : { needs: [`j${i - 1}`] }),
      }),
    );
    expect(moves(...chain)).toHaveLength(1999);
  });
});

describe('the sum of jobs', () => {
  const sum = (...all: (CiStatus | `${CiStatus}?`)[]) =>
    sumOf(
      countsOf(
        all.map((each) => ({
          status: each.replace('?', '') as CiStatus,
          allowFailure: each.endsWith('?'),
        })),
      ),
    );

  test.each<[ReturnType<typeof sum>, Parameters<typeof sum>]>([
    ['success', []],
    ['success', ['success', 'skipped']],
    ['success', ['success', 'failed?', 'canceled?', 'manual?']],
    ['skipped', ['skipped', 'manual?']],
    ['created', ['created', 'created']],
    ['pending', ['pending', 'created']],
    ['running', ['pending', 'success']],
    ['running', ['running', 'failed']],
    ['running', ['created', 'success']],
    ['failed', ['failed', 'success', 'skipped']],
    ['failed', ['failed', 'canceled']],
    ['canceled', ['canceled', 'success']],
    ['manual', ['manual', 'success']],
    ['scheduled', ['scheduled', 'success']],
    ['waiting_for_resource', ['waiting_for_resource', 'success']],
  ])('is %s of %j', (expected, all) => {
    expect(sum(...all)).toBe(expected);
  });
});
