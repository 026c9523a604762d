import { expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import { content, lfsClient, pointerFile, pointerTo } from './client.ts';

const { world, as } = ownWorld();
const lfs = lfsClient(world);

test('what a fork proposes brings the objects that its pointers lead to, and no others of the fork', async () => {
  const { body: target } = await as('owner', 'POST', '/projects', { name: 'asked', visibility: 'public' });
  const readme = { action: 'create', file_path: 'README', content: 'r' };
  const first = { branch: 'main', commit_message: 'first', actions: [readme] };
  expect((await as('owner', 'POST', `/projects/${target.id}/repository/commits`, first)).status).toBe(201);
  const { body: fork } = await as('stranger', 'POST', `/projects/${target.id}/fork`);
  await settled();
  const [proposed, other, lost] = [content(), content(), content()];
  for (const bytes of [proposed, other])
    expect(await lfs.upload('stranger', 'stranger/asked', bytes)).toEqual([200, 200, 200]);
  const actions = [
    { action: 'create', file_path: 'proposed.bin', content: pointerFile(pointerTo(proposed)) },
    { action: 'create', file_path: 'lost.bin', content: pointerFile(pointerTo(lost)) },
  ];
  const json = { branch: 'mine', start_branch: 'main', commit_message: 'large', actions };
  expect((await as('stranger', 'POST', `/projects/${fork.id}/repository/commits`, json)).status).toBe(201);
  expect(await lfs.download('owner', 'owner/asked', pointerTo(proposed))).toBe(404);
  const { status } = await as('stranger', 'POST', `/projects/${fork.id}/merge_requests`, {
    ...{ source_branch: 'mine', target_branch: 'main', target_project_id: target.id, title: 'Large' },
  });
  expect(status).toBe(201);
  expect(await lfs.download('owner', 'owner/asked', pointerTo(proposed))).toEqual(proposed);
  expect(await lfs.download('owner', 'owner/asked', pointerTo(other))).toBe(404);
  expect(await lfs.download('owner', 'owner/asked', pointerTo(lost))).toBe(404);
  // Who may push to the branch that is proposed uploads to the fork, as long as its author allows that.
  const mine = `/projects/${target.id}/merge_requests/1`;
  const helped = () => lfs.upload('owner', 'stranger/asked', content());
  expect(await helped()).toEqual([403]);
  expect((await as('stranger', 'PUT', mine, { allow_collaboration: true })).status).toBe(200);
  expect(await helped()).toEqual([200, 200, 200]);
  // They stay when the fork is gone.
  await as('stranger', 'DELETE', `/projects/${fork.id}`);
  await settled();
  expect(await lfs.download('owner', 'owner/asked', pointerTo(proposed))).toEqual(proposed);
});
