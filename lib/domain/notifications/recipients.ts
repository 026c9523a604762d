/** Checks whether a recipient may read a mail: when it is enqueued, and again when it is sent. */

import type { EpicRecord } from '../../records/epics.ts';
import type { IssueRecord } from '../../records/issues.ts';
import type { MemberSource } from '../../records/members.ts';
import type { SnippetRecord } from '../../records/snippets.ts';
import type { UserRecord } from '../../records/users.ts';
import { readingOnce } from '../../store/table/read-once.ts';
import type { GroupAbility, ProjectAbility } from '../access/abilities/all.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { groupAccess, projectAccess } from '../access/open-request.ts';
import { can, canInGroup } from '../access/permissions.ts';
import { maySeeEpic } from '../access/visible-epics.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import type { Deps } from '../deps.ts';
import { canReceiveMail, mailAddressesOf } from './address.ts';
import { effectiveSetting } from './levels.ts';
import {
  type GroupResource,
  groupResourceOf,
  isMuted,
  type ProjectResource,
  projectResourceOf,
  scopesOf,
} from './resources.ts';

/** The subject of a mail, and the ability that a recipient needs there. */
export type About =
  | {
      readonly resource: ProjectResource;
      readonly ability: ProjectAbility;
      /** The issue that it is about, which the recipient has to be allowed to see. */
      readonly issue?: MailedIssue;
      /** The snippet of the project that it is about, likewise. */
      readonly snippet?: SnippetRecord;
      readonly epic?: undefined;
    }
  | {
      readonly resource: GroupResource;
      readonly ability: GroupAbility;
      /** The epic of the group that it is about, which the recipient has to be allowed to see. */
      readonly epic?: EpicRecord;
      readonly issue?: undefined;
      readonly snippet?: undefined;
    };

export interface MailedIssue {
  readonly record: IssueRecord;
  /** Whether the mail is only for those who may see the issue if it is confidential: about an internal note. */
  readonly internal: boolean;
}

export async function mayRead(
  deps: Deps,
  user: UserRecord,
  { resource, ability, issue, snippet, epic }: About,
): Promise<boolean> {
  const viewer = { kind: 'user', user } as const;
  const cache = new MembershipCache(deps);
  await cache.read(
    resource.groups.map(({ id }) => id),
    scopesOf(resource),
    user.id,
  );
  if (resource.project !== undefined) {
    const access = await projectAccess(viewer, resource.project, cache);
    if (access === undefined || !can(viewer, access, ability as ProjectAbility)) return false;
    if (snippet !== undefined) return maySeeSnippet(viewer, snippet, access);
    if (issue === undefined) return true;
    const { record, internal } = issue;
    return maySeeIssue(viewer, access, { ...record, confidential: record.confidential || internal });
  }
  const access = await groupAccess(viewer, resource.groups[0]!, cache);
  if (access === undefined || !canInGroup(viewer, access, ability as GroupAbility)) return false;
  return epic === undefined || maySeeEpic(viewer, access, epic);
}

/** The recipient of a mail and what they have to be allowed to read. Plain data, stored in the message. */
export interface MailRecipient {
  readonly userId: number;
  readonly source: MemberSource;
  readonly ability: About['ability'];
  /** By its number in the project, which is the source. */
  readonly issue?: { readonly iid: number; readonly internal: boolean };
  readonly snippet?: { readonly id: number };
  readonly epic?: { readonly id: number };
}

export const recipientOf = (
  userId: number,
  { resource, ability, issue, snippet, epic }: About,
): MailRecipient => ({
  userId,
  source: scopesOf(resource)[0]!,
  ability,
  ...(issue === undefined ? {} : { issue: { iid: issue.record.iid, internal: issue.internal } }),
  ...(snippet === undefined ? {} : { snippet: { id: snippet.id } }),
  ...(epic === undefined ? {} : { epic: { id: epic.id } }),
});

/**
 * Returns the current address of a recipient: a mail may have waited for minutes, in the dead-letter queue for days.
 * @returns undefined when they may no longer receive it
 */
export const currentAddress = (deps: Deps, recipient: MailRecipient): Promise<string | undefined> =>
  // Nothing is written meanwhile: each row is read once.
  readingOnce(() => addressNow(deps, recipient));

async function addressNow(
  deps: Deps,
  { userId, source, ability, issue, snippet, epic }: MailRecipient,
): Promise<string | undefined> {
  const [user, resource, record, mailedSnippet, mailedEpic] = await Promise.all([
    deps.store.users.get(userId),
    source.kind === 'project' ? projectResourceOf(deps, source.id) : groupResourceOf(deps, source.id),
    issue && deps.store.issues.get({ projectId: source.id, iid: issue.iid }),
    snippet && deps.store.snippets.get(snippet.id),
    epic && deps.store.epics.get(epic.id),
  ]);
  if (user === undefined || !canReceiveMail(user) || resource === undefined || isMuted(resource))
    return undefined;
  if (issue !== undefined && record === undefined) return undefined;
  if (snippet !== undefined && mailedSnippet === undefined) return undefined;
  if (epic !== undefined && mailedEpic?.container.id !== source.id) return undefined;
  const mailed =
    issue && record
      ? { issue: { record, internal: issue.internal } }
      : { snippet: mailedSnippet, epic: mailedEpic };
  const [chosen, may] = await Promise.all([
    deps.store.notificationSettings.getMany([userId], [...scopesOf(resource), undefined]),
    mayRead(deps, user, { resource, ability, ...mailed } as About),
  ]);
  const choices = chosen.get(userId)!;
  if (!may || effectiveSetting(choices).level === 'disabled') return undefined;
  return (await mailAddressesOf(deps, [{ user, chosen: choices.at(-1)! }])).get(userId);
}
