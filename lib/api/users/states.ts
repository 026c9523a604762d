/** Who may sign in: blocked, banned, deactivated, and asked for. */
import { approve, changeState, reject, type UserTransition } from '../../domain/users/states.ts';
import { administrator } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'users';
const idOfUser = () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) });

const transition = (name: UserTransition, summary: string) =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${name}`,
    area,
    summary,
    access: administrator(),
    params: idOfUser,
    returns: { body: shapes.changedOrNull },
    errors: [
      { status: 403, description: 'Not in the state they are in' },
      { status: 404, description: 'No such user' },
    ],
    handle: async ({ actor, params }, deps) =>
      (await changeState(deps, actor, params.id, name)) ? true : null,
  });

const decision = (name: 'approve' | 'reject', summary: string) =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${name}`,
    area,
    summary,
    access: administrator(),
    params: idOfUser,
    returns: { body: shapes.success },
    errors: [
      { status: 404, description: 'No such user' },
      { status: 409, description: 'They are not waiting' },
    ],
    handle: async ({ actor, params }, deps) => {
      if (name === 'approve') await approve(deps, actor, params.id);
      else await reject(deps, actor, params.id);
      return { message: 'Success' };
    },
  });

export const stateEndpoints = [
  transition('block', 'Lock a user out'),
  transition('unblock', 'Let a blocked user in again'),
  transition('ban', 'Ban a user'),
  transition('unban', 'Lift the ban of a user'),
  transition('deactivate', 'Deactivate a user who has not been here for 90 days'),
  transition('activate', 'Activate a deactivated user'),
  decision('approve', 'Let in a user who asked for an account'),
  decision('reject', 'Delete a user who asked for an account'),
];
