import * as artifacts from '../../domain/artifacts/artifacts.ts';
import { archivedFile } from '../../domain/artifacts/file.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json, noContent } from '../../http/reply.ts';
import type { JobArtifact } from '../../records/artifacts.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { download, LARGE_DOWNLOAD } from '../files/download.ts';
import { contentDisposition } from '../files/present.ts';
import { presentedJob } from '../pipelines/present.ts';
import { downloadArtifact } from './download.ts';
import { typeOf } from './media-types.ts';
import * as shapes from './shapes.ts';

const area = 'jobs';
const path = '/projects/:id/jobs';
const readers = project('read_pipelines', { anonymous: true });
const jobId = () => ({ job_id: p.integer({ required: true, description: 'ID of the job' }) });
const ofJob = () => p.params(jobId());
const artifactPath = () => ({
  artifact_path: p.string({ required: true, description: 'Path of the file in the archive' }),
});
const refName = () => ({
  ref_name: p.string({
    required: true,
    description: 'Name of the branch or tag; its slashes need no encoding',
  }),
});
const absent = { status: 404, description: 'There is no such job, or it left no archive' };
const absentFile = { status: 404, description: 'There is no such job, archive or file' };
const badPath = { status: 400, description: 'No file can have this path' };
const members = { status: 403, description: 'What the job left is for members of the project' };
const jobToken = () => ({ job_token: p.string({ description: 'Token of a running job' }) });
const named = () =>
  p.params({ job: p.string({ required: true, description: 'Name of the job' }), ...jobToken() });
const OF_REF =
  'Of the newest pipeline of the branch or tag that succeeded; otherwise of the pipelines that this one started.';

const archive = endpoint({
  method: 'GET',
  path: `${path}/:job_id/artifacts`,
  area,
  summary: 'Download the archive of a job',
  access: readers,
  jobTokens: true,
  params: ofJob,
  query: () => p.params(jobToken()),
  returns: { type: 'application/zip', redirect: LARGE_DOWNLOAD },
  errors: [members, absent],
  handle: async ({ actor, project, params }, deps) =>
    downloadArtifact(deps, await artifacts.archiveOfJob(deps, actor, project, params.job_id)),
});

const file = endpoint({
  method: 'GET',
  path: `${path}/:job_id/artifacts/*artifact_path`,
  area,
  summary: 'Download a file of the archive of a job',
  access: readers,
  jobTokens: true,
  params: () => p.params({ ...jobId(), ...artifactPath() }),
  query: () => p.params(jobToken()),
  returns: { type: 'application/octet-stream', redirect: LARGE_DOWNLOAD },
  errors: [badPath, members, absentFile],
  handle: async ({ actor, project, params }, deps) => {
    const found = await artifacts.archiveOfJob(deps, actor, project, params.job_id);
    return sendFile(deps, project.project, found, params.artifact_path);
  },
});

const fileOfRef = endpoint({
  method: 'GET',
  path: `${path}/artifacts/*ref_name/raw/*artifact_path`,
  area,
  summary: 'Download a file of the archive of the newest job of a name',
  description: OF_REF,
  access: readers,
  jobTokens: true,
  params: () => p.params({ ...refName(), ...artifactPath() }),
  query: named,
  returns: { type: 'application/octet-stream', redirect: LARGE_DOWNLOAD },
  errors: [badPath, members, absentFile],
  handle: async ({ actor, project, params, query }, deps) => {
    const found = await artifacts.archiveOfRef(deps, actor, project, params.ref_name, query.job);
    return sendFile(deps, project.project, found, params.artifact_path);
  },
});

const archiveOfRef = endpoint({
  method: 'GET',
  path: `${path}/artifacts/*ref_name/download`,
  area,
  summary: 'Download the archive of the newest job of a name',
  description: OF_REF,
  access: readers,
  jobTokens: true,
  params: () => p.params(refName()),
  query: named,
  returns: { type: 'application/zip', redirect: LARGE_DOWNLOAD },
  errors: [members, absent],
  handle: async ({ actor, project, params, query }, deps) =>
    downloadArtifact(deps, await artifacts.archiveOfRef(deps, actor, project, params.ref_name, query.job)),
});

async function sendFile(deps: ApiDeps, project: ProjectRecord, archive: JobArtifact, path: string) {
  const found = await archivedFile(deps, project, archive, path);
  const name = path.split('/').at(-1)!;
  return download(deps, found, {
    type: typeOf(name),
    // A page of a job must not run as one of this host.
    disposition: contentDisposition('attachment', name),
    headers: { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'private, no-store' },
  });
}

const keep = endpoint({
  method: 'POST',
  path: `${path}/:job_id/artifacts/keep`,
  area,
  summary: 'Update what a job left so that it does not expire',
  access: project('update_pipeline'),
  params: ofJob,
  returns: { status: 200, body: shapes.keptJob },
  errors: [absent],
  handle: async ({ project, params, request }, deps) => {
    const job = await artifacts.keepArtifacts(deps, project, params.job_id);
    const shown = await presentedJob(deps, project, job, request.baseUrl);
    const url = `${request.baseUrl}/api/v4/projects/${project.project.id}/jobs/${job.id}/artifacts`;
    return json({ ...shown, download_url: shown.artifacts_file === undefined ? null : url });
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:job_id/artifacts`,
  area,
  summary: 'Delete what a job left',
  description: 'Its trace stays.',
  access: project('destroy_artifacts'),
  params: ofJob,
  returns: { status: 204 },
  errors: [{ status: 404, description: 'There is no such job, or it left nothing' }],
  handle: async ({ project, params }, deps) => {
    await artifacts.deleteArtifacts(deps, project, params.job_id);
    return noContent();
  },
});

// A file before an archive: a path below `raw` may end in `download`.
export const artifactEndpoints = [archive, file, fileOfRef, archiveOfRef, keep, remove];
