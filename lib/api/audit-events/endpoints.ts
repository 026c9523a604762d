import * as audit from '../../domain/audit-events/list.ts';
import { AUDITED_KINDS } from '../../domain/audit-events/list.ts';
import { administrator, group, project } from '../../http/access.ts';
import type { KeysetPage, OffsetPage, Page } from '../../http/pagination.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { counted, endpoint } from '../endpoint.ts';
import { auditEvent } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'audit-events';

const times = () => ({
  created_after: p.datetime({ description: 'At that time or later' }),
  created_before: p.datetime({ description: 'At that time or earlier' }),
});

const lists = {
  method: 'GET',
  area,
  paginate: 'offset+keyset',
  keyset: { marker: 'cursor' },
  noun: 'AuditEvent',
  returns: { body: shapes.auditEvents },
  errors: [{ status: 405, description: `An offset above ${MAX_OFFSET}` }],
} as const;

const one = {
  method: 'GET',
  area,
  returns: { body: shapes.auditEvent },
  errors: [{ status: 404, description: 'Absent, or not yours to see' }],
} as const;

const eventId = () => p.params({ audit_event_id: p.integer({ required: true }) });

const list = endpoint({
  ...lists,
  path: '/audit_events',
  summary: 'List what was done in the whole instance',
  access: administrator(),
  query: () =>
    p.params(
      {
        ...times(),
        entity_type: p.oneOf(AUDITED_KINDS),
        entity_id: p.integer({ description: 'Needs `entity_type`' }),
      },
      [p.requiredWhen('entity_type', ({ entity_id }) => entity_id !== undefined)],
    ),
  handle: async ({ query, page }, deps) =>
    shown(
      await audit.auditEventsOfInstance(deps, {
        ...inputOf(query, page),
        kind: query.entity_type,
        id: query.entity_id,
      }),
    ),
});

const get = endpoint({
  ...one,
  path: '/audit_events/:id',
  summary: 'Get one of the whole instance',
  access: administrator(),
  params: () => p.params({ id: p.integer({ required: true }) }),
  handle: async ({ params }, deps) => auditEvent(await audit.auditEventOfInstance(deps, params.id)),
});

const ofGroup = endpoint({
  ...lists,
  path: '/groups/:id/audit_events',
  summary: 'List what was done to a group: all of it for owners, what they did themselves for other members',
  access: group('read_audit_events'),
  query: () => p.params(times()),
  handle: async ({ actor, group: access, query, page }, deps) =>
    shown(await audit.auditEventsOfPlace(deps, actor, access, inputOf(query, page))),
});

const oneOfGroup = endpoint({
  ...one,
  path: '/groups/:id/audit_events/:audit_event_id',
  summary: 'Get one of a group',
  access: group('admin_group'),
  params: eventId,
  handle: async ({ actor, group: access, params }, deps) =>
    auditEvent(await audit.auditEventOfPlace(deps, actor, access, params.audit_event_id)),
});

const ofProject = endpoint({
  ...lists,
  path: '/projects/:id/audit_events',
  summary:
    'List what was done to a project: all of it for Maintainers, what they did themselves for Developers',
  access: project('read_audit_events'),
  query: () => p.params(times()),
  handle: async ({ actor, project: access, query, page }, deps) =>
    shown(await audit.auditEventsOfPlace(deps, actor, access, inputOf(query, page))),
});

const oneOfProject = endpoint({
  ...one,
  path: '/projects/:id/audit_events/:audit_event_id',
  summary: 'Get one of a project',
  access: project('admin_project'),
  params: eventId,
  handle: async ({ actor, project: access, params }, deps) =>
    auditEvent(await audit.auditEventOfPlace(deps, actor, access, params.audit_event_id)),
});

export const auditEventEndpoints = [list, get, ofGroup, oneOfGroup, ofProject, oneOfProject];

const inputOf = (
  query: { readonly created_after?: Date; readonly created_before?: Date },
  page: OffsetPage | KeysetPage,
): audit.AuditListInput => ({
  createdAfter: query.created_after,
  createdBefore: query.created_before,
  ...(page.kind === 'offset' ? counted(page) : { page: 1, perPage: page.perPage, cursor: page.after }),
});

const shown = (found: Awaited<ReturnType<typeof audit.auditEventsOfPlace>>): Page<unknown> => ({
  ...found,
  items: found.items.map(auditEvent),
});
