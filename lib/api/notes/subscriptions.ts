import * as z from 'zod';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { type Conversation, listParticipants, setSubscription } from '../../domain/notes/subscriptions.ts';
import type { ProjectRule } from '../../http/access.ts';
import { json, notModified } from '../../http/reply.ts';
import { shape } from '../../http/shape.ts';
import { type ApiDeps, BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { userBasic } from '../users/present.ts';
import * as userShapes from '../users/shapes.ts';
import { withParams } from '../with-params.ts';
import { absent, type NotedPath } from './discussions.ts';

/** Where subscriptions to a kind of object, and those who take part in its conversation, are served. */
export interface ConversationPath<T> extends Omit<NotedPath<ProjectAccess>, 'open' | 'prefetch'> {
  /** Who may read who takes part. */
  readonly readers: ProjectRule;
  /** Of an answer with the object. */
  readonly shape: () => z.ZodType;
  /** Finds the object. @throws 404 where it is absent, or hidden from the actor */
  open(
    deps: ApiDeps,
    actor: Actor,
    access: ProjectAccess,
    params: Readonly<Record<string, string | number>>,
  ): Promise<T>;
  conversation(found: T): Conversation;
  present(deps: ApiDeps, actor: Actor, found: T, baseUrl: string): Promise<object>;
}

const users = shape(() => z.array(userShapes.userBasic()));

/** The endpoints of subscriptions and participants below an object. */
export function conversationEndpoints<T>({
  path,
  area,
  object,
  missing,
  access,
  readers,
  open,
  conversation,
  present,
  ...of
}: ConversationPath<T>) {
  const params = () => withParams(of.params(), {});

  const set = (name: 'subscribe' | 'unsubscribe', summary: string, unchanged: string) =>
    endpoint({
      method: 'POST',
      path: `${path}/${name}`,
      area,
      summary,
      access,
      params,
      returns: { body: of.shape },
      errors: [{ status: 304, description: unchanged }, absent(missing)],
      handle: async ({ actor, project, params, request }, deps) => {
        const found = await open(deps, actor, project, params);
        const changed = await setSubscription(deps, actor, conversation(found), name === 'subscribe');
        if (!changed) return notModified();
        return json(await present(deps, actor, found, request.baseUrl), { status: 201 });
      },
    });

  const participants = endpoint({
    method: 'GET',
    path: `${path}/participants`,
    area,
    summary: `List who takes part in the conversation about ${object}`,
    description:
      'Its author and assignees, who commented on it or awarded an emoji, and who is mentioned there; by ID.',
    access: readers,
    params,
    returns: { body: users },
    ...BY_ROWS,
    errors: [absent(missing)],
    handle: async ({ actor, project, params, page, request }, deps) => {
      const found = await open(deps, actor, project, params);
      const { items, ...rest } = await listParticipants(deps, actor, conversation(found), counted(page));
      return { ...rest, items: items.map((user) => userBasic(user, request.baseUrl)) };
    },
  });

  return [
    set('subscribe', `Subscribe to ${object}`, 'You are subscribed already'),
    set('unsubscribe', `Unsubscribe from ${object}`, 'You are not subscribed'),
    participants,
  ];
}
