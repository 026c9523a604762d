/** Parts that the payloads of several events have in common. */

import type { Oid } from '../../../git/oid.ts';
import type { CommitRecord } from '../../../git/repository.ts';
import type { HookSwitch } from '../../../records/hooks.ts';
import type { ProjectRecord } from '../../../records/projects.ts';
import type { StoredText } from '../../../records/texts.ts';
import type { UserRecord } from '../../../records/users.ts';
import type { Deps } from '../../deps.ts';
import { codeOf } from '../../repository/read.ts';

/** What hooks are sent about an event. */
export interface Payload {
  readonly trigger: HookSwitch;
  /** `Push Hook`; hooks of the instance are sent `System Hook` instead. */
  readonly event: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Of a push: hooks with a filter hear of some branches. */
  readonly branch?: string;
  /** Kinds of hooks that it is for. */
  readonly for: readonly ('project' | 'group' | 'system')[];
  /** Hooks of these groups alone hear of it; absent: of all around it. */
  readonly groups?: readonly number[];
  /** It has no switch: all hooks of the instance hear of it. */
  readonly always?: true;
}

export interface Facts {
  readonly user: UserRecord | undefined;
  readonly baseUrl: string;
  /** Root of clone URLs. */
  readonly cloneRoot: string;
  readonly at: string;
}

/** An event in a project. */
export interface ProjectFacts extends Facts {
  readonly project: ProjectRecord;
}

export const VISIBILITY_LEVELS = { private: 0, internal: 10, public: 20 } as const;

export const projectUrl = ({ fullPath }: Pick<ProjectRecord, 'fullPath'>, baseUrl: string): string =>
  `${baseUrl}/${fullPath}`;

const hostOf = (baseUrl: string): string => (URL.canParse(baseUrl) ? new URL(baseUrl).hostname : 'localhost');

export const sshUrl = (path: string, { baseUrl }: Facts): string => `git@${hostOf(baseUrl)}:${path}.git`;
export const httpUrl = (path: string, { cloneRoot }: Facts): string => `${cloneRoot}/${path}.git`;

const avatarUrl = (
  kind: 'user' | 'project',
  { id, avatar }: { readonly id: number; readonly avatar?: { readonly filename: string } | null },
  baseUrl: string,
): string | null =>
  avatar == null ? null : `${baseUrl}/uploads/-/system/${kind}/avatar/${id}/${avatar.filename}`;

export function projectPart(project: ProjectRecord, facts: Facts) {
  const url = projectUrl(project, facts.baseUrl);
  const [ssh, http] = [sshUrl(project.fullPath, facts), httpUrl(project.fullPath, facts)];
  return {
    id: project.id,
    name: project.name,
    description: project.description,
    web_url: url,
    avatar_url: avatarUrl('project', project, facts.baseUrl),
    git_ssh_url: ssh,
    git_http_url: http,
    namespace: project.namespaceName,
    visibility_level: VISIBILITY_LEVELS[project.visibility],
    path_with_namespace: project.fullPath,
    default_branch: project.defaultBranch,
    ci_config_path: project.settings['ci_config_path'] ?? null,
    homepage: url,
    url: ssh,
    ssh_url: ssh,
    http_url: http,
  };
}

export const repositoryPart = (project: ProjectRecord, facts: Facts) => ({
  name: project.name,
  url: sshUrl(project.fullPath, facts),
  description: project.description,
  homepage: projectUrl(project, facts.baseUrl),
});

/** The address that the user shows to everybody. */
export const publicEmail = (user: UserRecord | undefined): string =>
  (user?.profile['public_email'] as string | undefined) ?? '';

export const userPart = (user: UserRecord | undefined, { baseUrl }: Facts) =>
  user === undefined
    ? null
    : {
        id: user.id,
        name: user.name,
        username: user.username,
        avatar_url: avatarUrl('user', user, baseUrl),
        email: publicEmail(user) || '[REDACTED]',
      };

export const userAvatar = (user: UserRecord | undefined, baseUrl: string): string | null =>
  user === undefined ? null : avatarUrl('user', user, baseUrl);

export async function labelParts({ store }: Deps, ids: readonly number[]) {
  const labels = await store.labels.getMany([...new Set(ids)]);
  return labels.flatMap((label) =>
    label === undefined
      ? []
      : [
          {
            id: label.id,
            title: label.title,
            color: label.color,
            project_id: label.container.kind === 'project' ? label.container.id : null,
            created_at: stamp(label.createdAt),
            updated_at: stamp(label.updatedAt),
            template: false,
            description: label.description,
            type: label.container.kind === 'project' ? 'ProjectLabel' : 'GroupLabel',
            group_id: label.container.kind === 'group' ? label.container.id : null,
          },
        ],
  );
}

export async function userParts({ store }: Deps, ids: readonly number[], facts: Facts) {
  const users = await store.users.getMany(ids);
  return users.flatMap((user) => userPart(user, facts) ?? []);
}

/** `2021-10-20 13:02:11 UTC`, as payloads write the times of records. */
export const stamp = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
export const stampOrNull = (iso: string | null): string | null => (iso === null ? null : stamp(iso));

/** Characters of a text in a payload. */
const MAX_TEXT = 100_000;

export async function textOf({ store }: Deps, text: StoredText | null): Promise<string | null> {
  return text === null ? null : (await store.texts.read(text)).slice(0, MAX_TEXT);
}

/** A commit without the files that it changes. */
export function commitPart(project: ProjectRecord, commit: CommitRecord, { baseUrl }: Facts) {
  const message = commit.message.slice(0, 10_000);
  return {
    id: commit.oid as string,
    message,
    title: message.split('\n', 1)[0]!,
    timestamp: timeOf(commit.committer),
    url: `${projectUrl(project, baseUrl)}/-/commit/${commit.oid}`,
    author: { name: commit.author.name, email: commit.author.email },
  };
}

/** In the time zone of the commit, to the second. */
function timeOf({ seconds, timezone }: CommitRecord['committer']): string {
  const zone = /^([+-])(\d\d)([0-5]\d)$/.exec(timezone);
  const minutes = zone === null ? 0 : (zone[1] === '-' ? -1 : 1) * (Number(zone[2]) * 60 + Number(zone[3]));
  const local = new Date((seconds + minutes * 60) * 1000);
  const shown = Number.isNaN(local.getTime()) || local.getUTCFullYear() > 9999 ? new Date(0) : local;
  return `${shown.toISOString().slice(0, 19)}${zone === null ? '+00:00' : `${zone[1]}${zone[2]}:${zone[3]}`}`;
}

/** The commit of an object id; undefined where it is not there, or damaged. */
export async function commitOf(
  deps: Deps,
  project: ProjectRecord,
  oid: string,
): Promise<CommitRecord | undefined> {
  try {
    return await codeOf(deps, { project, level: 0 }).commit(oid as Oid);
  } catch {
    return undefined;
  }
}

/** `1h 30m`; null for none. */
export function spoken(seconds: number): string | null {
  if (seconds === 0) return null;
  const units = [
    ['mo', 4 * 5 * 8 * 3600],
    ['w', 5 * 8 * 3600],
    ['d', 8 * 3600],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ] as const;
  let left = Math.abs(seconds);
  const parts = units.flatMap(([unit, length]) => {
    const count = Math.floor(left / length);
    left -= count * length;
    return count === 0 ? [] : [`${count}${unit}`];
  });
  return `${seconds < 0 ? '-' : ''}${parts.join(' ')}`;
}

/** Changes as payloads tell them. */
export const changesPart = (changes: Readonly<Record<string, readonly [unknown, unknown]>>) =>
  Object.fromEntries(
    Object.entries(changes).map(([name, [previous, current]]) => [name, { previous, current }]),
  );

/** The repository with all that tells of it, for payloads of pushes and jobs. */
export const wholeRepository = (facts: ProjectFacts) => ({
  ...repositoryPart(facts.project, facts),
  git_http_url: httpUrl(facts.project.fullPath, facts),
  git_ssh_url: sshUrl(facts.project.fullPath, facts),
  visibility_level: VISIBILITY_LEVELS[facts.project.visibility],
});
