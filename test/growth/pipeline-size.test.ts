/**
 * What the end of a job costs does not depend on how many its pipeline has: with 100, and with 1,000. Making the pipeline costs
 * round trips by the transactions that its jobs take, eight of which are on their way at a time.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { advancePipeline } from '../../lib/domain/pipelines/advance-pipeline.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { report, smallRunner } from '../harness/small-runner.ts';

const SIZES = [100, 1_000] as const;

interface Costs {
  readonly made: number;
  readonly begun: number;
  readonly taken: number;
  readonly ended: number;
  readonly wentOn: number;
}

let service: Service;
const costs = new Map<number, Costs>();

beforeAll(async () => {
  service = await startService({ background: false });
  const trips = RoundTrips.of(service.host);
  const { token } = await service.user('owner');
  for (const size of SIZES) {
    const call = async (method: string, path: string, json?: object) => {
      const { status, body } = await service.call(method, path, { token, ...(json && { json }) });
      if (status >= 300) throw new Error(`${path}: ${JSON.stringify(body)}`);
      return body;
    };
    const made = await call('POST', '/projects', { name: `of ${size}`, shared_runners_enabled: false });
    const content = Array.from({ length: size / 50 }, (_, n) => `j${n}: { script: [x], parallel: 50 }`);
    const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content: content.join('\n') }];
    await call('POST', `/projects/${made.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'x',
      actions,
    });
    const { runners_token } = await call('GET', `/projects/${made.id}`);
    const runner = await smallRunner(service, runners_token);
    const seconds: string[] = [];
    const counted = async <T>(work: () => Promise<T>) => {
      forgetEverything();
      const { trips: taken, value } = await trips.of(work);
      return { trips: taken.length, value };
    };
    const pipeline = await counted(() => call('POST', `/projects/${made.id}/pipeline`, { ref: 'main' }));
    const reference = { projectId: made.id as number, pipelineId: pipeline.value.id as number };
    const goesOn = () => counted(() => advancePipeline(deps(), reference));
    const begun = await goesOn();
    const taken = await counted(() => runner.take());
    const ended = await counted(() => report(service, taken.value.body, 'success'));
    const wentOn = await goesOn();
    expect([taken.value.status, ended.value.status]).toEqual([201, 200]);
    costs.set(size, {
      ...{ made: pipeline.trips, begun: begun.trips, taken: taken.trips },
      ...{ ended: ended.trips, wentOn: wentOn.trips },
    });
    // Once more, as it comes: calls that wait for each other tell no time.
    const time = async (what: string, work: () => Promise<unknown>) => {
      const begin = performance.now();
      await work();
      seconds.push(`${what} ${((performance.now() - begin) / 1000).toFixed(2)} s`);
    };
    let again = 0;
    await time('made', async () => {
      again = (await call('POST', `/projects/${made.id}/pipeline`, { ref: 'main' })).id;
    });
    const next = { ...reference, pipelineId: again };
    await time('begun', () => advancePipeline(deps(), next));
    process.stderr.write(`${size} jobs: ${JSON.stringify(costs.get(size))}; ${seconds.join(', ')}\n`);
  }
}, 600_000);
afterAll(() => service.stop());

describe.each(SIZES)('in a pipeline of %d jobs', (size) => {
  test('a job is taken and ends, and the pipeline goes on, at a cost that does not grow', () => {
    const { taken, ended, wentOn } = costs.get(size)!;
    expect(taken).toBeLessThanOrEqual(16);
    expect(ended).toBeLessThanOrEqual(10);
    expect(wentOn).toBeLessThanOrEqual(8);
  });

  test('all jobs are made, and begin, by transactions side by side', () => {
    const { made, begun } = costs.get(size)!;
    expect(made).toBeLessThanOrEqual(20 + Math.ceil(size / 24 / 8));
    expect(begun).toBeLessThanOrEqual(12 + Math.ceil(size / 12 / 8));
  });
});
