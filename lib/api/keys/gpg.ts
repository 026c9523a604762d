import { userNamed } from '../../domain/accounts/accounts.ts';
import * as keys from '../../domain/keys/gpg-keys.ts';
import { administrator, anyone, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accepted, noContent } from '../../http/reply.ts';
import { counted, endpoint } from '../endpoint.ts';
import { gpgKey } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'keys';
const absentOfUser = { status: 404, description: 'User or key not found' };
const absent = { status: 404, description: 'Key not found' };
const refused = { status: 400, description: 'The key is invalid or already in use' };

const userNameField = () => p.string({ required: true, description: 'ID or username of the user' });
const keyId = () => p.params({ key_id: p.integer({ required: true, description: 'ID of the key' }) });
const userName = () => p.params({ id: userNameField() });
const userNameAndKey = () =>
  p.params({
    id: userNameField(),
    key_id: p.integer({ required: true, description: 'ID of the key' }),
  });
const userAndKey = () =>
  p.params({
    id: p.integer({ required: true, description: 'ID of the user' }),
    key_id: p.integer({ required: true, description: 'ID of the key' }),
  });
const newKey = () => p.params({ key: p.string({ required: true, description: 'ASCII-armored public key' }) });

const listOwn = endpoint({
  method: 'GET',
  path: '/user/gpg_keys',
  area,
  summary: 'List your GPG keys',
  access: signedIn(),
  scopes: ['read_user'],
  returns: { body: shapes.gpgKeys },
  paginate: 'offset',
  handle: async ({ actor, page }, { store }) => {
    const found = await store.gpgKeys.list(actor.user.id, counted(page));
    return { ...found, items: found.items.map(gpgKey) };
  },
});

const getOwn = endpoint({
  method: 'GET',
  path: '/user/gpg_keys/:key_id',
  area,
  summary: 'Get one of your GPG keys',
  access: signedIn(),
  scopes: ['read_user'],
  params: keyId,
  returns: { body: shapes.gpgKey },
  errors: [absent],
  handle: async ({ actor, params }, deps) => gpgKey(await keys.getGpgKey(deps, actor.user.id, params.key_id)),
});

const createOwn = endpoint({
  method: 'POST',
  path: '/user/gpg_keys',
  area,
  summary: 'Add a GPG key to your account',
  access: signedIn(),
  body: newKey,
  returns: { body: shapes.gpgKey },
  errors: [refused],
  handle: async ({ actor, body }, deps) => gpgKey(await keys.addGpgKey(deps, actor, actor.user, body.key)),
});

const removeOwn = endpoint({
  method: 'DELETE',
  path: '/user/gpg_keys/:key_id',
  area,
  summary: 'Delete one of your GPG keys',
  access: signedIn(),
  params: keyId,
  returns: { status: 204 },
  errors: [absent],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const key = await keys.getGpgKey(deps, actor.user.id, params.key_id);
    unmodifiedSince(key.createdAt);
    await keys.removeGpgKey(deps, actor, actor.user, key);
    return noContent();
  },
});

const listOfUser = endpoint({
  method: 'GET',
  path: '/users/:id/gpg_keys',
  area,
  summary: 'List the GPG keys of a user',
  access: anyone(),
  params: userName,
  scopes: ['read_user'],
  returns: { body: shapes.gpgKeys },
  paginate: 'offset',
  errors: [{ status: 404, description: 'User not found' }],
  handle: async ({ params, page }, deps) => {
    const user = await userNamed(deps, params.id);
    const found = await deps.store.gpgKeys.list(user.id, counted(page));
    return { ...found, items: found.items.map(gpgKey) };
  },
});

const getOfUser = endpoint({
  method: 'GET',
  path: '/users/:id/gpg_keys/:key_id',
  area,
  summary: 'Get a GPG key of a user',
  access: anyone(),
  scopes: ['read_user'],
  params: userNameAndKey,
  returns: { body: shapes.gpgKey },
  errors: [absentOfUser],
  handle: async ({ params }, deps) => {
    const user = await userNamed(deps, params.id);
    return gpgKey(await keys.getGpgKey(deps, user.id, params.key_id));
  },
});

const createForUser = endpoint({
  method: 'POST',
  path: '/users/:id/gpg_keys',
  area,
  summary: 'Add a GPG key for a user',
  access: administrator(),
  params: () => p.params({ id: p.integer({ required: true, description: 'ID of the user' }) }),
  body: newKey,
  returns: { body: shapes.gpgKey },
  errors: [refused, { status: 404, description: 'User not found' }],
  handle: async ({ actor, params, body }, deps) => {
    const user = await userNamed(deps, String(params.id));
    return gpgKey(await keys.addGpgKey(deps, actor, user, body.key));
  },
});

const removeOfUser = endpoint({
  method: 'DELETE',
  path: '/users/:id/gpg_keys/:key_id',
  area,
  summary: 'Delete a GPG key of a user',
  access: administrator(),
  params: userAndKey,
  returns: { status: 204 },
  errors: [absentOfUser],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const user = await userNamed(deps, String(params.id));
    const key = await keys.getGpgKey(deps, user.id, params.key_id);
    unmodifiedSince(key.createdAt);
    await keys.removeGpgKey(deps, actor, user, key);
    return noContent();
  },
});

const revokeOwn = endpoint({
  method: 'POST',
  path: '/user/gpg_keys/:key_id/revoke',
  area,
  summary: 'Revoke one of your GPG keys',
  description: 'Removes the key. Signatures made with it become unverified.',
  access: signedIn(),
  params: keyId,
  returns: { status: 202 },
  errors: [absent],
  handle: async ({ actor, params }, deps) => {
    const key = await keys.getGpgKey(deps, actor.user.id, params.key_id);
    await keys.removeGpgKey(deps, actor, actor.user, key);
    return accepted();
  },
});

const revokeOfUser = endpoint({
  method: 'POST',
  path: '/users/:id/gpg_keys/:key_id/revoke',
  area,
  summary: 'Revoke a GPG key of a user',
  access: administrator(),
  params: userAndKey,
  returns: { status: 202 },
  errors: [absentOfUser],
  handle: async ({ actor, params }, deps) => {
    const user = await userNamed(deps, String(params.id));
    await keys.removeGpgKey(deps, actor, user, await keys.getGpgKey(deps, user.id, params.key_id));
    return accepted();
  },
});

export const gpgKeyEndpoints = [
  listOwn,
  getOwn,
  createOwn,
  removeOwn,
  revokeOwn,
  listOfUser,
  getOfUser,
  createForUser,
  removeOfUser,
  revokeOfUser,
];
