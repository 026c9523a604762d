import { TOKEN_PREFIXES, tokenHash } from '../../lib/domain/access/token-check.ts';
import type { Deps } from '../../lib/domain/deps.ts';
import { newTokenText } from '../../lib/domain/tokens/tokens.ts';
import type { TokenScope } from '../../lib/records/tokens.ts';
import type { Visibility } from '../../lib/records/visibility.ts';
import { readEnvironment } from '../../lib/store/environment.ts';
import { createStore, type Store } from '../../lib/store/store.ts';
import type { Answer, Service } from './service.ts';

/** Everybody who may knock: roles are held in all of the world's projects. */
export const PEOPLE = [
  'anonymous',
  'stranger',
  'external',
  'guest',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'administrator',
  /** Was a maintainer until yesterday. */
  'former',
  /** The owner, whose account was blocked: `blocked`; the owner's tokens in other states. */
  'blocked',
  'expired',
  'revoked',
  'unknown',
  /** The owner with tokens of a single scope. */
  'read_user',
  'read_api',
  'read_repository',
  'write_repository',
] as const;
export type Who = (typeof PEOPLE)[number];

const LEVELS = { guest: 10, reporter: 20, developer: 30, maintainer: 40, blocked: 40 } as const;

/** One service with a user of each kind and an owner's project of each visibility. */
export interface World {
  readonly service: Service;
  readonly store: Store;
  /** Undefined for `anonymous`. */
  readonly tokens: Readonly<Record<Who, string | undefined>>;
  /** User ids by name and project ids by visibility, for the braces of a scenario's request. */
  readonly ids: Record<string, number>;
}

/** The store of the running service: for states that no endpoint can bring about, such as a blocked user. */
export const storeOf = (): Store => createStore(readEnvironment());

const yesterday = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

export async function makeWorld(service: Service): Promise<World> {
  const store = storeOf();
  const names = ['stranger', 'guest', 'reporter', 'developer', 'maintainer', 'owner', 'former', 'blocked'];
  const made = await Promise.all(names.map((name) => service.user(name)));
  // After the others: lists by id have it last.
  made.push(await service.user('external', { external: true }));
  const users = new Map(made.map((user) => [user.username, user]));
  const idOf = (name: string) => users.get(name)!.id;
  const owner = users.get('owner')!;

  const ids: Record<string, number> = {};
  for (const [name, { id }] of users) ids[name] = id;
  const root = await service.call('GET', '/user', { token: service.rootToken });
  ids['administrator'] = root.body.id;
  for (const visibility of ['public', 'internal', 'private'] as const satisfies Visibility[]) {
    const project = await service.call('POST', '/projects', {
      token: owner.token,
      json: { name: `${visibility} thing`, visibility, description: `secret of ${visibility}` },
    });
    ids[visibility] = project.body.id;
    for (const [name, access_level] of Object.entries(LEVELS)) {
      const json = { user_id: idOf(name), access_level };
      await service.call('POST', `/projects/${project.body.id}/members`, { token: owner.token, json });
    }
    await expiredMember(store, project.body.id, idOf('former'), 40);
  }
  const blocked = (await store.users.get(idOf('blocked')))!;
  await store.users.update(blocked, { state: 'blocked' });

  const scoped = async (...scopes: TokenScope[]): Promise<string> => {
    const answer = await service.call('POST', `/users/${owner.id}/personal_access_tokens`, {
      token: service.rootToken,
      json: { name: scopes.join(), scopes },
    });
    return answer.body.token;
  };
  const revoked = await scoped('api');
  await service.call('DELETE', '/personal_access_tokens/self', { token: revoked });
  return {
    service,
    store,
    ids,
    tokens: {
      ...(Object.fromEntries(made.map(({ username, token }) => [username, token])) as Record<Who, string>),
      anonymous: undefined,
      administrator: service.rootToken,
      expired: await expiredToken(store, owner.id),
      revoked,
      unknown: newTokenText(TOKEN_PREFIXES.access),
      read_user: await scoped('read_user'),
      read_api: await scoped('read_api'),
      read_repository: await scoped('read_repository'),
      write_repository: await scoped('write_repository'),
    },
  };
}

/** Sends a request as one of the people, with a JSON body if given. */
export function ask(world: World, who: Who, method: string, path: string, json?: unknown): Promise<Answer> {
  const token = world.tokens[who];
  return world.service.call(method, path, {
    ...(token === undefined ? {} : { token }),
    ...(json === undefined ? {} : { json }),
  });
}

/** A token that ended yesterday: no request can make one. */
export async function expiredToken(store: Deps['store'], userId: number): Promise<string> {
  const text = newTokenText(TOKEN_PREFIXES.access);
  await store.tokens.create({
    userId,
    name: 'expired',
    scopes: ['api'],
    expiresAt: yesterday(),
    hash: tokenHash(text),
  });
  return text;
}

/** A membership that ended yesterday. */
export async function expiredMember(
  store: Store,
  projectId: number,
  userId: number,
  accessLevel: 10 | 20 | 30 | 40,
): Promise<void> {
  await store.members.add({
    source: { kind: 'project', id: projectId },
    userId,
    accessLevel,
    createdAt: new Date(Date.now() - 10 * 86_400_000).toISOString(),
    expiresAt: yesterday(),
    createdById: null,
  });
}
