import * as audit from '../../domain/audit-events/list.ts';
import { AUDITED_KINDS } from '../../domain/audit-events/list.ts';
import { administrator, group, project } from '../../http/access.ts';
import { type KeysetPage, MAX_OFFSET, type OffsetPage, type Page } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { countedOrAfter, endpoint } from '../endpoint.ts';
import { auditEvent } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'events';

const timeFilters = () => ({
  created_after: p.datetime({ description: 'Return only events created at or after this time (ISO 8601)' }),
  created_before: p.datetime({ description: 'Return only events created at or before this time (ISO 8601)' }),
});

const listDeclaration = {
  method: 'GET',
  area,
  paginate: 'offset+keyset',
  keyset: { marker: 'cursor' },
  noun: 'AuditEvent',
  returns: { body: shapes.auditEvents },
  errors: [{ status: 405, description: `The offset exceeds ${MAX_OFFSET}` }],
} as const;

const getDeclaration = {
  method: 'GET',
  area,
  returns: { body: shapes.auditEvent },
  errors: [{ status: 404, description: 'Audit event not found' }],
} as const;

const eventId = () =>
  p.params({ audit_event_id: p.integer({ required: true, description: 'ID of the audit event' }) });

const list = endpoint({
  ...listDeclaration,
  path: '/audit_events',
  summary: 'List the audit events of the instance',
  access: administrator(),
  query: () =>
    p.params(
      {
        ...timeFilters(),
        entity_type: p.oneOf(AUDITED_KINDS, {
          description: 'Return only events about entities of this type',
        }),
        entity_id: p.integer({
          description: 'Return only events about the entity with this ID; requires `entity_type`',
        }),
      },
      [p.requiredWhen('entity_type', ({ entity_id }) => entity_id !== undefined)],
    ),
  handle: async ({ query, page }, deps) =>
    presentPage(
      await audit.auditEventsOfInstance(deps, {
        ...listInputOf(query, page),
        kind: query.entity_type,
        id: query.entity_id,
      }),
    ),
});

const get = endpoint({
  ...getDeclaration,
  path: '/audit_events/:id',
  summary: 'Get an audit event of the instance',
  access: administrator(),
  params: () => p.params({ id: p.integer({ required: true, description: 'ID of the audit event' }) }),
  handle: async ({ params }, deps) => auditEvent(await audit.auditEventOfInstance(deps, params.id)),
});

const listOfGroup = endpoint({
  ...listDeclaration,
  path: '/groups/:id/audit_events',
  summary: 'List the audit events of a group',
  description: 'Owners see every event; other members see only the events they caused.',
  access: group('read_audit_events'),
  query: () => p.params(timeFilters()),
  handle: async ({ actor, group: access, query, page }, deps) =>
    presentPage(await audit.auditEventsOfResource(deps, actor, access, listInputOf(query, page))),
});

const getOfGroup = endpoint({
  ...getDeclaration,
  path: '/groups/:id/audit_events/:audit_event_id',
  summary: 'Get an audit event of a group',
  access: group('admin_group'),
  params: eventId,
  handle: async ({ actor, group: access, params }, deps) =>
    auditEvent(await audit.auditEventOfResource(deps, actor, access, params.audit_event_id)),
});

const listOfProject = endpoint({
  ...listDeclaration,
  path: '/projects/:id/audit_events',
  summary: 'List the audit events of a project',
  description: 'Maintainers see every event; Developers see only the events they caused.',
  access: project('read_audit_events'),
  query: () => p.params(timeFilters()),
  handle: async ({ actor, project: access, query, page }, deps) =>
    presentPage(await audit.auditEventsOfResource(deps, actor, access, listInputOf(query, page))),
});

const getOfProject = endpoint({
  ...getDeclaration,
  path: '/projects/:id/audit_events/:audit_event_id',
  summary: 'Get an audit event of a project',
  access: project('admin_project'),
  params: eventId,
  handle: async ({ actor, project: access, params }, deps) =>
    auditEvent(await audit.auditEventOfResource(deps, actor, access, params.audit_event_id)),
});

export const auditEventEndpoints = [list, get, listOfGroup, getOfGroup, listOfProject, getOfProject];

const listInputOf = (
  query: { readonly created_after?: Date; readonly created_before?: Date },
  page: OffsetPage | KeysetPage,
): audit.AuditListInput => ({
  createdAfter: query.created_after,
  createdBefore: query.created_before,
  ...countedOrAfter(page),
});

const presentPage = (events: Awaited<ReturnType<typeof audit.auditEventsOfResource>>): Page<unknown> => ({
  ...events,
  items: events.items.map(auditEvent),
});
