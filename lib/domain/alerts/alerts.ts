/** Alerts of a project: what people see of them, and say of them. */

import type { AlertRecord, AlertSeverity, AlertStatus } from '../../records/alerts.ts';
import { byId } from '../../records/by-id.ts';
import type { SystemNote } from '../../records/notes.ts';
import type { UserRecord } from '../../records/users.ts';
import type { AlertChange } from '../../store/alerts/alerts.ts';
import { AlreadyExists } from '../../store/errors.ts';
import { alertTodos } from '../../store/todos/todos.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, recordNotFound } from '../errors.ts';
import { textsOf } from '../long-texts.ts';
import type { NotedObject } from '../notes/noteable.ts';
import { retryWhileStale } from '../retry-while-stale.ts';
import { alertThread } from '../tracked/alert-notes.ts';
import { assignable } from '../tracked/input.ts';
import { movedIds, peopleText, systemNoteWrites } from '../tracked/system-notes.ts';

export interface AlertFilter {
  readonly status: AlertStatus | undefined;
  readonly severity: AlertSeverity | undefined;
  readonly environment: string | undefined;
  readonly integrationId: number | undefined;
  readonly search: string | undefined;
}

/** The newest first. @param before a number: only alerts with a smaller one */
export function listAlerts(
  deps: Deps,
  { project }: ProjectAccess,
  limit: number,
  before: number | undefined,
  { status, severity, environment, integrationId, search }: AlertFilter,
) {
  const term = search?.trim().toLowerCase() ?? '';
  return deps.store.alerts.list(
    project.id,
    limit,
    before,
    (alert) =>
      (status === undefined || alert.status === status) &&
      (severity === undefined || alert.severity === severity) &&
      (environment === undefined || alert.environment === environment) &&
      (integrationId === undefined || alert.integrationId === integrationId) &&
      (term === '' ||
        [alert.title, alert.description ?? '', alert.service ?? '', alert.monitoringTool ?? ''].some((each) =>
          each.toLowerCase().includes(term),
        )),
  );
}

/** @throws 404 */
export async function getAlert(deps: Deps, { project }: ProjectAccess, iid: number): Promise<AlertRecord> {
  const alert = await deps.store.alerts.get(project.id, iid);
  if (alert === undefined) throw recordNotFound();
  return alert;
}

/** All that was sent of an alert. @throws 413 */
export async function payloadOf(deps: Deps, { projectId, iid }: AlertRecord): Promise<unknown> {
  const stored = await deps.store.alerts.payload(projectId, iid);
  const [json = '{}'] = stored === undefined ? [] : await textsOf(deps, [stored]);
  return JSON.parse(json);
}

/** Who looks after alerts, by id. */
export async function assigneesOf(
  { store }: Deps,
  alerts: readonly AlertRecord[],
): Promise<ReadonlyMap<number, UserRecord>> {
  const ids = [...new Set(alerts.flatMap(({ assigneeIds = [] }) => assigneeIds))];
  const users = ids.length === 0 ? [] : await store.users.getMany(ids);
  return byId(users);
}

/**
 * Changes status and assignees, which is noted. Of the users those are assigned who may read alerts; they get a to-do, which
 * is done when they are no longer assigned or the alert is resolved.
 * @throws 404; 409 where another alert of the same cause is open, or others keep changing it
 */
export async function changeAlert(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  { status, assigneeIds: ids }: AlertChange,
): Promise<AlertRecord> {
  const assignees = ids === undefined ? undefined : await assignable(deps, access, ids, 'read_alerts');
  try {
    return await retryWhileStale(async () => {
      const before = await getAlert(deps, access, iid);
      const { assigneeIds: assigned = [] } = before;
      const after = {
        status: status ?? before.status,
        assigneeIds: assignees?.map(({ id }) => id) ?? assigned,
      };
      const notes = [
        ...statusNotes(before.status, after.status),
        ...(await assigneeNotes(deps, assigned, after.assigneeIds)),
      ];
      if (notes.length === 0) return before;
      const writes = await systemNoteWrites(deps, actor, alertThread(before), notes);
      const ended = before.status !== 'resolved' && after.status === 'resolved';
      const messages = alertTodos(before, {
        authorId: signedIn(actor).user.id,
        assignedIds: after.assigneeIds.filter((id) => !assigned.includes(id)),
        releasedIds: ended ? assigned : assigned.filter((id) => !after.assigneeIds.includes(id)),
      });
      return deps.store.alerts.change(before, after, deps.now(), writes, messages);
    });
  } catch (error) {
    throw error instanceof AlreadyExists ? conflict('An alert of the same fingerprint is open') : error;
  }
}

const statusNotes = (before: AlertStatus, after: AlertStatus): SystemNote[] =>
  before === after
    ? []
    : [
        {
          action: 'status',
          text: `changed the status to **${after[0]!.toUpperCase()}${after.slice(1)}**`,
        },
      ];

async function assigneeNotes(
  { store }: Deps,
  before: readonly number[],
  after: readonly number[],
): Promise<SystemNote[]> {
  const moved = movedIds(before, after);
  if (moved.length === 0) return [];
  const users = await store.users.getMany(moved);
  const usernames = new Map(users.flatMap((user) => (user === undefined ? [] : [[user.id, user.username]])));
  const text = peopleText([before, after], usernames, ['assigned to', 'unassigned']);
  return [{ action: 'assignee', text: text ?? 'unassigned a user who is gone' }];
}

/** An alert as an object of notes, which the service writes alone: people talk in its incident. @throws 404 */
export async function alertWithNotes(deps: Deps, access: ProjectAccess, iid: number): Promise<NotedObject> {
  await getAlert(deps, access, iid);
  return {
    access,
    ...alertThread({ projectId: access.project.id, iid }),
    classes: ['system'],
    takesReplies: false,
    requireComment: () => {
      throw forbidden();
    },
    moderates: false,
    backdates: false,
    within: (_change, write) => write([]),
  };
}
