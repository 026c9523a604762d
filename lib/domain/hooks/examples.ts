/** Examples of events, for tests of hooks: about the newest of what a project has. */
import { ZERO_OID } from '../../git/oid.ts';
import type { HookSwitch } from '../../records/hooks.ts';
import type { JobRecord } from '../../records/pipelines.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { TransactionRefused } from '../../store/errors.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { unprocessable } from '../errors.ts';
import type { HookEvent } from '../hook-events/events.ts';
import type { projectEvent } from '../hook-events/records.ts';
import type { ToldToHooks } from '../hook-events/tell.ts';
import { codeOf } from '../repository/read.ts';
import { testHook } from './fan-out.ts';
import type { HookPlace } from './hooks.ts';

type SignedIn = Extract<Actor, { kind: 'user' }>;

/** @throws 404; 422 where the project has nothing that the event could be about */
export async function tryHook(
  deps: Deps,
  actor: SignedIn,
  place: HookPlace,
  hookId: number,
  trigger: HookSwitch,
): Promise<void> {
  const event = await exampleOf(deps, actor, place, trigger);
  if (event === undefined)
    throw unprocessable(`Ensure the ${place.kind} has ${NEEDED[trigger] ?? 'a project'}.`);
  const scene: ToldToHooks['scene'] =
    place.kind === 'project'
      ? { kind: 'project', id: place.project.id, groupIds: place.project.ancestorIds }
      : place.kind === 'group'
        ? { kind: 'group', groupIds: [...place.group.ancestorIds, place.group.id] }
        : { kind: 'system' };
  const baseUrl = actor.origin?.baseUrl ?? deps.environment.baseUrl ?? '';
  try {
    await testHook(deps, place, hookId, { scene, actorId: actor.user.id, baseUrl }, event);
  } catch (error) {
    if (error instanceof TransactionRefused) throw unprocessable('The hook cannot be called');
    throw error;
  }
}

const NEEDED: Readonly<Partial<Record<HookSwitch, string>>> = {
  push_events: 'commits',
  tag_push_events: 'commits',
  issues_events: 'issues',
  confidential_issues_events: 'issues',
  merge_requests_events: 'merge requests',
  note_events: 'notes',
  confidential_note_events: 'notes',
  job_events: 'CI jobs',
  pipeline_events: 'CI pipelines',
  wiki_page_events: 'a wiki page',
  deployment_events: 'deployments',
  releases_events: 'releases',
};

async function exampleOf(
  deps: Deps,
  { user }: SignedIn,
  place: HookPlace,
  trigger: HookSwitch,
): Promise<HookEvent | undefined> {
  if (place.kind === 'project') return ofProject(deps, place.project, trigger);
  if (place.kind === 'system') return { ...SYSTEM_EXAMPLE };
  const { group } = place;
  if (trigger === 'member_events')
    return {
      kind: 'member',
      what: 'add',
      source: { kind: 'group', id: group.id },
      userId: user.id,
      accessLevel: 50,
      expiresAt: null,
      createdAt: deps.now().toISOString(),
    };
  if (trigger !== 'subgroup_events') return undefined;
  const attributes = {
    name: 'SubGroup',
    path: 'subgroup',
    full_path: `${group.fullPath}/subgroup`,
    group_id: group.id,
    parent_group_id: group.id,
    parent_name: group.name,
    parent_path: group.path,
    parent_full_path: group.fullPath,
  };
  return { kind: 'record', name: 'subgroup_create', attributes };
}

/** What a test of a hook of the instance sends. */
export const SYSTEM_EXAMPLE = {
  kind: 'record',
  name: 'project_create',
  attributes: {
    name: 'Ruby',
    path: 'ruby',
    project_id: 1,
    owner_name: 'Someone',
    owner_email: 'example@example.com',
  },
} as const satisfies ReturnType<typeof projectEvent>;

async function ofProject(
  deps: Deps,
  project: ProjectRecord,
  trigger: HookSwitch,
): Promise<HookEvent | undefined> {
  const { store } = deps;
  const about = async (kind: 'issue' | 'merge-request', action: 'open') => {
    const iid = await store.hookRecords.newestNumber(kind, project.id);
    return iid === undefined ? undefined : ({ kind, iid, action, changes: {} } as const);
  };
  switch (trigger) {
    case 'push_events':
    case 'tag_push_events':
      return pushOf(deps, project, trigger);
    case 'issues_events':
    case 'confidential_issues_events':
      return about('issue', 'open');
    case 'merge_requests_events':
      return about('merge-request', 'open');
    case 'releases_events': {
      const release = await store.releases.latest(project.id, deps.now());
      return release && { kind: 'release', tag: release.tag, action: 'create' };
    }
    case 'wiki_page_events':
      return { kind: 'wiki-page', action: 'create', slug: 'home', title: 'home', format: 'markdown' };
    case 'pipeline_events': {
      const newest = { order: 'ID', direction: 'desc' } as const;
      const [found] = (await store.pipelineList.page(project.id, newest, ONE)).items;
      return found && { kind: 'pipeline', pipelineId: found.id, sha: found.sha, status: found.status };
    }
    case 'job_events': {
      const where = ({ kind }: JobRecord) => kind === 'build';
      const [found] = (await store.jobList.ofProject(project.id, { where }, ONE)).items;
      if (found === undefined) return undefined;
      const { pipelineId, sha, id: jobId, status } = found;
      return { kind: 'job', pipelineId, sha, jobId, status };
    }
    case 'deployment_events': {
      const newest = { order: 'ID', direction: 'desc' } as const;
      const [found] = (await store.deployments.page(project.id, newest, ONE)).items;
      return found && { kind: 'deployment', deploymentId: found.id };
    }
    default:
      return undefined;
  }
}

const ONE = { page: 1, perPage: 1 };

async function pushOf(
  deps: Deps,
  project: ProjectRecord,
  trigger: 'push_events' | 'tag_push_events',
): Promise<HookEvent | undefined> {
  const git = codeOf(deps, { project, level: 0 });
  const { target, head } = await git.headRef();
  if (head === undefined) return undefined;
  const [parent] = (await git.commit(head.oid)).parents;
  const update =
    trigger === 'push_events'
      ? { name: target, from: parent ?? ZERO_OID, to: head.oid }
      : { name: 'refs/tags/v1.0.0', from: ZERO_OID, to: head.oid };
  return { kind: 'push', updates: [update] };
}
