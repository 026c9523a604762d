/** Every endpoint that writes is sent once, and records what the table says of it: nothing where it says why. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allEndpoints } from '../../../lib/api/all.ts';
import { writes } from '../../crash/faults/endpoints.ts';
import { Fixtures } from '../../crash/faults/fixtures.ts';
import { recordedBy, type Told } from '../../harness/audit.ts';
import { type Service, startService } from '../../harness/service.ts';
import { AUDITED, NOT_AUDITED } from './audited-writes.ts';

let service: Service;
let fixtures: Fixtures;
beforeAll(async () => {
  // Storages to move repositories to.
  process.env['REPOSITORY_STORAGES'] = 'cold,warm';
  service = await startService({ background: false });
  fixtures = new Fixtures(service);
});
afterAll(async () => {
  await fixtures.end();
  await service.stop();
});

const silent = Object.values(NOT_AUDITED).flat();

test('every writing endpoint is listed as audited or not audited', () => {
  const all = allEndpoints
    .map(({ method, path }) => `${method} ${path}`)
    // Searches say in a body what others say in a query; texts to render are long.
    .filter(
      (name) =>
        !/^(GET|HEAD) |\/\.search$|^POST (\/markdown|.*\/ci\/lint|.*\/:slug\/trigger|\/runners\/verify)$/.test(
          name,
        ),
    );
  const known = [...Object.keys(AUDITED), ...silent];
  expect(
    all.filter((name) => !known.includes(name)),
    'each needs a line in audited-writes.ts',
  ).toEqual([]);
  expect(
    known.filter((name, at) => !all.includes(name) || known.indexOf(name) !== at),
    'lines of endpoints that are gone, or stand twice',
  ).toEqual([]);
});

describe('the events listed for an endpoint are recorded exactly once', () =>
  test.each(writes.map((one) => [one.name, one] as const))('%s', async (name, operation) => {
    const work = await operation.prepare(fixtures);
    const events = await recordedBy(service, async () => {
      expect((await work.run()).kind).toBe('done');
    });
    expect(events.map(said).sort()).toEqual((AUDITED[name] ?? []).toSorted());
  }));

function said({ of, ...event }: Told): string {
  const action = ['add', 'remove', 'change'].find((word) => word in event);
  const what = action === undefined ? event['custom_message'] : `${action} ${event[action]}`;
  return `${of.split(' ')[0]}: ${what}`.replace(/\d+/g, 'N');
}
