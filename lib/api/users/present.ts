import type { NamedMembership } from '../../domain/members/user-memberships.ts';
import { identitiesOf } from '../../domain/users/profile.ts';
import type { UserRecord, UserStatus } from '../../records/users.ts';
import { avatarUrl } from '../avatars/avatar-url.ts';

/** The six fields that other responses embed. */
export function userBasic(
  user: Pick<UserRecord, 'id' | 'username' | 'name' | 'state' | 'avatar'>,
  baseUrl: string,
) {
  return {
    id: user.id,
    username: user.username,
    name: user.name,
    state: user.state,
    avatar_url: avatarUrl('user', user, baseUrl),
    web_url: `${baseUrl}/${user.username}`,
  };
}

/** Author of something: the account or, when it was deleted, the recorded user. */
export function author(
  account: UserRecord | undefined,
  recorded: Pick<UserRecord, 'id' | 'username' | 'name'>,
  baseUrl: string,
) {
  return userBasic(account ?? { ...recorded, state: 'deactivated' }, baseUrl);
}

const text = (user: UserRecord, field: string): string => {
  const value = user.profile[field];
  return typeof value === 'string' ? value : '';
};
const orNull = (user: UserRecord, field: string): string | null => text(user, field) || null;
const number = (user: UserRecord, field: string, fallback: number): number => {
  const value = user.profile[field];
  return typeof value === 'number' ? value : fallback;
};

/** The address that a user shows to everyone. */
export const publicEmail = (user: UserRecord): string | null => orNull(user, 'public_email');

/**
 * What signed-in users see of another user.
 * @param seesPrivate whether the caller may see the date and follower counts of a private profile
 */
export function userPublic(user: UserRecord, baseUrl: string, seesPrivate: boolean) {
  return {
    ...userBasic(user, baseUrl),
    ...(seesPrivate ? { created_at: user.createdAt } : {}),
    bio: text(user, 'bio'),
    bot: user.type === 'project_bot',
    location: orNull(user, 'location'),
    public_email: publicEmail(user),
    skype: text(user, 'skype'),
    linkedin: text(user, 'linkedin'),
    twitter: text(user, 'twitter'),
    website_url: text(user, 'website_url'),
    organization: orNull(user, 'organization'),
    job_title: text(user, 'job_title'),
    pronouns: orNull(user, 'pronouns'),
    work_information: null,
    ...(seesPrivate ? { followers: user.followers ?? 0, following: user.following ?? 0 } : {}),
  };
}

/** What users see of themselves (`GET /user`). */
export function userSelf(user: UserRecord, baseUrl: string) {
  return {
    ...userPublic(user, baseUrl, true),
    last_sign_in_at: null,
    confirmed_at: user.confirmedAt,
    last_activity_on: user.lastActivityOn,
    email: user.email,
    theme_id: number(user, 'theme_id', 1),
    color_scheme_id: number(user, 'color_scheme_id', 1),
    projects_limit: user.projectsLimit,
    current_sign_in_at: null,
    identities: identitiesOf(user),
    can_create_group: user.canCreateGroup,
    can_create_project: user.projectsCount < user.projectsLimit,
    two_factor_enabled: false,
    external: user.external,
    private_profile: user.privateProfile,
    commit_email: text(user, 'commit_email') || user.email,
    ...(user.admin ? { is_admin: true, note: orNull(user, 'note') } : {}),
  };
}

/** What administrators see of a user. */
export function userAdmin(user: UserRecord, baseUrl: string) {
  return {
    ...userSelf(user, baseUrl),
    is_admin: user.admin,
    note: orNull(user, 'note'),
    namespace_id: user.namespaceId,
    current_sign_in_ip: null,
    last_sign_in_ip: null,
    plan: null,
    provisioned_by_group_id: user.profile['provisioned_by_group_id'] ?? null,
    trial: null,
    sign_in_count: 0,
    using_license_seat: false,
    is_auditor: false,
    shared_runners_minutes_limit: user.profile['shared_runners_minutes_limit'] ?? null,
    extra_shared_runners_minutes_limit: user.profile['extra_shared_runners_minutes_limit'] ?? null,
  };
}

/** The status of a user; an empty object when there is none. */
export function status(of: UserStatus | undefined) {
  if (of === undefined) return {};
  return {
    emoji: of.emoji,
    message: of.message,
    availability: of.availability,
    message_html: escaped(of.message ?? ''),
    clear_status_at: of.clearAt,
  };
}

export const escaped = (plain: string): string =>
  plain.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Display preferences of a user. */
export const preferences = (user: UserRecord) => ({
  id: user.id,
  user_id: user.id,
  view_diffs_file_by_file: user.profile['view_diffs_file_by_file'] === true,
  show_whitespace_in_diffs: user.profile['show_whitespace_in_diffs'] !== false,
});

export const activity = ({ username, lastActivityOn }: UserRecord) => ({
  username,
  last_activity_on: lastActivityOn,
  last_activity_at: lastActivityOn === null ? null : `${lastActivityOn} 00:00:00`,
});

export const membership = ({ source, name, accessLevel }: NamedMembership) => ({
  source_id: source.id,
  source_name: name,
  source_type: source.kind === 'project' ? 'Project' : 'Namespace',
  access_level: accessLevel,
});
