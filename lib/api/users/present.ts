import type { NamedMembership } from '../../domain/user-memberships.ts';
import type { UserRecord, UserStatus } from '../../store/records.ts';
import { identitiesOf } from '../../store/users.ts';
import { avatarUrl } from '../uploads/avatar-url.ts';

/** The six fields every other answer embeds. */
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

/** Who wrote something: their account or, when it is gone, who they were. */
export function author(
  account: UserRecord | undefined,
  then: Pick<UserRecord, 'id' | 'username' | 'name'>,
  baseUrl: string,
) {
  return userBasic(account ?? { ...then, state: 'deactivated' }, baseUrl);
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

/** What anyone signed in sees of one user. A private profile keeps its dates and followers to itself. */
export function userPublic(user: UserRecord, baseUrl: string) {
  return {
    ...userBasic(user, baseUrl),
    ...(user.privateProfile ? {} : { created_at: user.createdAt }),
    bio: text(user, 'bio'),
    bot: false,
    location: orNull(user, 'location'),
    public_email: orNull(user, 'public_email'),
    skype: text(user, 'skype'),
    linkedin: text(user, 'linkedin'),
    twitter: text(user, 'twitter'),
    website_url: text(user, 'website_url'),
    organization: orNull(user, 'organization'),
    job_title: text(user, 'job_title'),
    pronouns: orNull(user, 'pronouns'),
    work_information: null,
    ...(user.privateProfile ? {} : { followers: 0, following: 0 }),
  };
}

/** `GET /user`: what one sees of oneself. */
export function userSelf(user: UserRecord, baseUrl: string) {
  const identities = user.profile['identities'];
  return {
    ...userPublic(user, baseUrl),
    created_at: user.createdAt,
    last_sign_in_at: null,
    confirmed_at: user.confirmedAt,
    last_activity_on: user.lastActivityOn,
    email: user.email,
    theme_id: number(user, 'theme_id', 1),
    color_scheme_id: number(user, 'color_scheme_id', 1),
    projects_limit: user.projectsLimit,
    current_sign_in_at: null,
    identities: Array.isArray(identities) ? identities : [],
    can_create_group: user.canCreateGroup,
    can_create_project: user.projectsCount < user.projectsLimit,
    two_factor_enabled: false,
    external: user.external,
    private_profile: user.privateProfile,
    commit_email: user.email,
    ...(user.admin ? { is_admin: true, note: orNull(user, 'note') } : {}),
  };
}

/** What administrators see of anybody. */
export function userAdmin(user: UserRecord, baseUrl: string) {
  return {
    ...userSelf(user, baseUrl),
    is_admin: user.admin,
    note: orNull(user, 'note'),
    namespace_id: user.namespaceId,
    followers: 0,
    following: 0,
    current_sign_in_ip: null,
    last_sign_in_ip: null,
    plan: null,
    trial: null,
    sign_in_count: 0,
    using_license_seat: false,
    is_auditor: false,
    shared_runners_minutes_limit: user.profile['shared_runners_minutes_limit'] ?? null,
    extra_shared_runners_minutes_limit: user.profile['extra_shared_runners_minutes_limit'] ?? null,
  };
}
