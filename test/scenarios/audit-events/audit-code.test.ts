/** What is recorded of rules for branches and tags, of the default branch, and of downloads of repositories. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { recordedBy, type Told } from '../../harness/audit.ts';
import { ownService } from '../../harness/own-service.ts';
import type { Answer } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

interface Person {
  readonly id: number;
  readonly username: string;
  readonly token: string;
}

const service = ownService({ background: false });
let ada: Person;
let pushed: Pushed;
let base: string;
beforeAll(async () => {
  ada = await service.user('ada');
  pushed = await newProject('first');
  base = `/projects/${pushed.id}`;
});

const newProject = (name: string) =>
  pushedProject(service, ada, name, (git) => {
    git.feed(
      `commit refs/heads/main\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\nM 100644 inline docs/a\ndata 2\na\n\n`,
      'fast-import',
      '--quiet',
    );
    git.git('branch', 'develop');
    git.git('tag', 'v1');
  });
const as = (person: Person | undefined, method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, {
    ...(person === undefined ? {} : { token: person.token }),
    ...(json === undefined ? {} : { json }),
  });
const levels = (push: string, merge: string) => ({
  push_access_levels: [push],
  merge_access_levels: [merge],
});
const of = (project: Pushed, by = 'ada') => ({ of: `Project ${project.id}`, by });
const branchRule = (name: string) => ({
  target_id: expect.any(Number),
  target_type: 'ProtectedBranch',
  target_details: name,
});

describe('audit events of the first push', () => {
  test('do not include the automatic protection of the default branch, which nobody requested', async () => {
    let second: Pushed | undefined;
    const events = await recordedBy(service, async () => {
      second = await newProject('second');
    });
    const rules = events.filter((event) => event['add'] === 'protected_branch');
    expect(rules).toEqual([
      {
        ...of(second!, '(System)'),
        add: 'protected_branch',
        ...branchRule('main'),
        ...levels('Maintainers', 'Maintainers'),
        allow_force_push: false,
      },
    ]);
  });
});

describe('audit events of branch protection rules', () => {
  test('record creation and deletion exactly once', async () => {
    const json = { name: 'release/*', push_access_level: 0, merge_access_level: 30, allow_force_push: true };
    const make = () => as(ada, 'POST', `${base}/protected_branches`, json);
    const rule = {
      ...of(pushed),
      ...branchRule('release/*'),
      ...levels('No one', 'Developers + Maintainers'),
      allow_force_push: true,
    };
    expect(await recordedBy(service, () => Promise.all([make(), make(), make()]))).toEqual([
      { ...rule, add: 'protected_branch' },
    ]);
    expect(await recordedBy(service, make), 'there already').toEqual([]);
    const remove = () => as(ada, 'DELETE', `${base}/protected_branches/release%2F*`);
    expect(await recordedBy(service, () => Promise.all([remove(), remove(), remove()]))).toEqual([
      { ...rule, remove: 'protected_branch' },
    ]);
    expect(await recordedBy(service, remove), 'gone').toEqual([]);
    const blank = () => as(ada, 'POST', `${base}/protected_branches`, { name: ' ' });
    expect(await recordedBy(service, blank)).toEqual([]);
  });

  test('record each level changed through the branch endpoint, and nothing when nothing changes', async () => {
    const at = `${base}/repository/branches/develop`;
    const protect = (json: object) => () => as(ada, 'PUT', `${at}/protect`, json);
    const rule = { ...of(pushed), ...branchRule('develop') };
    expect(await recordedBy(service, protect({ developers_can_push: true }))).toEqual([
      {
        ...rule,
        add: 'protected_branch',
        ...levels('Developers + Maintainers', 'Maintainers'),
        allow_force_push: false,
      },
    ]);
    expect(await recordedBy(service, protect({ developers_can_push: true })), 'unchanged').toEqual([]);
    const [all, few] = ['Developers + Maintainers', 'Maintainers'];
    const changed = (change: string, from: string, to: string) => ({ ...rule, change, from, to });
    const both = protect({ developers_can_push: false, developers_can_merge: true });
    expect(sorted(await recordedBy(service, both))).toEqual(
      sorted([changed('allowed to push', all, few), changed('allowed to merge', few, all)]),
    );
    // Of many who change the same, each changes what there is: one event.
    const many = () => Promise.all([1, 2, 3, 4].map(protect({ developers_can_merge: false })));
    expect(await recordedBy(service, many)).toEqual([changed('allowed to merge', all, few)]);
    const unprotect = () => as(ada, 'PUT', `${at}/unprotect`);
    expect(await recordedBy(service, unprotect)).toMatchObject([{ ...rule, remove: 'protected_branch' }]);
    expect(await recordedBy(service, unprotect)).toEqual([]);
  });
});

test('audit events record the creation and deletion of tag protection rules', async () => {
  const json = { name: 'v*', create_access_level: 30 };
  const rule = {
    ...of(pushed),
    target_type: 'ProtectedTag',
    target_details: 'v*',
    create_access_levels: ['Developers + Maintainers'],
  };
  const make = () => as(ada, 'POST', `${base}/protected_tags`, json);
  expect(await recordedBy(service, make)).toEqual([{ ...rule, add: 'protected_tag' }]);
  expect(await recordedBy(service, make)).toEqual([]);
  const remove = () => as(ada, 'DELETE', `${base}/protected_tags/v*`);
  expect(await recordedBy(service, remove)).toEqual([{ ...rule, remove: 'protected_tag' }]);
  expect(await recordedBy(service, remove)).toEqual([]);
});

test('audit events record that environments are protected and unprotected', async () => {
  const json = { name: 'live', deploy_access_levels: [{ access_level: 40 }] };
  const rule = {
    ...of(pushed),
    target_type: 'ProtectedEnvironment',
    target_details: 'live',
    deploy_access_levels: ['Maintainers'],
  };
  const make = () => as(ada, 'POST', `${base}/protected_environments`, json);
  expect(await recordedBy(service, make)).toEqual([{ ...rule, add: 'protected_environment' }]);
  expect(await recordedBy(service, make)).toEqual([]);
  const remove = () => as(ada, 'DELETE', `${base}/protected_environments/live`);
  expect(await recordedBy(service, remove)).toEqual([{ ...rule, remove: 'protected_environment' }]);
  expect(await recordedBy(service, remove)).toEqual([]);
});

test('a change of the default branch is audited together with the protection rule it creates', async () => {
  const path = (await as(ada, 'GET', base)).body.path_with_namespace;
  const change = (branch: string) => () => as(ada, 'PUT', base, { default_branch: branch });
  expect(sorted(await recordedBy(service, change('develop')))).toEqual(
    sorted([
      {
        ...of(pushed),
        custom_message: 'Default branch changed from main to develop',
        target_id: pushed.id,
        target_type: 'Project',
        target_details: path,
      },
      {
        ...of(pushed),
        add: 'protected_branch',
        ...branchRule('develop'),
        ...levels('Maintainers', 'Maintainers'),
        allow_force_push: false,
      },
    ]),
  );
  expect(await recordedBy(service, change('develop')), 'the same').toEqual([]);
  expect(await recordedBy(service, change('absent')), 'none').toEqual([]);
});

describe('audit events of downloads', () => {
  const at = () => `${base}/repository/archive`;
  const download =
    (by: string, author?: Person) =>
    async (query: string, method = 'GET') => {
      const events = await recordedBy(service, () => as(author, method, `${at()}${query}`));
      for (const event of events)
        expect(event).toMatchObject({ ...of(pushed, by), custom_message: 'Repository Download Started' });
      return events.length;
    };

  test('name the caller; a refused download is not recorded', async () => {
    const cleo = await service.user('cleo');
    const [mine, theirs] = [download('ada', ada), download('cleo', cleo)];
    expect(await mine(''), 'made').toBe(1);
    expect(await mine(''), 'kept').toBe(1);
    expect(await mine('.zip?path=docs'), 'a directory').toBe(1);
    expect(await theirs('.tar?sha=v1')).toBe(1);
    expect(await theirs('.tar?sha=v1', 'HEAD'), 'only asked about').toBe(0);
    expect(await theirs('?sha=absent'), 'no revision').toBe(0);
    expect(await theirs('?path=absent'), 'no directory').toBe(0);
    const nobody = download('An unauthenticated user');
    expect(await nobody('.tar?sha=develop')).toBe(1);
  });

  test('are not recorded for requests beyond the limit of a minute, which are refused', async () => {
    const dan = await service.user('dan');
    await changeSettings(service, { archive_download_limit: 5 });
    onTestFinished(() => changeSettings(service, { archive_download_limit: 60 }));
    const statuses: number[] = [];
    const events = await recordedBy(service, async () => {
      for (let n = 0; n < 11; n++) statuses.push((await as(dan, 'GET', `${at()}.tar`)).status);
    });
    // A minute may end in between.
    expect(statuses).toContain(429);
    expect(events).toHaveLength(statuses.filter((status) => status === 200).length);
  });

  test('are not recorded for hidden projects', async () => {
    const hidden = (await as(ada, 'POST', '/projects', { name: 'Hidden', visibility: 'private' })).body;
    const eve = await service.user('eve');
    const events = await recordedBy(service, async () => {
      for (const who of [eve, undefined])
        expect((await as(who, 'GET', `/projects/${hidden.id}/repository/archive`)).status).toBe(404);
    });
    expect(events).toEqual([]);
  });
});

const sorted = (events: readonly Told[] | readonly object[]) =>
  events.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
const keyOf = (event: object) => Object.keys(event).sort().join() + String((event as Told)['change']);
