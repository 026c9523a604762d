/**
 * Answers that never arrive, and services that are down, at the writes of a few operations; `npm run test:faults`
 * tries every call of every operation with every fault.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { allEndpoints } from '../../../lib/api/all.ts';
import { Driver, type Operation } from '../../crash/faults/driver.ts';
import { writes } from '../../crash/faults/endpoints.ts';
import { Fixtures } from '../../crash/faults/fixtures.ts';
import { gitOperations } from '../../crash/faults/git.ts';
import { Injector, isRead } from '../../crash/faults/injector.ts';
import { storedProblems } from '../../crash/faults/run.ts';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;
let fixtures: Fixtures;
let driver: Driver;
beforeAll(async () => {
  service = await startService({ background: false });
  fixtures = new Fixtures(service);
  driver = new Driver(fixtures, new Injector(service.host));
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterAll(async () => {
  vi.restoreAllMocks();
  await fixtures.end();
  await service.stop();
});

/** Searches say in a body what others say in a query; Markdown, configurations, tokens of runners and commands of chats are read from one. */
const READS =
  /^(GET|HEAD) |\/\.search$|^POST (\/markdown|\/runners\/verify|.*\/ci\/lint|.*\/:slug\/trigger)$/;

test('every writing endpoint has an entry in the fault suite', () => {
  const known = new Set(writes.map(({ name }) => name));
  const all = allEndpoints.map(({ method, path }) => `${method} ${path}`);
  const missing = all.filter((name) => !READS.test(name) && !known.has(name));
  expect(missing, 'each needs a line in test/crash/faults/endpoints.ts').toEqual([]);
  expect(
    [...known].filter((name) => !all.includes(name)),
    'lines of endpoints that are gone',
  ).toEqual([]);
});

const FEW = [
  'POST /projects',
  'POST /projects/:id/members',
  'POST /projects/:id/repository/branches',
  'POST /projects/:id/repository/commits',
  'git push of the first branch',
];

test.each(
  [...writes, ...gitOperations]
    .filter(({ name }) => FEW.includes(name))
    .map((one) => [one.name, one] as const),
)('under storage faults %s is done whole or not at all', async (_, operation: Operation) => {
  const faults = new Set(['lost answer', 'deaf', 'down']);
  const { problems, runs } = await driver.try(operation, (site, fault) => !isRead(site) && faults.has(fault));
  expect(problems).toEqual([]);
  expect(runs).toBeGreaterThan(2);
});

test('under storage faults the stored data stays consistent', async () => {
  expect(await storedProblems(fixtures, await fixtures.settle())).toEqual([]);
});
