import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';
import { lfsClient, TYPE } from './client.ts';

const { world, root, someone, as } = ownWorld();
const lfs = lfsClient(world);
const P = 'owner/private-thing';
let files = 0;
const fresh = () => `models/${++files}.blend`;
const lock = (who: Who, path: unknown) =>
  lfs.as(who, P, 'POST', 'locks', { path, ref: { name: 'refs/heads/main' } });
const unlock = (who: Who, id: string, force?: boolean) =>
  lfs.as(who, P, 'POST', `locks/${id}/unlock`, { force });

describe('locks', () => {
  test('a lock names its path, its owner and when it began', async () => {
    const path = fresh();
    const answer = await lock('developer', path);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe(TYPE);
    expect(answer.body.lock).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{58}$/),
      path,
      locked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      owner: { name: expect.any(String) },
    });
  });

  test('a path has one lock: of two who ask at once one gets it, and the other is told of it', async () => {
    const path = fresh();
    const answers = await Promise.all([lock('developer', path), lock('maintainer', path)]);
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status);
    expect([won!.status, lost!.status]).toEqual([201, 409]);
    expect(lost!.body).toMatchObject({ message: 'already locked', lock: won!.body.lock });
  });

  test.each<[Who, number]>([
    ['anonymous', 401],
    ['stranger', 404],
    ['guest', 403],
    ['reporter', 403],
    ['read_repository', 403],
    ['developer', 201],
  ])('%s locks a file: %d', async (who, status) => {
    expect((await lock(who, fresh())).status).toBe(status);
  });

  test.each([[undefined], [''], [7], ['a\0b'], ['x'.repeat(4097)], ['\ud800']])(
    '%j is no path of a file',
    async (path) => {
      expect((await lock('developer', path)).status).toBe(422);
    },
  );

  test('locks are listed by path, by id and in pages', async () => {
    const { body } = await as('owner', 'POST', '/projects', { name: 'paged' });
    const at = (method: string, rest: string, json?: unknown) =>
      lfs.as('owner', 'owner/paged', method, rest, json);
    expect((await at('GET', 'locks')).body).toEqual({ locks: [] });
    const made = [];
    for (const path of ['a', 'b', 'c']) made.push((await at('POST', 'locks', { path })).body.lock);
    expect((await at('GET', 'locks?path=b')).body).toEqual({ locks: [made[1]] });
    expect((await at('GET', `locks?id=${made[2].id}`)).body).toEqual({ locks: [made[2]] });
    expect((await at('GET', `locks?path=a&id=${made[2].id}`)).body).toEqual({ locks: [] });
    const first = await at('GET', 'locks?limit=2&refspec=refs/heads/main');
    expect(first.body.locks).toHaveLength(2);
    const second = await at('GET', `locks?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body.next_cursor).toBeUndefined();
    const paths = [...first.body.locks, ...second.body.locks].map(({ path }) => path);
    expect(paths.sort()).toEqual(['a', 'b', 'c']);
    expect((await at('GET', 'locks?cursor=../../x')).status).toBe(422);
    expect((await at('GET', 'locks?limit=-1')).status).toBe(422);
    expect(body.id).toBeGreaterThan(0);
  });

  test('before a push, locks are told apart by whose they are', async () => {
    const [ours, theirs] = [await lock('developer', fresh()), await lock('maintainer', fresh())];
    const { status, body } = await lfs.as('developer', P, 'POST', 'locks/verify', { limit: 100 });
    expect(status).toBe(200);
    expect(body.ours).toContainEqual(ours.body.lock);
    expect(body.theirs).toContainEqual(theirs.body.lock);
    expect(body.theirs).not.toContainEqual(ours.body.lock);
    expect((await lfs.as('reporter', P, 'POST', 'locks/verify', {})).status).toBe(403);
  });

  test('a lock is removed by who has it, and with force by maintainers', async () => {
    const path = fresh();
    const { id } = (await lock('owner', path)).body.lock;
    expect((await unlock('developer', id)).status).toBe(403);
    const forced = await unlock('developer', id, true);
    expect([forced.status, forced.body.message]).toEqual([
      403,
      'You must have maintainer access to force delete a lock',
    ]);
    expect((await unlock('maintainer', id)).status).toBe(403);
    expect((await unlock('maintainer', id, true)).body.lock).toMatchObject({ id, path });
    expect((await unlock('maintainer', id, true)).status).toBe(404);
    const again = (await lock('developer', path)).body.lock;
    expect(again.id).not.toBe(id);
    expect((await unlock('owner', id, true)).status).toBe(404);
    expect((await unlock('developer', again.id)).status).toBe(200);
  });

  test('locks of a deleted user are gone', async () => {
    const user = await someone();
    const json = { user_id: user.id, access_level: 30 };
    await as('owner', 'POST', `/projects/${world.ids['private']}/members`, json);
    const path = fresh();
    expect((await lfs.ask(user.token, P, 'POST', 'locks', { path })).status).toBe(201);
    await root('DELETE', `/users/${user.id}`);
    await settled();
    expect((await lfs.as('owner', P, 'GET', `locks?path=${path}`)).body.locks).toEqual([]);
  });
});
