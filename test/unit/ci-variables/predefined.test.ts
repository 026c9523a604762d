import { describe, expect, test } from 'vitest';
import type { JobVariable } from '../../../lib/domain/ci-variables/job-variables.ts';
import {
  type JobFacts,
  nameSlug,
  numberedVariables,
  ownVariables,
  type PipelineFacts,
  pipelineVariables,
} from '../../../lib/domain/ci-variables/predefined.ts';
import type { Oid } from '../../../lib/git/oid.ts';
import type { CommitRecord } from '../../../lib/git/repository.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';

const server = { baseUrl: 'https://git.example.com:8443', name: 'Lemnos', version: '14.4.0' };
const project = {
  id: 7,
  name: 'My Thing',
  path: 'thing',
  fullPath: 'Group/Sub.group/thing',
  visibility: 'internal',
  defaultBranch: 'main',
  languages: ['Go', 'Ruby'],
  settings: {},
} as unknown as ProjectRecord;
const sha = '0123456789abcdef0123456789abcdef01234567' as Oid;
const person = { name: 'Ann', email: 'ann@example.com', seconds: 1_600_000_000, timezone: '+0130' };
const commit = {
  oid: sha,
  message: 'Title\n\nFirst\nSecond\n',
  author: person,
  committer: person,
} as unknown as CommitRecord;
const facts: PipelineFacts = {
  server,
  project,
  commit,
  ref: 'Feature/Über_1',
  isTag: false,
  protected: true,
  source: 'push',
  beforeSha: '0'.repeat(40),
  user: { id: 3, username: 'bob', name: 'Bob', email: 'bob@example.com' },
  configPath: '.gitlab-ci.yml',
};
const textsOf = (variables: readonly JobVariable[]) =>
  Object.fromEntries(variables.map(({ key, value }) => [key, value]));

describe('a pipeline has', () => {
  test.each([
    ['CI', 'true'],
    ['GITLAB_CI', 'true'],
    ['CI_SERVER', 'yes'],
    ['CI_SERVER_HOST', 'git.example.com'],
    ['CI_SERVER_PORT', '8443'],
    ['CI_SERVER_PROTOCOL', 'https'],
    ['CI_SERVER_URL', 'https://git.example.com:8443'],
    ['CI_SERVER_VERSION', '14.4.0'],
    ['CI_SERVER_VERSION_MAJOR', '14'],
    ['CI_SERVER_VERSION_MINOR', '4'],
    ['CI_SERVER_VERSION_PATCH', '0'],
    ['CI_API_V4_URL', 'https://git.example.com:8443/api/v4'],
    ['CI_PROJECT_ID', '7'],
    ['CI_PROJECT_NAME', 'thing'],
    ['CI_PROJECT_TITLE', 'My Thing'],
    ['CI_PROJECT_PATH', 'Group/Sub.group/thing'],
    ['CI_PROJECT_PATH_SLUG', 'group-sub-group-thing'],
    ['CI_PROJECT_NAMESPACE', 'Group/Sub.group'],
    ['CI_PROJECT_ROOT_NAMESPACE', 'Group'],
    ['CI_PROJECT_URL', 'https://git.example.com:8443/Group/Sub.group/thing'],
    ['CI_PROJECT_VISIBILITY', 'internal'],
    ['CI_PROJECT_REPOSITORY_LANGUAGES', 'go,ruby'],
    ['CI_PROJECT_CONFIG_PATH', '.gitlab-ci.yml'],
    ['CI_DEFAULT_BRANCH', 'main'],
    ['CI_PIPELINE_SOURCE', 'push'],
    ['CI_COMMIT_SHA', sha],
    ['CI_COMMIT_SHORT_SHA', '01234567'],
    ['CI_COMMIT_BEFORE_SHA', '0'.repeat(40)],
    ['CI_COMMIT_REF_NAME', 'Feature/Über_1'],
    ['CI_COMMIT_REF_SLUG', 'feature--ber-1'],
    ['CI_COMMIT_BRANCH', 'Feature/Über_1'],
    ['CI_COMMIT_TAG', undefined],
    ['CI_COMMIT_REF_PROTECTED', 'true'],
    ['CI_COMMIT_MESSAGE', 'Title\n\nFirst\nSecond\n'],
    ['CI_COMMIT_TITLE', 'Title'],
    ['CI_COMMIT_DESCRIPTION', 'First\nSecond'],
    ['CI_COMMIT_TIMESTAMP', '2020-09-13T13:56:40+01:30'],
    ['CI_COMMIT_AUTHOR', 'Ann <ann@example.com>'],
    ['GITLAB_USER_ID', '3'],
    ['GITLAB_USER_LOGIN', 'bob'],
    ['GITLAB_USER_NAME', 'Bob'],
    ['GITLAB_USER_EMAIL', 'bob@example.com'],
    ['CI_MERGE_REQUEST_IID', undefined],
    ['CI_OPEN_MERGE_REQUESTS', undefined],
  ])('%s = %j', (key, value) => {
    expect(textsOf(pipelineVariables(facts))[key]).toBe(value);
  });

  test('public variables only, each once', () => {
    const all = pipelineVariables(facts);
    expect(all.every((each) => each.public && !each.masked)).toBe(true);
    expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
  });

  test('of a tag its name, and no branch', () => {
    const texts = textsOf(pipelineVariables({ ...facts, ref: 'v1.0', isTag: true }));
    expect(texts).toMatchObject({ CI_COMMIT_TAG: 'v1.0', CI_COMMIT_REF_SLUG: 'v1-0' });
    expect(texts).not.toHaveProperty('CI_COMMIT_BRANCH');
  });

  test('of a merge request what it is, and no branch', () => {
    const mergeRequest = {
      id: 50,
      iid: 4,
      title: 'Draft',
      sourceBranch: 'topic',
      targetBranch: 'main',
      sourceProject: { ...project, id: 8, fullPath: 'ann/thing' },
      targetSha: 'f'.repeat(40),
      assignees: ['ann', 'bob', 'cid'],
      labels: ['a', 'b'],
    };
    const texts = textsOf(pipelineVariables({ ...facts, ref: 'topic', mergeRequest }));
    expect(texts).toMatchObject({
      CI_MERGE_REQUEST_ID: '50',
      CI_MERGE_REQUEST_IID: '4',
      CI_MERGE_REQUEST_REF_PATH: 'refs/merge-requests/4/head',
      CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
      CI_MERGE_REQUEST_PROJECT_ID: '7',
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '8',
      CI_MERGE_REQUEST_SOURCE_PROJECT_URL: 'https://git.example.com:8443/ann/thing',
      CI_MERGE_REQUEST_TARGET_BRANCH_SHA: 'f'.repeat(40),
      CI_MERGE_REQUEST_ASSIGNEES: 'ann, bob, and cid',
      CI_MERGE_REQUEST_LABELS: 'a,b',
    });
    for (const absent of ['CI_COMMIT_BRANCH', 'CI_MERGE_REQUEST_APPROVED', 'CI_MERGE_REQUEST_MILESTONE'])
      expect(texts).not.toHaveProperty(absent);
  });

  test('when it has a number: its id, number and address', () => {
    const numbered = { server, project, id: 12, iid: 2, createdAt: '2030-01-01T00:00:00Z', triggered: true };
    expect(textsOf(numberedVariables(numbered))).toEqual({
      CI_PIPELINE_ID: '12',
      CI_PIPELINE_IID: '2',
      CI_PIPELINE_CREATED_AT: '2030-01-01T00:00:00Z',
      CI_PIPELINE_URL: 'https://git.example.com:8443/Group/Sub.group/thing/-/pipelines/12',
      CI_PIPELINE_TRIGGERED: 'true',
    });
    expect(textsOf(numberedVariables({ ...numbered, triggered: false }))).not.toHaveProperty(
      'CI_PIPELINE_TRIGGERED',
    );
  });
});

describe('a job has', () => {
  const job: JobFacts = {
    server,
    project,
    id: 99,
    name: 'test 1/2',
    stage: 'test',
    startedAt: '2030-01-01T00:00:00Z',
    manual: false,
    token: 'secret-of-the-job',
    image: 'alpine',
    parallel: { index: 1, total: 2 },
    environment: { name: 'review/a', slug: 'review-a-1', action: 'start', tier: 'development' },
    runner: { id: 5, description: 'small', tags: ['docker', 'linux'] },
  };

  test.each([
    ['CI_JOB_ID', '99'],
    ['CI_JOB_URL', 'https://git.example.com:8443/Group/Sub.group/thing/-/jobs/99'],
    ['CI_JOB_NAME', 'test 1/2'],
    ['CI_JOB_STAGE', 'test'],
    ['CI_JOB_STARTED_AT', '2030-01-01T00:00:00Z'],
    ['CI_JOB_MANUAL', undefined],
    ['CI_JOB_IMAGE', 'alpine'],
    ['CI_NODE_INDEX', '1'],
    ['CI_NODE_TOTAL', '2'],
    ['CI_ENVIRONMENT_NAME', 'review/a'],
    ['CI_ENVIRONMENT_SLUG', 'review-a-1'],
    ['CI_ENVIRONMENT_ACTION', 'start'],
    ['CI_ENVIRONMENT_TIER', 'development'],
    ['CI_ENVIRONMENT_URL', undefined],
    ['CI_RUNNER_ID', '5'],
    ['CI_RUNNER_DESCRIPTION', 'small'],
    ['CI_RUNNER_TAGS', 'docker, linux'],
    ['CI_JOB_TOKEN', 'secret-of-the-job'],
    [
      'CI_REPOSITORY_URL',
      'https://gitlab-ci-token:secret-of-the-job@git.example.com:8443/Group/Sub.group/thing.git',
    ],
  ])('%s = %j', (key, value) => {
    expect(textsOf(ownVariables(job))[key]).toBe(value);
  });

  test('its token hidden in traces, and its place only where there are several', () => {
    const all = ownVariables({ ...job, parallel: undefined });
    expect(all.filter((each) => !each.public).map(({ key }) => key)).toEqual([
      'CI_JOB_TOKEN',
      'CI_REPOSITORY_URL',
    ]);
    expect(all.filter(({ masked }) => masked).map(({ key }) => key)).toEqual(['CI_JOB_TOKEN']);
    expect(textsOf(all)).toMatchObject({ CI_NODE_TOTAL: '1' });
    expect(textsOf(all)).not.toHaveProperty('CI_NODE_INDEX');
  });
});

test.each([
  ['Main', 'main'],
  ['--a/b--', 'a-b'],
  ['x'.repeat(70), 'x'.repeat(63)],
  [`${'x'.repeat(62)}-y`, 'x'.repeat(62)],
])('the name %j is %j in host names', (name, slug) => {
  expect(nameSlug(name)).toBe(slug);
});
