/** Files that runners send, and fetch for jobs that depend on others. */
import { describe, expect, test } from 'vitest';
import { jobProject } from '../../harness/job-projects.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';
import { report, sendArtifact } from '../../harness/small-runner.ts';

const own = ownWorld();
const { service, world, as } = own;

const CONFIG = `
  stages: [build, test]
  make: { stage: build, script: [x], artifacts: { paths: [out], expire_in: '1 week' } }
  check: { stage: test, script: [x] }
  alone: { stage: test, script: [x], dependencies: [] }`;

let names = 0;
async function running(config = CONFIG) {
  const project = await jobProject(own, `artifacts ${++names}`, config);
  return { project, job: await project.take() };
}

const stored = async (projectId: number) =>
  (await world.store.blobs.list('artifacts/')).keys.filter((key) =>
    key.startsWith(`artifacts/${String(projectId).padStart(12, '0')}/`),
  );
const artifactsOf = async (id: number) => (await world.store.jobs.get(id))!.artifacts;
const fetchArchive = (id: number, token: string, query = '') =>
  fetch(`${service.url}/api/v4/jobs/${id}/artifacts${query}`, {
    headers: { 'JOB-TOKEN': token },
    redirect: 'manual',
  });

describe('a runner', () => {
  test('sends the archive of a job, which the job then shows, and jobs behind it fetch', async () => {
    const { project, job } = await running();
    const bytes = Buffer.from('the archive');
    const sent = await sendArtifact(service, job, bytes, {
      filename: 'out.zip',
      artifact_type: 'archive',
      artifact_format: 'zip',
      expire_in: '1 week',
    });
    expect([sent.status, sent.body]).toEqual([201, '201']);
    const shown = (await as('owner', 'GET', `/projects/${project.id}/jobs/${job.id}`)).body;
    expect(shown).toMatchObject({
      artifacts_file: { filename: 'out.zip', size: 11 },
      artifacts: [{ file_type: 'archive', size: 11, filename: 'out.zip', file_format: 'zip' }],
    });
    const days = (Date.parse(shown.artifacts_expire_at) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.9);
    expect(days).toBeLessThan(7.1);
    await project.end(job);
    const [check, alone] = [await project.take(), await project.take()];
    expect(check['dependencies']).toEqual([
      { id: job.id, name: 'make', token: check.token, artifacts_file: { filename: 'out.zip', size: 11 } },
    ]);
    expect(alone['dependencies']).toEqual([]);
    const got = await fetchArchive(job.id, check.token);
    expect([got.status, await got.text(), got.headers.get('content-disposition')]).toEqual([
      200,
      'the archive',
      `attachment; filename="out.zip"; filename*=UTF-8''out.zip`,
    ]);
    const direct = await fetchArchive(job.id, check.token, '?direct_download=true');
    expect(direct.status).toBe(302);
    expect(await (await fetch(direct.headers.get('location')!)).text()).toBe('the archive');
    // The token of the job that made it has ended with it; one of another project is not enough.
    expect((await fetchArchive(job.id, job.token)).status).toBe(403);
    const other = await running();
    expect((await fetchArchive(job.id, other.job.token)).status).toBe(403);
    expect((await fetchArchive(check.id, check.token)).status).toBe(404);
    expect((await fetchArchive(99_999_999, check.token)).status).toBe(404);
  });

  test('sends one file of each type; the same one again is no error', async () => {
    const { job } = await running();
    expect((await sendArtifact(service, job, 'one')).status).toBe(201);
    expect((await sendArtifact(service, job, 'one')).status).toBe(201);
    const other = await sendArtifact(service, job, 'two');
    expect([other.status, other.body]).toEqual([
      400,
      { message: 'another artifact of the same type already exists' },
    ]);
    const reported = { artifact_type: 'sast', artifact_format: 'raw', filename: 'gl-sast-report.json' };
    expect((await sendArtifact(service, job, '{}', reported)).status).toBe(201);
    expect((await artifactsOf(job.id)).map(({ type, filename }) => [type, filename])).toEqual([
      ['archive', 'artifacts.zip'],
      ['sast', 'gl-sast-report.json'],
    ]);
  });

  test('is told what is wrong with what it sends, and nothing is listed', async () => {
    const { job } = await running();
    const wrong: readonly (readonly [Record<string, string>, number, unknown])[] = [
      [{ artifact_type: 'archives' }, 400, { error: 'artifact_type does not have a valid value' }],
      [{ artifact_format: 'tar' }, 400, { error: 'artifact_format does not have a valid value' }],
      [{ artifact_format: 'raw' }, 400, { message: 'Invalid file format with specified file type' }],
      [{ expire_in: 'soon' }, 400, { message: '400 Bad request - expire_in is not a duration' }],
    ];
    for (const [query, status, body] of wrong) {
      const answer = await sendArtifact(service, job, 'x', query);
      expect([answer.status, answer.body]).toEqual([status, body]);
    }
    const post = (body: BodyInit, headers: Record<string, string> = {}) =>
      fetch(`${service.url}/api/v4/jobs/${job.id}/artifacts`, {
        method: 'POST',
        headers: { 'JOB-TOKEN': job.token, ...headers },
        body,
      });
    const form = new FormData();
    form.append('file', 'no file');
    expect((await post(form)).status).toBe(400);
    expect((await post('text')).status).toBe(400);
    const cut = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\ncut';
    const type = { 'Content-Type': 'multipart/form-data; boundary=b' };
    expect((await post(cut, type)).status).toBe(400);
    expect(await artifactsOf(job.id)).toEqual([]);
  });

  test('says the facts in the form, before or behind the file', async () => {
    const { job } = await running();
    const form = new FormData();
    form.append('artifact_type', 'junit');
    form.append('file', new Blob(['x']), '../a/junit.xml.gz');
    form.append('artifact_format', 'gzip');
    form.append('expire_in', 'never');
    const answer = await fetch(`${service.url}/api/v4/jobs/${job.id}/artifacts?job_token=${job.token}`, {
      method: 'POST',
      body: form,
    });
    expect(answer.status).toBe(201);
    expect(await artifactsOf(job.id)).toMatchObject([
      { type: 'junit', format: 'gzip', filename: 'junit.xml.gz' },
    ]);
    expect((await world.store.jobs.get(job.id))!.artifactsExpireAt).toBe(null);
  });

  test('is refused with another token, and once the job has ended', async () => {
    const [first, second] = [await running(), await running()];
    for (const token of ['', 'x', second.job.token, first.project.runner.token])
      expect((await sendArtifact(service, { id: first.job.id, token }, 'x')).status).toBe(403);
    await report(service, first.job, 'success');
    expect((await sendArtifact(service, first.job, 'x')).status).toBe(403);
    await as('owner', 'DELETE', `/projects/${second.project.id}`);
    expect((await sendArtifact(service, second.job, 'x')).status).toBe(403);
  });

  test('is refused above the limit of the instance', async () => {
    const { job } = await running();
    await changeSettings(service, { max_artifacts_size: 1 });
    try {
      const bytes = Buffer.alloc(1024 * 1024 + 1);
      expect((await sendArtifact(service, job, bytes)).status).toBe(413);
      expect(await artifactsOf(job.id)).toEqual([]);
      expect((await sendArtifact(service, job, bytes.subarray(1))).status).toBe(201);
      const asked = await authorize(job, { filesize: bytes.length });
      expect(asked.status).toBe(413);
    } finally {
      await changeSettings(service, { max_artifacts_size: 100 });
    }
  });
});

const authorize = ({ id, token }: { id: number; token: string }, json: Record<string, unknown>) =>
  service.call('POST', `/jobs/${id}/artifacts/authorize`, { json: { token, ...json } });

describe('an upload past the gateway', () => {
  test('goes straight to the bucket, once and with the size that was said, and is then listed', async () => {
    const { job } = await running();
    const bytes = Buffer.from('a large archive');
    const { status, body } = await authorize(job, { filesize: bytes.length });
    expect(status).toBe(200);
    expect(body.MaximumSize).toBe(100 * 1024 * 1024);
    const { ID: id, StoreURL, PutHeaders } = body.RemoteObject;
    const put = (content: Buffer, headers = PutHeaders) =>
      fetch(StoreURL, { method: 'PUT', body: new Uint8Array(content), headers });
    expect((await put(Buffer.from('of another size'.padEnd(99)))).status).toBe(403);
    expect((await put(bytes, {})).status).toBe(403);
    const query = { 'file.remote_id': id, 'file.name': 'large.zip' };
    const before = await sendArtifact(service, job, '', query);
    expect([before.status, before.body]).toEqual([
      400,
      { message: '400 Bad request - The file was not uploaded' },
    ]);
    expect((await put(bytes)).status).toBe(200);
    expect((await put(Buffer.from('a forged archiv'))).status).toBe(412);
    expect((await sendArtifact(service, job, '', query)).status).toBe(201);
    expect((await sendArtifact(service, job, '', query)).status).toBe(201);
    expect(await artifactsOf(job.id)).toMatchObject([{ filename: 'large.zip', size: bytes.length }]);
    // An id of another job leads nowhere.
    const other = await running();
    expect((await sendArtifact(service, other.job, '', query)).status).toBe(400);
  });

  test('tells the limit alone where no size is said, and nothing to who has not the token', async () => {
    const { job } = await running();
    expect((await authorize(job, {})).body).toEqual({ MaximumSize: 100 * 1024 * 1024 });
    expect((await authorize({ id: job.id, token: 'x' }, {})).status).toBe(403);
  });
});

describe('what a job left goes', () => {
  test('with its project', async () => {
    const { project, job } = await running();
    await sendArtifact(service, job, 'x');
    expect(await stored(project.id)).toHaveLength(1);
    await as('owner', 'DELETE', `/projects/${project.id}`);
    await settled();
    expect(await stored(project.id)).toEqual([]);
    expect(await world.store.artifacts.total(project.id)).toBe(0);
  });

  test('with its pipeline, and when the job is erased', async () => {
    const { project, job } = await running();
    await sendArtifact(service, job, 'x');
    await sendArtifact(service, job, 'yy', { artifact_type: 'sast' });
    expect(await world.store.artifacts.total(project.id)).toBe(3);
    await project.end(job);
    const erased = await as('owner', 'POST', `/projects/${project.id}/jobs/${job.id}/erase`);
    expect([erased.status, erased.body.artifacts]).toEqual([201, []]);
    await settled();
    expect(await stored(project.id)).toEqual([]);
    expect(await world.store.artifacts.total(project.id)).toBe(0);
    const next = await project.take();
    await sendArtifact(service, next, 'zzz');
    expect(await world.store.artifacts.total(project.id)).toBe(3);
    const { pipelineId } = (await world.store.jobs.get(next.id))!;
    await as('owner', 'DELETE', `/projects/${project.id}/pipelines/${pipelineId}`);
    await settled();
    expect(await stored(project.id)).toEqual([]);
    expect(await world.store.artifacts.total(project.id)).toBe(0);
  });
});

describe('what a job needs of other pipelines', () => {
  const MAKER = 'make: { script: [x], artifacts: { paths: [out] } }';
  const made = async (name: string, more = {}) => {
    const project = await jobProject(own, name, MAKER, more);
    const job = await project.take();
    await sendArtifact(service, job, `of ${name}`);
    await project.end(job);
    return { project, job };
  };
  const needing = (path: string, more = '') =>
    `variables: { OTHER: ${path} }\nuse: { script: [x], needs: [{ project: $OTHER, job: make, ref: $CI_COMMIT_REF_NAME${more} }] }`;

  test('is the archive of the newest pipeline of another project that succeeded', async () => {
    const { project, job } = await made('needed');
    const user = await jobProject(own, 'needs', needing(project.path));
    const use = await user.take();
    expect(use['dependencies']).toEqual([
      { id: job.id, name: 'make', token: use.token, artifacts_file: { filename: 'artifacts.zip', size: 9 } },
    ]);
    const got = await fetchArchive(job.id, use.token);
    expect([got.status, await got.text()]).toEqual([200, 'of needed']);
    // Not one that it does not name.
    const { job: other } = await made('not needed');
    expect((await fetchArchive(other.id, use.token)).status).toBe(403);
    await user.configure(needing(project.path, ', artifacts: false'));
    await user.end(use);
    expect((await user.take())['dependencies']).toEqual([]);
  });

  test('fails the job where it is missing, or of a project that its user may not read', async () => {
    const { project } = await made('hidden from others');
    const failed = async (who: typeof own, path: string, name: string) => {
      const user = await jobProject(who, name, needing(path));
      expect((await user.runner.take()).status).toBe(204);
      await settled();
      const [job] = (await who.as('owner', 'GET', `/projects/${user.id}/jobs`)).body;
      expect(job).toMatchObject({ status: 'failed', failure_reason: 'missing_dependency_failure' });
    };
    await failed(own, `${project.path}-not`, 'needs none');
    const stranger: typeof own = { ...own, as: (_who, ...rest) => own.as('stranger', ...rest) };
    await failed(stranger, project.path, 'needs a hidden one');
  });

  test('may be of a pipeline of its family alone', async () => {
    const child = `
      use: { script: [x], needs: [{ pipeline: $PARENT, job: make }] }`;
    const parent = (id: string) => `
      stages: [build, test]
      make: { stage: build, script: [x], artifacts: { paths: [out] } }
      start: { stage: test, variables: { PARENT: ${id} }, trigger: { include: child.yml } }`;
    const { job: foreign } = await made('of another family');
    const { pipelineId } = (await world.store.jobs.get(foreign.id))!;
    const project = await jobProject(own, 'family', MAKER);
    const first = await project.take();
    await project.end(first);
    await as('owner', 'POST', `/projects/${project.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'child [skip ci]',
      actions: [{ action: 'create', file_path: 'child.yml', content: child }],
    });
    await settled();
    const started = async (id: string) => {
      await project.configure(parent(id));
      const make = await project.take();
      await sendArtifact(service, make, 'the archive');
      await project.end(make);
      await settled();
      return { make, use: (await project.runner.take()).body };
    };
    const { make, use } = await started('$CI_PIPELINE_ID');
    expect(use.dependencies).toMatchObject([{ id: make.id, name: 'make' }]);
    expect((await fetchArchive(make.id, use.token)).status).toBe(200);
    await project.end(use);
    expect((await started(String(pipelineId))).use ?? '').toEqual('');
  });
});
