/** Payloads of releases, pages of wikis, deployments, members, and of what happens to projects, groups and users. */

import { tagRef } from '../../../git/refname.ts';
import { GitRepository } from '../../../git/repository.ts';
import { repositoryIdOf } from '../../../records/repository-owner.ts';
import { LEVEL_NAMES } from '../../access/levels.ts';
import type { Deps } from '../../deps.ts';
import type { HookEvent } from '../../hook-events/events.ts';
import { codeOf } from '../../repository/read.ts';
import type { WikiOf } from '../../wikis/access.ts';
import { openWiki } from '../../wikis/open.ts';
import { beginningOf, getPage } from '../../wikis/pages.ts';
import { withAbsoluteImages } from './images.ts';
import {
  commitOf,
  commitPart,
  type Facts,
  httpUrl,
  type Payload,
  type ProjectFacts,
  projectPart,
  projectUrl,
  publicEmail,
  repositoryPart,
  sshUrl,
  stamp,
  userPart,
} from './parts.ts';

type EventOf<K extends HookEvent['kind']> = Extract<HookEvent, { kind: K }>;

const SOURCES = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const;

/** @returns none when the release is gone, unless that is what happened */
export async function releasePayloads(
  deps: Deps,
  facts: ProjectFacts,
  { tag, action, former }: EventOf<'release'>,
): Promise<Payload[]> {
  const { project } = facts;
  const release =
    (former as Awaited<ReturnType<typeof deps.store.releases.get>>) ??
    (await deps.store.releases.get(project.id, tag));
  if (release === undefined) return [];
  const url = projectUrl(project, facts.baseUrl);
  const at = `${url}/-/releases/${encodeURIComponent(tag)}`;
  const links = release.links.map((link) => ({
    id: link.id,
    name: link.name,
    url: link.url,
    direct_asset_url: link.filepath === null ? link.url : `${at}/downloads${link.filepath}`,
    external: !link.url.startsWith(`${url}/`),
    link_type: link.type,
  }));
  const name = encodeURIComponent(tag);
  const sources = SOURCES.map((format) => ({
    format,
    url: `${url}/-/archive/${name}/${project.path}-${tag.replaceAll('/', '-')}.${format}`,
  }));
  const body = {
    id: release.id,
    created_at: stamp(release.createdAt),
    description: withAbsoluteImages(release.description, facts),
    name: release.name,
    released_at: stamp(release.releasedAt),
    tag,
    object_kind: 'release',
    project: projectPart(project, facts),
    url: at,
    action,
    assets: { count: links.length + sources.length, links, sources },
    commit: await commitOfTag(deps, facts, tag),
  };
  return [{ trigger: 'releases_events', event: 'Release Hook', body, for: ['project', 'group'] }];
}

async function commitOfTag(deps: Deps, facts: ProjectFacts, tag: string) {
  const { project } = facts;
  const name = tagRef(tag);
  if (name === undefined) return null;
  try {
    const git = codeOf(deps, { project, level: 0 });
    const [tip] = await git.tips(await git.refs([name]));
    return tip === undefined ? null : commitPart(project, tip.commit, facts);
  } catch {
    return null;
  }
}

/** Characters of a page in a payload. */
const MAX_PAGE = 100_000;

async function contentOf(deps: Deps, wiki: WikiOf, slug: string): Promise<string> {
  try {
    return await beginningOf((await getPage(deps, wiki, slug)).text, MAX_PAGE);
  } catch {
    return '';
  }
}

export async function wikiPagePayloads(
  deps: Deps,
  facts: ProjectFacts,
  { action, slug, title, format }: EventOf<'wiki-page'>,
): Promise<Payload[]> {
  const { project, user } = facts;
  const wiki = { project: { project, level: 0 } } as const;
  const url = `${projectUrl(project, facts.baseUrl)}/-/wikis`;
  const path = `${project.fullPath}.wiki`;
  const [content, head] = await Promise.all([
    action === 'delete' ? '' : contentOf(deps, wiki, slug),
    headOf(deps, project.id, openWiki(deps, wiki)),
  ]);
  const at = `${url}/${slug.split('/').map(encodeURIComponent).join('/')}`;
  const body = {
    object_kind: 'wiki_page',
    user: userPart(user, facts),
    project: projectPart(project, facts),
    wiki: {
      web_url: `${url}/home`,
      git_ssh_url: sshUrl(path, facts),
      git_http_url: httpUrl(path, facts),
      path_with_namespace: path,
      default_branch: head?.branch ?? null,
    },
    object_attributes: {
      slug,
      title,
      format,
      message: head?.message ?? null,
      content: withAbsoluteImages(content, facts),
      url: at,
      action,
      diff_url: `${at}/diff?version_id=${head?.oid ?? ''}`,
      version_id: head?.oid ?? null,
    },
  };
  return [{ trigger: 'wiki_page_events', event: 'Wiki Page Hook', body, for: ['project', 'group'] }];
}

async function headOf(deps: Deps, projectId: number, repository: ReturnType<typeof openWiki>) {
  try {
    const id = repositoryIdOf({ kind: 'project-wiki', id: projectId });
    const git = new GitRepository(repository, deps.histories.of(id));
    const { target, head } = await git.headRef();
    const branch = target.replace('refs/heads/', '');
    if (head === undefined) return { branch, oid: null, message: null };
    return { branch, oid: head.oid as string, message: (await git.commit(head.oid)).message.slice(0, 1_000) };
  } catch {
    return undefined;
  }
}

/** @returns none when the deployment is gone */
export async function deploymentPayloads(
  deps: Deps,
  facts: ProjectFacts,
  { deploymentId, status }: EventOf<'deployment'>,
): Promise<Payload[]> {
  const { project } = facts;
  const deployment = await deps.store.deployments.get(project.id, deploymentId);
  if (deployment === undefined) return [];
  const [environment, user, commit] = await Promise.all([
    deps.store.environments.get(project.id, deployment.environmentId),
    deps.store.users.get(deployment.userId),
    commitOf(deps, project, deployment.sha),
  ]);
  const shown = userPart(user, facts);
  const body = {
    object_kind: 'deployment',
    status: status ?? deployment.status,
    status_changed_at: stamp(facts.at),
    deployment_id: deployment.id,
    deployable_id: deployment.job?.jobId ?? null,
    deployable_url:
      deployment.job === undefined
        ? null
        : `${projectUrl(project, facts.baseUrl)}/-/jobs/${deployment.job.jobId}`,
    environment: environment?.name ?? null,
    environment_tier: environment?.tier ?? null,
    environment_slug: environment?.slug ?? null,
    environment_external_url: environment?.externalUrl ?? null,
    project: projectPart(project, facts),
    short_sha: deployment.sha.slice(0, 8),
    user: shown,
    user_url: shown === null ? null : `${facts.baseUrl}/${shown.username}`,
    commit_url: `${projectUrl(project, facts.baseUrl)}/-/commit/${deployment.sha}`,
    commit_title: commit?.message.split('\n', 1)[0] ?? null,
    ref: deployment.ref,
  };
  return [{ trigger: 'deployment_events', event: 'Deployment Hook', body, for: ['project', 'group'] }];
}

const MEMBER_EVENTS = {
  group: { add: 'user_add_to_group', update: 'user_update_for_group', remove: 'user_remove_from_group' },
  project: { add: 'user_add_to_team', update: 'user_update_for_team', remove: 'user_remove_from_team' },
} as const;

export async function memberPayloads(
  deps: Deps,
  facts: Facts,
  { what, source, userId, accessLevel, expiresAt, createdAt }: EventOf<'member'>,
): Promise<Payload[]> {
  const user = await deps.store.users.get(userId);
  const level = LEVEL_NAMES[accessLevel as keyof typeof LEVEL_NAMES] ?? null;
  const person = {
    user_username: user?.username ?? null,
    user_name: user?.name ?? null,
    user_email: publicEmail(user) || '[REDACTED]',
    user_id: userId,
  };
  const times = { created_at: rfc3339(createdAt), updated_at: rfc3339(facts.at) };
  const event_name = MEMBER_EVENTS[source.kind][what];
  if (source.kind === 'project') {
    const project = await deps.store.projects.get(source.id);
    if (project === undefined) return [];
    const body = {
      event_name,
      ...times,
      project_name: project.name,
      project_path: project.path,
      project_path_with_namespace: project.fullPath,
      project_id: project.id,
      ...person,
      access_level: level,
      project_visibility: project.visibility,
    };
    return [systemPayload(body)];
  }
  const group = await deps.store.groups.get(source.id);
  if (group === undefined) return [];
  const body = {
    ...times,
    group_name: group.name,
    group_path: group.path,
    group_id: group.id,
    ...person,
    group_access: level,
    group_plan: null,
    expires_at: expiresAt === null ? null : rfc3339(expiresAt),
    event_name,
  };
  return [{ trigger: 'member_events', event: 'Member Hook', body, for: ['group'] }, systemPayload(body)];
}

const rfc3339 = (iso: string): string => (iso.length > 10 ? `${iso.slice(0, 19)}Z` : `${iso}T00:00:00Z`);

const systemPayload = (body: Payload['body']): Payload => ({
  trigger: 'repository_update_events',
  event: 'System Hook',
  body,
  for: ['system'],
  always: true,
});

/** What has its attributes in the message; those of subgroups are for hooks of the groups above too. */
export async function recordPayloads(
  { store }: Deps,
  facts: Facts,
  { name, attributes, createdAt, ownerId }: EventOf<'record'>,
): Promise<Payload[]> {
  const parentId = attributes['parent_name'] === null ? attributes['parent_group_id'] : undefined;
  const [owner, parent] = await Promise.all([
    ownerId === undefined ? undefined : store.users.get(ownerId),
    typeof parentId === 'number' ? store.groups.get(parentId) : undefined,
  ]);
  const body = {
    event_name: name,
    created_at: rfc3339(createdAt ?? facts.at),
    updated_at: rfc3339(facts.at),
    ...attributes,
    ...(owner === undefined ? {} : { owner_name: owner.name, owner_email: owner.email }),
    ...(parentId === undefined ? {} : { parent_name: parent?.name ?? attributes['parent_path'] }),
  };
  if (name.startsWith('subgroup_'))
    return [{ trigger: 'subgroup_events', event: 'Subgroup Hook', body, for: ['group'] }];
  return [systemPayload(body)];
}

/** What its subject has made. */
export function madePayloads(facts: ProjectFacts, { hook, payload }: EventOf<'made'>): Payload[] {
  const { project, user } = facts;
  const body = {
    ...payload,
    user: userPart(user, facts),
    project: projectPart(project, facts),
    repository: repositoryPart(project, facts),
  };
  const event = hook === 'job_events' ? 'Job Hook' : 'Pipeline Hook';
  return [{ trigger: hook, event, body, for: ['project', 'group'] }];
}
