import type { Job } from '../../ci/entries/job.ts';
import type { PlannedJob } from '../../ci/plan.ts';
import { MAX_FILE_BYTES } from '../../ci/yaml/parse.ts';
import { type Lint, lintProject, lintText } from '../../domain/ci-config/lint.ts';
import { project, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'ci-config';
/** Bytes of a body: the configuration, with what its encoding adds. */
const bodyLimit = 3 * MAX_FILE_BYTES;

const content = () => p.string({ required: true, description: 'The configuration, in YAML' });
const jobsToo = () =>
  p.boolean({ default: false, description: 'Whether the answer has the jobs of a pipeline' });

const lint = endpoint({
  method: 'POST',
  path: '/ci/lint',
  area,
  summary: 'Check a configuration of pipelines',
  description: 'The configuration belongs to no project, so it includes no local files.',
  access: signedIn(),
  // Changes nothing.
  inMaintenance: true,
  bodyLimit,
  body: () =>
    p.params({
      content: content(),
      include_merged_yaml: p.boolean({
        default: false,
        description: 'Whether the configuration is returned with all that it includes and extends',
      }),
      include_jobs: jobsToo(),
    }),
  returns: { status: 200, body: shapes.textLint },
  handle: async ({ actor, body }, deps) => {
    const result = await lintText(deps, actor, body.content);
    return {
      status: result.valid ? ('valid' as const) : ('invalid' as const),
      errors: result.errors,
      warnings: [],
      ...(body.include_merged_yaml && { merged_yaml: result.mergedYaml }),
      ...(body.include_jobs && { jobs: jobsOf(result) }),
    };
  },
});

const path = '/projects/:id/ci/lint';
const fields = () => ({
  dry_run: p.boolean({ default: false, description: 'Whether the pipeline of a push is pretended' }),
  include_jobs: jobsToo(),
});
const errors = [{ status: 404, description: 'There is no such reference' }];

const lintOfProject = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'Check the configuration of a project',
  access: project('read_code', { anonymous: true }),
  query: () =>
    p.params({
      ...fields(),
      sha: p.string({
        description: 'Branch, tag or commit whose configuration is read. Default: the default branch',
      }),
      content_ref: p.string({ description: 'Later name of `sha`' }),
      ref: p.string({ description: 'Branch whose push is pretended. Default: the default branch' }),
      dry_run_ref: p.string({ description: 'Later name of `ref`' }),
    }),
  returns: { body: shapes.projectLint },
  errors,
  handle: async ({ actor, project, query }, deps) => {
    const request = {
      content: undefined,
      dryRun: query.dry_run,
      at: query.content_ref || query.sha || undefined,
      ref: query.dry_run_ref || query.ref || undefined,
    };
    return present(await lintProject(deps, actor, project, request), query.include_jobs);
  },
});

const lintInProject = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Check a configuration as that of a project',
  access: project('push_code'),
  inMaintenance: true,
  bodyLimit,
  body: () =>
    p.params({
      content: content(),
      ...fields(),
      ref: p.string({ description: 'Branch whose push is pretended. Default: the default branch' }),
    }),
  returns: { status: 200, body: shapes.projectLint },
  errors,
  handle: async ({ actor, project, body }, deps) => {
    const request = {
      content: body.content,
      dryRun: body.dry_run,
      at: undefined,
      ref: body.ref || undefined,
    };
    return present(await lintProject(deps, actor, project, request), body.include_jobs);
  },
});

export const ciConfigEndpoints = [lint, lintOfProject, lintInProject];

const present = (result: Lint, withJobs: boolean) => ({
  valid: result.valid,
  errors: result.errors,
  warnings: [],
  merged_yaml: result.mergedYaml,
  ...(withJobs && { jobs: jobsOf(result) }),
});

const jobsOf = ({ plan, config }: Lint) => [...(plan?.jobs ?? config?.jobs.values() ?? [])].map(presentJob);

const presentJob = (job: Job | PlannedJob) => ({
  name: job.name,
  stage: job.stage,
  before_script: job.beforeScript ?? [],
  script: job.script ?? [],
  after_script: job.afterScript ?? [],
  tag_list: job.tags ?? [],
  environment: job.environment?.name ?? null,
  when: job.when,
  allow_failure: job.allowFailure ?? job.when === 'manual',
  needs: needsOf(job),
});

function needsOf({ needs }: Job | PlannedJob) {
  const list = needs !== undefined && 'jobs' in needs ? needs.jobs : needs;
  return list?.map(({ job }) => ({ name: job })) ?? null;
}
