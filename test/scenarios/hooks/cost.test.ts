/** What hooks cost the request that they hear of. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RoundTrips } from '../../harness/round-trips.ts';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;
let trips: RoundTrips;
let owner: { token: string };
beforeAll(async () => {
  service = await startService({ background: false });
  owner = await service.user('owner');
  trips = RoundTrips.of(service.host);
});
afterAll(() => service.stop());

let files = 0;
async function counted(hooks: number) {
  const { token } = owner;
  const name = `with-${hooks}`;
  const made = await service.call('POST', '/projects', {
    token,
    json: { name, initialize_with_readme: true },
  });
  const { id } = made.body;
  for (let i = 0; i < hooks; i++) {
    const json = { url: `https://receiver-${i}.example.com/` };
    expect((await service.call('POST', `/projects/${id}/hooks`, { token, json })).status).toBe(201);
  }
  const json = () => ({
    branch: 'main',
    commit_message: 'One',
    actions: [{ action: 'create', file_path: `${++files}.txt`, content: 'x' }],
  });
  const path = `/projects/${id}/repository/commits`;
  // What a process learns by its first commit is not counted.
  await service.call('POST', path, { token, json: json() });
  const { calls } = await trips.of(async () => {
    expect((await service.call('POST', path, { token, json: json() })).status).toBe(201);
  });
  return { trips: calls.length, calls: calls.flat().length };
}

test('a push with ten hooks costs as many calls to AWS as with one: a message more than with none', async () => {
  const [none, one, ten] = [await counted(0), await counted(1), await counted(10)];
  expect(ten).toEqual(one);
  // As with any message: it is sent, and its row is deleted.
  expect(one).toEqual({ trips: none.trips + 2, calls: none.calls + 2 });
});
