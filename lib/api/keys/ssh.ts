import { userNamed } from '../../domain/accounts/accounts.ts';
import * as keys from '../../domain/keys/ssh-keys.ts';
import { administrator, anyone, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { SSH_KEY_USAGES } from '../../records/keys.ts';
import { counted, endpoint } from '../endpoint.ts';
import { userSelf } from '../users/present.ts';
import { sshKey } from './present.ts';
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
const newKey = () =>
  p.params({
    title: p.string({ required: true, description: 'Title of the key' }),
    key: p.string({ required: true, description: 'Public key, in the format of a `.pub` file' }),
    expires_at: p.datetime({ nullable: true, description: 'Time at which the key expires (ISO 8601)' }),
    usage_type: p.oneOf(SSH_KEY_USAGES, {
      default: 'auth_and_signing',
      description: 'Whether the key can authenticate, sign commits, or both',
    }),
  });
const inputOf = (body: {
  title: string;
  key: string;
  expires_at?: Date | null;
  usage_type: (typeof SSH_KEY_USAGES)[number];
}): keys.SshKeyInput => ({
  title: body.title,
  key: body.key,
  expiresAt: body.expires_at ?? undefined,
  usage: body.usage_type,
});

const listOwn = endpoint({
  method: 'GET',
  path: '/user/keys',
  area,
  summary: 'List your SSH keys',
  access: signedIn(),
  scopes: ['read_user'],
  returns: { body: shapes.sshKeys },
  paginate: 'offset',
  handle: async ({ actor, page, request }, { store }) => {
    const found = await store.sshKeys.list(actor.user.id, counted(page));
    return { ...found, items: found.items.map((key) => sshKey(key, actor.user, request.baseUrl)) };
  },
});

const getOwn = endpoint({
  method: 'GET',
  path: '/user/keys/:key_id',
  area,
  summary: 'Get one of your SSH keys',
  access: signedIn(),
  scopes: ['read_user'],
  params: keyId,
  returns: { body: shapes.sshKey },
  errors: [absent],
  handle: async ({ actor, params, request }, deps) =>
    sshKey(await keys.getSshKey(deps, actor.user.id, params.key_id), actor.user, request.baseUrl),
});

const createOwn = endpoint({
  method: 'POST',
  path: '/user/keys',
  area,
  summary: 'Add an SSH key to your account',
  access: signedIn(),
  body: newKey,
  returns: { body: shapes.sshKey },
  errors: [refused],
  handle: async ({ actor, body, request }, deps) =>
    sshKey(await keys.addSshKey(deps, actor, actor.user, inputOf(body)), actor.user, request.baseUrl),
});

const removeOwn = endpoint({
  method: 'DELETE',
  path: '/user/keys/:key_id',
  area,
  summary: 'Delete one of your SSH keys',
  access: signedIn(),
  params: keyId,
  returns: { status: 204 },
  errors: [absent],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const key = await keys.getSshKey(deps, actor.user.id, params.key_id);
    unmodifiedSince(key.createdAt);
    await keys.removeSshKey(deps, actor, actor.user, key);
    return noContent();
  },
});

const listOfUser = endpoint({
  method: 'GET',
  path: '/users/:id/keys',
  area,
  summary: 'List the SSH keys of a user',
  access: anyone(),
  params: userName,
  scopes: ['read_user'],
  returns: { body: shapes.sshKeys },
  paginate: 'offset',
  errors: [{ status: 404, description: 'User not found' }],
  handle: async ({ params, page, request }, deps) => {
    const user = await userNamed(deps, params.id);
    const found = await deps.store.sshKeys.list(user.id, counted(page));
    return { ...found, items: found.items.map((key) => sshKey(key, user, request.baseUrl)) };
  },
});

const getOfUser = endpoint({
  method: 'GET',
  path: '/users/:id/keys/:key_id',
  area,
  summary: 'Get an SSH key of a user',
  access: anyone(),
  scopes: ['read_user'],
  params: userNameAndKey,
  returns: { body: shapes.sshKey },
  errors: [absentOfUser],
  handle: async ({ params, request }, deps) => {
    const user = await userNamed(deps, params.id);
    return sshKey(await keys.getSshKey(deps, user.id, params.key_id), user, request.baseUrl);
  },
});

const createForUser = endpoint({
  method: 'POST',
  path: '/users/:id/keys',
  area,
  summary: 'Add an SSH key for a user',
  access: administrator(),
  params: () => p.params({ id: p.integer({ required: true, description: 'ID of the user' }) }),
  body: newKey,
  returns: { body: shapes.sshKey },
  errors: [refused, { status: 404, description: 'User not found' }],
  handle: async ({ actor, params, body, request }, deps) => {
    const user = await userNamed(deps, String(params.id));
    return sshKey(await keys.addSshKey(deps, actor, user, inputOf(body)), user, request.baseUrl);
  },
});

const removeOfUser = endpoint({
  method: 'DELETE',
  path: '/users/:id/keys/:key_id',
  area,
  summary: 'Delete an SSH key of a user',
  access: administrator(),
  params: userAndKey,
  returns: { status: 204 },
  errors: [absentOfUser],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const user = await userNamed(deps, String(params.id));
    const key = await keys.getSshKey(deps, user.id, params.key_id);
    unmodifiedSince(key.createdAt);
    await keys.removeSshKey(deps, actor, user, key);
    return noContent();
  },
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

export const sshKeyEndpoints = [
  listOwn,
  getOwn,
  createOwn,
  removeOwn,
  listOfUser,
  getOfUser,
  createForUser,
  removeOfUser,
  byId,
  byFingerprint,
];
