/** The signed-in user's own profile, status, preferences, avatar and counts. */

import { userNamed } from '../../domain/accounts/accounts.ts';
import { countAssignedIssues } from '../../domain/issues/counts.ts';
import { countWaitingMergeRequests } from '../../domain/merge-requests/counts.ts';
import { countPendingTodos } from '../../domain/todos/todos.ts';
import {
  CLEAR_AFTER,
  type ClearAfter,
  setAvatar,
  setPreferences,
  setStatus,
  statusOf,
} from '../../domain/users/status.ts';
import { anyone, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { requiredAvatarField } from '../avatars/avatar-field.ts';
import { avatarUrl } from '../avatars/avatar-url.ts';
import { endpoint } from '../endpoint.ts';
import { preferences, status, userSelf } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'users';

const current = endpoint({
  method: 'GET',
  path: '/user',
  area,
  summary: 'Get the current user',
  access: signedIn(),
  scopes: ['read_user'],
  returns: { body: shapes.userSelf },
  handle: ({ actor, request }) => userSelf(actor.user, request.baseUrl),
});

const getStatus = endpoint({
  method: 'GET',
  path: '/user/status',
  area,
  summary: 'Get your own status',
  access: signedIn(),
  scopes: ['read_user'],
  returns: { body: shapes.status },
  handle: ({ actor }, deps) => status(statusOf(actor.user, deps.now())),
});

const getOthersStatus = endpoint({
  method: 'GET',
  path: '/users/:user_id/status',
  area,
  summary: 'Get the status of a user',
  access: anyone(),
  scopes: ['read_user'],
  params: () =>
    p.params({ user_id: p.string({ required: true, description: 'Id or username of the user' }) }),
  returns: { body: shapes.status },
  errors: [{ status: 404, description: 'The user does not exist' }],
  handle: async ({ params }, deps) => status(statusOf(await userNamed(deps, params.user_id), deps.now())),
});

const putStatus = endpoint({
  method: 'PUT',
  path: '/user/status',
  area,
  summary: 'Set your own status',
  description: 'Replaces the current status. Without emoji, message and availability the status is cleared.',
  access: signedIn(),
  body: () =>
    p.params({
      emoji: p.string({ description: 'Name of an emoji; default with a message: `speech_balloon`' }),
      message: p.string({ description: 'Message of the status, at most 100 characters' }),
      availability: p.oneOf(['not_set', 'busy'], { description: 'Availability of the user' }),
      clear_status_after: p.oneOf(Object.keys(CLEAR_AFTER) as ClearAfter[], {
        description: 'Time after which the status is cleared',
      }),
    }),
  returns: { body: shapes.status },
  errors: [{ status: 409, description: 'Other requests changed the account at each attempt' }],
  handle: async ({ actor, body }, deps) =>
    status(
      await setStatus(deps, actor, {
        emoji: body.emoji,
        message: body.message,
        availability: body.availability,
        clearAfter: body.clear_status_after,
      }),
    ),
});

const getPreferences = endpoint({
  method: 'GET',
  path: '/user/preferences',
  area,
  summary: 'Get your own preferences',
  access: signedIn(),
  scopes: ['read_user'],
  returns: { body: shapes.preferences },
  handle: ({ actor }) => preferences(actor.user),
});

const putPreferences = endpoint({
  method: 'PUT',
  path: '/user/preferences',
  area,
  summary: 'Update your own preferences',
  access: signedIn(),
  body: () =>
    p.params(
      {
        view_diffs_file_by_file: p.boolean({ description: 'Show one file of a diff per page' }),
        show_whitespace_in_diffs: p.boolean({ description: 'Show changes of whitespace in diffs' }),
      },
      [p.atLeastOneOf('view_diffs_file_by_file', 'show_whitespace_in_diffs')],
    ),
  returns: { body: shapes.preferences },
  handle: async ({ actor, body }, deps) => preferences(await setPreferences(deps, actor, body)),
});

const putAvatar = endpoint({
  method: 'PUT',
  path: '/user/avatar',
  area,
  summary: 'Set your own avatar',
  access: signedIn(),
  body: () => p.params({ avatar: requiredAvatarField() }),
  returns: { body: shapes.avatar },
  errors: [{ status: 400, description: 'The file is missing, too large, or not a supported image' }],
  handle: async ({ actor, body, request }, deps) => {
    const user = await setAvatar(deps, actor, body.avatar);
    return { avatar_url: avatarUrl('user', user, request.baseUrl) };
  },
});

const counts = endpoint({
  method: 'GET',
  path: '/user_counts',
  area,
  summary: 'Count your open issues, merge requests and to-dos',
  access: signedIn(),
  returns: { body: shapes.counts },
  handle: async ({ actor }, deps) => {
    const { user } = actor;
    const [issues, { assigned, toReview }, todos] = await Promise.all([
      countAssignedIssues(deps, user.id),
      countWaitingMergeRequests(deps, user.id),
      countPendingTodos(deps, actor),
    ]);
    return {
      merge_requests: assigned,
      assigned_issues: issues,
      assigned_merge_requests: assigned,
      review_requested_merge_requests: toReview,
      todos,
    };
  },
});

export const selfEndpoints = [
  current,
  getStatus,
  putStatus,
  getOthersStatus,
  getPreferences,
  putPreferences,
  putAvatar,
  counts,
];
