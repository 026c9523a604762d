/** Child pipelines from files that jobs left. */
import { expect, test } from 'vitest';
import { jobProject } from '../../harness/job-projects.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { sendArtifact } from '../../harness/small-runner.ts';
import { zipOf } from '../../harness/zip.ts';

const own = ownWorld();
const { service, as } = own;

const CHILD = `
include: [local.yml, {artifact: out/more.yml, job: make}]
made: { script: [x] }
`;
const MORE = 'more: { script: [x] }';

let projects = 0;
/** @returns the bridges of a pipeline whose jobs ended, by name, and the jobs of the child that each started */
async function bridgesOf(config: string, archives: Readonly<Record<string, Uint8Array>>) {
  const project = await jobProject(own, `configs of jobs ${projects++}`, 'x: { script: [x], only: [tags] }');
  const path = `/projects/${project.id}`;
  const actions = [{ action: 'create', file_path: 'local.yml', content: 'local: { script: [x] }' }];
  const body = { branch: 'main', commit_message: 'local', actions };
  expect((await as('owner', 'POST', `${path}/repository/commits`, body)).status).toBe(201);
  await project.configure(config);
  for (const _ of Object.keys(archives)) {
    const job = await project.take();
    const archive = archives[job['job_info'].name]!;
    if (archive.length > 0) expect((await sendArtifact(service, job, archive)).status).toBe(201);
    await project.end(job);
  }
  const pipelines = (await as('owner', 'GET', `${path}/pipelines`)).body;
  const parent = pipelines.find(({ source }: { source: string }) => source === 'push');
  const bridges = (await as('owner', 'GET', `${path}/pipelines/${parent.id}/bridges`)).body;
  const found: Record<string, readonly string[] | string> = {};
  for (const { name, failure_reason, downstream_pipeline: child } of bridges) {
    const jobs = child && (await as('owner', 'GET', `${path}/pipelines/${child.id}/jobs`)).body;
    found[name] = jobs?.map((job: { name: string }) => job.name).sort() ?? failure_reason;
  }
  return found;
}

const bridge = (name: string, file: string, job = 'make') =>
  `${name}: { stage: deploy, trigger: { include: [{ artifact: ${file}, job: ${job} }] } }\n`;
const MAKE = 'make: { stage: build, script: [x], artifacts: { paths: [out] } }\n';

test('a child pipeline is made of a file that a job left, with what that includes of the commit and of artifacts', async () => {
  const archive = zipOf([
    { name: 'out/child.yml', content: CHILD },
    { name: 'out/more.yml', content: MORE },
  ]);
  expect(await bridgesOf(MAKE + bridge('child', 'out/child.yml'), { make: archive })).toEqual({
    child: ['local', 'made', 'more'],
  });
});

test('the job fails that is to start a pipeline from a file that is not there, too large or wrong', async () => {
  const archive = zipOf([
    { name: 'link.yml', content: 'child.yml', mode: 0o120777 },
    { name: 'large.yml', content: `${MORE}\n#${'x'.repeat(1 << 20)}` },
    { name: 'wrong.yml', content: 'a: {' },
    { name: 'empty.yml', content: ' ' },
    { name: 'a.txt', content: MORE },
    { name: 'good.yml', content: MORE },
  ]);
  const large = zipOf([
    { name: 'good.yml', content: MORE },
    { name: 'rest', content: Buffer.alloc(5 << 20), stored: true },
  ]);
  const files = ['missing', 'link', 'large', 'wrong', 'empty', 'good'];
  const jobs = ['none', 'huge', 'damaged'];
  const config = [
    MAKE,
    ...jobs.map((job) => `${job}: { stage: build, script: [x] }\n`),
    ...files.map((file) => bridge(`from ${file}`, `${file}.yml`)),
    bridge('from text', 'a.txt'),
    ...jobs.map((job) => bridge(`of ${job}`, 'good.yml', job)),
  ].join('');
  const archives = { make: archive, none: Buffer.alloc(0), huge: large, damaged: Buffer.from('no archive') };
  const failed = 'downstream_pipeline_creation_failed';
  expect(await bridgesOf(config, archives)).toEqual({
    'from good': ['more'],
    ...Object.fromEntries(files.filter((file) => file !== 'good').map((file) => [`from ${file}`, failed])),
    'from text': failed,
    ...Object.fromEntries(jobs.map((job) => [`of ${job}`, failed])),
  });
});
