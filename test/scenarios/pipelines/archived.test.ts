/** Jobs that the settings archive for their age. */
import { expect, test } from 'vitest';
import { jobKey } from '../../../lib/store/row-keys/jobs.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';
import { piped } from './piped.ts';

const { service, world } = ownWorld();

test('nobody starts, repeats or cancels an archived job, or its pipeline when that is as old', async () => {
  const made = await piped(
    world,
    'one: { script: x }\ntwo: { script: x }\nthree: { script: x, when: manual }\nfour: { script: x }\n',
  );
  const [{ id }] = await made.pipelines();
  const one = await made.end(id, 'one', 'failed');
  const { body: jobs } = await made.call('GET', `/pipelines/${id}/jobs`);
  const idOf = (name: string): number => jobs.find((job: { name: string }) => job.name === name).id;
  const createdAt = new Date(Date.now() - 25 * 3_600_000).toISOString();
  for (const name of ['one', 'two', 'three'])
    await world.store.table.update({ update: jobKey(id, idOf(name)), set: { createdAt } });
  const answers = async () => [
    (await made.call('POST', `/jobs/${idOf('two')}/cancel`)).status,
    (await made.call('POST', `/jobs/${idOf('three')}/play`)).status,
    (await made.call('POST', `/jobs/${one}/retry`)).status,
  ];
  await changeSettings(service, { archive_builds_in_human_readable: '1 day' });
  expect(await answers()).toEqual([403, 403, 403]);
  // A younger one, and a pipeline that is, without what is archived of it.
  expect((await made.call('POST', `/jobs/${idOf('four')}/cancel`)).status).toBe(201);
  expect((await made.call('POST', `/pipelines/${id}/retry`)).status).toBe(201);
  expect(await made.jobs(id)).toMatchObject({ one: 'failed', four: 'pending' });
  await changeSettings(service, { archive_builds_in_human_readable: '2 days' });
  expect((await made.call('POST', `/jobs/${idOf('two')}/cancel`)).status).toBe(201);
  await changeSettings(service, { archive_builds_in_human_readable: null });
  expect((await made.call('POST', `/jobs/${idOf('three')}/play`)).status).toBe(200);
});
