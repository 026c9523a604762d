import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

const { as, service } = ownWorld();

/** A project that collects errors, and its key. */
async function collecting(settings: object = { active: true, integrated: true }) {
  const name = `collecting ${Math.random().toString(36).slice(2)}`;
  const { id } = (await as('owner', 'POST', '/projects', { name })).body;
  const at = `/projects/${id}/error_tracking`;
  await as('owner', 'PUT', `${at}/settings`, settings);
  const { public_key: key } = (await as('owner', 'POST', `${at}/client_keys`)).body;
  return { id: id as number, at, key: key as string };
}
type Place = Awaited<ReturnType<typeof collecting>>;

const collectorOf = (id: number | string, kind = 'envelope') =>
  `/error_tracking/collector/api/${id}/${kind}/`;
const send = (
  { id, key }: Pick<Place, 'id' | 'key'>,
  raw: BodyInit,
  headers: Record<string, string> = {},
  kind = 'envelope',
): Promise<Answer> => service.call('POST', `${collectorOf(id, kind)}?sentry_key=${key}`, { raw, headers });

const exception = (type: string, more: object = {}) => ({
  event_id: '0123456789abcdef0123456789abcdef',
  timestamp: 1_790_000_000.5,
  platform: 'node',
  level: 'error',
  environment: 'production',
  exception: {
    values: [
      {
        type,
        value: `${type} happened`,
        stacktrace: {
          frames: [
            { function: 'outer', filename: 'a.js' },
            { function: 'inner', module: 'b' },
          ],
        },
      },
    ],
  },
  ...more,
});
const envelope = (...items: (readonly [object, string])[]) =>
  [JSON.stringify({ event_id: '0123456789abcdef0123456789abcdef' })]
    .concat(items.flatMap(([header, payload]) => [JSON.stringify(header), payload]))
    .join('\n');
const enveloped = (event: object) => envelope([{ type: 'event' }, JSON.stringify(event)]);

const errorsOf = async ({ at }: Place, query = '') => {
  await settled();
  return (await as('owner', 'GET', `${at}/errors${query}`)).body;
};

let place: Place;
beforeAll(async () => {
  place = await collecting();
});

describe('an error that a program sends', () => {
  test('is noted with what the program tells of it', async () => {
    const at = await collecting();
    const event = exception('TypeError');
    const answer = await send(at, JSON.stringify(event), {}, 'store');
    expect(answer).toMatchObject({ status: 200, body: { id: event.event_id } });
    const [error, ...others] = await errorsOf(at);
    expect(others).toEqual([]);
    expect(error).toEqual({
      id: error.id,
      project_id: at.id,
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      name: 'TypeError',
      description: 'TypeError happened',
      actor: 'inner(b)',
      platform: 'node',
      level: 'error',
      status: 'unresolved',
      count: 1,
      first_seen_at: '2026-09-21T14:13:20.500Z',
      last_seen_at: '2026-09-21T14:13:20.500Z',
    });
    expect((await as('owner', 'GET', `${at.at}/errors/${error.id}`)).body).toEqual(error);
    const events = (await as('owner', 'GET', `${at.at}/errors/${error.id}/events`)).body;
    expect(events).toEqual([
      {
        id: events[0].id,
        event_id: event.event_id,
        description: 'TypeError happened',
        level: 'error',
        environment: 'production',
        occurred_at: '2026-09-21T14:13:20.500Z',
        payload: event,
      },
    ]);
  });

  test('of the same name and place is counted; of another place it is another', async () => {
    const at = await collecting();
    const later = { timestamp: '2026-09-22T00:00:00Z' };
    for (const more of [{}, later, { timestamp: 1_790_000_000 }])
      await send(at, enveloped(exception('RangeError', more)));
    await send(at, enveloped(exception('RangeError', { transaction: 'GET /users' })));
    const all = await errorsOf(at);
    expect(all).toMatchObject([
      { name: 'RangeError', actor: 'GET /users', count: 1 },
      { name: 'RangeError', actor: 'inner(b)', count: 3, last_seen_at: '2026-09-22T00:00:00.000Z' },
    ]);
    expect((await as('owner', 'GET', `${at.at}/errors?sort=asc`)).body[0].count).toBe(3);
    expect((await as('owner', 'GET', `${at.at}/errors?search=users`)).body).toHaveLength(1);
    const events = `${at.at}/errors/${all[1].id}/events`;
    const first = await as('owner', 'GET', `${events}?per_page=2`);
    expect(first.body.map((each: { occurred_at: string }) => each.occurred_at)).toEqual([
      '2026-09-21T14:13:20.000Z',
      '2026-09-22T00:00:00.000Z',
    ]);
    const [, next] = /<([^>]+)>; rel="next"/.exec(first.headers.get('link')!)!;
    const rest = await as('owner', 'GET', next!.slice(next!.indexOf('/api/')));
    expect(rest.body).toMatchObject([{ occurred_at: '2026-09-21T14:13:20.500Z' }]);
    expect(rest.headers.get('link')).toBeNull();
  });

  test('goes by the fingerprint that the program gives', async () => {
    const at = await collecting();
    await send(at, enveloped(exception('A', { fingerprint: ['db'] })));
    await send(at, enveloped(exception('B', { fingerprint: ['db'] })));
    await send(at, enveloped(exception('B', { fingerprint: ['{{ default }}', 'x'] })));
    await send(at, enveloped(exception('B')));
    expect(await errorsOf(at, '?sort=asc')).toMatchObject([
      { name: 'A', count: 2 },
      { name: 'B', count: 1 },
      { name: 'B', count: 1 },
    ]);
  });

  test('is unresolved again when it happens again, unless it is ignored', async () => {
    const at = await collecting();
    await send(at, enveloped(exception('Again')));
    const [{ id }] = await errorsOf(at);
    const path = `${at.at}/errors/${id}`;
    const resolved = await as('owner', 'PUT', path, { status: 'resolved' });
    expect(resolved).toMatchObject({ status: 200, body: { status: 'resolved', count: 1 } });
    expect(await errorsOf(at, '?status=unresolved')).toEqual([]);
    await send(at, enveloped(exception('Again')));
    expect(await errorsOf(at, '?status=unresolved')).toMatchObject([{ id, count: 2 }]);
    await as('owner', 'PUT', path, { status: 'ignored' });
    await send(at, enveloped(exception('Again')));
    expect(await errorsOf(at)).toMatchObject([{ id, count: 3, status: 'ignored' }]);
    const wrong = await as('owner', 'PUT', path, { status: 'closed' });
    expect(wrong).toMatchObject({ status: 400, body: { error: 'status does not have a valid value' } });
    const absent = { status: 404, body: { message: '404 Not found' } };
    expect(await as('owner', 'PUT', `${at.at}/errors/99999999`, { status: 'ignored' })).toMatchObject(absent);
    expect(await as('owner', 'GET', `${at.at}/errors/99999999`)).toMatchObject(absent);
  });

  test('that is noted twice counts once', async () => {
    const at = await collecting();
    await send(at, enveloped(exception('Twice')));
    const [{ id, fingerprint }] = await errorsOf(at);
    const { deps } = await import('../../../functions/deps.ts');
    const { trackedErrors } = deps().store;
    const sent = {
      ...{ eventId: '0', fingerprint, name: 'Twice', description: null, actor: null, platform: null },
      ...{ level: null, environment: null, occurredAt: '2026-09-22T00:00:00.000Z', payload: '{}' },
    };
    expect(await trackedErrors.note(at.id, 'one', sent, new Date())).toBe('noted');
    expect(await trackedErrors.note(at.id, 'one', sent, new Date())).toBe('noted before');
    expect(await trackedErrors.get(at.id, id)).toMatchObject({ count: 2 });
  });

  test('that is a message alone is named by it', async () => {
    const at = await collecting();
    await send(at, enveloped({ message: 'Disk full\nsda1', level: 'warning' }));
    await send(at, enveloped({ logentry: { formatted: 'Hello' } }));
    expect(await errorsOf(at, '?sort=asc')).toMatchObject([
      { name: 'Disk full', description: 'Disk full\nsda1', level: 'warning', actor: null },
      { name: 'Hello', description: 'Hello' },
    ]);
  });

  test('of a megabyte is kept without its largest parts', async () => {
    const at = await collecting();
    const frames = Array.from({ length: 5_000 }, (_, i) => ({
      function: `f${i}`,
      vars: { a: 'x'.repeat(100) },
    }));
    const event = exception('Huge', { extra: { text: 'y'.repeat(200_000) }, release: '1.0' });
    event.exception.values[0]!.stacktrace.frames = frames as never;
    expect((await send(at, enveloped(event))).status).toBe(200);
    const [{ id, actor }] = await errorsOf(at);
    expect(actor).toBe('f4999');
    const [{ payload }] = (await as('owner', 'GET', `${at.at}/errors/${id}/events`)).body;
    expect(payload).toMatchObject({ release: '1.0', level: 'error' });
    expect(payload.extra).toBeUndefined();
    expect(payload.exception.values[0].stacktrace.frames).toHaveLength(30);
    expect(payload.exception.values[0].stacktrace.frames.at(-1)).toEqual({ function: 'f4999' });
  });
});

describe('an envelope', () => {
  test('may hold other things than events, with lengths and without', async () => {
    const at = await collecting();
    const body = JSON.stringify(exception('Among'));
    const raw = envelope(
      [{ type: 'session' }, '{"sid":"1"}'],
      [{ type: 'attachment', length: 11 }, 'two\nlines {'],
      [{ type: 'event', length: Buffer.byteLength(body) }, body],
      [{ type: 'client_report' }, '{}\n'],
    );
    expect((await send(at, raw)).status).toBe(200);
    expect(await errorsOf(at)).toMatchObject([{ name: 'Among' }]);
    const none = await send(at, envelope([{ type: 'sessions' }, '{}']));
    expect(none).toMatchObject({ status: 200, body: { id: null } });
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('may be compressed by %s, once', async (encoding, compress) => {
    const at = await collecting();
    const raw = compress(enveloped(exception('Compressed')));
    const headers = { 'Content-Encoding': encoding };
    expect((await send(at, raw as BodyInit, headers)).status).toBe(200);
    expect(await errorsOf(at)).toMatchObject([{ name: 'Compressed' }]);
    expect((await send(at, compress(raw) as BodyInit, headers)).status).toBe(400);
  });

  const good = enveloped(exception('Cut'));
  const cut = envelope([{ type: 'event', length: 5_000 }, '{"message":"x"}']);
  test.each([
    ['is empty', ''],
    ['is no JSON', 'hello'],
    ['is a list', '[]\n{"type":"event"}\n{"message":"x"}'],
    ['has a thing without a type', envelope([{}, '{}'])],
    ['has a thing that is cut', cut],
    ['has a length that does not end a line', envelope([{ type: 'event', length: 2 }, '{}{}'])],
    ['has an event that is cut', good.slice(0, -10)],
    ['has an event of nothing', enveloped({})],
    ['has an event that is a list', envelope([{ type: 'event' }, '[{"message":"x"}]'])],
    [
      'has an event that is nested deeply',
      envelope([{ type: 'event' }, `{"message":${'['.repeat(100)}${']'.repeat(100)}}`]),
    ],
  ])('that %s is refused', async (_what, raw) => {
    const answer = await send(place, raw);
    expect(answer).toMatchObject({
      status: 400,
      body: { message: '400 Bad request - Failed to parse sentry request' },
    });
  });

  test.each([
    ['gzip that is cut', gzipSync(good).subarray(0, 60), 'gzip'],
    ['text that is called gzip', Buffer.from(good), 'gzip'],
    ['gzip, called gzip twice', gzipSync(gzipSync(good)), 'gzip, gzip'],
    ['an unknown encoding', Buffer.from(good), 'constructor'],
  ])('of %s is refused', async (_what, raw, encoding) => {
    expect((await send(place, raw as BodyInit, { 'Content-Encoding': encoding })).status).toBe(400);
  });

  test('that is too large, compressed or not, is refused', async () => {
    const header = '{}\n{"type":"attachment","length":50000000}\n';
    const large = Buffer.concat([Buffer.from(header), Buffer.alloc(50_000_000)]);
    expect((await send(place, large as BodyInit)).status).toBe(413);
    const headers = { 'Content-Encoding': 'gzip' };
    expect((await send(place, gzipSync(large) as BodyInit, headers)).status).toBe(413);
    const event = enveloped(exception('Large', { extra: 'x'.repeat(1_100_000) }));
    expect((await send(place, gzipSync(event) as BodyInit, headers)).status).toBe(413);
    const many = envelope(
      ...Array.from({ length: 11 }, () => [{ type: 'event' }, '{"message":"x"}'] as const),
    );
    expect((await send(place, many)).status).toBe(413);
  });

  test.each([
    [{ message: 5 }, { name: '5' }],
    [
      { message: 'a', level: ['x'], platform: null, environment: {}, timestamp: 'never' },
      { name: 'a', level: null },
    ],
    [{ exception: [{ type: 'List' }] }, { name: 'List', description: null }],
    [{ exception: { values: [null, { value: 'no type' }] } }, { name: 'no type' }],
    [{ exception: { type: 7, value: { a: 1 }, stacktrace: { frames: [null] } } }, { name: '7' }],
    [
      { message: 'x', fingerprint: [null, {}, 3], timestamp: 99e15, transaction: [] },
      { name: 'x', actor: null },
    ],
  ])('with the event %j is noted', async (event, shown) => {
    const at = await collecting();
    expect((await send(at, enveloped(event))).status).toBe(200);
    expect(await errorsOf(at)).toMatchObject([shown]);
  });
});

describe('a program', () => {
  const raw = enveloped(exception('Who'));
  const auth = (key: string) => `Sentry sentry_version=7, sentry_client=raven/1.0, sentry_key=${key}`;

  test('shows its key in a header or in the address', async () => {
    for (const name of ['X-Sentry-Auth', 'Authorization']) {
      const headers = { [name]: auth(place.key) };
      const answer = await service.call('POST', collectorOf(place.id), { raw, headers });
      expect(answer.status, name).toBe(200);
    }
  });

  test('without a key of the project is refused, whether there is such a project or not', async () => {
    const other = await collecting();
    const refused = { status: 401, body: { message: '401 Unauthorized' } };
    for (const id of [place.id, 99_999_999, 'x', '0'])
      for (const key of [other.key, 'glet_0', '', auth('x')])
        expect(await send({ id: id as number, key: encodeURIComponent(key) }, raw)).toMatchObject(refused);
    expect(await service.call('POST', collectorOf(place.id), { raw })).toMatchObject(refused);
    await as(
      'owner',
      'DELETE',
      `${other.at}/client_keys/${(await as('owner', 'GET', `${other.at}/client_keys`)).body[0].id}`,
    );
    expect(await send(other, raw)).toMatchObject(refused);
  });

  test('is told that a project collects no errors here', async () => {
    for (const settings of [
      { active: false, integrated: true },
      { active: true, integrated: false },
    ])
      expect((await send(await collecting(settings), raw)).status).toBe(404);
  });

  test('cannot read what it sent', async () => {
    expect((await service.call('GET', `${place.at}/errors?sentry_key=${place.key}`)).status).toBe(401);
  });
});
