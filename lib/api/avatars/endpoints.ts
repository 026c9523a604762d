import * as z from 'zod';
import { userByPublicEmail } from '../../domain/avatars/avatars.ts';
import { notFound } from '../../domain/errors.ts';
import { anyone, group, project } from '../../http/access.ts';
import { matches, REVALIDATE } from '../../http/conditional.ts';
import type { RequestFacts } from '../../http/endpoint.ts';
import * as p from '../../http/params.ts';
import { type Reply, reply } from '../../http/reply.ts';
import { shape } from '../../http/shape.ts';
import type { AvatarOwner, AvatarRecord } from '../../records/avatars.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { avatarUrl } from './avatar-url.ts';

const area = 'avatars';
const image = { type: 'image/*', description: 'The image as it was uploaded' };

const ofUser = endpoint({
  method: 'GET',
  path: '/users/:id/avatar',
  area,
  summary: 'Get the avatar of a user',
  access: anyone(),
  params: () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) }),
  scopes: ['read_user'],
  returns: image,
  errors: [{ status: 404, description: 'There is no avatar' }],
  handle: async ({ params, request }, deps) => {
    const user = await deps.store.users.get(params.id);
    return avatar(deps, { kind: 'user', id: params.id }, user?.avatar, request);
  },
});

const ofGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/avatar',
  area,
  summary: 'Get the avatar of a group',
  access: group('read_group', { anonymous: true }),
  returns: image,
  errors: [{ status: 404, description: 'There is no avatar' }],
  handle: ({ group: { group }, request }, deps) =>
    avatar(deps, { kind: 'group', id: group.id }, group.avatar, request),
});

const ofProject = endpoint({
  method: 'GET',
  path: '/projects/:id/avatar',
  area,
  summary: 'Get the avatar of a project',
  access: project('read_project', { anonymous: true }),
  returns: image,
  errors: [{ status: 404, description: 'There is no avatar' }],
  handle: ({ project: { project }, request }, deps) =>
    avatar(deps, { kind: 'project', id: project.id }, project.avatar, request),
});

/** Served with the other paths of topics, and by `uploads` under the URL of the image. */
export const ofTopic = endpoint({
  method: 'GET',
  path: '/topics/:id/avatar',
  area: 'project-relations',
  summary: 'Get the avatar of a topic',
  access: anyone(),
  params: () => p.params({ id: p.routeInteger({ description: 'Id of the topic' }) }),
  returns: image,
  errors: [{ status: 404, description: 'There is no avatar' }],
  handle: async ({ params, request }, deps) => {
    const topic = await deps.store.topicRecords.get(params.id);
    return avatar(deps, { kind: 'topic', id: params.id }, topic?.avatar, request);
  },
});

const byEmail = endpoint({
  method: 'GET',
  path: '/avatar',
  area,
  summary: 'Get the URL of an avatar by email address',
  description: 'Finds users by their public email address only; null if there is none with this address.',
  access: anyone(),
  scopes: ['read_user'],
  query: () =>
    p.params({
      email: p.string({ required: true, blank: false, description: 'Public email address of the user' }),
      size: p.integer({ min: 1, description: 'Ignored: images are not resized (pixels)' }),
    }),
  returns: {
    body: shape(() => z.object({ avatar_url: z.string().nullable() }).meta({ id: 'AvatarByEmail' })),
  },
  handle: async ({ query, request }, deps) => {
    const user = await userByPublicEmail(deps, query.email);
    return { avatar_url: user === undefined ? null : avatarUrl('user', user, request.baseUrl) };
  },
});

async function avatar(
  deps: ApiDeps,
  subject: AvatarOwner,
  record: AvatarRecord | null | undefined,
  { headers }: RequestFacts,
): Promise<Reply> {
  if (record == null) throw notFound('Avatar');
  const common = { ETag: `"${record.version}"`, 'Cache-Control': REVALIDATE, ...SANDBOX };
  if (matches(headers, common.ETag)) return reply({ status: 304, headers: common });
  const stored = await deps.store.avatars.get(subject);
  if (stored === undefined) throw notFound('Avatar');
  return reply({
    body: stored.bytes,
    type: stored.type,
    headers: { ...common, ETag: `"${stored.version}"`, 'Content-Disposition': 'inline' },
  });
}

/** Uploaded files are untrusted: browsers must not run any script in them. */
const SANDBOX = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
};

/** Maps the avatar URLs of responses, `/uploads/-/system/<kind>/avatar/<id>/<name>`, to the endpoints above. */
export function uploadAlias(path: string): string | undefined {
  const [, kind, id] =
    /^\/uploads\/-\/system\/(?:projects\/)?(user|group|project|topic)\/avatar\/(\d{1,15})\/[^/]+$/.exec(
      path,
    ) ?? [];
  return kind === undefined ? undefined : `/api/v4/${kind}s/${id}/avatar`;
}

export const uploadEndpoints = [ofUser, ofGroup, ofProject, ofTopic, byEmail];
