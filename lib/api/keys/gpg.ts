import { userNamed } from '../../domain/accounts/accounts.ts';
import * as keys from '../../domain/keys/gpg-keys.ts';
import { administrator, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accepted } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { absent, absentOfUser, area, keyEndpointsOf, keyId, userAndKey } from './of-users.ts';
import { gpgKey } from './present.ts';
import * as shapes from './shapes.ts';

const common = keyEndpointsOf({
  path: 'gpg_keys',
  noun: 'a GPG key',
  shape: shapes.gpgKey,
  shapeOfList: shapes.gpgKeys,
  newKey: () => p.params({ key: p.string({ required: true, description: 'ASCII-armored public key' }) }),
  list: ({ store }, userId, request) => store.gpgKeys.list(userId, request),
  get: keys.getGpgKey,
  add: (deps, actor, owner, { key }) => keys.addGpgKey(deps, actor, owner, key),
  remove: keys.removeGpgKey,
  present: gpgKey,
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

export const gpgKeyEndpoints = [...common, revokeOwn, revokeOfUser];
