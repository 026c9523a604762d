/** People, groups and projects in numbers, of which some few things that stay as they are show what the rest costs. */
import type { GroupRecord } from '../../lib/records/groups.ts';
import type { ProjectRecord } from '../../lib/records/projects.ts';
import type { UserRecord } from '../../lib/records/users.ts';
import type { Visibility } from '../../lib/records/visibility.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { type Makers, makersOf } from '../harness/makers.ts';
import type { Service } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';

type Person = Awaited<ReturnType<Service['user']>>;

/** What does not grow, and what does as a whole. */
export interface Population {
  /** Has 25 projects, is a member of 25 others and of a group with 10, has starred 25: whatever else there is. */
  readonly viewer: Person;
  /** Is a developer of `top`. */
  readonly insider: Person;
  /** Knows nobody. */
  readonly stranger: Person;
  /** Half of all groups and a quarter of all projects stand below it. */
  readonly top: GroupRecord;
  /** Every user is a member; it stands in another that the viewer owns, with a project in it. */
  readonly crowd: GroupRecord;
  readonly crowdProject: ProjectRecord;
  /** How many users and projects there are; a tenth as many groups. */
  size: number;
  /** The newest deep group, and a project in it. */
  deepest: GroupRecord | undefined;
  inDeepest: ProjectRecord | undefined;
  /** Ids in the middle of what there is. */
  middle: { project: number; user: number };
}

/** As many levels as groups may have. */
const DEPTH = 20;
/** Of ten projects. */
const VISIBILITIES: readonly Visibility[] = [
  ...Array<Visibility>(5).fill('public'),
  'internal',
  'internal',
  ...Array<Visibility>(3).fill('private'),
];
/** Everything was made in one long second, one thing after the other. */
const at = (millisecond: number) => new Date(Date.UTC(2026, 0, 1) + millisecond);

/** What stays as it is, made by requests. */
export async function newPopulation(service: Service): Promise<Population> {
  const made = async (path: string, token: string, json: unknown) => {
    const { status, body } = await service.call('POST', path, { token, json });
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const viewer = await service.user('viewer');
  const [insider, stranger, other] = await Promise.all(
    ['insider', 'stranger', 'other'].map((name) => service.user(name)),
  );
  const group = async (path: string, token: string, more: object = {}) => {
    const { id } = await made('/groups', token, { name: path, path, visibility: 'public', ...more });
    return (await storeOf().groups.get(id))!;
  };
  const top = await group('top', service.rootToken);
  const outer = await group('outer', viewer.token);
  const crowd = await group('crowd', viewer.token, { parent_id: outer.id });
  const own = await group('settled', viewer.token, { visibility: 'private' });
  await made(`/groups/${top.id}/members`, service.rootToken, { user_id: insider!.id, access_level: 30 });
  let crowdProject = await made('/projects', viewer.token, { name: 'crowded', namespace_id: crowd.id });
  crowdProject = (await storeOf().projects.get(crowdProject.id))!;
  for (let i = 0; i < 25; i++) {
    const visibility = VISIBILITIES[i % 10];
    await made('/projects', viewer.token, { name: `own ${i}`, visibility });
    if (i < 10) await made('/projects', viewer.token, { name: `ours ${i}`, namespace_id: own.id });
    const theirs = await made('/projects', other!.token, { name: `theirs ${i}`, visibility });
    await made(`/projects/${theirs.id}/members`, other!.token, { user_id: viewer.id, access_level: 30 });
    await made(`/projects/${theirs.id}/star`, viewer.token, {});
  }
  return {
    viewer,
    insider: insider!,
    stranger: stranger!,
    top,
    crowd,
    crowdProject,
    size: 0,
    deepest: undefined,
    inDeepest: undefined,
    middle: { project: 0, user: 0 },
  };
}

/**
 * Makes it as large as that. Repositories of projects made here have no rows: no list reads them.
 * @returns how many rows were written
 */
export async function grow(service: Service, population: Population, size: number): Promise<number> {
  const { table, users, projects } = storeOf();
  const model = {
    user: (await users.get(population.stranger.id))!,
    project: (await projects.get(population.crowdProject.id))!,
  };
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, table.name, service.host.dynamo, /^(OUTBOX|REPO)#/);
  const makers = makersOf(bulk);
  let parent: GroupRecord = population.top;
  for (let i = population.size; i < size; i++) {
    const user = await newUser(makers, model.user, i);
    await makers.members.add({
      source: { kind: 'group', id: population.crowd.id },
      userId: user.id,
      accessLevel: 20,
      createdAt: at(i).toISOString(),
      expiresAt: null,
      createdById: null,
    });
    if (i % 10 === 0) {
      // Chains as deep as may be, every other one below the one on top.
      const chain = i / 10;
      const start = chain % DEPTH === 0;
      const under = !start ? parent : (chain / DEPTH) % 2 === 0 ? population.top : undefined;
      const fits = under === undefined || under.ancestorIds.length + 1 < DEPTH;
      parent = await newGroup(makers, user, i, fits ? under : population.top);
      if (parent.ancestorIds[0] === population.top.id && parent.ancestorIds.length === DEPTH - 1)
        population.deepest = parent;
    }
    const project = await newProject(makers, model.project, user, i, i % 2 === 0 ? undefined : parent);
    if (parent === population.deepest && i % 2 === 1) population.inDeepest = project;
    if (i === Math.floor(size / 2)) population.middle = { project: project.id, user: user.id };
  }
  await bulk.flush();
  population.size = size;
  return bulk.written;
}

async function newUser(makers: Makers, model: UserRecord, i: number): Promise<UserRecord> {
  const { id: _i, namespaceId: _n, projectsCount: _p, version: _v, ...rest } = model;
  const named = { username: `user${i}`, name: `Person ${word(i)}`, email: `user${i}@example.com` };
  const user = await makers.users.create({ ...rest, ...named }, { now: at(i) });
  await makers.index('user', user.id, [user.name, user.username]);
  return user;
}

async function newGroup(
  makers: Makers,
  owner: UserRecord,
  i: number,
  parent?: GroupRecord,
): Promise<GroupRecord> {
  const group = await makers.groups.create(
    {
      name: `Team ${word(i)}`,
      path: `team${i}`,
      visibility: 'public',
      description: '',
      creatorId: owner.id,
      settings: {},
    },
    { ownerId: owner.id, now: at(i), ...(parent === undefined ? {} : { parent }) },
  );
  await makers.index('group', group.id, [group.name, group.path]);
  return group;
}

async function newProject(
  makers: Makers,
  model: ProjectRecord,
  owner: UserRecord,
  i: number,
  parent: GroupRecord | undefined,
): Promise<ProjectRecord> {
  const place =
    parent === undefined
      ? {
          namespaceId: owner.namespaceId,
          namespacePath: owner.username,
          namespaceName: owner.name,
          namespaceKind: 'user' as const,
          ancestorIds: [],
        }
      : {
          namespaceId: parent.id,
          namespacePath: parent.fullPath,
          namespaceName: parent.fullName,
          namespaceKind: 'group' as const,
          ancestorIds: [...parent.ancestorIds, parent.id],
        };
  const project = await makers.projects.create(
    {
      ...model,
      ...place,
      importStatus: 'none',
      name: `Work ${word(i)}`,
      path: `work${i}`,
      ownerId: owner.id,
      creatorId: owner.id,
      visibility: VISIBILITIES[Math.floor(i / 2) % 10]!,
    },
    { headBranch: 'main', now: at(i), ...(parent === undefined ? { owner } : { parent }) },
  );
  await makers.index('project', project.id, [project.name, project.path]);
  return project;
}

/** A name of five letters, another for each number below eleven millions, in no order. */
export function word(i: number): string {
  let rest = (i * 7_368_787 + 1_234_567) % 26 ** 5;
  let text = '';
  for (let n = 0; n < 5; n++) {
    text += String.fromCharCode(97 + (rest % 26));
    rest = Math.floor(rest / 26);
  }
  return text;
}
