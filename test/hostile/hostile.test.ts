import { writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOSTILE, type Hostile, ORDINARY } from './repositories.ts';
import { PROPOSAL, READS, READS_OF_BLOB, WRITES } from './routes.ts';
import { type Answered, HostileService } from './service.ts';

/**
 * Repositories of a few kilobytes that are expensive to read. Statuses, sizes and memory are asserted. Pauses of the event loop
 * are printed, with those turns that took more than their bound of processor time, and fail only by gross excess: on a machine
 * that others use, the collection of garbage alone takes several times the bound.
 */
const BOUND_MS = 50;
const MAX_BUSY_MS = 1000;
const MAX_PEAK_BYTES = 1000 * 2 ** 20;
/** With a body of 64 MiB, which is there as it came, as text, and as what it says. */
const MAX_BODY_PEAK_BYTES = 1.25 * 2 ** 30;
const MAX_JSON_BYTES = 6 * 2 ** 20;
/** A file of 32 MiB in Base64, the largest that is returned as JSON. */
const MAX_FILE_JSON_BYTES = 44 * 2 ** 20;

let service: HostileService;
const table: string[] = [];
const above: string[] = [];
beforeAll(async () => {
  service = await HostileService.start();
});
afterAll(async () => {
  console.log(table.join('\n'));
  console.log(
    `${above.length} of ${table.length} calls held the event loop for more than ${BOUND_MS} ms:\n${above.join('\n')}`,
  );
  await service?.stop();
});

function noted(
  name: string,
  what: string,
  { status, bytes, ms, pauseMs, busyMs, peakBytes }: Answered,
): void {
  const pauses = [`pause ${Math.round(pauseMs)} ms`, `busy ${Math.round(busyMs)} ms`];
  const figures = [status, `${Math.round(ms)} ms`, ...pauses];
  const sizes = [`${(bytes / 1024).toFixed(0)} KiB`, `peak ${Math.round(peakBytes / 2 ** 20)} MiB`];
  const row = [name.padEnd(20), what.padEnd(44), ...figures, ...sizes].join('  ');
  if (process.env['HOSTILE_ROWS']) writeSync(2, `${row}\n`);
  table.push(row);
}

function expectBounded(what: string, answered: Answered, maxPeak = MAX_PEAK_BYTES): void {
  expect.soft(answered.status, what).toBeLessThan(500);
  expect.soft(answered.busyMs, `a turn of ${what}`).toBeLessThan(MAX_BUSY_MS);
  if (answered.busyMs > BOUND_MS) above.push(`${what}: ${Math.round(answered.busyMs)} ms`);
  expect.soft(answered.peakBytes, `memory of ${what}`).toBeLessThan(maxPeak);
}

describe.each([ORDINARY, ...HOSTILE])('$name', ({ make }) => {
  let hostile: Hostile;

  test('is pushed, or refused with a reason', async () => {
    hostile = make();
    const made = await service.call('POST', '/projects', { name: hostile.name, visibility: 'public' });
    expect(made.status).toBe(201);
    const pushed = await service.push(hostile.name, hostile.refs, hostile.pack);
    noted(hostile.name, `push of ${hostile.pack.length} bytes`, pushed);
    expectBounded(`push of ${hostile.name}`, pushed);
    if (hostile.refused) expect(pushed.start).toMatch(hostile.refused);
    else expect(pushed.start).toMatch(/unpack ok/);
  });

  test('is read by every route with a bounded answer', async (context) => {
    if (hostile.refused) return context.skip('nothing was stored');
    const sha = hostile.refs['refs/heads/main'] ?? Object.values(hostile.refs)[0]!;
    const below = `/api/v4/projects/root%2F${hostile.name}`;
    const { headers } = await fetch(
      `${service.url}${below}/repository/files/${encodeURIComponent(hostile.path)}?ref=HEAD`,
      {
        method: 'HEAD',
      },
    );
    const blob = headers.get('X-Gitlab-Blob-Id');
    for (const route of blob === null ? READS : [...READS, ...READS_OF_BLOB]) {
      const path = route
        .replace(':path', encodeURIComponent(hostile.path))
        .replace(':sha', sha)
        .replace(':blob', blob ?? '');
      const answered = await service.ask('GET', `${below}/repository/${path}`);
      noted(hostile.name, `GET ${route}`, answered);
      expectBounded(`${hostile.name}: ${route}`, answered);
      if (answered.start.startsWith('{') || answered.start.startsWith('['))
        expect
          .soft(answered.bytes, `${hostile.name}: bytes of ${route}`)
          .toBeLessThan(/^(files\/:path\?|blobs\/:blob$)/.test(route) ? MAX_FILE_JSON_BYTES : MAX_JSON_BYTES);
    }
    const cloned = await service.fetch(hostile.name, sha);
    noted(hostile.name, 'clone', cloned);
    expectBounded(`${hostile.name}: clone`, cloned);
    expect.soft(cloned.status).toBe(200);
    for (const other of ['/languages', '?statistics=true&license=true']) {
      const answered = await service.ask('GET', below + other);
      noted(hostile.name, `GET ${other}`, answered);
      expectBounded(`${hostile.name}: ${other}`, answered);
    }
  });

  test('its newest commit is proposed, reviewed and merged, or refused with a reason', async (context) => {
    if (hostile.refused) return context.skip('nothing was stored');
    const sha = hostile.refs['refs/heads/main'] ?? Object.values(hostile.refs)[0]!;
    let version = '1';
    for (const { method, path, json } of PROPOSAL) {
      const place = path.replace(':sha', sha).replace(':version', version);
      const answered = await service.call(method, `/projects/root%2F${hostile.name}/${place}`, json);
      noted(hostile.name, `${method} ${path}`, answered);
      expectBounded(`${hostile.name}: ${method} ${path}`, answered);
      if (path.endsWith('/versions')) version = /"id":(\d+)/.exec(answered.start)?.[1] ?? version;
    }
  });

  test('no write to it fails without telling why', async (context) => {
    if (hostile.refused) return context.skip('nothing was stored');
    const sha = hostile.refs['refs/heads/main'] ?? Object.values(hostile.refs)[0]!;
    for (const { method, path, json } of WRITES) {
      const place = path.replace(':path', encodeURIComponent(hostile.path)).replace(':sha', sha);
      const body = JSON.parse(JSON.stringify(json ?? {}).replaceAll(':path', hostile.path));
      const answered = await service.call(
        method,
        `/projects/root%2F${hostile.name}/repository/${place}`,
        body,
      );
      noted(hostile.name, `${method} ${path}`, answered);
      expectBounded(`${hostile.name}: ${method} ${path}`, answered);
    }
  });
});

/** Large bodies, each of what is slow to read in a way of its own. */
const BODIES: readonly (readonly [what: string, json: () => string])[] = [
  ['a file of 48 MiB in Base64', () => content(Buffer.alloc(48 * 2 ** 20, 7).toString('base64'), 'base64')],
  ['a text of escape sequences', () => content('\\u4e2d'.repeat(8 * 2 ** 20), 'text')],
  ['a text of escaped quotes', () => content('\\"'.repeat(24 * 2 ** 20), 'text')],
  ['space', () => `{${' '.repeat(48 * 2 ** 20)}}`],
  ['many small strings', () => `{"actions":[${`"${'x'.repeat(50)}",`.repeat(99_000)}""]}`],
];
const content = (text: string, encoding: string) =>
  `{"branch":"main","commit_message":"m","encoding":"${encoding}","content":"${text}"}`;

test('a body as large as is taken is read beside other work', async () => {
  const made = await service.call('POST', '/projects', { name: 'bodies' });
  expect(made.status).toBe(201);
  for (const [i, [what, json]] of BODIES.entries()) {
    const answered = await service.sendJson('POST', `/projects/root%2Fbodies/repository/files/f${i}`, json());
    noted('bodies', what, answered);
    expectBounded(`bodies: ${what}`, answered, MAX_BODY_PEAK_BYTES);
  }
});
