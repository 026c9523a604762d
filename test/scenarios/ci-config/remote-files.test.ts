/** `include:remote`, and a configuration that is on another server. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_FILE_BYTES } from '../../../lib/ci/yaml/parse.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';

const { service, as } = ownWorld();
const asked: string[] = [];
let server: Server;
let base: string;
let project: { id: number };

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    if (path.startsWith('/jobs.yml')) response.end('remote: {script: far}');
    else if (path === '/empty.yml') response.end(' ');
    else if (path === '/large.yml') response.end('#'.repeat(MAX_FILE_BYTES + 1));
    else if (path === '/away.yml') response.writeHead(302, { Location: '/jobs.yml' }).end();
    else if (path === '/cloud.yml')
      response.writeHead(302, { Location: 'http://169.254.169.254/latest.yml' }).end();
    else if (path === '/round.yml') response.writeHead(302, { Location: '/round.yml' }).end();
    else if (path === '/close.yml') request.socket.destroy();
    else response.writeHead(404).end('a: {script: x}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  project = (await as('owner', 'POST', '/projects', { name: 'ci-remote', visibility: 'public' })).body;
  await commit({ '.gitlab-ci.yml': `include: ${base}/jobs.yml` });
  await changeSettings(service, { allow_local_requests_from_web_hooks_and_services: true });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function commit(files: Record<string, string>) {
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content,
  }));
  const { status } = await as('owner', 'POST', `/projects/${project.id}/repository/commits`, {
    ...{ branch: 'main', commit_message: 'Files', actions },
  });
  expect(status).toBe(201);
}

const lint = async (content: string) =>
  (await as('owner', 'POST', `/projects/${project.id}/ci/lint`, { content, include_jobs: true })).body;

test('files of other servers are included, each asked for once, and after redirects', async () => {
  asked.length = 0;
  const found = await lint(
    `include: ["${base}/jobs.yml", {remote: "${base}/jobs.yml"}, {remote: "${base}/away.yml"}]\nown: {script: x}`,
  );
  expect(found).toMatchObject({ valid: true, errors: [] });
  expect(found.jobs.map(({ name }: { name: string }) => name).sort()).toEqual(['own', 'remote']);
  expect(asked.sort()).toEqual(['/away.yml', '/jobs.yml', '/jobs.yml']);
});

test('what another server does not answer as it should is told by its address', async () => {
  const cases = {
    'absent.yml': 'could not be fetched because of HTTP code `404` error!',
    'empty.yml': 'is empty!',
    'large.yml': `is larger than ${MAX_FILE_BYTES} bytes!`,
    'round.yml': 'could not be fetched because of its redirects!',
    'close.yml': 'could not be fetched because of a socket error!',
    // No setting reaches the addresses by which clouds tell their secrets.
    'cloud.yml': 'could not be fetched because its address is blocked!',
  };
  for (const [name, told] of Object.entries(cases)) {
    const { valid, errors } = await lint(`include: "${base}/${name}"`);
    expect([valid, errors], name).toEqual([false, [`Remote file \`${base}/${name}\` ${told}`]]);
  }
});

test('a pipeline has the jobs of a remote file, also where the whole configuration is one', async () => {
  const started = await as('owner', 'POST', `/projects/${project.id}/pipeline?ref=main`);
  expect(started.status).toBe(201);
  const jobs = await as('owner', 'GET', `/projects/${project.id}/pipelines/${started.body.id}/jobs`);
  expect(jobs.body.map(({ name }: { name: string }) => name)).toEqual(['remote']);
  const path = `${base}/jobs.yml?whole=true`;
  expect((await as('owner', 'PUT', `/projects/${project.id}`, { ci_config_path: path })).status).toBe(200);
  asked.length = 0;
  expect((await as('owner', 'POST', `/projects/${project.id}/pipeline?ref=main`)).status).toBe(201);
  expect(asked).toEqual(['/jobs.yml?whole=true']);
  await as('owner', 'PUT', `/projects/${project.id}`, { ci_config_path: '' });
});

test('nobody makes the service call another without signing in', async () => {
  asked.length = 0;
  const { body } = await as('anonymous', 'GET', `/projects/${project.id}/ci/lint`);
  expect(body.errors).toEqual([`Remote file \`${base}/jobs.yml\` is read for signed-in users only!`]);
  expect(asked).toEqual([]);
});

test('private addresses are called only where a setting allows it', async () => {
  await changeSettings(service, { allow_local_requests_from_web_hooks_and_services: false });
  asked.length = 0;
  const { errors } = await lint(`include: "${base}/jobs.yml"`);
  expect(errors).toEqual([
    `Remote file \`${base}/jobs.yml\` could not be fetched because its address is blocked!`,
  ]);
  expect(asked).toEqual([]);
});
