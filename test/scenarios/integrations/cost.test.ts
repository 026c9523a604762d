/** What integrations cost the request that they hear of. */
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

const CHATS = ['slack', 'mattermost', 'discord', 'microsoft-teams', 'webex-teams'];

let files = 0;
async function counted(hooks: number, integrations: number) {
  const { token } = owner;
  const name = `with-${hooks}-${integrations}`;
  const { body } = await service.call('POST', '/projects', {
    token,
    json: { name, initialize_with_readme: true },
  });
  const at = `/projects/${body.id}`;
  for (let i = 0; i < hooks; i++) {
    const json = { url: `https://receiver-${i}.example.com/` };
    expect((await service.call('POST', `${at}/hooks`, { token, json })).status).toBe(201);
  }
  for (const slug of CHATS.slice(0, integrations)) {
    const json = { webhook: 'https://chat.example.com/' };
    expect((await service.call('PUT', `${at}/integrations/${slug}`, { token, json })).status).toBe(200);
  }
  const json = () => ({
    branch: 'main',
    commit_message: 'One',
    actions: [{ action: 'create', file_path: `${++files}.txt`, content: 'x' }],
  });
  const path = `${at}/repository/commits`;
  // What a process learns by its first commit is not counted.
  await service.call('POST', path, { token, json: json() });
  const costs = [];
  for (let i = 0; i < 3; i++) {
    const { calls } = await trips.of(async () => {
      expect((await service.call('POST', path, { token, json: json() })).status).toBe(201);
    });
    costs.push({ trips: calls.length, calls: calls.flat().length });
  }
  // Settings are read again every five seconds, by whichever request comes then.
  return costs.sort((a, b) => a.calls - b.calls)[0];
}

test('a push with ten hooks and five integrations costs as many calls to AWS as with one of either', async () => {
  const one = await counted(1, 0);
  expect(await counted(0, 1)).toEqual(one);
  expect(await counted(10, 5)).toEqual(one);
});
