import * as keys from '../../domain/keys/ssh-keys.ts';
import { administrator } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { SSH_KEY_USAGES } from '../../records/keys.ts';
import { endpoint } from '../endpoint.ts';
import { userSelf } from '../users/present.ts';
import { absent, area, keyEndpointsOf } from './of-users.ts';
import { sshKey } from './present.ts';
import * as shapes from './shapes.ts';

const common = keyEndpointsOf({
  path: 'keys',
  noun: 'an SSH key',
  shape: shapes.sshKey,
  shapeOfList: shapes.sshKeys,
  newKey: () =>
    p.params({
      title: p.string({ required: true, description: 'Title of the key' }),
      key: p.string({ required: true, description: 'Public key, in the format of a `.pub` file' }),
      expires_at: p.datetime({ nullable: true, description: 'Time at which the key expires (ISO 8601)' }),
      usage_type: p.oneOf(SSH_KEY_USAGES, {
        default: 'auth_and_signing',
        description: 'Whether the key can authenticate, sign commits, or both',
      }),
    }),
  list: ({ store }, userId, request) => store.sshKeys.list(userId, request),
  get: keys.getSshKey,
  add: (deps, actor, owner, { title, key, expires_at, usage_type }) =>
    keys.addSshKey(deps, actor, owner, {
      title,
      key,
      expiresAt: expires_at ?? undefined,
      usage: usage_type,
    }),
  remove: keys.removeSshKey,
  present: sshKey,
});

const byId = endpoint({
  method: 'GET',
  path: '/keys/:id',
  area,
  summary: 'Get an SSH key with its user',
  access: administrator(),
  params: () => p.params({ id: p.integer({ required: true, description: 'ID of the key' }) }),
  returns: { body: shapes.sshKeyWithUser },
  errors: [absent],
  handle: async ({ params, request }, deps) =>
    withUser(await keys.sshKeyById(deps, params.id), request.baseUrl),
});

const byFingerprint = endpoint({
  method: 'GET',
  path: '/keys',
  area,
  summary: 'Get an SSH key with its user by fingerprint',
  access: administrator(),
  query: () =>
    p.params({
      fingerprint: p.string({
        required: true,
        description: 'Fingerprint of the key: MD5 (`aa:bb:...`) or SHA-256 (`SHA256:...`)',
      }),
    }),
  returns: { body: shapes.sshKeyWithUser },
  errors: [absent, { status: 400, description: 'The fingerprint is invalid' }],
  handle: async ({ query, request }, deps) =>
    withUser(await keys.sshKeyByFingerprint(deps, query.fingerprint), request.baseUrl),
});

const withUser = ({ key, user }: keys.KeyOfUser, baseUrl: string) => ({
  ...sshKey(key, user, baseUrl),
  user: userSelf(user, baseUrl),
});

export const sshKeyEndpoints = [...common, byId, byFingerprint];
