import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ADMIN_ONLY, absent, BAD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { ask, makeWorld, type Who, type World } from '../../harness/world.ts';

let service: Service;
let world: World;
beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
});
afterAll(() => service.stop());

const as = (who: Who, method: string, path: string, json?: unknown) => ask(world, who, method, path, json);
const root = (method: string, path: string, json?: unknown) => as('administrator', method, path, json);

/** Names that no other test has. */
let names: Record<'one' | 'two' | 'three', string>;
let round = 0;
beforeEach(() => {
  round++;
  names = { one: `One ${round}`, two: `two-${round}`, three: `three-${round}` };
});

async function created(json: object): Promise<{ id: number; topics: string[] }> {
  const { status, body } = await as('owner', 'POST', '/projects', json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
let projects = 0;
const project = (topics: readonly string[], visibility = 'public') =>
  created({ name: `topical ${++projects}`, visibility, topics });
const topicNamed = async (name: string, who: Who = 'administrator') => {
  const { body } = await as(who, 'GET', `/topics?search=${encodeURIComponent(name)}`);
  return body.find((topic: { name: string }) => topic.name === name);
};
const topicsOf = async (id: number) => (await as('owner', 'GET', `/projects/${id}`)).body.topics;
const listed = async (query: string, who: Who = 'owner') =>
  (await as(who, 'GET', `/projects?${query}`)).body.map(({ id }: { id: number }) => id);

describe('permission', () => {
  let id: number;
  beforeAll(async () => {
    id = (await root('POST', '/topics', { name: 'permitted', title: 'Permitted' })).body.id;
    world.ids['topic'] = id;
  });
  scenarios(
    () => world,
    [
      { request: 'GET /topics', as: { anonymous: 200, stranger: 200, read_api: 200, ...BAD } },
      { request: 'GET /topics/{topic}', as: { anonymous: 200, stranger: 200, read_api: 200, ...BAD } },
      {
        request: 'GET /topics/999999',
        as: { anonymous: absent('Topic') },
      },
      { request: 'POST /topics', json: { name: 'permitted' }, as: { ...ADMIN_ONLY, administrator: 400 } },
      { request: 'PUT /topics/{topic}', json: { title: 'T' }, as: { ...ADMIN_ONLY, administrator: 200 } },
      {
        request: 'POST /topics/merge',
        json: { source_topic_id: 999_999, target_topic_id: 1 },
        as: { ...ADMIN_ONLY, administrator: absent('Topic') },
      },
      { request: 'DELETE /topics/{topic}', as: { ...ADMIN_ONLY, administrator: 204 } },
      { request: 'DELETE /topics/{topic}', as: { administrator: absent('Topic') } },
    ],
  );
});

describe('topics of administrators', () => {
  test('have a title, a description and no projects', async () => {
    const { status, body } = await root('POST', '/topics', {
      name: names.one,
      title: 'The first',
      description: 'Words',
    });
    const topic = {
      id: expect.any(Number),
      name: names.one,
      title: 'The first',
      description: 'Words',
      total_projects_count: 0,
      avatar_url: null,
    };
    expect([status, body]).toEqual([201, topic]);
    expect((await as('anonymous', 'GET', `/topics/${body.id}`)).body).toEqual(topic);
    const empty = await as('anonymous', 'GET', `/topics?without_projects=true&search=${names.one}`);
    expect(empty.body).toEqual([topic]);
    await project([names.one]);
    const { body: left } = await as('anonymous', 'GET', `/topics?without_projects=true&search=${names.one}`);
    expect(left).toEqual([]);
  });

  test('are titled by their name if nothing else is said', async () => {
    expect((await root('POST', '/topics', { name: names.one })).body.title).toBe(names.one);
  });

  test.each([
    [{}, { error: 'name is missing' }],
    [{ name: ' ' }, { message: { name: ["can't be blank"], title: ["can't be blank"] } }],
    [{ name: 'a\nb' }, { message: { name: ['has characters that are not allowed'] } }],
    [
      { name: 'x'.repeat(256) },
      { message: { name: ['is too long (maximum is 255 characters)'], title: [expect.any(String)] } },
    ],
    [
      { name: 'n', description: 'x'.repeat(1025) },
      { message: { description: ['is too long (maximum is 1024 characters)'] } },
    ],
  ])('%j: 400', async (json, refusal) => {
    const { status, body } = await root('POST', '/topics', json);
    expect([status, body]).toEqual([400, refusal]);
  });

  test('have names that are unique, ignoring case', async () => {
    const { body: first } = await root('POST', '/topics', { name: names.one });
    const { body: second } = await root('POST', '/topics', { name: names.two });
    const taken = [400, { message: { name: ['has already been taken'] } }];
    const again = await root('POST', '/topics', { name: names.one.toUpperCase() });
    expect([again.status, again.body]).toEqual(taken);
    const renamed = await root('PUT', `/topics/${second.id}`, { name: names.one });
    expect([renamed.status, renamed.body]).toEqual(taken);
    const own = await root('PUT', `/topics/${first.id}`, { name: names.one.toUpperCase() });
    expect([own.status, own.body.name]).toEqual([200, names.one.toUpperCase()]);
  });

  test('have an avatar, which everybody may see', async () => {
    const raw = new FormData();
    raw.set('name', names.one);
    raw.set('avatar', new Blob(['GIF89a\x01\0\x01\0\0\0\0']), 'a.gif');
    const { body } = await service.call('POST', '/topics', { token: world.tokens.administrator!, raw });
    expect(body.avatar_url).toBe(`${service.url}/uploads/-/system/projects/topic/avatar/${body.id}/a.gif`);
    for (const url of [body.avatar_url, `${service.url}/api/v4/topics/${body.id}/avatar`]) {
      const image = await fetch(url);
      expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/gif']);
    }
    const without = await root('PUT', `/topics/${body.id}`, { avatar: '' });
    expect(without.body.avatar_url).toBeNull();
    expect((await fetch(body.avatar_url)).status).toBe(404);
  });
});

describe('topics of projects', () => {
  test('are counted with the request that gives, replaces or takes them', async () => {
    const { id } = await project([names.one, names.two]);
    expect(await topicNamed(names.one, 'anonymous')).toMatchObject({
      title: names.one,
      total_projects_count: 1,
    });
    await as('owner', 'PUT', `/projects/${id}`, { topics: [names.two, names.three] });
    const counts = await Promise.all(Object.values(names).map((name) => topicNamed(name)));
    expect(counts.map((topic) => topic.total_projects_count)).toEqual([0, 1, 1]);
    await as('owner', 'PUT', `/projects/${id}`, { tag_list: '' });
    expect((await topicNamed(names.two)).total_projects_count).toBe(0);
  });

  test('get the spelling of the topic, once', async () => {
    await root('POST', '/topics', { name: names.one });
    const { topics } = await project([names.one.toLowerCase(), names.one.toUpperCase(), names.two]);
    expect(topics).toEqual([names.one, names.two]);
    expect((await topicNamed(names.one)).total_projects_count).toBe(1);
  });

  test('may be a hundred', async () => {
    const topics = Array.from({ length: 100 }, (_, i) => `${names.one} ${String(i).padStart(3, '0')}`);
    const { id } = await project(topics);
    expect((await topicNamed(topics[99]!)).total_projects_count).toBe(1);
    await as('owner', 'PUT', `/projects/${id}`, { topics: [] });
    expect((await topicNamed(topics[99]!)).total_projects_count).toBe(0);
  });

  test('come with a fork, and are counted until a project is removed', async () => {
    const { id } = await project([names.one]);
    const { body: fork } = await as('developer', 'POST', `/projects/${id}/fork`);
    expect([fork.topics, (await topicNamed(names.one)).total_projects_count]).toEqual([[names.one], 2]);
    await as('owner', 'DELETE', `/projects/${id}`);
    await settled();
    expect((await topicNamed(names.one)).total_projects_count).toBe(1);
  });

  test('given at once by many are one topic, whose count is right', async () => {
    await Promise.all(Array.from({ length: 8 }, () => project([names.one, names.two])));
    await settled();
    for (const name of [names.one, names.two])
      expect(await topicNamed(name)).toMatchObject({ total_projects_count: 8 });
  });

  test('that only private projects have are for administrators', async () => {
    const { id } = await project([names.one], 'private');
    const hidden = await topicNamed(names.one);
    expect(hidden.total_projects_count).toBe(1);
    expect(await topicNamed(names.one, 'owner')).toBeUndefined();
    expect((await as('owner', 'GET', `/topics/${hidden.id}`)).status).toBe(404);
    // Nor does the spelling of another project's topic tell of it.
    expect((await project([names.one.toUpperCase()], 'private')).topics).toEqual([names.one.toUpperCase()]);
    await as('owner', 'PUT', `/projects/${id}`, { visibility: 'public' });
    expect(await topicNamed(names.one, 'anonymous')).toMatchObject({ total_projects_count: 1 });
    expect((await topicNamed(names.one)).total_projects_count).toBe(2);
    await as('owner', 'PUT', `/projects/${id}`, { visibility: 'private' });
    expect(await topicNamed(names.one, 'anonymous')).toBeUndefined();
  });
});

describe('lists', () => {
  test('of topics begin with those of most projects, in pages', async () => {
    await project([names.one, names.two, names.three]);
    await project([names.two, names.three]);
    await project([names.three]);
    const search = `search=${round}&per_page=100`;
    const all = (await as('anonymous', 'GET', `/topics?${search}`)).body.map(
      ({ name }: { name: string }) => name,
    );
    const wanted = [names.three, names.two, names.one];
    expect(all.filter((name: string) => wanted.includes(name))).toEqual(wanted);
    const { headers, body } = await as('anonymous', 'GET', '/topics?per_page=2&page=2');
    expect([body.length, headers.get('x-page'), Number(headers.get('x-total')) > 2]).toEqual([2, '2', true]);
  });

  test('of projects by topic, by topics and by the id of a topic', async () => {
    const both = await project([names.one, names.two]);
    const first = await project([names.one]);
    const hidden = await project([names.one], 'private');
    const { id } = await topicNamed(names.one);
    const by = (query: string, who?: Who) => listed(`${query}&order_by=id&sort=asc`, who);
    const one = encodeURIComponent(names.one);
    expect(await by(`topic=${one}`)).toEqual([both.id, first.id, hidden.id]);
    expect(await by(`topic=${one}`, 'anonymous')).toEqual([both.id, first.id]);
    expect(await by(`topic=${one},${names.two}`)).toEqual([both.id]);
    expect(await by(`topic_id=${id}`, 'stranger')).toEqual([both.id, first.id]);
    expect(await by(`topic_id=${id}&topic=${names.two}`)).toEqual([both.id]);
    expect(await by(`topic_id=${id}&visibility=private&owned=true`)).toEqual([hidden.id]);
    expect(await listed(`topic=${one}&order_by=name&sort=desc`)).toEqual([hidden.id, first.id, both.id]);
    for (const query of ['topic=nobody-has-this', 'topic_id=999999', `topic=${one}&topic_id=999999`])
      expect(await listed(query)).toEqual([]);
  });
});

describe('a change of a topic reaches its projects', () => {
  test('its name', async () => {
    const { id } = await project([names.one, 'x']);
    const topic = await topicNamed(names.one);
    await root('PUT', `/topics/${topic.id}`, { name: names.two, title: 'Two' });
    await settled();
    expect(await topicsOf(id)).toEqual([names.two, 'x']);
    expect(await listed(`topic=${names.two}`)).toEqual([id]);
    expect((await as('anonymous', 'GET', `/topics/${topic.id}`)).body).toMatchObject({
      name: names.two,
      total_projects_count: 1,
    });
    // The former name is free, and another topic when it is given again.
    await as('owner', 'PUT', `/projects/${id}`, { topics: [names.one] });
    expect((await topicNamed(names.one)).id).not.toBe(topic.id);
  });

  test('its end', async () => {
    const { id } = await project([names.one, 'x']);
    const topic = await topicNamed(names.one);
    expect((await root('DELETE', `/topics/${topic.id}`)).status).toBe(204);
    await settled();
    expect(await topicsOf(id)).toEqual(['x']);
    expect(await topicNamed(names.one)).toBeUndefined();
    await as('owner', 'PUT', `/projects/${id}`, { topics: [names.one] });
    expect((await topicNamed(names.one)).id).not.toBe(topic.id);
  });

  test('its merge into another one', async () => {
    const first = await project([names.one]);
    const both = await project(['x', names.one, names.two]);
    const [source, target] = [await topicNamed(names.one), await topicNamed(names.two)];
    const body = { source_topic_id: source.id, target_topic_id: target.id };
    const merged = await root('POST', '/topics/merge', body);
    expect([merged.status, merged.body.name]).toEqual([201, names.two]);
    await settled();
    expect(await topicsOf(first.id)).toEqual([names.two]);
    expect(await topicsOf(both.id)).toEqual(['x', names.two]);
    expect((await topicNamed(names.two)).total_projects_count).toBe(2);
    expect((await as('anonymous', 'GET', `/topics/${source.id}`)).status).toBe(404);
    expect((await root('POST', '/topics/merge', body)).status).toBe(404);
    const same = await root('POST', '/topics/merge', { ...body, source_topic_id: target.id });
    expect([same.status, same.body.message]).toEqual([
      400,
      'The source topic and the target topic are identical.',
    ]);
  });

  test('two merges in a row', async () => {
    const { id } = await project([names.one]);
    const [one, two, three] = await Promise.all(
      Object.values(names).map(async (name) => {
        await project([name]);
        return (await topicNamed(name)).id;
      }),
    );
    await root('POST', '/topics/merge', { source_topic_id: one, target_topic_id: two });
    await root('POST', '/topics/merge', { source_topic_id: two, target_topic_id: three });
    await settled();
    expect(await topicsOf(id)).toEqual([names.three]);
    expect((await topicNamed(names.three)).total_projects_count).toBe(4);
  });
});
