import type { JobPayload } from '../../domain/job-requests/payload.ts';
import { type ArtifactFormat, archiveOf, FORMAT_OF_TYPE } from '../../records/artifacts.ts';
import { releaseCommand } from './release.ts';

/** Names of the files of reports, as runners send them. */
const REPORT_FILES: Readonly<Record<string, string>> = {
  junit: 'junit.xml',
  dotenv: '.env',
  cobertura: 'cobertura-coverage.xml',
  lsif: 'lsif.json',
  terraform: 'tfplan.json',
  metrics: 'metrics.txt',
};

/** A job as its runner gets it. */
export function jobPayload(payload: JobPayload) {
  const { job, spec, project, token, timeout, depth, variables } = payload;
  const { image, services = [], cache = [] } = spec;
  const branch = `+refs/heads/${job.ref}:refs/remotes/origin/${job.ref}`;
  const named = job.ref.startsWith('refs/') ? `+${job.ref}:${job.ref}` : branch;
  return {
    id: job.id,
    token,
    allow_git_fetch: project.settings['build_git_strategy'] !== 'clone',
    job_info: {
      id: job.id,
      name: job.name,
      stage: job.stage,
      project_id: project.id,
      project_name: project.path,
    },
    git_info: {
      repo_url: payload.repositoryUrl,
      ref: job.ref,
      sha: job.sha,
      before_sha: payload.beforeSha,
      ref_type: job.tag ? 'tag' : 'branch',
      refspecs: [job.tag ? `+refs/tags/${job.ref}:refs/tags/${job.ref}` : named],
      depth,
    },
    runner_info: { timeout, runner_session_url: null },
    variables: variables.map(({ key, value, public: isPublic, masked, file, raw }) => ({
      key,
      value,
      public: isPublic,
      masked,
      file,
      raw,
    })),
    steps: stepsOf(payload),
    image: image ?? null,
    services,
    artifacts: artifactsOf(payload),
    cache: cache.map((each) => ({ ...each, key: each['key'] ?? 'default' })),
    credentials: [],
    dependencies: payload.dependencies.map((job) => {
      const archive = archiveOf(job)!;
      return {
        id: job.id,
        name: job.name,
        token,
        artifacts_file: { filename: archive.filename, size: archive.size },
      };
    }),
    features: {
      trace_sections: true,
      failure_reasons: [
        'unknown_failure',
        'script_failure',
        'runner_system_failure',
        'job_execution_timeout',
      ],
    },
  };
}

function stepsOf({ spec, timeout }: JobPayload) {
  const script = [...(spec.beforeScript ?? []), ...spec.script];
  const required = { timeout, when: 'on_success', allow_failure: false };
  return [
    { name: 'script', script, ...required },
    ...(spec.release === undefined
      ? []
      : [{ name: 'release', script: [releaseCommand(spec.release)], ...required }]),
    ...(spec.afterScript === undefined || spec.afterScript.length === 0
      ? []
      : [{ name: 'after_script', script: spec.afterScript, timeout, when: 'always', allow_failure: true }]),
  ];
}

function artifactsOf({ spec }: JobPayload) {
  const { artifacts } = spec;
  if (artifacts === undefined) return [];
  const { reports = {}, paths, untracked, exclude, when = 'on_success', name, expire_in } = artifacts;
  const expiry = expire_in === undefined ? {} : { expire_in };
  const archive =
    paths === undefined && untracked !== true
      ? []
      : [
          {
            ...(name === undefined ? {} : { name }),
            untracked: untracked === true,
            paths: paths ?? [],
            ...(exclude === undefined ? {} : { exclude }),
            when,
            ...expiry,
            artifact_type: 'archive',
            artifact_format: 'zip',
          },
        ];
  const reported = Object.entries(reports as Readonly<Record<string, unknown>>).map(([kind, given]) => {
    const type = kind === 'coverage_report' ? 'cobertura' : kind;
    const files = kind === 'coverage_report' ? [(given as { path?: string }).path ?? ''] : given;
    return {
      name: REPORT_FILES[type] ?? `gl-${type.replaceAll('_', '-')}-report.json`,
      paths: files,
      when: 'always',
      ...expiry,
      artifact_type: type,
      artifact_format: (FORMAT_OF_TYPE as Readonly<Record<string, ArtifactFormat>>)[type] ?? 'raw',
    };
  });
  return [...archive, ...reported];
}
