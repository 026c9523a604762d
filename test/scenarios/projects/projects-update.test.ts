import { describe, expect, test, vi } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();

let count = 0;
const fresh = (prefix = 'fresh') => `${prefix}-${++count}`;
async function made(who: Who, more: Record<string, unknown> = {}) {
  const answer = await as(who, 'POST', '/projects', { name: fresh(), ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
async function group(more: Record<string, unknown> = {}) {
  const path = fresh('group');
  const answer = await as('owner', 'POST', '/groups', { name: path, path, ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
const put = (id: number, json: unknown, who: Who = 'owner') => as(who, 'PUT', `/projects/${id}`, json);
const get = async (id: number | string, who: Who = 'owner') =>
  as(who, 'GET', `/projects/${typeof id === 'number' ? id : encodeURIComponent(id)}`);

// Who may at all: `test/matrix`.
describe('permission to change a project: visibility is for Owners, and an update without parameters is refused', () => {
  scenarios(
    () => world,
    [
      {
        // Whether or not it is another.
        request: 'PUT /projects/{public}',
        json: { visibility: 'public' },
        as: { maintainer: 403, owner: 200, administrator: 200 },
      },
      {
        request: 'PUT /projects/{public}',
        json: {},
        as: {
          maintainer: {
            status: 400,
            holds: {
              error: expect.stringMatching(
                /^name, visibility, path, .* are missing, at least one parameter must be provided$/,
              ),
            },
          },
        },
      },
      { request: 'PUT /projects/999999', json: { name: 'x' }, as: { owner: 404, administrator: 404 } },
    ],
  );
});

describe('a refused update changes nothing', () => {
  test.each<[Record<string, unknown>, unknown]>([
    [{ name: '' }, { message: { name: ["can't be blank"] } }],
    [{ name: null }, { message: { name: ["can't be blank"] } }],
    [{ name: '<b>' }, { message: { name: [expect.stringContaining('can contain only')] } }],
    [{ path: '' }, { message: { path: ["can't be blank"] } }],
    [{ path: null }, { message: { path: ["can't be blank"] } }],
    [{ path: 'a/b', name: 'fine' }, { message: { path: [expect.stringContaining('can contain only')] } }],
    [{ path: 'tree' }, { message: { path: ['tree is a reserved name'] } }],
    [{ path: 'Public-Thing' }, { message: { path: ['has already been taken'] } }],
    [{ path: 'x'.repeat(256) }, { message: { path: ['is too long (maximum is 255 characters)'] } }],
    [
      { description: 'x'.repeat(2001) },
      { message: { description: ['is too long (maximum is 2000 characters)'] } },
    ],
    [
      { topics: Array.from({ length: 101 }, (_, i) => `t${i}`) },
      { message: { topics: ['is too long (maximum is 100 topics)'] } },
    ],
    [{ visibility: 'secret' }, { error: 'visibility does not have a valid value' }],
    [
      { default_branch: 'none' },
      { message: { base: ["Could not change HEAD: branch 'none' does not exist"] } },
    ],
    [
      { default_branch: 'no..name' },
      { message: { base: ["Could not change HEAD: branch 'no..name' does not exist"] } },
    ],
    [{ issues_access_level: 'some' }, { error: 'issues_access_level does not have a valid value' }],
    [{ wiki_enabled: 'perhaps' }, { error: 'wiki_enabled is invalid' }],
    [{ build_timeout: 1 }, { error: 'build_timeout does not have a valid value' }],
    [{ squash_option: 'maybe' }, { error: 'squash_option does not have a valid value' }],
    [
      { import_url: 'file:///etc/passwd' },
      { message: { import_url: [expect.stringContaining('is blocked')] } },
    ],
    [{ description: 'a\u0000b' }, { error: expect.any(String) }],
  ])('for %j', async (json, body) => {
    const before = (await get(world.ids['private']!)).body;
    const answer = await put(world.ids['private']!, { ...json, topics: json['topics'] ?? ['never'] });
    expect([answer.status, answer.body]).toEqual([400, body]);
    expect((await get(world.ids['private']!)).body).toEqual(before);
  });

  test('for an unknown storage', async () => {
    const storage = { repository_storage: 'elsewhere', mirror_user_id: 1, description: 'd' };
    const { id } = await made('owner');
    const refused = await put(id, storage, 'administrator');
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: { repository_storage: ['is not included in the list'] } },
    ]);
    // Nobody else decides that.
    const ignored = await put(id, storage);
    expect(ignored.status).toBe(200);
    expect(ignored.body.mirror_user_id).toBeNull();
    expect((await put(id, { mirror_user_id: 1 }, 'administrator')).body.mirror_user_id).toBe(1);
  });
});

test('every setting is stored and shown, and settings not given stay unchanged', async () => {
  const { id } = await made('owner', { topics: ['old'], description: 'old' });
  const levels = {
    analytics_access_level: 'private',
    builds_access_level: 'private',
    container_registry_access_level: 'disabled',
    forking_access_level: 'disabled',
    issues_access_level: 'disabled',
    merge_requests_access_level: 'private',
    operations_access_level: 'disabled',
    pages_access_level: 'public',
    repository_access_level: 'private',
    requirements_access_level: 'public',
    snippets_access_level: 'private',
    wiki_access_level: 'disabled',
  };
  const plain = {
    allow_merge_on_skipped_pipeline: true,
    approvals_before_merge: 2,
    auto_cancel_pending_pipelines: 'disabled',
    auto_devops_deploy_strategy: 'manual',
    auto_devops_enabled: true,
    autoclose_referenced_issues: false,
    build_coverage_regex: '(\\d+)%',
    build_git_strategy: 'clone',
    build_timeout: 7200,
    ci_config_path: 'ci.yml',
    ci_default_git_depth: 10,
    ci_forward_deployment_enabled: false,
    emails_disabled: true,
    external_authorization_classification_label: 'label',
    issues_template: 'issue',
    keep_latest_artifact: false,
    lfs_enabled: false,
    merge_method: 'ff',
    merge_requests_template: 'request',
    mirror: true,
    mirror_overwrites_diverged_branches: true,
    mirror_trigger_builds: true,
    only_allow_merge_if_all_discussions_are_resolved: true,
    only_allow_merge_if_pipeline_succeeds: true,
    only_mirror_protected_branches: true,
    packages_enabled: false,
    printing_merge_request_link_enabled: false,
    remove_source_branch_after_merge: false,
    request_access_enabled: false,
    resolve_outdated_diff_discussions: true,
    restrict_user_defined_variables: true,
    service_desk_enabled: true,
    shared_runners_enabled: false,
    show_default_award_emojis: false,
    squash_option: 'always',
    suggestion_commit_message: 'apply',
    merge_commit_template: 'Merge %{title}',
    squash_commit_template: '%{title}',
  };
  const given = { ...levels, ...plain };
  const policy = { cadence: '7d', keep_n: 5, enabled: true };
  const answer = await put(id, {
    ...given,
    public_builds: false,
    container_expiration_policy_attributes: policy,
    import_url: 'https://user:secret@git.example.com/a.git',
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(answer.body).toMatchObject({
    ...given,
    public_jobs: false,
    container_expiration_policy: policy,
    import_url: 'https://git.example.com/a.git',
    issues_enabled: false,
    wiki_enabled: false,
    snippets_enabled: true,
    jobs_enabled: true,
    topics: ['old'],
    description: 'old',
  });
  expect(answer.body._links).not.toHaveProperty('issues');
  // The token with which runners register is made when it is first asked for.
  expect((await get(id)).body).toEqual({ ...answer.body, runners_token: expect.any(String) });

  const second = await put(id, {
    issues_enabled: true,
    wiki_enabled: true,
    wiki_access_level: 'private',
    tag_list: 'x, y ,x,',
    description: null,
    build_coverage_regex: null,
    import_url: '',
  });
  expect(second.body).toMatchObject({
    ...given,
    issues_access_level: 'enabled',
    wiki_access_level: 'private',
    topics: ['x', 'y'],
    tag_list: ['x', 'y'],
    description: null,
    build_coverage_regex: null,
    import_url: null,
  });
  expect((await put(id, { topics: ['z'], tag_list: ['not'] })).body.topics).toEqual(['z']);
});

test('feature access levels take effect at once', async () => {
  const project = await made('owner', { visibility: 'public', initialize_with_readme: true });
  const code = (who: Who) => as(who, 'GET', `/projects/${project.id}/repository/tree`);
  const fork = (who: Who) => as(who, 'POST', `/projects/${project.id}/fork`, { path: fresh() });
  expect([(await code('stranger')).status, (await fork('stranger')).status]).toEqual([200, 201]);
  await put(project.id, { forking_access_level: 'private' });
  expect((await fork('stranger')).status).toBe(404);
  await put(project.id, { repository_access_level: 'private' });
  expect([(await code('stranger')).status, (await code('owner')).status]).toEqual([403, 200]);
  await put(project.id, { repository_access_level: 'disabled' });
  expect((await code('owner')).status).toBe(403);
  await put(project.id, { repository_access_level: 'enabled' });
  expect((await code('anonymous')).status).toBe(200);
});

test.each([
  ['merge_requests', ['merge_requests']],
  ['snippets', ['snippets']],
  ['operations', ['environments', 'deployments', 'alerts', 'error_tracking/errors']],
])('%s_access_level keeps its feature to members, or takes it from everybody', async (feature, lists) => {
  const { body } = await as('owner', 'POST', '/projects', { name: `with ${feature}`, visibility: 'public' });
  const path = `/projects/${body.id}`;
  const statuses = (who: Who) =>
    Promise.all(lists.map(async (list) => (await as(who, 'GET', `${path}/${list}`)).status));
  const each = (status: number) => lists.map(() => status);
  const level = (value: string) => as('owner', 'PUT', path, { [`${feature}_access_level`]: value });
  const open = await statuses('stranger');
  expect(await statuses('owner')).toEqual(each(200));
  expect(open[0]).toBe(200);
  await level('private');
  expect(await statuses('owner')).toEqual(each(200));
  expect(await statuses('stranger')).toEqual(each(403));
  await level('disabled');
  for (const who of ['owner', 'stranger', 'administrator'] as const)
    expect(await statuses(who)).toEqual(each(403));
  await level('enabled');
  expect(await statuses('owner')).toEqual(each(200));
  expect(await statuses('stranger')).toEqual(open);
  await as('owner', 'DELETE', path);
});

test('the former path of a renamed project redirects until it is taken', async () => {
  const project = await made('owner', { path: 'first-path' });
  const renamed = await put(project.id, { name: 'Second', path: 'second-path' });
  expect(renamed.body).toMatchObject({
    name: 'Second',
    path_with_namespace: 'owner/second-path',
    http_url_to_repo: expect.stringContaining('/owner/second-path.git'),
  });
  expect((await get('owner/First-Path')).body).toEqual({
    ...renamed.body,
    runners_token: expect.any(String),
  });
  expect((await get('owner/first-path', 'stranger')).status).toBe(404);
  // Of a creation and a renaming to the same path, one wins.
  const outcomes = await Promise.all([
    put(world.ids['internal']!, { path: 'first-path' }),
    as('owner', 'POST', '/projects', { name: 'first-path' }),
  ]);
  expect(outcomes.map(({ status }) => status).filter((status) => status === 400)).toHaveLength(1);
  expect((await get('owner/first-path')).body.id).not.toBe(project.id);
  await put(world.ids['internal']!, { path: 'internal-thing' });
  expect((await put(project.id, { path: 'SECOND-path' })).body.path).toBe('SECOND-path');
});

test('a new default branch moves HEAD and is protected; an empty name leaves it', async () => {
  const project = await made('owner', { initialize_with_readme: true });
  const repository = `/projects/${project.id}/repository`;
  await as('owner', 'POST', `${repository}/branches`, { branch: 'next/one', ref: 'main' });
  const moved = await put(project.id, { default_branch: 'next/one' });
  expect([moved.status, moved.body.default_branch]).toEqual([200, 'next/one']);
  const unset = await put(project.id, { default_branch: '' });
  expect([unset.status, unset.body.default_branch]).toEqual([200, 'next/one']);
  const branches = (await as('owner', 'GET', `${repository}/branches`)).body;
  expect(branches).toMatchObject([
    { name: 'main', default: false },
    { name: 'next/one', default: true, protected: true },
  ]);
  // The former one may go, this one may not.
  const gone = (name: string) =>
    as('owner', 'DELETE', `${repository}/branches/${encodeURIComponent(name)}`).then(({ status }) => status);
  expect(await gone('next/one')).toBe(400);
  await as('owner', 'DELETE', `/projects/${project.id}/protected_branches/main`);
  expect(await gone('main')).toBe(204);
  // Of a deletion and a change to the branch, whichever comes first holds.
  await as('owner', 'POST', `${repository}/branches`, { branch: 'torn', ref: 'next/one' });
  const [changed, deleted] = await Promise.all([put(project.id, { default_branch: 'torn' }), gone('torn')]);
  const head = (await get(project.id)).body.default_branch;
  if (changed.status === 200) expect(head).toBe('torn');
  else expect([changed.status, deleted, head]).toEqual([400, 204, 'next/one']);
});

test('a project cannot be more visible than its group', async () => {
  const inside = await group({ visibility: 'internal' });
  const project = await made('owner', { namespace_id: inside.id });
  const refused = await put(project.id, { visibility: 'public' });
  expect([refused.status, refused.body]).toEqual([
    400,
    { message: { visibility_level: ['public is not allowed in a internal group.'] } },
  ]);
  expect((await put(project.id, { visibility: 'internal' })).status).toBe(200);
  expect((await get(project.id, 'stranger')).status).toBe(200);
  // Of both at once, one is told: never a project above its group.
  const outcomes = await Promise.all([
    as('owner', 'PUT', `/groups/${inside.id}`, { visibility: 'private' }),
    put(project.id, { visibility: 'internal', description: 'd' }),
  ]);
  expect(outcomes[0]!.status).toBe(400);
  await put(project.id, { visibility: 'private' });
  const race = await Promise.all([
    as('owner', 'PUT', `/groups/${inside.id}`, { visibility: 'private' }),
    put(project.id, { visibility: 'internal' }),
  ]);
  expect(race.map(({ status }) => status).sort()[1]).toBeGreaterThanOrEqual(400);
});

test('a project made less visible leaves its fork network', async () => {
  const source = await made('owner', { visibility: 'public', initialize_with_readme: true });
  const fork = (await as('stranger', 'POST', `/projects/${source.id}/fork`, { path: fresh() })).body;
  const below = (await as('guest', 'POST', `/projects/${fork.id}/fork`, { path: fresh() })).body;
  await expect
    .poll(async () => (await get(below.id, 'guest')).body.forked_from_project)
    .toMatchObject({ id: fork.id });
  expect((await put(fork.id, { visibility: 'private' }, 'stranger')).status).toBe(200);
  await vi.waitFor(async () => {
    const now = (await get(fork.id, 'stranger')).body;
    expect([now.forks_count, now.forked_from_project]).toEqual([0, undefined]);
    expect((await get(source.id)).body.forks_count).toBe(0);
    expect((await get(below.id, 'guest')).body).not.toHaveProperty('forked_from_project');
  }, 60_000);
  // A fork is never above what it is a fork of.
  const tame = (await as('guest', 'POST', `/projects/${world.ids['internal']}/fork`, { path: fresh() })).body;
  const refused = await put(tame.id, { visibility: 'public' }, 'guest');
  expect(refused.body).toEqual({
    message: {
      visibility_level: ['public is not allowed since the fork source project has lower visibility.'],
    },
  });
});

test('simultaneous updates of different settings are all kept', async () => {
  const { id } = await made('owner');
  const answers = await Promise.all([
    put(id, { description: 'one' }),
    put(id, { merge_method: 'ff' }),
    put(id, { topics: ['t'] }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await get(id)).body).toMatchObject({ description: 'one', merge_method: 'ff', topics: ['t'] });
});
