import { inTurns } from '../../git/work.ts';
import type { MemberSource } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { groupAccess } from '../access/open-request.ts';
import { canSeeGroup } from '../access/permissions.ts';
import type { Deps } from '../deps.ts';
import { EVERYBODY, mentionsIn } from './mentions.ts';
import type { ProjectResource } from './resources.ts';

/** Users and groups that a text mentions. */
export interface MentionedMembers {
  readonly userIds: readonly number[];
  /** Projects and groups whose members are all mentioned. */
  readonly sources: readonly MemberSource[];
}

/** Maximum number of groups that one text can mention. */
const MAX_GROUPS = 10;

/**
 * Returns the existing users and groups that a text mentions. Groups only if the author can see them and they allow
 * mentions; `@all` stands for the members of the project or group.
 */
export async function mentionedIn(
  deps: Deps,
  text: string,
  {
    resource,
    author,
    except = [],
  }: {
    readonly resource: Pick<ProjectResource, 'memberSources'>;
    readonly author: UserRecord | undefined;
    /** Names that count as not mentioned. */
    readonly except?: readonly string[];
  },
): Promise<MentionedMembers> {
  const excepted = new Set(except.map((name) => name.toLowerCase()));
  const names = (await inTurns(mentionsIn(text))).filter((name) => !excepted.has(name.toLowerCase()));
  const holders = await deps.store.names.holders('path', names);
  const ids = (type: 'user' | 'group') =>
    holders.flatMap((holder) => (holder?.type === type && holder.current ? [holder.id] : []));
  const groups = await deps.store.groups.getMany(ids('group').slice(0, MAX_GROUPS));
  const cache = new MembershipCache(deps);
  const sources: MemberSource[] = names.some((name) => name.toLowerCase() === EVERYBODY)
    ? [...resource.memberSources]
    : [];
  for (const group of groups) {
    if (group === undefined || author === undefined || group.settings['mentions_disabled'] === true) continue;
    const viewer = { kind: 'user', user: author } as const;
    const access = await groupAccess(viewer, group, cache);
    if (access !== undefined && canSeeGroup(viewer, access)) sources.push({ kind: 'group', id: group.id });
  }
  return { userIds: ids('user'), sources };
}
