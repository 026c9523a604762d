import { writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONFIGURATION_STEPS, CONFIGURATIONS, INCLUDED, ORDINARY_CONFIGURATION } from './configurations.ts';
import { DOCUMENT_STEPS, DOCUMENTS, type DocumentStep, ORDINARY_DOCUMENT } from './documents.ts';
import { HOSTILE, type Hostile, ORDINARY } from './repositories.ts';
import { PROPOSAL, READS, READS_OF_BLOB, WRITES } from './routes.ts';
import { type Answered, HostileService } from './service.ts';

/**
 * Repositories, texts and configurations that are expensive to read. A turn of the event loop is to have at most {@link BOUND_MS}
 * of processor time. Those that have more are printed. It fails at {@link MAX_WORK_MS}, without collections of garbage, which
 * V8 does at once and as late as it can: on a machine that others use, turns take twice as long. Repositories, texts
 * and configurations are read by a process each. What is called `ordinary` comes first, and is not judged: it loads the code
 * of all that follows.
 */
const BOUND_MS = 50;
const MAX_WORK_MS = 250;
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
  // Owners of files: two groups, each a guest of the other.
  const groups = ['owners-a', 'owners-b'];
  const ids: string[] = [];
  for (const path of groups) {
    const { start } = await service.call('POST', '/groups', { name: path, path });
    ids.push(/"id":(\d+)/.exec(start)![1]!);
  }
  for (const [i, path] of groups.entries())
    await service.call('POST', `/groups/${path}/share`, { group_id: ids[1 - i], group_access: 30 });
});
/** What earlier parts left in memory is not that of the next. */
async function begun(): Promise<void> {
  await service.stop();
  service = await HostileService.start();
}
afterAll(async () => {
  console.log(table.join('\n'));
  console.log(
    `${above.length} of ${table.length} calls held the event loop for more than ${BOUND_MS} ms, without collections of garbage:\n${above.join('\n')}`,
  );
  await service?.stop();
});

function noted(
  name: string,
  what: string,
  { status, bytes, ms, pauseMs, busyMs, workMs, peakBytes }: Answered,
): void {
  const pauses = [
    `pause ${Math.round(pauseMs)} ms`,
    `busy ${Math.round(busyMs)} ms`,
    `work ${Math.round(workMs)} ms`,
  ];
  const figures = [status, `${Math.round(ms)} ms`, ...pauses];
  const sizes = [`${(bytes / 1024).toFixed(0)} KiB`, `peak ${Math.round(peakBytes / 2 ** 20)} MiB`];
  const row = [name.padEnd(20), what.padEnd(44), ...figures, ...sizes].join('  ');
  if (process.env['HOSTILE_ROWS']) writeSync(2, `${row}\n`);
  table.push(row);
}

function expectBounded(what: string, answered: Answered, maxPeak = MAX_PEAK_BYTES): void {
  expect.soft(answered.status, what).toBeLessThan(500);
  if (!what.startsWith(ORDINARY.name)) {
    expect.soft(answered.workMs, `a turn of ${what}`).toBeLessThan(MAX_WORK_MS);
  }
  if (answered.workMs > BOUND_MS) above.push(`${what}: ${Math.round(answered.workMs)} ms`);
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
    if (hostile.name === 'owners-of-groups') {
      for (const group of ['owners-a', 'owners-b']) {
        const found = await service.call('GET', `/groups/${group}`);
        await service.call('POST', `/projects/root%2F${hostile.name}/share`, {
          group_id: /"id":(\d+)/.exec(found.start)![1],
          group_access: 30,
        });
      }
    }
    if (hostile.refused) expect(pushed.start).toMatch(hostile.refused);
    else expect(pushed.start).toMatch(/unpack ok/);
  });

  test('is read by every route with a bounded answer', async (context) => {
    if (hostile.refused) return context.skip('nothing was stored');
    const sha = hostile.refs['refs/heads/main'] ?? Object.values(hostile.refs)[0]!;
    const below = `/api/v4/projects/root%2F${hostile.name}`;
    const file = `${below}/repository/files/${encodeURIComponent(hostile.path)}`;
    const head = await service.ask('HEAD', `${file}?ref=HEAD`);
    noted(hostile.name, 'HEAD files/:path?ref=HEAD', head);
    expectBounded(`${hostile.name}: HEAD files/:path`, head);
    const blob = head.headers.get('X-Gitlab-Blob-Id');
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

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=x';

/** Large bodies, each of what is slow to read in a way of its own. */
const BODIES: readonly (readonly [what: string, json: () => string])[] = [
  ['a file of 48 MiB in Base64', () => content(Buffer.alloc(48 * 2 ** 20, 7).toString('base64'), 'base64')],
  ['a text of escape sequences', () => content('\\u4e2d'.repeat(8 * 2 ** 20), 'text')],
  ['a text of escaped quotes', () => content('\\"'.repeat(24 * 2 ** 20), 'text')],
  ['space', () => `{${' '.repeat(48 * 2 ** 20)}}`],
  ['digits', () => `{"actions":[${'1'.repeat(15 * 2 ** 20)}]}`],
  ['many numbers', () => `{"actions":[${'1,'.repeat(99_000)}1]}`],
  ['many objects', () => `{"actions":[${'{"action":"x"},'.repeat(49_000)}{}]}`],
  ['many small strings', () => `{"actions":[${`"${'x'.repeat(50)}",`.repeat(99_000)}""]}`],
];
/** The same in other formats. */
const OTHER_BODIES: readonly (readonly [what: string, type: string, body: () => string])[] = [
  ['a form of escaped text', FORM, () => `content=${'%E4%B8%AD'.repeat(2 ** 20)}`],
  ['a form of plus signs', FORM, () => `content=${'+'.repeat(9 * 2 ** 20)}`],
  ['a form of many fields', FORM, () => 'actions[][a]=b&'.repeat(99_000)],
  ['many parts', MULTIPART, () => `${part('actions[][a]', 'b').repeat(9_999)}--x--\r\n`],
  ['one large part', MULTIPART, () => `${part('content', '\u4e2d'.repeat(16 * 2 ** 20))}--x--\r\n`],
  ['a large file', MULTIPART, () => `${part('content"; filename="f', 'x'.repeat(64 * 2 ** 20))}--x--\r\n`],
  ['boundaries that are none', MULTIPART, () => `${part('content', '\r\n--y'.repeat(8 * 2 ** 20))}--x--\r\n`],
];
const part = (name: string, value: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
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
  for (const [i, [what, type, body]] of OTHER_BODIES.entries()) {
    const answered = await service.sendBody(
      `/projects/root%2Fbodies/repository/files/g${i}?branch=main&commit_message=m`,
      type,
      body(),
    );
    noted('bodies', what, answered);
    expectBounded(`bodies: ${what}`, answered, MAX_BODY_PEAK_BYTES);
  }
});

/** Asks for everything of a list, one after another. */
async function walk(
  of: string,
  project: string,
  steps: readonly DocumentStep[],
  replaced: (text: string) => string,
): Promise<void> {
  for (const { method, path, json } of steps) {
    const place = replaced(path.replace(':id', `root%2F${project}`));
    const body =
      json &&
      JSON.parse(JSON.stringify(json), (_, value) => (typeof value === 'string' ? replaced(value) : value));
    const answered = await service.call(method, place, body);
    noted(project, `${of}: ${method} ${path}`, answered);
    expectBounded(`${of}: ${method} ${path}`, answered);
  }
}

describe('texts of Markdown', () => {
  beforeAll(async () => {
    await begun();
    await service.call('POST', '/projects', { name: 'documents', initialize_with_readme: true });
    const below = '/projects/root%2Fdocuments';
    await service.call('DELETE', `${below}/repository/files/README.md`, {
      branch: 'main',
      commit_message: 'm',
    });
    await service.call('POST', `${below}/repository/files/x`, {
      branch: 'side',
      start_branch: 'main',
      content: 'x',
      commit_message: 'm',
    });
    await service.call('POST', `${below}/merge_requests`, {
      source_branch: 'side',
      target_branch: 'main',
      title: 't',
    });
  });

  test.each([ORDINARY_DOCUMENT, ...DOCUMENTS].map((document, i) => ({ ...document, n: i + 1 })))(
    'of $name are stored, shown and rendered',
    async ({ name, text, n }) => {
      await walk(name, 'documents', DOCUMENT_STEPS, (each) =>
        each.replaceAll(':text', () => text).replaceAll(':n', String(n)),
      );
    },
  );
});

describe('configurations of pipelines', () => {
  beforeAll(async () => {
    await begun();
    await service.call('POST', '/projects', { name: 'configurations', initialize_with_readme: true });
    await service.call('POST', '/projects/root%2Fconfigurations/repository/files/b.yml', {
      branch: 'main',
      content: INCLUDED,
      commit_message: 'm',
    });
  });

  test.each(Object.entries({ ordinary: ORDINARY_CONFIGURATION, ...CONFIGURATIONS }))(
    '%s: is judged, and makes a pipeline or none',
    async (name, text) => {
      const steps = CONFIGURATION_STEPS.filter(({ of }) => of === undefined || of.includes(name));
      await walk(name, 'configurations', steps, (each) => each.replaceAll(':text', () => text));
    },
  );
});
