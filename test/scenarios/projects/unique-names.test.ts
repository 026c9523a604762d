/** Names of projects are unique in their namespace, names of subgroups in their parent; both are free once nobody has them. */
import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';

const { as } = ownWorld();

const TAKEN = ['has already been taken'];
let count = 0;
const fresh = (text: string) => `${text}-${++count}`;
const project = (name: string, more: object = {}) =>
  as('owner', 'POST', '/projects', { name, path: fresh('path'), ...more });
const group = (name: string, parent_id?: number) =>
  as('owner', 'POST', '/groups', { name, path: fresh('path'), parent_id });

describe('names of projects', () => {
  test('are unique in a namespace, with their case, and told apart from paths', async () => {
    const name = fresh('Thing');
    expect((await project(name)).status).toBe(201);
    const again = await project(name);
    expect([again.status, again.body]).toEqual([400, { message: { name: TAKEN } }]);
    const both = await project(name, { path: `path-${count - 1}` });
    expect([both.status, both.body]).toEqual([400, { message: { name: TAKEN, path: TAKEN } }]);
    expect((await project(name.toUpperCase())).status).toBe(201);
    expect((await as('stranger', 'POST', '/projects', { name })).status).toBe(201);
  });

  test('are free after a renaming, a transfer and a deletion', async () => {
    const [one, two] = [fresh('One'), fresh('Two')];
    const { id } = (await project(one)).body;
    await project(two);
    const refused = await as('owner', 'PUT', `/projects/${id}`, { name: two });
    expect([refused.status, refused.body]).toEqual([400, { message: { name: TAKEN } }]);
    const same = await as('owner', 'PUT', `/projects/${id}`, { name: one, description: 'as it was' });
    expect(same.status).toBe(200);
    const renamed = await as('owner', 'PUT', `/projects/${id}`, { name: `${one} again` });
    expect(renamed.body.name).toBe(`${one} again`);
    const next = await project(one);
    expect(next.status).toBe(201);

    const target = (await group(fresh('Target'))).body.id;
    const there = await project(one, { namespace_id: target });
    expect(there.status).toBe(201);
    const move = () => as('owner', 'PUT', `/projects/${next.body.id}/transfer`, { namespace: target });
    expect(await move()).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('same name') },
    });
    await as('owner', 'PUT', `/projects/${there.body.id}`, { name: 'elsewhere' });
    expect((await move()).status).toBe(200);
    expect((await project(one)).status).toBe(201);

    await as('owner', 'DELETE', `/projects/${id}`);
    expect((await project(`${one} again`)).status).toBe(201);
  });

  test('given to eight projects at once are given to one', async () => {
    const name = fresh('Race');
    const answers = await Promise.all(Array.from({ length: 8 }, () => project(name)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(400)]);
  });
});

describe('names of subgroups', () => {
  test('are unique in their parent, those of top-level groups need not be', async () => {
    const top = fresh('Top');
    const [a, b] = [(await group(top)).body.id, (await group(top)).body.id];
    const inner = await group('Inner', a);
    expect(inner.status).toBe(201);
    const again = await group('Inner', a);
    expect([again.status, again.body.message]).toEqual([
      400,
      'Failed to save group {:name=>["has already been taken"]}',
    ]);
    const other = (await group('Inner', b)).body.id;
    expect((await project('Inner', { namespace_id: a })).status).toBe(201);
    const moved = await as('owner', 'POST', `/groups/${other}/transfer`, { group_id: a });
    expect([moved.status, moved.body.message]).toEqual([
      400,
      'Transfer failed: Validation failed: Name has already been taken',
    ]);
    const second = (await group('Second', a)).body.id;
    const renamed = await as('owner', 'PUT', `/groups/${second}`, { name: 'Inner' });
    expect([renamed.status, renamed.body]).toEqual([400, { message: { name: TAKEN } }]);
    expect((await as('owner', 'PUT', `/groups/${inner.body.id}`, { name: 'Outer' })).status).toBe(200);
    expect((await as('owner', 'PUT', `/groups/${second}`, { name: 'Inner' })).status).toBe(200);
    expect((await as('owner', 'DELETE', `/groups/${second}`)).status).toBe(202);
    expect((await group('Inner', a)).status).toBe(201);
  });
});
