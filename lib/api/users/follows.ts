/** Following and unfollowing users. */

import { follow, listFollows, unfollow } from '../../domain/users/follows.ts';
import { signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { notModified } from '../../http/reply.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { userBasic } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'users';
const idOfUser = () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) });
const NO_USER = { status: 404, description: 'The user does not exist' };

const change = (name: 'follow' | 'unfollow', summary: string) =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${name}`,
    area,
    summary,
    access: signedIn(),
    params: idOfUser,
    returns: { body: shapes.userBasic },
    errors: [{ status: 304, description: 'The user is already followed, or not followed' }, NO_USER],
    handle: async ({ actor, params, request }, deps) => {
      const user = await (name === 'follow' ? follow : unfollow)(deps, actor, params.id);
      return user === undefined ? notModified() : userBasic(user, request.baseUrl);
    },
  });

const list = (name: 'followers' | 'following', summary: string) =>
  endpoint({
    method: 'GET',
    path: `/users/:id/${name}`,
    area,
    summary,
    access: signedIn(),
    scopes: ['read_user'],
    params: idOfUser,
    returns: { body: shapes.usersBasic },
    ...BY_ROWS,
    errors: [NO_USER],
    handle: async ({ actor, params, page, request }, deps) => {
      const row = name === 'followers' ? 'FOLLOWER' : 'FOLLOWING';
      const found = await listFollows(deps, actor, params.id, row, counted(page));
      return { ...found, items: found.items.map((user) => userBasic(user, request.baseUrl)) };
    },
  });

export const followEndpoints = [
  change('follow', 'Follow a user'),
  change('unfollow', 'Unfollow a user'),
  list('followers', 'List the followers of a user'),
  list('following', 'List the users that a user follows'),
];
