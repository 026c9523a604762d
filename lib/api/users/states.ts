/** States of accounts: blocked, banned, deactivated, awaiting approval. */

import { approve, changeState, reject, type UserTransition } from '../../domain/users/states.ts';
import { administrator } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'users';
const idOfUser = () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) });

/** @param unchanged the answer when the user was in the new state already */
const transition = (name: UserTransition, summary: string, unchanged: null | false = null) =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${name}`,
    area,
    summary,
    access: administrator(),
    params: idOfUser,
    returns: { body: unchanged === null ? shapes.changedOrNull : shapes.changed },
    errors: [
      { status: 403, description: 'The current state of the user does not allow it' },
      { status: 404, description: 'The user does not exist' },
    ],
    handle: async ({ actor, params }, deps) =>
      (await changeState(deps, actor, params.id, name)) ? true : unchanged,
  });

const decision = (name: 'approve' | 'reject', summary: string) =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${name}`,
    area,
    summary,
    ...(name === 'reject' ? { description: 'Deletes the account.' } : {}),
    access: administrator(),
    params: idOfUser,
    returns: { body: shapes.success },
    errors: [
      { status: 404, description: 'The user does not exist' },
      { status: 409, description: 'The user is not awaiting approval' },
    ],
    handle: async ({ actor, params }, deps) => {
      if (name === 'approve') await approve(deps, actor, params.id);
      else await reject(deps, actor, params.id);
      return { message: 'Success' };
    },
  });

export const stateEndpoints = [
  transition('block', 'Block a user'),
  transition('unblock', 'Unblock a user', false),
  transition('ban', 'Ban a user'),
  transition('unban', 'Unban a user'),
  transition('deactivate', 'Deactivate a user who was inactive for 90 days'),
  transition('activate', 'Activate a deactivated user'),
  decision('approve', 'Approve a user who is awaiting approval'),
  decision('reject', 'Reject a user who is awaiting approval'),
];
