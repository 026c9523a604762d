import type { Actor } from '../../domain/actor.ts';
import * as epics from '../../domain/epics/epics.ts';
import { listEpics } from '../../domain/epics/list.ts';
import { type FoundEpic, shownEpics } from '../../domain/epics/related.ts';
import { group } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { ISSUE_STATES } from '../../records/issues.ts';
import { type ApiDeps, BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { presentEpic } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'issues';
const path = '/groups/:id/epics';

const absent = { status: 404, description: 'Group or epic not found' };
const ofEpic = () =>
  p.params({
    id: p.string({ required: true, description: 'ID or URL-encoded full path of the group' }),
    epic_iid: p.integer({ required: true, description: 'Number of the epic in the group' }),
  });

/** What may also be excluded. */
const selection = () => ({
  author_id: p.integer({ description: 'ID of the author' }),
  author_username: p.string({ description: 'Username of the author' }),
  labels: p.list(p.string(), {
    maxItems: 100,
    documentedAsText: true,
    description: 'Titles of labels; `None` or `Any` are allowed',
  }),
  my_reaction_emoji: p.string({
    description: 'Emoji that the caller awarded; `None` or `Any` are allowed',
  }),
});
type Selection = p.Output<ReturnType<typeof selection>>;
const EXCLUSIVE = () => [p.mutuallyExclusive('author_id', 'author_username')];

const ORDERS = { created_at: 'byId', updated_at: 'byUpdated', title: 'byName' } as const;

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the epics of a group',
  access: group('read_group', { anonymous: true }),
  query: () =>
    p.params(
      {
        ...selection(),
        not: p.object(selection(), { description: 'Return only epics that do not match these' }, EXCLUSIVE()),
        with_labels_details: p.boolean({
          default: false,
          description: 'Return labels with all their fields',
        }),
        order_by: p.oneOf(['created_at', 'updated_at', 'title'], {
          default: 'created_at',
          description: 'Sort order',
        }),
        sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
        search: p.string({ description: 'Return only epics that contain these words' }),
        state: p.oneOf([...ISSUE_STATES, 'all'], {
          default: 'all',
          description: 'Return only epics in this state',
        }),
        created_after: p.datetime({ description: 'Return only epics created at this time or later' }),
        created_before: p.datetime({ description: 'Return only epics created at this time or earlier' }),
        updated_after: p.datetime({ description: 'Return only epics changed at this time or later' }),
        updated_before: p.datetime({ description: 'Return only epics changed at this time or earlier' }),
        include_ancestor_groups: p.boolean({
          default: false,
          description: 'Include the epics of all groups above',
        }),
        include_descendant_groups: p.boolean({
          default: true,
          description: 'Include the epics of all groups below',
        }),
      },
      EXCLUSIVE(),
    ),
  returns: { body: shapes.epics },
  ...BY_ROWS,
  noun: 'Epic',
  handle: async ({ actor, group: access, query, page, request }, deps) => {
    const [filter, not] = await Promise.all([
      selectionOf(deps, query),
      query.not === undefined ? undefined : selectionOf(deps, query.not as Selection),
    ]);
    if (filter === undefined) return { items: [], total: 0, more: false };
    const listed = await listEpics(
      deps,
      actor,
      access,
      {
        ...filter,
        // Nothing is of a user whom nobody is, so there is nothing to leave out.
        not,
        state: query.state === 'all' ? undefined : query.state,
        search: query.search,
        createdAfter: query.created_after,
        createdBefore: query.created_before,
        updatedAfter: query.updated_after,
        updatedBefore: query.updated_before,
        above: query.include_ancestor_groups,
        below: query.include_descendant_groups,
      },
      { ...counted(page), order: ORDERS[query.order_by], direction: query.sort },
    );
    const shown = await shownEpics(deps, actor, listed.items);
    const options = { labelDetails: query.with_labels_details };
    return {
      ...listed,
      items: shown.map((epic) => presentEpic(epic, request.baseUrl, access.group, options)),
    };
  },
});

/** @returns undefined where an author is named whom nobody is */
async function selectionOf(
  deps: ApiDeps,
  { author_id, author_username: username, labels = [], my_reaction_emoji }: Selection,
) {
  const author = username ? await deps.store.users.byUsername(username) : undefined;
  if (username && author === undefined) return undefined;
  const word = labels.length === 1 ? labels[0]!.toLowerCase() : '';
  return {
    authorId: author?.id ?? author_id,
    labels:
      labels.length === 0 ? undefined : word === 'none' || word === 'any' ? (word as 'none' | 'any') : labels,
    reaction: my_reaction_emoji || undefined,
  };
}

const one = endpoint({
  method: 'GET',
  path: `${path}/:epic_iid`,
  area,
  summary: 'Get an epic of a group',
  access: group('read_group', { anonymous: true }),
  params: ofEpic,
  returns: { body: shapes.epic },
  errors: [absent],
  handle: async ({ actor, group: access, params, request }, deps) =>
    presented(deps, actor, await epics.getEpic(deps, actor, access, params.epic_iid), request.baseUrl),
});

const fields = () => ({
  description: p.string({ nullable: true, description: 'At most 1,048,576 characters of Markdown' }),
  labels: p.list(p.string(), {
    nullable: true,
    description: 'Titles of the labels; missing ones are created',
  }),
  confidential: p.boolean({ blank: false, description: 'Whether only its author and Reporters see it' }),
  parent_id: p.integer({ nullable: true, description: 'ID of the epic above it; 0: none' }),
  start_date_is_fixed: p.boolean({ description: 'Whether the fixed start date counts' }),
  start_date_fixed: p.date({ nullable: true, description: 'The fixed start date' }),
  due_date_is_fixed: p.boolean({ description: 'Whether the fixed due date counts' }),
  due_date_fixed: p.date({ nullable: true, description: 'The fixed due date' }),
});

interface Given {
  readonly description?: string | null;
  readonly labels?: readonly string[] | null;
  readonly confidential?: boolean;
  readonly parent_id?: number | null;
  readonly start_date_is_fixed?: boolean | null;
  readonly start_date_fixed?: string | null;
  readonly due_date_is_fixed?: boolean | null;
  readonly due_date_fixed?: string | null;
}

const inputOf = (body: Given): epics.EpicInput => ({
  description: body.description,
  labels: body.labels === null ? [] : body.labels,
  confidential: body.confidential,
  parentId: body.parent_id,
  startDateIsFixed: body.start_date_is_fixed ?? undefined,
  startDateFixed: body.start_date_fixed,
  dueDateIsFixed: body.due_date_is_fixed ?? undefined,
  dueDateFixed: body.due_date_fixed,
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create an epic in a group',
  access: group('admin_epic'),
  body: () =>
    p.params({
      title: p.string({ required: true, description: 'Title, at most 255 characters' }),
      ...fields(),
      created_at: p.datetime({ description: 'Time of creation; obeyed of owners' }),
    }),
  returns: { body: shapes.epic },
  errors: [
    { status: 400, description: 'A parameter is invalid' },
    { status: 409, description: 'Many epics are being created at the same time' },
  ],
  handle: async ({ actor, group: access, body, request }, deps) => {
    const input = { ...inputOf(body), title: body.title, createdAt: body.created_at };
    return presented(deps, actor, await epics.createEpic(deps, actor, access, input), request.baseUrl);
  },
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:epic_iid`,
  area,
  summary: 'Update an epic',
  access: group('admin_epic'),
  params: ofEpic,
  body: () =>
    p.params(
      {
        title: p.changedText({ description: 'Title, at most 255 characters' }),
        ...fields(),
        add_labels: p.list(p.string(), { description: 'Titles of labels to add' }),
        remove_labels: p.list(p.string(), { description: 'Titles of labels to remove' }),
        state_event: p.oneOf(['close', 'reopen'], { description: 'Change of the state' }),
        updated_at: p.datetime({ description: 'Time of the change; obeyed of owners' }),
      },
      [
        p.atLeastOneOf(
          ...['title', 'description', 'labels', 'add_labels', 'remove_labels', 'confidential', 'parent_id'],
          ...['start_date_is_fixed', 'start_date_fixed', 'due_date_is_fixed', 'due_date_fixed'],
          ...['state_event', 'updated_at'],
        ),
      ],
    ),
  returns: { body: shapes.epic },
  errors: [
    { status: 400, description: 'A parameter is invalid' },
    absent,
    { status: 409, description: 'Others keep changing the epic' },
  ],
  handle: async ({ actor, group: access, params, body, request }, deps) => {
    const found = await epics.updateEpic(deps, actor, access, params.epic_iid, {
      ...inputOf(body),
      title: body.title,
      addLabels: body.add_labels,
      removeLabels: body.remove_labels,
      stateEvent: body.state_event,
      updatedAt: body.updated_at,
    });
    return presented(deps, actor, found, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: `${path}/:epic_iid`,
  area,
  summary: 'Delete an epic',
  description: 'Its issues stay, and lose it soon afterwards.',
  access: group('own_epics'),
  params: ofEpic,
  returns: { status: 204 },
  errors: [absent, { status: 412, description: 'The epic was changed later than `If-Unmodified-Since`' }],
  handle: async ({ actor, group: access, params, unmodifiedSince }, deps) => {
    await epics.deleteEpic(deps, actor, access, params.epic_iid, unmodifiedSince);
    return noContent();
  },
});

export const epicEndpoints = [list, one, create, update, remove];

/** One epic, as asked for in its group. */
async function presented(deps: ApiDeps, actor: Actor, found: FoundEpic, baseUrl: string) {
  const [shown] = await shownEpics(deps, actor, [found]);
  return presentEpic(shown!, baseUrl, found.access.group);
}
