/** What runners send of the files that jobs leave, and fetch of those that other jobs left. */
import { archiveForJob } from '../../domain/artifacts/for-jobs.ts';
import * as uploads from '../../domain/artifacts/upload.ts';
import { badRequest } from '../../domain/errors.ts';
import { jobOfToken, runningJob } from '../../domain/jobs/running-job.ts';
import { runners } from '../../http/access.ts';
import { multipartParts } from '../../http/multipart-parts.ts';
import * as p from '../../http/params.ts';
import { json, reply } from '../../http/reply.ts';
import { ARTIFACT_FORMATS, ARTIFACT_TYPES } from '../../records/artifacts.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { LARGE_DOWNLOAD } from '../files/download.ts';
import { downloadArtifact } from './download.ts';
import * as shapes from './shapes.ts';

const area = 'runners';
const path = '/jobs/:id/artifacts';
const refusals = [{ status: 403, description: 'The job is not running with this token' }];
const large = { status: 413, description: 'The file is larger than `max_artifacts_size`' };
const jobId = () => p.params({ id: p.integer({ required: true, description: 'ID of the job' }) });
const tokens = () => ({
  token: p.string({ description: 'Token of the job; otherwise in the header `JOB-TOKEN`' }),
  job_token: p.string({ description: 'The same' }),
});

/** The largest object that the bucket takes at once; `max_artifacts_size` is checked before. */
const MAX_BYTES = 5 * 1024 ** 3;
/** Bytes of a field beside the file. */
const MAX_FIELD = 4096;

interface Tokens {
  readonly token?: string | undefined;
  readonly job_token?: string | undefined;
}

const tokenOf = (headers: Headers, { token, job_token }: Tokens): string =>
  headers.get('job-token') ?? token ?? job_token ?? '';

const facts = () => ({
  artifact_type: p.oneOf(ARTIFACT_TYPES, { default: 'archive', description: 'What the file is' }),
  artifact_format: p.oneOf(ARTIFACT_FORMATS, {
    description: 'Format of the file; default: that of its type',
  }),
  expire_in: p.string({ description: 'When it is deleted: a duration, or `never`' }),
});

const authorize = endpoint({
  method: 'POST',
  path: `${path}/authorize`,
  area,
  summary: 'Request an upload of a file of a job',
  description: [
    'For runners, and for what uploads in their place: says how large a file may be and, where `filesize` is given, where to',
    '`PUT` it with these headers. `file.remote_id` and `file.name` of the upload then name it. So files may be larger than a',
    'request.',
  ].join(' '),
  access: runners(),
  params: jobId,
  body: () =>
    p.params({
      ...tokens(),
      artifact_type: p.oneOf(ARTIFACT_TYPES, { description: 'What the file is' }),
      filesize: p.integer({ min: 1, description: 'Bytes of the file' }),
    }),
  returns: { status: 200, body: shapes.authorized },
  errors: [...refusals, large],
  handle: async ({ params, body, request: { headers } }, deps) => {
    const job = await runningJob(deps, params.id, tokenOf(headers, body));
    const [limit, upload] = await Promise.all([
      uploads.maxArtifactBytes(deps),
      body.filesize === undefined ? undefined : uploads.beginUpload(deps, job, body.filesize),
    ]);
    const remote = upload && {
      ID: upload.id,
      StoreURL: upload.url,
      PutHeaders: upload.headers,
      Timeout: upload.seconds,
    };
    return json({ MaximumSize: limit, ...(remote && { RemoteObject: remote }) });
  },
});

const upload = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Upload a file of a job',
  description: 'For runners: a form with the file as `file`. There is one file of each type.',
  access: runners(),
  params: jobId,
  query: () =>
    p.params({
      ...tokens(),
      ...facts(),
      'file.remote_id': p.string({ description: 'ID of a file that was sent to the bucket instead' }),
      'file.name': p.string({ description: 'Name of that file' }),
    }),
  content: 'A form (`multipart/form-data`) with the file',
  bodyLimit: MAX_BYTES,
  returns: { status: 201, type: 'text/plain', description: 'The number `201`' },
  errors: [
    { status: 400, description: 'There is another file of this type, or the format is not that of the type' },
    ...refusals,
    large,
  ],
  handle: async ({ params, query, content, request: { headers } }, deps) => {
    const asked = { id: params.id, token: tokenOf(headers, query) };
    const job = await runningJob(deps, asked.id, asked.token);
    const remote = query['file.remote_id'];
    const sent =
      remote === undefined
        ? await readForm(deps, job, content, headers.get('content-type') ?? '')
        : {
            filename: query['file.name'] ?? '',
            stored: await uploads.uploadedArtifact(deps, job, remote),
            fields: {},
          };
    const {
      artifact_type: type,
      artifact_format: format,
      expire_in: expireIn,
    } = { ...query, ...sent.fields };
    await uploads.listArtifact(
      deps,
      asked,
      { type, format: format ?? uploads.formatOf(type), filename: sent.filename, expireIn },
      sent.stored,
    );
    return reply({ status: 201, body: '201', type: 'text/plain' });
  },
});

/** Stores the file of a form, and reads the fields around it. @throws 400 for a form without a file, or with wrong fields */
async function readForm(
  deps: ApiDeps,
  job: JobRecord,
  content: AsyncIterable<Uint8Array>,
  contentType: string,
) {
  let file: { filename: string; stored: Awaited<ReturnType<typeof uploads.storeArtifact>> } | undefined;
  const fields: Record<string, string> = {};
  for await (const part of multipartParts(content, contentType)) {
    if (part.name === 'file' && part.filename !== undefined && file === undefined) {
      const stored = await uploads.storeArtifact(deps, job, part.content);
      file = { filename: part.filename, stored };
    } else fields[part.name] = await fieldText(part.content);
  }
  if (file === undefined) throw p.parameterFailure(['file is missing']);
  const given = Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(facts(), name)));
  const read = p.params(facts()).safeParse(given);
  if (!read.success) throw p.parameterFailure(p.problemsOf(read.error).texts);
  const named = Object.entries(read.data).filter(([name]) => Object.hasOwn(given, name));
  return { ...file, fields: Object.fromEntries(named) as Partial<typeof read.data> };
}

async function fieldText(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > MAX_FIELD) throw badRequest('A field is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

const fetchArchive = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'Download the archive of a job that another one depends on',
  description: 'For runners, with the token of a running job of the same project.',
  access: runners(),
  params: jobId,
  query: () =>
    p.params({
      ...tokens(),
      direct_download: p.boolean({
        default: false,
        description: 'Whether the answer is always a redirect to the bucket',
      }),
    }),
  returns: { type: 'application/zip', redirect: LARGE_DOWNLOAD },
  errors: [
    { status: 403, description: 'The token is of no running job, or of one of another project' },
    { status: 404, description: 'There is no such job, or it left no archive' },
  ],
  handle: async ({ params, query, request: { headers } }, deps) => {
    const asking = await jobOfToken(deps, tokenOf(headers, query));
    return downloadArtifact(deps, await archiveForJob(deps, asking, params.id), query.direct_download);
  },
});

export const runnerArtifactEndpoints = [authorize, upload, fetchArchive];
