import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { commit, pipeline } from '../commits/shapes.ts';
import { identityFields } from '../projects/identity-shapes.ts';
import { runnerBasic } from '../runners/shapes.ts';
import { time, userBasic } from '../users/shapes.ts';

export const pipelines = shape(() => z.array(pipeline()));

const detailedStatus = shape(() =>
  z
    .object({
      icon: z.string(),
      text: z.string(),
      label: z.string(),
      group: z.string(),
      tooltip: z.string(),
      has_details: z.boolean(),
      details_path: z.string(),
      illustration: z.null(),
      favicon: z.string(),
    })
    .meta({ id: 'DetailedStatus' }),
);

export const pipelineDetail = shape(() =>
  z
    .object({
      ...pipeline().shape,
      before_sha: z.string(),
      tag: z.boolean(),
      yaml_errors: z.string().nullable(),
      user: userBasic().nullable(),
      started_at: time().nullable(),
      finished_at: time().nullable(),
      committed_at: time().nullable(),
      duration: z.int().nullable().describe('Seconds in which any of its jobs ran'),
      queued_duration: z.number().nullable().describe('Seconds before its first job started'),
      coverage: z.string().nullable(),
      detailed_status: detailedStatus(),
    })
    .meta({ id: 'Pipeline' }),
);

export const variables = shape(() =>
  z.array(
    z
      .object({ variable_type: z.enum(['env_var', 'file']), key: z.string(), value: z.string() })
      .meta({ id: 'PipelineVariable' }),
  ),
);

const testCase = shape(() =>
  z
    .object({
      status: z.enum(['success', 'failed', 'skipped', 'error']),
      name: z.string(),
      classname: z.string().nullable(),
      file: z.string().nullable(),
      execution_time: z.number().describe('Seconds'),
      system_output: z
        .union([z.string(), z.record(z.string(), z.string())])
        .nullable()
        .describe('What the test said of its failure; where that is no text, the attributes that say it'),
      stack_trace: z.null(),
      recent_failures: z.null(),
      attachment_url: z
        .string()
        .optional()
        .describe('A file of the archive of the job, where the test names one'),
    })
    .meta({ id: 'TestCase' }),
);

const testCounts = () => ({
  total_time: z.number().describe('Seconds'),
  total_count: z.int(),
  success_count: z.int(),
  failed_count: z.int(),
  skipped_count: z.int(),
  error_count: z.int(),
});
const suiteError = () => z.string().nullable().describe('Why the suite counts as empty');

export const testReport = shape(() =>
  z
    .object({
      ...testCounts(),
      test_suites: z.array(
        z
          .object({
            name: z.string(),
            ...testCounts(),
            suite_error: suiteError(),
            test_cases: z.array(testCase()),
          })
          .meta({ id: 'TestSuite' }),
      ),
    })
    .meta({ id: 'TestReport' }),
);

export const testReportSummary = shape(() =>
  z
    .object({
      total: z.object({
        time: z.number().describe('Seconds'),
        count: z.int(),
        success: z.int(),
        failed: z.int(),
        skipped: z.int(),
        error: z.int(),
        suite_error: suiteError(),
      }),
      test_suites: z.array(
        z
          .object({
            name: z.string(),
            ...testCounts(),
            build_ids: z.array(z.int()),
            suite_error: suiteError(),
          })
          .meta({ id: 'TestSuiteSummary' }),
      ),
    })
    .meta({ id: 'TestReportSummary' }),
);

const jobFields = () => ({
  id: z.int(),
  status: z.string(),
  stage: z.string(),
  name: z.string(),
  ref: z.string(),
  tag: z.boolean(),
  coverage: z.number().nullable(),
  allow_failure: z.boolean(),
  created_at: time(),
  started_at: time().nullable(),
  finished_at: time().nullable(),
  duration: z.number().nullable().describe('Seconds that it has run'),
  queued_duration: z.number().nullable().describe('Seconds that it waited for a runner'),
  user: userBasic().nullable(),
  commit: commit().nullable(),
  pipeline: pipeline(),
  failure_reason: z.string().optional().describe('Only of one that failed'),
  web_url: z.string(),
});

export const job = shape(() =>
  z
    .object({
      ...jobFields(),
      artifacts: z.array(
        z.object({ file_type: z.string(), size: z.int(), filename: z.string(), file_format: z.string() }),
      ),
      artifacts_file: z.object({ filename: z.string(), size: z.int() }).optional(),
      runner: runnerBasic().nullable(),
      artifacts_expire_at: time().nullable(),
      tag_list: z.array(z.string()),
    })
    .meta({ id: 'Job' }),
);
export const jobs = shape(() => z.array(job()));

export const runnerJobs = shape(() =>
  z.array(z.object({ ...jobFields(), project: z.object(identityFields()) }).meta({ id: 'RunnerJob' })),
);

export const bridges = shape(() =>
  z.array(z.object({ ...jobFields(), downstream_pipeline: pipeline().nullable() }).meta({ id: 'Bridge' })),
);
