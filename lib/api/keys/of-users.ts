/** The endpoints that SSH and GPG keys have in common: list, get, add and delete, of the caller and of any user. */

import type * as z from 'zod';
import { userNamed } from '../../domain/accounts/accounts.ts';
import type { Actor } from '../../domain/actor.ts';
import { administrator, anyone, signedIn } from '../../http/access.ts';
import type { Schema } from '../../http/endpoint.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { type ApiDeps, counted, endpoint } from '../endpoint.ts';

export const area = 'keys';
export const absentOfUser = { status: 404, description: 'User or key not found' };
export const absent = { status: 404, description: 'Key not found' };
const absentUser = { status: 404, description: 'User not found' };
const refused = { status: 400, description: 'The key is invalid or already in use' };

const userNameField = () => p.string({ required: true, description: 'ID or username of the user' });
const userIdField = () => p.integer({ required: true, description: 'ID of the user' });
const keyIdField = () => p.integer({ required: true, description: 'ID of the key' });
export const keyId = () => p.params({ key_id: keyIdField() });
export const userAndKey = () => p.params({ id: userIdField(), key_id: keyIdField() });

interface KindOfKeys<R, B extends object> {
  /** The last segment of the paths of lists. */
  readonly path: 'keys' | 'gpg_keys';
  /** With its article, for summaries. */
  readonly noun: 'an SSH key' | 'a GPG key';
  readonly shape: () => z.ZodType;
  readonly shapeOfList: () => z.ZodType;
  readonly newKey: () => Schema<B>;
  list(deps: ApiDeps, userId: number, request: PageRequest): Promise<Page<R>>;
  /** @throws 404 */
  get(deps: ApiDeps, userId: number, id: number): Promise<R>;
  /** @throws 400 */
  add(deps: ApiDeps, actor: Actor, owner: UserRecord, body: B): Promise<R>;
  /** @throws 404 */
  remove(deps: ApiDeps, actor: Actor, owner: UserRecord, key: R): Promise<void>;
  present(key: R, owner: UserRecord, baseUrl: string): object;
}

export function keyEndpointsOf<R extends { readonly createdAt: string }, B extends object>(
  kind: KindOfKeys<R, B>,
) {
  const { path, noun, shape, shapeOfList, newKey, list, get, add, remove, present } = kind;
  const nouns = `${noun.replace(/^an? /, '')}s`;
  const listed = (found: Page<R>, owner: UserRecord, baseUrl: string) => ({
    ...found,
    items: found.items.map((key) => present(key, owner, baseUrl)),
  });

  const listOwn = endpoint({
    method: 'GET',
    path: `/user/${path}`,
    area,
    summary: `List your ${nouns}`,
    access: signedIn(),
    scopes: ['read_user'],
    returns: { body: shapeOfList },
    paginate: 'offset',
    handle: async ({ actor, page, request }, deps) =>
      listed(await list(deps, actor.user.id, counted(page)), actor.user, request.baseUrl),
  });

  const getOwn = endpoint({
    method: 'GET',
    path: `/user/${path}/:key_id`,
    area,
    summary: `Get one of your ${nouns}`,
    access: signedIn(),
    scopes: ['read_user'],
    params: keyId,
    returns: { body: shape },
    errors: [absent],
    handle: async ({ actor, params, request }, deps) =>
      present(await get(deps, actor.user.id, params.key_id), actor.user, request.baseUrl),
  });

  const addOwn = endpoint({
    method: 'POST',
    path: `/user/${path}`,
    area,
    summary: `Add ${noun} to your account`,
    access: signedIn(),
    body: newKey,
    returns: { body: shape },
    errors: [refused],
    handle: async ({ actor, body, request }, deps) =>
      present(await add(deps, actor, actor.user, body), actor.user, request.baseUrl),
  });

  const removeOwn = endpoint({
    method: 'DELETE',
    path: `/user/${path}/:key_id`,
    area,
    summary: `Delete one of your ${nouns}`,
    access: signedIn(),
    params: keyId,
    returns: { status: 204 },
    errors: [absent],
    handle: async ({ actor, params, unmodifiedSince }, deps) => {
      const key = await get(deps, actor.user.id, params.key_id);
      unmodifiedSince(key.createdAt);
      await remove(deps, actor, actor.user, key);
      return noContent();
    },
  });

  const listOfUser = endpoint({
    method: 'GET',
    path: `/users/:id/${path}`,
    area,
    summary: `List the ${nouns} of a user`,
    access: anyone(),
    params: () => p.params({ id: userNameField() }),
    scopes: ['read_user'],
    returns: { body: shapeOfList },
    paginate: 'offset',
    errors: [absentUser],
    handle: async ({ params, page, request }, deps) => {
      const user = await userNamed(deps, params.id);
      return listed(await list(deps, user.id, counted(page)), user, request.baseUrl);
    },
  });

  const getOfUser = endpoint({
    method: 'GET',
    path: `/users/:id/${path}/:key_id`,
    area,
    summary: `Get ${noun} of a user`,
    access: anyone(),
    scopes: ['read_user'],
    params: () => p.params({ id: userNameField(), key_id: keyIdField() }),
    returns: { body: shape },
    errors: [absentOfUser],
    handle: async ({ params, request }, deps) => {
      const user = await userNamed(deps, params.id);
      return present(await get(deps, user.id, params.key_id), user, request.baseUrl);
    },
  });

  const addForUser = endpoint({
    method: 'POST',
    path: `/users/:id/${path}`,
    area,
    summary: `Add ${noun} for a user`,
    access: administrator(),
    params: () => p.params({ id: userIdField() }),
    body: newKey,
    returns: { body: shape },
    errors: [refused, absentUser],
    handle: async ({ actor, params, body, request }, deps) => {
      const user = await userNamed(deps, String(params.id));
      return present(await add(deps, actor, user, body), user, request.baseUrl);
    },
  });

  const removeOfUser = endpoint({
    method: 'DELETE',
    path: `/users/:id/${path}/:key_id`,
    area,
    summary: `Delete ${noun} of a user`,
    access: administrator(),
    params: userAndKey,
    returns: { status: 204 },
    errors: [absentOfUser],
    handle: async ({ actor, params, unmodifiedSince }, deps) => {
      const user = await userNamed(deps, String(params.id));
      const key = await get(deps, user.id, params.key_id);
      unmodifiedSince(key.createdAt);
      await remove(deps, actor, user, key);
      return noContent();
    },
  });

  return [listOwn, getOwn, addOwn, removeOwn, listOfUser, getOfUser, addForUser, removeOfUser] as const;
}
