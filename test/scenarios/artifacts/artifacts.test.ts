/** Files that jobs have left, as users and other jobs get them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ARTIFACTS } from '../../../lib/store/artifacts/artifacts.ts';
import { type JobProject, jobProject } from '../../harness/job-projects.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import { report, sendArtifact, type Taken } from '../../harness/small-runner.ts';
import type { Who } from '../../harness/world.ts';
import { zipOf } from '../../harness/zip.ts';

const own = ownWorld();
const { service, world, as } = own;

const ARCHIVE = zipOf([
  { name: 'index.html', content: '<h1>hello</h1>' },
  { name: 'dir/a b.txt', content: 'of a' },
  { name: '../outside.txt', content: 'x' },
  { name: 'link', content: '/etc/passwd', mode: 0o120777 },
  { name: 'large.bin', content: Buffer.alloc(17 * 1024 * 1024) },
]);
const CONFIG = `
  make: { script: [x], artifacts: { paths: [out] } }
  secret: { script: [x], artifacts: { paths: [out], public: false } }
  bare: { script: [x] }`;

/** Sends a request and does not follow where it leads. */
async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${service.url}/api/v4${path}`, { headers, redirect: 'manual' });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
const tokenOf = (who: Who): Record<string, string> =>
  who === 'anonymous' ? {} : { 'PRIVATE-TOKEN': world.tokens[who]! };

let project: JobProject;
let jobs: Record<string, Taken>;
let running: Taken;
beforeAll(async () => {
  project = await jobProject(own, 'left', CONFIG, { visibility: 'public' });
  jobs = {};
  for (let n = 0; n < 3; n++) {
    const job = await project.take();
    jobs[job['job_info'].name] = job;
  }
  await sendArtifact(service, jobs['make']!, ARCHIVE, { filename: 'out.zip' });
  await sendArtifact(service, jobs['secret']!, ARCHIVE, { filename: 'out.zip' });
  for (const job of Object.values(jobs)) await report(service, job, 'success');
  await settled();
  await project.configure('wait: { script: [x] }', 'feature/x');
  running = await project.take();
});

const of = (name: string) => `/projects/${project.id}/jobs/${jobs[name]!.id}/artifacts`;
const ofRef = (ref: string, rest: string) => `/projects/${project.id}/jobs/artifacts/${ref}/${rest}`;

test('the archive of a job is downloaded', async () => {
  const got = await get(of('make'));
  expect(got.status).toBe(200);
  expect(got.headers.get('content-type')).toBe('application/zip');
  expect(got.headers.get('content-transfer-encoding')).toBe('binary');
  expect(got.headers.get('content-disposition')).toContain('attachment; filename="out.zip"');
  expect((await get(of('bare'))).status).toBe(404);
  expect((await get(`/projects/${project.id}/jobs/99999999/artifacts`)).text).toBe(
    '{"message":"404 Not found"}',
  );
});

describe('a file of the archive', () => {
  test('is downloaded with the type of its name, and runs nowhere', async () => {
    const got = await get(`${of('make')}/index.html`);
    expect([got.status, got.text]).toEqual([200, '<h1>hello</h1>']);
    expect(got.headers.get('content-type')).toBe('text/html');
    expect(got.headers.get('content-disposition')).toContain('attachment; filename="index.html"');
    expect((await get(`${of('make')}/dir/a%20b.txt`)).text).toBe('of a');
  });

  test('is redirected to where it is large', async () => {
    const got = await get(`${of('make')}/large.bin`);
    expect(got.status).toBe(302);
    const bytes = await (await fetch(got.headers.get('location')!)).arrayBuffer();
    expect(bytes.byteLength).toBe(17 * 1024 * 1024);
    expect((await get(`${of('make')}/large.bin`)).status).toBe(302);
  });

  test('is read by three reads of the bucket, however many others there are', async () => {
    const other = await jobProject(own, 'many files', 'make: { script: [x] }', { visibility: 'public' });
    const job = await other.take();
    const files = Array.from({ length: 6000 }, (_, n) => ({
      name: `directory/file-${n}.txt`,
      content: `${n}`,
    }));
    await sendArtifact(service, job, zipOf(files));
    // What workers read would count too.
    await settled();
    const reads: string[] = [];
    service.host.s3.onOperation = ({ operation, key }) => {
      if (key?.startsWith(ARTIFACTS)) reads.push(operation);
    };
    const got = await get(`/projects/${other.id}/jobs/${job.id}/artifacts/directory/file-4711.txt`);
    service.host.s3.onOperation = undefined;
    expect([got.status, got.text]).toEqual([200, '4711']);
    expect(reads).toEqual(['GetObject', 'GetObject', 'GetObject']);
  });

  test('has a path within the archive', async () => {
    for (const path of ['..%2Foutside.txt', 'dir/%2E%2E%2Fx', '%2Fetc%2Fpasswd', 'dir%2F%2Fa']) {
      const got = await get(`${of('make')}/${path}`);
      expect([path, got.status, got.text]).toEqual([path, 400, '{"message":"400 Bad request"}']);
    }
    for (const path of ['link', 'dir', 'none.txt'])
      expect((await get(`${of('make')}/${path}`)).status).toBe(404);
    expect((await get(`${of('bare')}/index.html`)).status).toBe(404);
  });

  test('of an archive that is none is not found', async () => {
    const other = await jobProject(own, 'broken', 'make: { script: [x] }', { visibility: 'public' });
    const job = await other.take();
    await sendArtifact(service, job, 'no archive');
    expect((await get(`/projects/${other.id}/jobs/${job.id}/artifacts/a.txt`)).status).toBe(404);
  });
});

describe('by ref and name', () => {
  test('the newest pipeline that succeeded counts', async () => {
    expect((await get(ofRef('main', 'download?job=make'))).status).toBe(200);
    expect((await get(ofRef('main', 'raw/dir/a%20b.txt?job=make'))).text).toBe('of a');
    for (const [ref, rest] of [
      ['main', 'download?job=none'],
      ['main', 'download?job=bare'],
      ['none', 'download?job=make'],
      // Its pipeline has not succeeded.
      ['feature/x', 'download?job=make'],
      ['HEAD', 'download?job=make'],
    ] as const)
      expect([ref, rest, (await get(ofRef(ref, rest))).status]).toEqual([ref, rest, 404]);
    expect((await get(ofRef('main', 'download'))).text).toBe('{"error":"job is missing"}');
  });

  test('refs with slashes are named as they are, or encoded', async () => {
    const branch = await jobProject(own, 'slashes', 'make: { script: [x] }', { visibility: 'public' });
    await branch.end(await branch.take());
    await branch.configure('make: { script: [x] }', 'some/raw-branch');
    const job = await branch.take();
    await sendArtifact(service, job, ARCHIVE);
    await branch.end(job);
    const base = `/projects/${branch.id}/jobs/artifacts`;
    for (const ref of ['some/raw-branch', 'some%2Fraw-branch']) {
      expect((await get(`${base}/${ref}/download?job=make`)).status).toBe(200);
      expect((await get(`${base}/${ref}/raw/index.html?job=make`)).text).toBe('<h1>hello</h1>');
    }
  });

  test('a failed pipeline does not replace one that succeeded, a newer one does', async () => {
    const other = await jobProject(own, 'newer', 'make: { script: [x] }', { visibility: 'public' });
    const path = `/projects/${other.id}/jobs/artifacts/main/raw/a?job=make`;
    const left = async (content: string, state: string) => {
      const job = await other.take();
      await sendArtifact(service, job, zipOf([{ name: 'a', content }]));
      await other.end(job, state);
    };
    await left('first', 'success');
    await other.configure('make: { script: [x] }');
    await left('second', 'failed');
    expect((await get(path)).text).toBe('first');
    await other.configure('make: { script: [x] }');
    await left('third', 'success');
    expect((await get(path)).text).toBe('third');
  });

  test('a pipeline comes before those that it started, and of these the oldest first', async () => {
    const family = await jobProject(own, 'family', 'wait: { script: [x] }', { visibility: 'public' });
    await family.end(await family.take());
    await as('owner', 'POST', `/projects/${family.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'children [skip ci]',
      actions: [
        ['older.yml', ['make', 'twice', 'ours']],
        ['newer.yml', ['make', 'twice', 'late']],
      ].map(([file_path, names]) => ({
        action: 'create',
        file_path,
        content: (names as string[]).map((name) => `${name}: { script: [x] }`).join('\n'),
      })),
    });
    await settled();
    await family.configure(`
      stages: [build, older, newer]
      make: { stage: build, script: [x] }
      start: { stage: older, trigger: { include: older.yml } }
      again: { stage: newer, trigger: { include: newer.yml } }`);
    const made = new Map<string, Taken>();
    for (const [pipeline, count] of Object.entries({ parent: 1, older: 3, newer: 3 }))
      for (let n = 0; n < count; n++) {
        const job = await family.take();
        const content = `${job['job_info'].name} of ${pipeline}`;
        made.set(content, job);
        await sendArtifact(service, job, zipOf([{ name: 'a', content }]));
        await family.end(job);
      }
    const found = async (name: string) =>
      (await get(`/projects/${family.id}/jobs/artifacts/main/raw/a?job=${name}`)).text;
    expect(await Promise.all(['make', 'twice', 'ours', 'late'].map(found))).toEqual([
      'make of parent',
      'twice of older',
      'ours of older',
      'late of newer',
    ]);
    // A job that has left nothing is passed over.
    const gone = made.get('make of parent')!;
    await as('owner', 'DELETE', `/projects/${family.id}/jobs/${gone.id}/artifacts`);
    expect(await found('make')).toBe('make of older');
  });
});

describe('who may', () => {
  test('download what a job left for members alone', async () => {
    const statuses: [Who, number][] = [
      ['anonymous', 401],
      ['stranger', 403],
      ['owner', 200],
    ];
    for (const [who, status] of statuses) {
      expect([who, (await get(of('secret'), tokenOf(who))).status]).toEqual([who, status]);
      expect((await get(`${of('secret')}/index.html`, tokenOf(who))).status).toBe(status);
      expect((await get(ofRef('main', 'download?job=secret'), tokenOf(who))).status).toBe(status);
    }
  });

  test('download what jobs left where builds are not public', async () => {
    await as('owner', 'PUT', `/projects/${project.id}`, { public_builds: false });
    try {
      expect((await get(of('make'))).status).toBe(401);
      expect((await get(of('make'), tokenOf('stranger'))).status).toBe(403);
      expect((await get(of('make'), tokenOf('owner'))).status).toBe(200);
    } finally {
      await as('owner', 'PUT', `/projects/${project.id}`, { public_builds: true });
    }
  });
});

describe('the token of a running job', () => {
  test('downloads what jobs left, as the user of the job', async () => {
    const token = { 'JOB-TOKEN': running.token };
    expect((await get(of('secret'), token)).status).toBe(200);
    expect((await get(`${of('secret')}/index.html?job_token=${running.token}`)).status).toBe(200);
    expect((await get(ofRef('main', `download?job=secret&job_token=${running.token}`))).status).toBe(200);
    expect((await get(of('make'), { 'JOB-TOKEN': 'wrong' })).status).toBe(401);
    expect((await get(of('make'), { 'JOB-TOKEN': jobs['make']!.token })).status).toBe(401);
  });

  test('names its job', async () => {
    const got = await get('/job', { 'JOB-TOKEN': running.token });
    expect([got.status, JSON.parse(got.text)]).toMatchObject([200, { id: running.id, name: 'wait' }]);
    expect((await get('/job')).text).toBe('{"message":"404 Job Not Found"}');
    expect((await get('/job', tokenOf('owner'))).status).toBe(404);
    expect((await get('/job', { 'JOB-TOKEN': 'wrong' })).status).toBe(401);
  });

  test('publishes packages and releases, and nothing else knows it', async () => {
    const token = { 'JOB-TOKEN': running.token };
    const base = `${service.url}/api/v4/projects/${project.id}`;
    const put = await fetch(`${base}/packages/generic/tool/1.0/a.txt`, {
      method: 'PUT',
      headers: token,
      body: 'x',
    });
    expect(put.status).toBe(201);
    // As programs send it that know no other way.
    const basic = Buffer.from(`gitlab-ci-token:${running.token}`).toString('base64');
    const fetched = await fetch(`${base}/packages/generic/tool/1.0/a.txt`, {
      headers: { Authorization: `Basic ${basic}` },
    });
    expect([fetched.status, await fetched.text()]).toEqual([200, 'x']);
    const released = await fetch(`${base}/releases`, {
      method: 'POST',
      headers: { ...token, 'Content-Type': 'application/json' },
      body: JSON.stringify({ tag_name: 'v1', ref: 'main' }),
    });
    expect(released.status).toBe(201);
    for (const [method, path] of [
      ['GET', '/user'],
      ['PUT', `/projects/${project.id}`],
      ['POST', `/projects/${project.id}/jobs/${jobs['make']!.id}/artifacts/keep`],
      ['DELETE', of('make')],
      ['GET', `/projects/${project.id}/variables`],
    ] as const) {
      const answer = await fetch(`${service.url}/api/v4${path}`, { method, headers: token });
      expect([path, answer.status]).toEqual([path, 401]);
    }
  });

  test('has none of an administrator’s powers', async () => {
    const other = await jobProject(own, 'of an administrator', 'a: { script: [x] }');
    const json = { ref: 'main' };
    await as('administrator', 'POST', `/projects/${other.id}/pipeline`, json);
    await settled();
    await other.take();
    const job = await other.take();
    const { userId } = (await world.store.jobs.get(job.id))!;
    expect((await world.store.users.get(userId))!.admin).toBe(true);
    const token = { 'JOB-TOKEN': job.token };
    expect((await get('/job', token)).status).toBe(200);
    expect((await get(`/projects/${other.id}/packages`, token)).status).toBe(404);
  });

  test('ends with the job', async () => {
    const other = await jobProject(own, 'short', 'a: { script: [x] }');
    const job = await other.take();
    expect((await get('/job', { 'JOB-TOKEN': job.token })).status).toBe(200);
    await as('owner', 'POST', `/projects/${other.id}/jobs/${job.id}/cancel`);
    expect((await get('/job', { 'JOB-TOKEN': job.token })).status).toBe(401);
  });
});

describe('keeping and deleting', () => {
  test('what is kept has no end, and is shown as the job', async () => {
    const path = `${of('make')}/keep`;
    expect((await as('stranger', 'POST', path)).status).toBe(403);
    expect((await as('anonymous', 'POST', path)).status).toBe(401);
    const before = (await as('owner', 'GET', `/projects/${project.id}/jobs/${jobs['make']!.id}`)).body;
    expect(before.artifacts_expire_at).toMatch(/^\d{4}-/);
    const { status, body } = await as('owner', 'POST', path);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      artifacts_expire_at: null,
      download_url: `${service.url}/api/v4${of('make')}`,
    });
    expect((await as('owner', 'POST', `${of('bare')}/keep`)).body).toEqual({ message: '404 Not Found' });
  });

  test('what is deleted is gone with its bytes, the trace stays', async () => {
    const other = await jobProject(own, 'deleted', 'a: { script: [x] }', { visibility: 'public' });
    const job = await other.take();
    await sendArtifact(service, job, ARCHIVE);
    await other.end(job);
    const path = `/projects/${other.id}/jobs/${job.id}/artifacts`;
    const { blob } = (await world.store.jobs.get(job.id))!.artifacts[0]!;
    expect((await as('anonymous', 'DELETE', path)).status).toBe(401);
    expect((await as('stranger', 'DELETE', path)).status).toBe(403);
    const deleted = await as('owner', 'DELETE', path);
    expect([deleted.status, deleted.body]).toEqual([204, null]);
    expect((await get(path)).status).toBe(404);
    expect((await as('owner', 'DELETE', path)).status).toBe(404);
    await settled();
    expect(await world.store.blobs.head(blob)).toBe(undefined);
    expect(await world.store.artifacts.total(other.id)).toBe(0);
  });
});
