/**
 * The predefined variables of pipelines and jobs, as the product documents them. What a runner knows itself (where it
 * builds, what it is) it adds, and so it does `CI_JOB_STATUS`.
 */

import { titleOf } from '../../git/commit-title.ts';
import type { CommitRecord } from '../../git/repository.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Deps } from '../deps.ts';
import { credential, type JobVariable, said } from './job-variables.ts';

/** The server that a job talks to. */
export interface ServerFacts {
  /** Public base URL without a trailing slash. */
  readonly baseUrl: string;
  /** Its name, and the release of the product whose interface it has. */
  readonly name: string;
  readonly version: string;
}

/** The release of the product whose interface this is. */
const SERVER_VERSION = '14.4.0';

export const serverFacts = ({ environment }: Pick<Deps, 'environment'>, baseUrl: string): ServerFacts => ({
  baseUrl,
  name: environment.serviceName,
  version: SERVER_VERSION,
});

export interface PipelineFacts {
  readonly server: ServerFacts;
  readonly project: ProjectRecord;
  readonly commit: CommitRecord;
  /** Short name. */
  readonly ref: string;
  readonly isTag: boolean;
  /** Whether the ref is protected. */
  readonly protected: boolean;
  readonly source: string;
  readonly beforeSha: string;
  readonly user: Pick<UserRecord, 'id' | 'username' | 'name' | 'email'>;
  readonly configPath: string;
  readonly mergeRequest?: MergeRequestFacts | undefined;
  /** Merge requests from the branch, as `group/project!1`; four at most are told. */
  readonly openMergeRequests?: readonly string[] | undefined;
}

export interface MergeRequestFacts {
  readonly id: number;
  readonly iid: number;
  readonly title: string;
  readonly sourceBranch: string;
  readonly targetBranch: string;
  /** That it belongs to; absent: that of the pipeline. */
  readonly project?: ProjectRecord | undefined;
  readonly sourceProject: ProjectRecord;
  readonly targetSha: string;
  readonly approved?: boolean | undefined;
  /** Usernames. */
  readonly assignees?: readonly string[] | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly milestone?: string | undefined;
  readonly diff?: { readonly id: number; readonly baseSha: string } | undefined;
}

/** What a pipeline has once it is numbered. */
export interface NumberedFacts {
  readonly server: ServerFacts;
  readonly project: ProjectRecord;
  readonly id: number;
  readonly iid: number;
  readonly createdAt: string;
  readonly triggered: boolean;
}

export interface JobFacts {
  readonly server: ServerFacts;
  readonly project: ProjectRecord;
  readonly id: number;
  readonly name: string;
  readonly stage: string;
  readonly startedAt: string | null;
  readonly manual: boolean;
  /** The job's token. */
  readonly token: string;
  readonly image?: string | undefined;
  /** Its place among those that one job became, from 1. */
  readonly parallel?: { readonly index: number; readonly total: number } | undefined;
  readonly environment?: EnvironmentFacts | undefined;
  readonly runner?: RunnerFacts | undefined;
}

export interface EnvironmentFacts {
  readonly name: string;
  readonly slug: string;
  readonly action?: string | undefined;
  readonly tier?: string | undefined;
  readonly url?: string | undefined;
}

export interface RunnerFacts {
  readonly id: number;
  readonly description: string;
  readonly tags: readonly string[];
}

/** Characters of a name that is part of a host name. */
const MAX_SLUG = 63;
const MAX_OPEN_REQUESTS = 4;

/** A name for host names: at most 63 of `a-z0-9-`, without dashes at its ends. */
export const nameSlug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '');

const urlOf = ({ baseUrl }: ServerFacts, { fullPath }: ProjectRecord): string => `${baseUrl}/${fullPath}`;

/** Leaves out what is undefined. */
const saidWhere = (texts: Readonly<Record<string, string | undefined>>): JobVariable[] =>
  Object.entries(texts).flatMap(([key, value]) => (value === undefined ? [] : [said(key, value)]));

function serverVariables({ baseUrl, name, version }: ServerFacts): JobVariable[] {
  const url = URL.parse(baseUrl);
  const [major = '', minor = '', patch = ''] = version.split('.');
  const protocol = url?.protocol.slice(0, -1) ?? '';
  return saidWhere({
    CI: 'true',
    GITLAB_CI: 'true',
    GITLAB_FEATURES: '',
    CI_SERVER: 'yes',
    CI_SERVER_HOST: url?.hostname ?? '',
    CI_SERVER_NAME: name,
    CI_SERVER_PORT: url?.port || (protocol === 'http' ? '80' : '443'),
    CI_SERVER_PROTOCOL: protocol,
    CI_SERVER_REVISION: '',
    CI_SERVER_URL: baseUrl,
    CI_SERVER_VERSION: version,
    CI_SERVER_VERSION_MAJOR: major,
    CI_SERVER_VERSION_MINOR: minor,
    CI_SERVER_VERSION_PATCH: patch,
    CI_API_V4_URL: `${baseUrl}/api/v4`,
  });
}

function projectVariables(server: ServerFacts, project: ProjectRecord, configPath: string): JobVariable[] {
  const { fullPath } = project;
  const end = fullPath.lastIndexOf('/');
  const namespace = fullPath.slice(0, Math.max(0, end));
  const label = project.settings['external_authorization_classification_label'];
  return saidWhere({
    CI_PROJECT_ID: String(project.id),
    CI_PROJECT_NAME: fullPath.slice(end + 1),
    CI_PROJECT_TITLE: project.name,
    CI_PROJECT_PATH: fullPath,
    CI_PROJECT_PATH_SLUG: nameSlug(fullPath),
    CI_PROJECT_NAMESPACE: namespace,
    CI_PROJECT_ROOT_NAMESPACE: namespace.split('/')[0]!,
    CI_PROJECT_URL: urlOf(server, project),
    CI_PROJECT_VISIBILITY: project.visibility,
    CI_PROJECT_REPOSITORY_LANGUAGES: (project.languages ?? []).join(',').toLowerCase(),
    CI_PROJECT_CLASSIFICATION_LABEL: typeof label === 'string' ? label : '',
    CI_PROJECT_CONFIG_PATH: configPath,
    CI_CONFIG_PATH: configPath,
    CI_DEFAULT_BRANCH: project.defaultBranch ?? '',
  });
}

function commitVariables({ commit, ref, isTag, mergeRequest, ...facts }: PipelineFacts): JobVariable[] {
  const { author, committer, message } = commit;
  const title = titleOf(message);
  return saidWhere({
    CI_COMMIT_SHA: commit.oid,
    CI_COMMIT_SHORT_SHA: commit.oid.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: facts.beforeSha,
    CI_COMMIT_REF_NAME: ref,
    CI_COMMIT_REF_SLUG: nameSlug(ref),
    CI_COMMIT_BRANCH: isTag || mergeRequest !== undefined ? undefined : ref,
    CI_COMMIT_TAG: isTag ? ref : undefined,
    CI_COMMIT_MESSAGE: message,
    CI_COMMIT_TITLE: title,
    CI_COMMIT_DESCRIPTION: message.trimStart().slice(title.length).trim(),
    CI_COMMIT_REF_PROTECTED: String(facts.protected),
    CI_COMMIT_TIMESTAMP: timeOf(committer),
    CI_COMMIT_AUTHOR: `${author.name} <${author.email}>`,
    CI_OPEN_MERGE_REQUESTS:
      facts.openMergeRequests === undefined || facts.openMergeRequests.length === 0
        ? undefined
        : facts.openMergeRequests.slice(0, MAX_OPEN_REQUESTS).join(','),
  });
}

/** `2021-10-20T15:02:11+02:00`: in the time zone of the commit; an invalid zone counts as UTC. */
function timeOf({ seconds, timezone }: CommitRecord['committer']): string {
  const [, sign, hours, minutes] = /^([+-])(\d\d)([0-5]\d)$/.exec(timezone) ?? [undefined, '+', '00', '00'];
  const ahead = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const local = new Date((seconds + ahead * 60) * 1000);
  const shown = Number.isNaN(local.getTime()) || local.getUTCFullYear() > 9999 ? new Date(0) : local;
  return `${shown.toISOString().slice(0, 19)}${sign}${hours}:${minutes}`;
}

function mergeRequestVariables({ server, commit, mergeRequest, ...facts }: PipelineFacts): JobVariable[] {
  if (mergeRequest === undefined) return [];
  const { project = facts.project } = mergeRequest;
  const { iid, sourceProject, labels, assignees, approved, diff } = mergeRequest;
  return saidWhere({
    CI_MERGE_REQUEST_ID: String(mergeRequest.id),
    CI_MERGE_REQUEST_IID: String(iid),
    CI_MERGE_REQUEST_REF_PATH: `refs/merge-requests/${iid}/head`,
    CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
    CI_MERGE_REQUEST_TITLE: mergeRequest.title,
    CI_MERGE_REQUEST_APPROVED: approved === true ? 'true' : undefined,
    CI_MERGE_REQUEST_ASSIGNEES: assignees?.length ? inWords(assignees) : undefined,
    CI_MERGE_REQUEST_LABELS: labels?.length ? labels.join(',') : undefined,
    CI_MERGE_REQUEST_MILESTONE: mergeRequest.milestone,
    CI_MERGE_REQUEST_PROJECT_ID: String(project.id),
    CI_MERGE_REQUEST_PROJECT_PATH: project.fullPath,
    CI_MERGE_REQUEST_PROJECT_URL: urlOf(server, project),
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: mergeRequest.sourceBranch,
    CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: commit.oid,
    CI_MERGE_REQUEST_SOURCE_PROJECT_ID: String(sourceProject.id),
    CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: sourceProject.fullPath,
    CI_MERGE_REQUEST_SOURCE_PROJECT_URL: urlOf(server, sourceProject),
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: mergeRequest.targetBranch,
    CI_MERGE_REQUEST_TARGET_BRANCH_SHA: mergeRequest.targetSha,
    CI_MERGE_REQUEST_DIFF_ID: diff && String(diff.id),
    CI_MERGE_REQUEST_DIFF_BASE_SHA: diff?.baseSha,
  });
}

/** `a`, `a and b`, `a, b, and c`. */
const inWords = (names: readonly string[]): string =>
  names.length < 3 ? names.join(' and ') : `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`;

/** What is known before a pipeline has a number: what conditions of its configuration can ask for. */
export const pipelineVariables = (facts: PipelineFacts): JobVariable[] => [
  ...serverVariables(facts.server),
  ...projectVariables(facts.server, facts.project, facts.configPath),
  said('CI_PIPELINE_SOURCE', facts.source),
  ...commitVariables(facts),
  ...mergeRequestVariables(facts),
  ...saidWhere({
    GITLAB_USER_ID: String(facts.user.id),
    GITLAB_USER_EMAIL: facts.user.email,
    GITLAB_USER_LOGIN: facts.user.username,
    GITLAB_USER_NAME: facts.user.name,
  }),
];

/** What jobs of a numbered pipeline have beside {@link pipelineVariables}. */
export const numberedVariables = (facts: NumberedFacts): JobVariable[] =>
  saidWhere({
    CI_PIPELINE_ID: String(facts.id),
    CI_PIPELINE_IID: String(facts.iid),
    CI_PIPELINE_CREATED_AT: facts.createdAt,
    CI_PIPELINE_URL: `${urlOf(facts.server, facts.project)}/-/pipelines/${facts.id}`,
    CI_PIPELINE_TRIGGERED: facts.triggered ? 'true' : undefined,
  });

/** What a job has of its own when a runner takes it. */
export function ownVariables(facts: JobFacts): JobVariable[] {
  const { server, project, environment, runner, parallel } = facts;
  const { token } = facts;
  return [
    ...saidWhere({
      CI_JOB_ID: String(facts.id),
      CI_JOB_URL: `${urlOf(server, project)}/-/jobs/${facts.id}`,
      CI_JOB_NAME: facts.name,
      CI_JOB_STAGE: facts.stage,
      CI_JOB_STARTED_AT: facts.startedAt ?? undefined,
      CI_JOB_MANUAL: facts.manual ? 'true' : undefined,
      CI_JOB_IMAGE: facts.image,
      CI_NODE_INDEX: parallel && String(parallel.index),
      CI_NODE_TOTAL: String(parallel?.total ?? 1),
      CI_ENVIRONMENT_NAME: environment?.name,
      CI_ENVIRONMENT_SLUG: environment?.slug,
      CI_ENVIRONMENT_ACTION: environment?.action,
      CI_ENVIRONMENT_TIER: environment?.tier,
      CI_ENVIRONMENT_URL: environment?.url,
      CI_RUNNER_ID: runner && String(runner.id),
      CI_RUNNER_DESCRIPTION: runner?.description,
      CI_RUNNER_TAGS: runner?.tags.join(', '),
    }),
    credential('CI_JOB_TOKEN', token),
    // The runner hides the token in it.
    { ...credential('CI_REPOSITORY_URL', repositoryUrl(facts)), masked: false },
  ];
}

/** Where the repository is cloned from, with the job's token. */
export function repositoryUrl({ server, project, token }: Pick<JobFacts, 'server' | 'project' | 'token'>) {
  const url = new URL(`${urlOf(server, project)}.git`);
  url.username = 'gitlab-ci-token';
  url.password = token;
  return url.href;
}
