import { beforeAll, describe, expect, test } from 'vitest';
import { auditOf } from '../../harness/audit-events.ts';
import { doneAs } from '../../harness/done.ts';
import { ownService } from '../../harness/own-service.ts';
import type { Answer, Service } from '../../harness/service.ts';

const service = ownService();
type Person = Awaited<ReturnType<Service['user']>>;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  [ada, bob] = [await service.user('ada'), await service.user('bob')];
});

type Kind = 'User' | 'Group' | 'Project';

const call = async (method: string, path: string, json?: unknown, token = ada.token): Promise<Answer> =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
const done = (method: string, path: string, json?: unknown, token = ada.token) =>
  doneAs(service, token, method, path, json);
const events = (kind: Kind, id: number) => auditOf(service, kind, id);

let names = 0;
const fresh = (what: string) => `${what}-${++names}`;
const newGroup = async (more: object = {}) => {
  const path = fresh('group');
  return (await done('POST', '/groups', { name: path, path, ...more })).body as {
    id: number;
    path: string;
    full_path: string;
  };
};
const newProject = async (more: object = {}, token?: string) =>
  (await done('POST', '/projects', { name: fresh('project'), ...more }, token)).body as {
    id: number;
    name: string;
    path_with_namespace: string;
  };

/** What the service says of an author beside the details of the act. */
const by = (person: Person | null) => ({
  correlation_id: expect.any(String) as string,
  ...(person === null
    ? { author_name: '(System)', author_class: 'System', ip_address: null }
    : {
        author_name: person.username,
        author_email: `${person.username}@example.com`,
        author_class: 'User',
        ip_address: '127.0.0.1',
      }),
});
const the = (kind: Kind, id: number | string, details: string) => ({
  target_id: id,
  target_type: kind,
  target_details: details,
});
const whole = (kind: 'Group' | 'Project', id: number, path: string) => ({
  ...the(kind, id, path),
  entity_path: path,
});

interface Subject {
  readonly kind: 'Group' | 'Project';
  readonly id: number;
  readonly path: string;
}

/** An act, with the events of one subject that it is to leave, the newest first. */
interface Act {
  readonly name: string;
  readonly first?: (subject: Subject) => Promise<unknown>;
  readonly act: (subject: Subject) => Promise<unknown>;
  readonly leaves: (subject: Subject) => readonly object[];
}

const GROUP_ACTS: Act[] = [
  {
    name: 'a name',
    act: ({ id }) => done('PUT', `/groups/${id}`, { name: 'Other' }),
    leaves: ({ id, path }) => [{ change: 'name', from: path, to: 'Other', ...whole('Group', id, path) }],
  },
  {
    name: 'a path',
    act: ({ id, path }) => done('PUT', `/groups/${id}`, { path: `${path}x` }),
    leaves: ({ id, path }) => [
      { change: 'path', from: path, to: `${path}x`, ...whole('Group', id, `${path}x`) },
    ],
  },
  {
    name: 'a visibility',
    act: ({ id }) => done('PUT', `/groups/${id}`, { visibility: 'internal' }),
    leaves: ({ id, path }) => [
      { change: 'visibility', from: 'Private', to: 'Internal', ...whole('Group', id, path) },
    ],
  },
  ...Object.entries({
    lfs_enabled: [true, false],
    membership_lock: [false, true],
    request_access_enabled: [true, false],
    require_two_factor_authentication: [false, true],
    two_factor_grace_period: [48, 24],
    project_creation_level: ['developer', 'noone'],
    subgroup_creation_level: ['maintainer', 'owner'],
    share_with_group_lock: [false, true],
    shared_runners_minutes_limit: [null, 7],
  } as const).map(
    ([name, [from, to]]): Act => ({
      name,
      act: async ({ id }) => {
        await done('PUT', `/groups/${id}`, { [name]: to });
        // Nothing changes by what is so.
        await done('PUT', `/groups/${id}`, { [name]: to });
      },
      leaves: ({ id, path }) => [
        {
          change: name,
          from: from === null ? '' : String(from),
          to: String(to),
          ...whole('Group', id, path),
        },
      ],
    }),
  ),
  {
    name: 'nothing, where nothing that matters changes',
    act: ({ id, path }) => done('PUT', `/groups/${id}`, { name: path, path, description: 'Other words' }),
    leaves: () => [],
  },
  {
    name: 'no refusal',
    act: async ({ id }) => {
      expect((await call('PUT', `/groups/${id}`, { path: '-' })).status).toBe(400);
      expect((await call('PUT', `/groups/${id}`, { name: 'Mine' }, bob.token)).status).toBe(404);
      expect((await call('DELETE', `/groups/${id}`, undefined, bob.token)).status).toBe(404);
      expect((await call('POST', `/groups/${id}/members`, { user_id: bob.id, access_level: 7 })).status).toBe(
        400,
      );
    },
    leaves: () => [],
  },
  {
    name: 'a transfer, and that it is less visible there',
    first: ({ id }) => done('PUT', `/groups/${id}`, { visibility: 'public' }),
    act: async ({ id }) => {
      const { id: into } = await newGroup();
      await done('POST', `/groups/${id}/transfer`, { group_id: into });
    },
    leaves: ({ id, path }) => {
      const to = expect.stringMatching(new RegExp(`^group-\\d+/${path}$`)) as string;
      return [
        { change: 'namespace', from: path, to, ...whole('Group', id, to) },
        { change: 'visibility', from: 'Public', to: 'Private', ...whole('Group', id, to) },
      ];
    },
  },
  {
    name: 'an invitation of a group, and its end',
    act: async ({ id }) => {
      const other = await newGroup();
      await done('POST', `/groups/${id}/share`, {
        group_id: other.id,
        group_access: 30,
        expires_at: '2099-01-02',
      });
      await done('DELETE', `/groups/${id}/share/${other.id}`);
      expect((await call('DELETE', `/groups/${id}/share/${other.id}`)).status).toBe(404);
    },
    leaves: ({ path }) => {
      const other = the('Group', expect.any(Number), expect.stringMatching(/^group-\d+$/));
      return [
        { remove: 'group_access', ...other, entity_path: path },
        { add: 'group_access', as: 'Developer', expiry_to: '2099-01-02', ...other, entity_path: path },
      ];
    },
  },
  {
    name: 'a project shared with it, and the end of that',
    act: async ({ id }) => {
      const { id: project } = await newProject();
      await done('POST', `/projects/${project}/share`, { group_id: id, group_access: 40 });
      await done('DELETE', `/projects/${project}/share/${id}`);
    },
    leaves: ({ path }) => {
      const project = the('Project', expect.any(Number), expect.stringMatching(/^ada\/project-\d+$/));
      return [
        { remove: 'project_access', ...project, entity_path: path },
        { add: 'project_access', as: 'Maintainer', ...project, entity_path: path },
      ];
    },
  },
  {
    name: 'a deletion',
    act: ({ id }) => done('DELETE', `/groups/${id}`),
    leaves: ({ id, path }) => [{ remove: 'group', ...whole('Group', id, path) }],
  },
];

const PROJECT_ACTS: Act[] = [
  {
    name: 'a name',
    act: ({ id }) => done('PUT', `/projects/${id}`, { name: 'Other' }),
    leaves: ({ id, path }) => [
      { change: 'name', from: path.split('/')[1], to: 'Other', ...whole('Project', id, path) },
    ],
  },
  {
    name: 'a path',
    act: ({ id }) => done('PUT', `/projects/${id}`, { path: `elsewhere-${id}` }),
    leaves: ({ id, path }) => {
      const to = `ada/elsewhere-${id}`;
      return [{ change: 'path', from: path, to, ...whole('Project', id, to) }];
    },
  },
  {
    name: 'a visibility and who sees the code, together',
    act: ({ id }) =>
      done('PUT', `/projects/${id}`, { visibility: 'public', repository_access_level: 'private' }),
    leaves: ({ id, path }) => [
      { change: 'visibility', from: 'Private', to: 'Public', ...whole('Project', id, path) },
      { change: 'repository_access_level', from: 'enabled', to: 'private', ...whole('Project', id, path) },
    ],
  },
  ...Object.entries({
    approvals_before_merge: [0, 2],
    packages_enabled: [true, false],
    request_access_enabled: [true, false],
    public_builds: [true, false],
    issues_access_level: ['enabled', 'disabled'],
  } as const).map(
    ([name, [from, to]]): Act => ({
      name,
      act: ({ id }) => done('PUT', `/projects/${id}`, { [name]: to }),
      leaves: ({ id, path }) => [
        { change: name, from: String(from), to: String(to), ...whole('Project', id, path) },
      ],
    }),
  ),
  {
    name: 'nothing, where nothing that matters changes',
    act: ({ id }) =>
      done('PUT', `/projects/${id}`, { description: 'Words', visibility: 'private', topics: ['a'] }),
    leaves: () => [],
  },
  {
    name: 'an archive, once, and its end',
    act: async ({ id }) => {
      await done('POST', `/projects/${id}/archive`);
      await done('POST', `/projects/${id}/archive`);
      await done('POST', `/projects/${id}/unarchive`);
    },
    leaves: ({ id, path }) => [
      { custom_message: 'Project unarchived', ...whole('Project', id, path) },
      { custom_message: 'Project archived', ...whole('Project', id, path) },
    ],
  },
  {
    name: 'a transfer',
    act: async ({ id }) => done('PUT', `/projects/${id}/transfer`, { namespace: (await newGroup()).id }),
    leaves: ({ id, path }) => {
      const to = expect.stringMatching(new RegExp(`^group-\\d+/${path.split('/')[1]}$`)) as string;
      return [{ change: 'namespace', from: path, to, ...whole('Project', id, to) }];
    },
  },
  {
    name: 'a deletion',
    act: ({ id }) => done('DELETE', `/projects/${id}`),
    leaves: ({ id, path }) => [{ remove: 'project', ...whole('Project', id, path) }],
  },
];

/** Of memberships, in both. */
const memberActs = (place: 'groups' | 'projects'): Act[] => {
  const person = () => the('User', bob.id, 'bob');
  const add = (id: number, more: object = {}) =>
    done('POST', `/${place}/${id}/members`, { user_id: bob.id, access_level: 20, ...more });
  const one = (id: number) => `/${place}/${id}/members/${bob.id}`;
  return [
    {
      name: 'a member',
      act: ({ id }) => add(id, { expires_at: '2099-01-01' }),
      leaves: ({ path }) => [
        { add: 'user_access', as: 'Reporter', expiry_to: '2099-01-01', ...person(), entity_path: path },
      ],
    },
    {
      name: 'another level and end of a membership, not what is so',
      first: ({ id }) => add(id),
      act: async ({ id }) => {
        await done('PUT', one(id), { access_level: 30 });
        await done('PUT', one(id), { access_level: 30 });
        await done('PUT', one(id), { access_level: 30, expires_at: '2099-01-01' });
      },
      leaves: ({ path }) => [
        {
          change: 'access_level',
          from: 'Developer',
          to: 'Developer',
          expiry_from: null,
          expiry_to: '2099-01-01',
          ...person(),
          entity_path: path,
        },
        {
          change: 'access_level',
          from: 'Reporter',
          to: 'Developer',
          expiry_from: null,
          expiry_to: null,
          ...person(),
          entity_path: path,
        },
      ],
    },
    {
      name: 'the end of a membership, once',
      first: ({ id }) => add(id),
      act: async ({ id }) => {
        await done('DELETE', one(id));
        expect((await call('DELETE', one(id))).status).toBe(404);
      },
      leaves: ({ path }) => [{ remove: 'user_access', ...person(), entity_path: path }],
    },
    {
      name: 'those of several who could be added',
      act: async ({ id }) => {
        const ids = `${bob.id},${ada.id},99999`;
        expect(
          (await call('POST', `/${place}/${id}/members`, { user_id: ids, access_level: 10 })).body.status,
        ).toBe('error');
      },
      leaves: ({ path }) => [{ add: 'user_access', as: 'Guest', ...person(), entity_path: path }],
    },
  ];
};

const SUBJECTS = {
  Group: async (): Promise<Subject> => {
    const { id, full_path } = await newGroup();
    return { kind: 'Group', id, path: full_path };
  },
  Project: async (): Promise<Subject> => {
    const { id, path_with_namespace } = await newProject();
    return { kind: 'Project', id, path: path_with_namespace };
  },
};

describe.each([
  ['Group', [...GROUP_ACTS, ...memberActs('groups')]],
  ['Project', [...PROJECT_ACTS, ...memberActs('projects')]],
] as const)('audit events of a %s', (kind, acts) => {
  test('record its creation', async () => {
    const { id, path } = await SUBJECTS[kind]();
    const [event, ...rest] = await events(kind, id);
    expect(rest).toEqual([]);
    expect(event).toEqual({
      id: expect.any(Number),
      author_id: ada.id,
      entity_type: kind,
      entity_id: id,
      details: { add: kind.toLowerCase(), ...by(ada), ...whole(kind, id, path) },
      created_at: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  test.each(acts)('$name', async ({ first, act, leaves }) => {
    const subject = await SUBJECTS[kind]();
    await first?.(subject);
    const before = await events(kind, subject.id);
    await act(subject);
    const after = await events(kind, subject.id);
    // What was recorded stays as it was.
    expect(after.slice(after.length - before.length)).toEqual(before);
    const left = after.slice(0, after.length - before.length);
    const wanted = leaves(subject).map((details) => ({ ...by(ada), ...details }));
    const found = left.map(({ details }) => details);
    // Of one request they have one time.
    expect(found).toHaveLength(wanted.length);
    for (const details of wanted) expect(found).toContainEqual(details);
    for (const event of left) {
      expect(event).toMatchObject({ author_id: ada.id, entity_type: kind, entity_id: subject.id });
    }
  });
});
