import { describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { service, world, as } = ownWorld();

const project = () => `/projects/${world.ids['public']}`;

async function issue(json: object = {}, who: Who = 'owner') {
  const { status, body } = await as(who, 'POST', `${project()}/issues`, { title: 'Gate', ...json });
  expect(status, JSON.stringify(body)).toBe(201);
  return { path: `${project()}/issues/${body.iid}`, ...(body as { id: number; iid: number }) };
}
async function made(what: 'labels' | 'milestones', json: object) {
  const { status, body } = await as('owner', 'POST', `${project()}/${what}`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body as { id: number; iid: number };
}
async function changed(path: string, json: object) {
  const { status, body } = await as('owner', 'PUT', path, json);
  expect(status, JSON.stringify(body)).toBe(200);
}
// biome-ignore lint/suspicious/noExplicitAny: answers of the API
const events = async (path: string, kind: string, query = ''): Promise<any[]> => {
  const { status, body } = await as('owner', 'GET', `${path}/resource_${kind}_events${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const told = async (path: string) =>
  (await as('owner', 'GET', `${path}/notes?sort=asc&activity_filter=only_activity`)).body.map(
    ({ body }: { body: string }) => body,
  );

/** Texts of the changes that answers tell as events, as they are stored. */
async function noted(issueId: number) {
  const on = { kind: 'issue', id: issueId } as const;
  const { items } = await world.store.notes.list(world.ids['public']!, on, { page: 1, perPage: 100 });
  return items.filter(({ change }) => change !== undefined).map(({ body }) => body);
}

describe('a change of an issue is an event, and in no list of notes', () => {
  test('of each label that comes or goes, also with the issue; null when the label is deleted', async () => {
    const [bug, late, gone] = await Promise.all(
      ['bug', 'late', 'gone'].map((name) => made('labels', { name, color: '#123456' })),
    );
    const { path, id } = await issue({ labels: 'bug,gone' });
    await changed(path, { add_labels: 'late', remove_labels: 'bug,gone' });
    expect(await told(path)).toEqual([]);
    expect((await as('owner', 'GET', `${path}/notes`)).headers.get('x-total')).toBe('0');
    expect((await as('owner', 'GET', `${path}/discussions`)).body).toEqual([]);
    expect((await as('owner', 'DELETE', `${project()}/labels/${gone!.id}`)).status).toBe(204);
    const all = await events(path, 'label');
    expect((await as('owner', 'GET', `${path}/notes/${all[0].id}`)).status).toBe(404);
    expect(await noted(id)).toEqual([
      `added ~${bug!.id} ~${gone!.id} labels`,
      `added ~${late!.id} label and removed ~${bug!.id} ~${gone!.id} labels`,
    ]);
    const shown = all.map(({ action, label }) => `${action} ${label?.name ?? null}`);
    expect(shown).toEqual(['add bug', 'add null', 'add late', 'remove bug', 'remove null']);
    expect(all[0]).toEqual({
      ...{ id: expect.any(Number), created_at: expect.any(String), action: 'add' },
      user: expect.objectContaining({ username: 'owner' }),
      ...{ resource_type: 'Issue', resource_id: id },
      label: {
        ...{ id: bug!.id, name: 'bug', color: '#123456', text_color: '#FFFFFF' },
        ...{ description: null, description_html: null },
      },
    });
    for (const event of all)
      expect((await as('owner', 'GET', `${path}/resource_label_events/${event.id}`)).body).toEqual(event);
    expect(new Set(all.map((event) => event.id)).size).toBe(5);
    const page = await as('owner', 'GET', `${path}/resource_label_events?per_page=2&page=2`);
    expect(page.body).toEqual(all.slice(2, 4));
    expect([page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual(['5', '3']);
  });

  test('of its milestone, its weight and its state', async () => {
    const [first, second] = await Promise.all(['May', 'June'].map((title) => made('milestones', { title })));
    const { path, id } = await issue({ milestone_id: first!.id, weight: 2 });
    await changed(path, { milestone_id: second!.id, weight: 5 });
    await changed(path, { milestone_id: 0, weight: null, state_event: 'close' });
    await changed(path, { state_event: 'reopen' });
    await changed(path, { title: 'Gates', state_event: 'reopen' });
    expect(await told(path)).toEqual(['changed title from **Gate** to **Gate{+s+}**']);
    expect(await noted(id)).toEqual([
      ...[`changed milestone to %${first!.iid}`, 'changed weight to **2**'],
      ...[`changed milestone to %${second!.iid}`, 'changed weight to **5**'],
      ...[`removed milestone %${second!.iid}`, 'removed the weight', 'closed', 'reopened'],
    ]);
    const ofMilestone = await events(path, 'milestone');
    expect(ofMilestone.map(({ action, milestone, state }) => [action, milestone.title, state])).toEqual([
      ['add', 'May', 'opened'],
      ['add', 'June', 'opened'],
      ['remove', 'June', 'closed'],
    ]);
    expectSchema(
      'milestones',
      ofMilestone.map(({ milestone }) => milestone),
    );
    const ofWeight = await events(path, 'weight');
    expect(ofWeight.map(({ weight, issue_id }) => [weight, issue_id])).toEqual([
      [2, id],
      [5, id],
      [null, id],
    ]);
    const ofState = await events(path, 'state');
    expect(ofState.map(({ state, resource_type }) => [state, resource_type])).toEqual([
      ['closed', 'Issue'],
      ['reopened', 'Issue'],
    ]);
    // An event is one of its own kind, and of its own issue.
    const { id: eventId } = ofState[0];
    expect((await as('owner', 'GET', `${path}/resource_state_events/${eventId}`)).status).toBe(200);
    const elsewhere = (await issue()).path;
    for (const wrong of [
      `${path}/resource_weight_events/${eventId}`,
      `${elsewhere}/resource_state_events/${eventId}`,
      `${path}/resource_state_events/${ofState[1].id + 1}`,
      `${path}/resource_state_events/1`,
    ])
      expect((await as('owner', 'GET', wrong)).body, wrong).toEqual({ message: '404 Not found' });
    await as('owner', 'DELETE', `${project()}/milestones/${first!.id}`);
    expect((await events(path, 'milestone'))[0].milestone).toBeNull();
  });

  test('in one transaction, also of a hundred labels and everything else at once', async () => {
    const { path, id } = await issue({ labels: 'bug', description: 'old' });
    const { id: milestone_id } = await made('milestones', { title: 'All' });
    const labels = Array.from({ length: 100 }, (_, n) => `many ${n}`);
    await changed(path, {
      ...{
        title: 'All new',
        description: 'new',
        assignee_ids: [],
        due_date: '2030-01-01',
        labels,
        milestone_id,
      },
      ...{ confidential: true, discussion_locked: true, issue_type: 'incident', severity: 'HIGH', weight: 1 },
      ...{ health_status: 'at_risk', state_event: 'close' },
    });
    const page = await as('owner', 'GET', `${path}/resource_label_events?per_page=100`);
    expect([page.body.length, page.headers.get('x-total')]).toEqual([100, '102']);
    expect([await told(path), await noted(id)]).toMatchObject([{ length: 8 }, { length: 5 }]);
    await settled();
    const listed = await as('owner', 'GET', `${project()}/issues?labels=${encodeURIComponent('many 99')}`);
    expect(listed.body).toHaveLength(1);
  });

  test('that is seen by whoever sees the issue', async () => {
    const hidden = await issue({ confidential: true, weight: 1 });
    for (const kind of ['label', 'state', 'milestone', 'weight']) {
      const path = `${hidden.path}/resource_${kind}_events`;
      expect((await as('guest', 'GET', path)).status).toBe(404);
      expect((await as('reporter', 'GET', path)).status).toBe(200);
      expect((await service.call('GET', path)).status).toBe(401);
    }
    const { body } = await as('owner', 'GET', `${hidden.path}/resource_weight_events`);
    expect((await as('guest', 'GET', `${hidden.path}/resource_weight_events/${body[0].id}`)).status).toBe(
      404,
    );
  });
});
