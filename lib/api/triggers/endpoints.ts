import * as triggers from '../../domain/triggers/triggers.ts';
import { project, type SignedInActor } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { TriggerRecord } from '../../records/triggers.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { userBasic } from '../users/present.ts';
import * as shapes from './shapes.ts';
import { triggerStartEndpoints } from './start.ts';

const area = 'ci-settings';
const path = '/projects/:id/triggers';
const access = project('admin_builds');
const absent = { status: 404, description: 'The project has no such trigger' };
const changed = { status: 409, description: 'It was changed by other requests' };
const triggerId = () =>
  p.params({ trigger_id: p.integer({ required: true, description: 'ID of the trigger' }) });

/** Characters of a token that others than its owner see. */
const SHOWN = 4;

async function presented(
  deps: ApiDeps,
  actor: SignedInActor,
  found: readonly TriggerRecord[],
  baseUrl: string,
) {
  const ids = [...new Set(found.map(({ ownerId }) => ownerId))];
  const users = ids.length === 0 ? [] : await deps.store.users.getMany(ids);
  const userOf = new Map(ids.map((id, i) => [id, users[i]]));
  return found.map(({ id, token, description, ownerId, createdAt, updatedAt, lastUsedAt }) => {
    const owner = userOf.get(ownerId);
    return {
      id,
      token: ownerId === actor.user.id ? token : token.slice(0, SHOWN),
      description,
      created_at: createdAt,
      updated_at: updatedAt,
      last_used: lastUsedAt,
      owner: owner === undefined ? null : userBasic(owner, baseUrl),
    };
  });
}

const one = async (deps: ApiDeps, actor: SignedInActor, trigger: TriggerRecord, baseUrl: string) =>
  (await presented(deps, actor, [trigger], baseUrl))[0]!;

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the pipeline triggers of a project',
  access,
  returns: { body: shapes.triggers },
  paginate: 'offset',
  handle: async ({ actor, project, page, request }, deps) => {
    const all = await triggers.listTriggers(deps, project);
    const shown = all.slice(page.offset, page.offset + page.perPage);
    return { items: await presented(deps, actor, shown, request.baseUrl), total: all.length };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:trigger_id`,
  area,
  summary: 'Get a pipeline trigger',
  access,
  params: triggerId,
  returns: { body: shapes.trigger },
  errors: [absent],
  handle: async ({ actor, project, params, request }, deps) =>
    one(deps, actor, await triggers.getTrigger(deps, project, params.trigger_id), request.baseUrl),
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create a pipeline trigger',
  description: 'Its token starts pipelines with the rights of the caller.',
  access,
  body: () => p.params({ description: p.string({ required: true, description: 'What it is for' }) }),
  returns: { body: shapes.trigger },
  errors: [{ status: 400, description: 'The description is too long, or there are too many triggers' }],
  handle: async ({ actor, project, body, request }, deps) =>
    one(deps, actor, await triggers.createTrigger(deps, actor, project, body.description), request.baseUrl),
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:trigger_id`,
  area,
  summary: 'Update a pipeline trigger',
  access,
  params: triggerId,
  body: () => p.params({ description: p.string({ description: 'What it is for' }) }),
  returns: { body: shapes.trigger },
  errors: [
    { status: 400, description: 'The description is too long' },
    { status: 403, description: 'The caller is not its owner, or no Maintainer' },
    absent,
    changed,
  ],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const id = params.trigger_id;
    const trigger = await triggers.describeTrigger(deps, actor, project, id, body.description);
    return one(deps, actor, trigger, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:trigger_id`,
  area,
  summary: 'Delete a pipeline trigger',
  access,
  params: triggerId,
  returns: { status: 204 },
  errors: [absent, changed],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await triggers.removeTrigger(deps, actor, project, params.trigger_id, unmodifiedSince);
    return noContent();
  },
});

export const triggerEndpoints = [list, get, create, update, remove, ...triggerStartEndpoints];
