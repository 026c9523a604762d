/** Who takes part in the conversation about an issue, and who is told of it. */
import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();

const issuesOf = (project: string) => `/projects/${world.ids[project]}/issues`;

/** @returns the path of a new issue */
async function issue(who: Who, json: object, project = 'public'): Promise<string> {
  const { status, body } = await as(who, 'POST', issuesOf(project), { title: 'Talk', ...json });
  expect(status, JSON.stringify(body)).toBe(201);
  return `${issuesOf(project)}/${body.iid}`;
}

const isSubscribed = async (who: Who, path: string) => (await as(who, 'GET', path)).body.subscribed;

const participants = async (who: Who, path: string, query = '') => {
  const { status, body, headers } = await as(who, 'GET', `${path}/participants${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return {
    names: body.map(({ username }: { username: string }) => username),
    total: headers.get('x-total'),
    next: headers.get('x-next-page'),
  };
};

describe('a subscription to an issue', () => {
  test('is had by those who take part, until they say otherwise; by others once they say so', async () => {
    const path = await issue('guest', { description: 'Ask @owner' });
    await as('reporter', 'PUT', path, { assignee_ids: [world.ids['developer']] });
    await as('stranger', 'POST', `${path}/notes`, { body: 'Me too' });
    await settled();
    const asked = ['guest', 'owner', 'developer', 'stranger', 'reporter', 'anonymous'] as const;
    const subscribed = await Promise.all(asked.map((who) => isSubscribed(who, path)));
    expect(subscribed).toEqual([true, true, true, true, false, false]);

    const steps = [
      ['guest', 'subscribe', 304],
      ['guest', 'unsubscribe', 201],
      ['guest', 'unsubscribe', 304],
      ['reporter', 'unsubscribe', 304],
      ['reporter', 'subscribe', 201],
      ['reporter', 'subscribe', 304],
    ] as const;
    for (const [who, what, status] of steps) {
      const answer = await as(who, 'POST', `${path}/${what}`);
      expect([who, what, answer.status]).toEqual([who, what, status]);
      if (status === 201) expect(answer.body).toEqual((await as(who, 'GET', path)).body);
      expect(await isSubscribed(who, path)).toBe(what === 'subscribe');
    }
    // A further note does not subscribe who unsubscribed.
    await as('guest', 'POST', `${path}/notes`, { body: 'Still here' });
    expect(await isSubscribed('guest', path)).toBe(false);
  });

  test('is shown by an issue alone, and by its creation and change, but not in lists', async () => {
    const created = await as('guest', 'POST', issuesOf('public'), { title: 'Mine' });
    const path = `${issuesOf('public')}/${created.body.iid}`;
    expect(created.body.subscribed).toBe(true);
    expect((await as('reporter', 'PUT', path, { weight: 1 })).body.subscribed).toBe(false);
    const [listed] = (await as('guest', 'GET', `${issuesOf('public')}?iids[]=${created.body.iid}`)).body;
    expect(listed).not.toHaveProperty('subscribed');
  });

  test('is not had to an issue that one may not see', async () => {
    const path = await issue('reporter', { confidential: true });
    for (const what of ['subscribe', 'unsubscribe'])
      for (const who of ['guest', 'stranger'] as const)
        expect(await as(who, 'POST', `${path}/${what}`)).toMatchObject({
          status: 404,
          body: { message: '404 Not found' },
        });
  });
});

describe('participants of an issue', () => {
  test('are its author, assignees, who commented, awarded an emoji or is mentioned, each once, in pages', async () => {
    const path = await issue('guest', { description: 'Ask @owner and @guest' });
    await as('reporter', 'PUT', path, { assignee_ids: [world.ids['developer'], world.ids['guest']] });
    await as('stranger', 'POST', `${path}/notes`, { body: 'Me too' });
    await as('maintainer', 'POST', `${path}/award_emoji`, { name: 'thumbsup' });
    await as('reporter', 'POST', `${path}/subscribe`);
    await settled();
    const wanted = (['guest', 'owner', 'developer', 'stranger', 'maintainer'] as const).toSorted(
      (a, b) => world.ids[a]! - world.ids[b]!,
    );
    expect(await participants('anonymous', path)).toEqual({ names: wanted, total: '5', next: '' });
    expect(await participants('guest', path, '?per_page=3')).toEqual({
      names: wanted.slice(0, 3),
      total: '5',
      next: '2',
    });
    expect((await participants('guest', path, '?per_page=3&page=2')).names).toEqual(wanted.slice(3));
  });

  test('by internal notes alone are shown to those who may read these', async () => {
    const path = await issue('owner', {});
    const said = await as('reporter', 'POST', `${path}/notes`, {
      body: 'Between us, @developer',
      confidential: true,
    });
    await as('maintainer', 'POST', `${path}/notes/${said.body.id}/award_emoji`, { name: 'eyes' });
    await settled();
    const seenBy = async (who: Who) => {
      const { names, total } = await participants(who, path);
      expect(total).toBe(String(names.length));
      return names.toSorted();
    };
    const all = ['developer', 'maintainer', 'owner', 'reporter'];
    for (const who of ['owner', 'reporter', 'administrator'] as const) expect(await seenBy(who)).toEqual(all);
    for (const who of ['guest', 'stranger', 'anonymous'] as const)
      expect(await seenBy(who)).toEqual(['owner']);
    // Assignees may read internal notes.
    await as('owner', 'PUT', path, { assignee_ids: [world.ids['guest']] });
    expect(await seenBy('guest')).toEqual(['developer', 'guest', 'maintainer', 'owner', 'reporter']);
    await as('owner', 'PUT', path, { assignee_ids: [] });

    await as('reporter', 'POST', `${path}/notes`, { body: 'In public, @developer' });
    await as('reporter', 'POST', `${path}/notes`, {
      body: 'Between us again, @developer',
      confidential: true,
    });
    await settled();
    expect(await seenBy('stranger')).toEqual(['developer', 'owner', 'reporter']);
    expect(await seenBy('reporter')).toEqual(all);

    const clone = await as('owner', 'POST', `${path}/clone`, {
      to_project_id: world.ids['public'],
      with_notes: true,
    });
    await settled();
    const copy = `${issuesOf('public')}/${clone.body.iid}`;
    expect((await participants('stranger', copy)).names).toContain('reporter');
  });

  test('that an earlier release wrote are shown to those who may read internal notes', async () => {
    const path = await issue('owner', {});
    const { body: note } = await as('stranger', 'POST', `${path}/notes`, { body: 'Long ago' });
    const thread = {
      projectId: world.ids['public']!,
      noteable: { kind: 'issue', id: note.noteable_id },
    } as const;
    const { update } = world.store.threads.joinWrite(thread, world.ids['stranger']!, false);
    await world.store.table.update({ update, remove: ['openly'] });
    expect((await participants('guest', path)).names).toEqual(['owner']);
    expect((await participants('reporter', path)).names.toSorted()).toEqual(['owner', 'stranger']);
    await as('stranger', 'POST', `${path}/notes`, { body: 'Here again' });
    expect((await participants('guest', path)).names.toSorted()).toEqual(['owner', 'stranger']);
  });

  test('of an issue that became confidential are those who still see it', async () => {
    const path = await issue('stranger', {});
    for (const who of ['external', 'guest', 'reporter'] as const)
      await as(who, 'POST', `${path}/notes`, { body: 'Hello' });
    await as('reporter', 'PUT', path, { confidential: true });
    const { names } = await participants('stranger', path);
    expect(names.toSorted()).toEqual(['reporter', 'stranger']);
  });
});
