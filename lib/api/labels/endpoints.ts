import { labelCounts } from '../../domain/issues/label-counts.ts';
import type { IssueStatistics } from '../../domain/issues/list.ts';
import type { ContainerAccess } from '../../domain/labels/containers.ts';
import * as labels from '../../domain/labels/labels.ts';
import { rankedIn } from '../../domain/labels/priorities.ts';
import { openWithLabels } from '../../domain/merge-requests/label-counts.ts';
import { group, project, type SignedInActor } from '../../http/access.ts';
import type { Field } from '../../http/params.ts';
import * as p from '../../http/params.ts';
import { json, noContent, notModified } from '../../http/reply.ts';
import type { LabelRecord } from '../../records/labels.ts';
import { accessOf } from '../container-access.ts';
import { type ApiDeps, BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { htmlOfDescription } from './description.ts';
import { groupLabel, projectLabel } from './present.ts';
import { promote } from './promote.ts';
import * as shapes from './shapes.ts';

const area = 'labels';

/** Projects and groups have the same endpoints; labels of projects have a priority. */
const KINDS = {
  project: {
    base: '/projects/:id/labels',
    readers: project('read_label'),
    writers: project('admin_label'),
    shape: shapes.projectLabel,
    list: shapes.projectLabels,
    present: projectLabel,
  },
  group: {
    base: '/groups/:id/labels',
    readers: group('read_group'),
    writers: group('admin_group_label'),
    shape: shapes.groupLabel,
    list: shapes.groupLabels,
    present: groupLabel,
  },
} as const;
type Kind = keyof typeof KINDS;

const absent = { status: 404, description: 'The project or group has no such label' };
const changed = { status: 409, description: 'The label was changed by another request' };
const idOrName = () =>
  p.params({ name: p.string({ required: true, description: 'ID or URL-encoded name of the label' }) });

const color = 'Six or three hexadecimal digits after `#`, or the name of a CSS color';
const rank = { min: 0, nullable: true } as const;
/** Only labels of projects have it. */
const priorityField = (kind: Kind) =>
  (kind === 'project'
    ? {
        priority: p.integer({
          ...rank,
          description:
            'Rank in the project, 0 being the highest; null: none. Labels of groups above have one there too',
        }),
      }
    : {}) as { priority: Field<number | null | undefined> };

/** Only groups have labels below. */
const belowFields = (kind: Kind) =>
  (kind === 'group'
    ? {
        include_descendant_groups: p.boolean({
          default: false,
          description: 'Include the labels of subgroups, of the newest hundred',
        }),
        only_group_labels: p.boolean({
          default: true,
          description: 'Leave out the labels of projects; else those of the newest hundred are included',
        }),
      }
    : {}) as { include_descendant_groups: Field<boolean>; only_group_labels: Field<boolean> };

const changeFields = () => ({
  new_name: p.changedText({ description: 'New name of the label' }),
  color: p.changedText({ description: color }),
  description: p.string({ nullable: true, description: 'Description of the label' }),
});
const nameFields = () => ({
  label_id: p.integer({ description: 'ID of the label' }),
  name: p.string({ description: 'Name of the label' }),
});

const withCounts = ({ opened, closed }: IssueStatistics, mergeRequests: number) => ({
  open_issues_count: opened,
  closed_issues_count: closed,
  open_merge_requests_count: mergeRequests,
});

interface Change {
  readonly new_name?: string;
  readonly color?: string;
  readonly description?: string | null;
  readonly priority?: number | null;
}

const of = (kind: Kind) => {
  const { base, readers, writers, shape, list, present } = KINDS[kind];

  const presented = async (
    deps: ApiDeps,
    actor: SignedInActor,
    access: ContainerAccess,
    found: readonly LabelRecord[],
  ) => {
    const [subscribed, ranked] = await Promise.all([
      labels.subscribedTo(deps, actor, access, found),
      rankedIn(deps, access, found),
    ]);
    return ranked.map((label, i) => present(label, subscribed[i]!));
  };
  const one = async (deps: ApiDeps, actor: SignedInActor, access: ContainerAccess, label: LabelRecord) =>
    (await presented(deps, actor, access, [label]))[0]!;

  const change = async (
    deps: ApiDeps,
    actor: SignedInActor,
    access: ContainerAccess,
    name: string,
    { new_name: title, ...rest }: Change,
    baseUrl: string,
  ) => {
    const descriptionHtml = await htmlOfDescription(rest.description, baseUrl);
    const input = { ...rest, descriptionHtml, ...(title === undefined ? {} : { title }) };
    return one(deps, actor, access, await labels.changeLabel(deps, access, name, input));
  };
  const changeParams = () => ({ ...changeFields(), ...priorityField(kind) });
  const someChange = () =>
    p.atLeastOneOf('new_name', 'color', 'description', ...(kind === 'project' ? ['priority'] : []));
  const changeErrors = [{ status: 400, description: 'A field is invalid' }, absent, changed];

  const setSubscription = (name: 'subscribe' | 'unsubscribe', summary: string, unchanged: string) =>
    endpoint({
      method: 'POST',
      path: `${base}/:name/${name}`,
      area,
      summary,
      access: readers,
      params: idOrName,
      returns: { body: shape },
      errors: [{ status: 304, description: unchanged }, absent],
      handle: async ({ actor, params, ...found }, deps) => {
        const access = accessOf(found);
        const wanted = name === 'subscribe';
        const label = await labels.setSubscription(deps, actor, access, params.name, wanted);
        if (label === undefined) return notModified();
        const [ranked] = await rankedIn(deps, access, [label]);
        return json(present(ranked!, wanted), { status: 201 });
      },
    });

  return [
    endpoint({
      method: 'GET',
      path: base,
      area,
      summary: `List the labels of a ${kind}`,
      access: readers,
      query: () =>
        p.params({
          include_ancestor_groups: p.boolean({
            default: true,
            description: 'Include the labels of all groups above',
          }),
          ...belowFields(kind),
          with_counts: p.boolean({
            default: false,
            description: 'Include the numbers of issues with each label that the caller may see',
          }),
          search: p.string({
            description: 'Return only labels whose name or description contains this text',
          }),
        }),
      returns: { body: list },
      ...BY_ROWS,
      handle: async ({ actor, query, page, ...found }, deps) => {
        const access = accessOf(found);
        const listed = await labels.listLabels(deps, actor, access, {
          ...counted(page),
          inherited: query.include_ancestor_groups,
          search: query.search,
          below: { groups: query.include_descendant_groups, projects: !query.only_group_labels },
        });
        const items = await presented(deps, actor, access, listed.items);
        if (!query.with_counts) return { ...listed, items };
        const [issues, mergeRequests] = await Promise.all([
          labelCounts(deps, actor, access, listed.items),
          openWithLabels(deps, actor, access, listed.items),
        ]);
        const shown = items.map((item, i) => ({ ...item, ...withCounts(issues[i]!, mergeRequests[i]!) }));
        return { ...listed, items: shown };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${base}/:name`,
      area,
      summary: `Get a label of a ${kind}`,
      access: readers,
      params: idOrName,
      query: () =>
        p.params({
          include_ancestor_groups: p.boolean({
            default: true,
            description: 'Find labels of all groups above as well',
          }),
        }),
      returns: { body: shape },
      errors: [absent],
      handle: async ({ actor, params, query, ...found }, deps) => {
        const access = accessOf(found);
        const inherited = query.include_ancestor_groups;
        return one(deps, actor, access, await labels.getLabel(deps, access, params.name, { inherited }));
      },
    }),
    endpoint({
      method: 'POST',
      path: base,
      area,
      summary: `Create a label of a ${kind}`,
      access: writers,
      body: () =>
        p.params({
          name: p.string({ required: true, description: 'Name of the label, without commas' }),
          color: p.string({ required: true, description: color }),
          description: p.string({ description: 'Description of the label' }),
          ...priorityField(kind),
        }),
      returns: { body: shape },
      errors: [
        { status: 400, description: 'A field is invalid, or there are 10,000 labels' },
        { status: 409, description: 'There is a label with this name, here or in a group above' },
      ],
      handle: async ({ body, request, ...found }, deps) => {
        const { name: title, ...rest } = body;
        const descriptionHtml = await htmlOfDescription(rest.description, request.baseUrl);
        const input = { title, ...rest, descriptionHtml };
        return present(await labels.createLabel(deps, accessOf(found), input), false);
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${base}/:name`,
      area,
      summary: `Update a label of a ${kind}`,
      access: writers,
      params: idOrName,
      body: () => p.params(changeParams(), [someChange()]),
      returns: { body: shape },
      errors: changeErrors,
      handle: ({ actor, params, body, request, ...found }, deps) =>
        change(deps, actor, accessOf(found), params.name, body, request.baseUrl),
    }),
    endpoint({
      method: 'PUT',
      path: base,
      area,
      summary: `Update a label of a ${kind} that the body names`,
      access: writers,
      body: () =>
        p.params({ ...nameFields(), ...changeParams() }, [p.exactlyOneOf('label_id', 'name'), someChange()]),
      returns: { body: shape },
      errors: changeErrors,
      handle: ({ actor, body, request, ...found }, deps) => {
        const { label_id, name, ...rest } = body;
        return change(deps, actor, accessOf(found), String(label_id ?? name ?? ''), rest, request.baseUrl);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${base}/:name`,
      area,
      summary: `Delete a label of a ${kind}`,
      access: writers,
      params: idOrName,
      returns: { status: 204 },
      errors: [absent, changed],
      handle: async ({ params, unmodifiedSince, ...found }, deps) => {
        await labels.removeLabel(deps, accessOf(found), params.name, unmodifiedSince);
        return noContent();
      },
    }),
    endpoint({
      method: 'DELETE',
      path: base,
      area,
      summary: `Delete a label of a ${kind} that the parameters name`,
      access: writers,
      query: () => p.params(nameFields(), [p.exactlyOneOf('label_id', 'name')]),
      returns: { status: 204 },
      errors: [absent, changed],
      handle: async ({ query, unmodifiedSince, ...found }, deps) => {
        const named = String(query.label_id ?? query.name ?? '');
        await labels.removeLabel(deps, accessOf(found), named, unmodifiedSince);
        return noContent();
      },
    }),
    setSubscription('subscribe', `Subscribe to a label of a ${kind}`, 'You are subscribed already'),
    setSubscription('unsubscribe', `Unsubscribe from a label of a ${kind}`, 'You are not subscribed'),
  ];
};

export const labelEndpoints = [...of('project'), ...of('group'), promote];
