import * as topics from '../../domain/topics/topics.ts';
import { administrator, anyone } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { avatarField } from '../avatars/avatar-field.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { topic } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'project-relations';
const absent = { status: 404, description: 'The topic does not exist' };
const invalid = { status: 400, description: 'Invalid values by field, for example a name that is taken' };

const list = endpoint({
  method: 'GET',
  path: '/topics',
  area,
  summary: 'List topics',
  description:
    'Topics with the most projects come first. Topics that only private projects have are for administrators.',
  access: anyone(),
  query: () =>
    p.params({
      search: p.string({ description: 'Return only topics whose name or title contains this text' }),
      without_projects: p.boolean({ default: false, description: 'Return only topics without projects' }),
    }),
  returns: { body: shapes.topics },
  ...BY_ROWS,
  handle: async ({ actor, query, page, request }, deps) => {
    const found = await topics.listTopics(deps, actor, {
      ...counted(page),
      ...(query.search === undefined ? {} : { search: query.search }),
      unassigned: query.without_projects,
    });
    return { ...found, items: found.items.map((each) => topic(each, actor, request.baseUrl)) };
  },
});

const topicId = () => p.params({ id: p.routeInteger({ description: 'Id of the topic' }) });

const get = endpoint({
  method: 'GET',
  path: '/topics/:id',
  area,
  summary: 'Get a topic',
  access: anyone(),
  params: topicId,
  returns: { body: shapes.topic },
  errors: [absent],
  handle: async ({ actor, params, request }, deps) =>
    topic(await topics.getTopic(deps, actor, params.id), actor, request.baseUrl),
});

const texts = () => ({
  title: p.string({ description: 'Title of the topic; default: the name' }),
  description: p.string({ nullable: true, description: 'Description of the topic' }),
  avatar: avatarField(),
});

const create = endpoint({
  method: 'POST',
  path: '/topics',
  area,
  summary: 'Create a topic',
  access: administrator(),
  body: () =>
    p.params({
      name: p.string({ required: true, description: 'Name of the topic; unique, ignoring case' }),
      ...texts(),
    }),
  returns: { body: shapes.topic },
  errors: [invalid],
  handle: async ({ actor, body, request }, deps) =>
    topic(await topics.createTopic(deps, body), actor, request.baseUrl),
});

const update = endpoint({
  method: 'PUT',
  path: '/topics/:id',
  area,
  summary: 'Update a topic',
  description: 'Projects with the topic get its new name within moments.',
  access: administrator(),
  params: topicId,
  body: () => p.params({ name: p.string({ description: 'Name of the topic' }), ...texts() }),
  returns: { body: shapes.topic },
  errors: [invalid, absent],
  handle: async ({ actor, params, body, request }, deps) =>
    topic(await topics.updateTopic(deps, actor, params.id, body), actor, request.baseUrl),
});

const remove = endpoint({
  method: 'DELETE',
  path: '/topics/:id',
  area,
  summary: 'Delete a topic',
  description: 'Its projects remain, without the topic.',
  access: administrator(),
  params: topicId,
  returns: { status: 204 },
  errors: [absent],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    unmodifiedSince((await topics.getTopic(deps, actor, params.id)).updatedAt);
    await topics.deleteTopic(deps, actor, params.id);
    return noContent();
  },
});

const merge = endpoint({
  method: 'POST',
  path: '/topics/merge',
  area,
  summary: 'Merge two topics',
  description: 'The projects of the source topic get the target topic; the source topic is deleted.',
  access: administrator(),
  body: () =>
    p.params({
      source_topic_id: p.integer({ required: true, description: 'Id of the topic that is deleted' }),
      target_topic_id: p.integer({ required: true, description: 'Id of the topic that remains' }),
    }),
  returns: { body: shapes.topic },
  errors: [{ status: 400, description: 'The topics are the same' }, absent],
  handle: async ({ actor, body, request }, deps) => {
    const merged = await topics.mergeTopics(deps, actor, body.source_topic_id, body.target_topic_id);
    return topic(merged, actor, request.baseUrl);
  },
});

export const topicEndpoints = [list, get, create, update, remove, merge];
