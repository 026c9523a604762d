import assert from 'node:assert/strict';
import { areasOf } from '../../functions/areas.ts';
import { embedded } from '../harness/embedded-metrics.ts';
import { call, eventually } from './client.ts';
import type { Deployed, Told } from './story.ts';

/** What an operator finds in the logs: one id leads from a request to its jobs, and each tells its metrics. */
export async function telemetryStory({ tally, url, linesOf }: Deployed, { root }: Told): Promise<void> {
  await tally.step('one id finds a request, its job, and the metrics of both', async () => {
    const made = await call(`${url}/api/v4/projects`, { token: root, body: { name: 'followed' } });
    assert.equal(made.status, 201, made.text);
    const rename = async (name: string) => {
      const answer = await call(`${url}/api/v4/projects/${made.json['id']}`, {
        method: 'PUT',
        token: root,
        body: { name, description: 'said to nobody' },
      });
      assert.equal(answer.status, 200, answer.text);
      return answer;
    };
    const renamed = await rename('followed on');
    const id = renamed.headers.get('x-request-id')!;
    let lines: Record<string, unknown>[] = [];
    let tries = 0;
    await eventually(async () => {
      // The emulator collects what a function wrote long after its answer when it calls that function again.
      await rename(`followed on ${++tries}`);
      lines = await linesOf(id);
      // What a function writes arrives after its answer, and in any order with what its jobs write.
      for (const name of ['endpoint', 'job'])
        assert.ok(
          lines.some((line) => line[name] !== undefined && line['_aws'] !== undefined),
          JSON.stringify(lines),
        );
    });
    const of = (message: string) => lines.filter((line) => line['message'] === message);
    assert.equal(of('request').length, 1, JSON.stringify(lines));
    const [request] = of('request');
    const { level, service, area, route, status, function_request_id } = request!;
    assert.deepEqual(
      { level, service, area, route, status },
      { level: 'INFO', service: 'Lemnos', area: 'projects', route: '/projects/:id', status: 200 },
    );
    assert.match(String(function_request_id), /^[0-9a-f-]{36}$/);
    const jobs = of('job').map(({ job }) => job);
    assert.ok(jobs.includes('search.index'), JSON.stringify(jobs));

    const metrics = lines.filter((line) => line['_aws'] !== undefined);
    for (const line of metrics) assert.ok(embedded(line), JSON.stringify([line, embedded.errors]));
    assert.deepEqual(
      metrics.flatMap(({ endpoint }) => endpoint ?? []),
      ['PUT /projects/:id'],
    );
    assert.deepEqual(metrics.flatMap(({ job }) => job ?? []).sort(), jobs.sort());
    assert.ok(!JSON.stringify(lines).includes('said to nobody'));
  });
  // Asks every queue, those that no function of the area sends to included.
  await tally.step('an administrator reads how many messages wait in each queue', async () => {
    const { status, json, text } = await call(`${url}/api/v4/sidekiq/compound_metrics`, { token: root });
    assert.equal(status, 200, text);
    const queues = areasOf('worker').map(({ queue }) => queue);
    assert.deepEqual(Object.keys(json['queues'] as object).sort(), [...queues].sort());
    assert.equal((json['jobs'] as { dead: number }).dead, 0, text);
  });
}
