import { conflict } from '../../domain/errors.ts';
import { canRun } from '../../domain/job-requests/features.ts';
import { payloadOf } from '../../domain/job-requests/payload.ts';
import * as running from '../../domain/job-requests/running.ts';
import { failTaken, giveBack, queuesOf, takeJob } from '../../domain/job-requests/take.ts';
import { NotRunning } from '../../domain/jobs/running-job.ts';
import { noteContact, runnerOf } from '../../domain/runners/registration.ts';
import { runners } from '../../http/access.ts';
import { readContent } from '../../http/content.ts';
import * as p from '../../http/params.ts';
import { json, noContent, type Reply, reply } from '../../http/reply.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import { endpoint } from '../endpoint.ts';
import { factsGiven, infoField } from '../runners/registration.ts';
import { jobPayload } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'runners';
const refusals = [
  { status: 403, description: 'The job is not running with this token. `Job-Status` says how it ended' },
];
const jobId = () => p.params({ id: p.integer({ required: true, description: 'ID of the job' }) });

/** Seconds after which a runner sends what the job has printed since. */
const INTERVAL = '30';
/** Bytes of a piece of a trace. */
const MAX_PIECE = 10 * 1024 * 1024;

const told = ({ status }: Pick<JobRecord, 'status'>) => ({
  'Job-Status': status,
  'X-GitLab-Trace-Update-Interval': INTERVAL,
});

/** Runners stop jobs that were cancelled: they know by the header. */
async function tellingHowItEnded<T>(work: () => Promise<T>): Promise<T | Reply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotRunning)) throw error;
    return json({ message: error.detail }, { status: 403, headers: told(error.job) });
  }
}

const request = endpoint({
  method: 'POST',
  path: '/jobs/request',
  area,
  summary: 'Request a job',
  description: 'For runners. Of several that ask at once each gets another job.',
  access: runners(),
  bodyLimit: 1024 * 1024,
  body: () =>
    p.params({
      token: p.string({ required: true, blank: false, description: 'Token of the runner' }),
      last_update: p.string({ description: 'What the last answer without a job said' }),
      info: infoField(),
      session: p.hash({ description: 'Where the runner can be reached; not used' }),
    }),
  returns: {
    body: shapes.jobPayload,
    or: { status: 204, body: shapes.nothing, description: 'No job waits that the runner takes' },
    headers: ['X-GitLab-Last-Update'],
  },
  errors: [
    { status: 403, description: 'The token is of no runner' },
    {
      status: 409,
      description: 'Other runners were first, or the job failed since the runner lacks a feature: ask again',
    },
  ],
  handle: async ({ body, request: { sourceIp, baseUrl } }, deps) => {
    const runner = await runnerOf(deps, body.token);
    const [taken] = await Promise.all([
      takeJob(deps, runner),
      noteContact(deps, runner, factsGiven(body.info), sourceIp),
    ]);
    const nothing = noContent({ 'X-GitLab-Last-Update': String(queuesOf(runner).length) });
    if (taken === undefined) return nothing;
    try {
      const payload = await payloadOf(deps, { ...taken, runner, baseUrl });
      if (payload === undefined) return nothing;
      if (canRun(body.info?.features ?? {}, payload)) return json(jobPayload(payload), { status: 201 });
      // It would leave out a part of the job.
      await failTaken(deps, taken.job, 'runner_unsupported');
    } catch (error) {
      await giveBack(deps, taken.job).catch(() => {});
      throw error;
    }
    throw conflict();
  },
});

const update = endpoint({
  method: 'PUT',
  path: '/jobs/:id',
  area,
  summary: 'Update the state of a job',
  description: 'For runners.',
  access: runners(),
  params: jobId,
  body: () =>
    p.params({
      token: p.string({ required: true, blank: false, description: 'Token of the job' }),
      state: p.oneOf(['running', 'success', 'failed'], { description: 'State of the job' }),
      failure_reason: p.string({ description: 'Why it failed' }),
      exit_code: p.integer({ description: 'Exit code of its script' }),
      checksum: p.string({ description: 'Checksum of the trace; a difference is no error' }),
      output: p.hash({ description: 'Checksum and size of the trace; a difference is no error' }),
    }),
  returns: {
    status: 200,
    type: 'text/plain',
    description: 'The number `200`',
    headers: ['Job-Status', 'X-GitLab-Trace-Update-Interval'],
  },
  errors: refusals,
  handle: ({ params, body }, deps) =>
    tellingHowItEnded(async () => {
      const job = await running.reportJob(deps, params.id, body.token, {
        state: body.state ?? 'running',
        failureReason: body.failure_reason,
        exitCode: body.exit_code,
      });
      return reply({ body: '200', type: 'text/plain', headers: told(job) });
    }),
});

const trace = endpoint({
  method: 'PATCH',
  path: '/jobs/:id/trace',
  area,
  summary: 'Add to the trace of a job',
  description:
    'For runners, with the token of the job in the header `JOB-TOKEN`. `Content-Range` says where the piece begins.',
  access: runners(),
  params: jobId,
  content: 'A piece of the trace',
  bodyLimit: MAX_PIECE,
  returns: {
    status: 202,
    type: 'text/plain',
    description: 'Accepted',
    headers: ['Job-Status', 'Range', 'X-GitLab-Trace-Update-Interval'],
  },
  errors: [
    { status: 400, description: 'Without `Content-Range`' },
    ...refusals,
    { status: 413, description: 'The job has printed too much' },
    { status: 416, description: 'The piece does not begin where the trace ends, which `Range` says' },
  ],
  handle: ({ params, content, request: { headers } }, deps) =>
    tellingHowItEnded(async () => {
      const range = /^(?:bytes )?(\d{1,12})-\d{0,12}(?:\/\S*)?$/.exec(
        headers.get('content-range')?.trim() ?? '',
      );
      if (range === null) return json({ error: '400 Missing header Content-Range' }, { status: 400 });
      const token = headers.get('job-token') ?? '';
      try {
        const read = () => readContent(content);
        const size = await running.appendTrace(deps, params.id, token, Number(range[1]), read);
        return reply({
          status: 202,
          body: '202',
          type: 'text/plain',
          headers: { ...told({ status: 'running' }), Range: `0-${size}` },
        });
      } catch (error) {
        if (!(error instanceof running.OutOfRange)) throw error;
        const answer = { error: '416 Range Not Satisfiable' };
        return json(answer, { status: 416, headers: { Range: `0-${error.size}` } });
      }
    }),
});

export const jobRequestEndpoints = [request, update, trace];
