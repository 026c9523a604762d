/** Noting alerts that were taken, with the incidents and the mail that they lead to. */

import {
  ALERT_CONSEQUENCES,
  type AlertConsequences,
  type AlertRecord,
  type NewAlert,
} from '../../records/alerts.ts';
import type { StoredText } from '../../records/texts.ts';
import { ending, rowsOf } from '../../store/alerts/alerts.ts';
import { ALERT_MESSAGES, type AlertCause, isCounting, leading } from '../../store/alerts/causes.ts';
import { Missing, TransactionRefused } from '../../store/errors.ts';
import { checkProjectExists } from '../../store/placement/project-item.ts';
import { alertTodos } from '../../store/todos/todos.ts';
import { annotate } from '../../telemetry/correlation.ts';
import { actingFor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { textsOf } from '../long-texts.ts';
import { enqueueNotification } from '../notifications/enqueue.ts';
import { alertThread, recoveryText } from '../tracked/alert-notes.ts';
import { systemNoteWrites } from '../tracked/system-notes.ts';
import { type AlertBot, closeIncident, openIncident, takesIncidents } from './incidents.ts';
import { genericAlert, groupedAlerts, isOfPrometheus, type Payload, prometheusAlert } from './payload.ts';

/** How often an alert is looked at again that others change meanwhile. */
const ATTEMPTS = 8;

/** An alert that was taken. */
export interface TakenAlert {
  readonly projectId: number;
  readonly integrationId: number;
  readonly at: string;
  readonly payload: StoredText;
  /** Of links; messages of earlier releases have none. */
  readonly baseUrl?: string;
}

/** `created`: its payload is kept. */
type NotedAlert = 'created' | 'counted' | 'resolved' | 'noted before';

/** Where an alert comes from. */
interface Source {
  readonly projectId: number;
  readonly integrationId: number;
  readonly leadsTo: AlertConsequences;
  readonly baseUrl: string;
}

/** Notes an alert, or each of those of one message. @param id of the message */
export async function noteAlert(deps: Deps, taken: TakenAlert, id: string): Promise<void> {
  const { projectId, integrationId, payload: stored } = taken;
  const now = new Date(taken.at);
  const noted: string[] = [];
  try {
    // It was taken while there was one.
    const integration = await deps.store.alertIntegrations.get(projectId, integrationId);
    const leadsTo = integration?.incidents ?? ALERT_CONSEQUENCES;
    const baseUrl = taken.baseUrl ?? deps.environment.baseUrl ?? '';
    const source = { projectId, integrationId, leadsTo, baseUrl };
    const [json] = await textsOf(deps, [stored]);
    const payload = JSON.parse(json!) as Payload;
    if (isOfPrometheus(payload)) {
      for (const [i, alert] of groupedAlerts(payload).entries()) {
        const kept = await deps.store.texts.keep(projectId, JSON.stringify(alert));
        const sent = { ...prometheusAlert(alert, now), payload: kept };
        const what = await note(deps, source, `${id}-${i}`, sent, now);
        noted.push(what);
        if (what !== 'created') await deps.store.texts.drop(kept);
      }
      await deps.store.texts.drop(stored);
    } else {
      const sent = { ...genericAlert(payload, integration?.mapping ?? {}, now), payload: stored };
      const what = await note(deps, source, id, sent, now);
      noted.push(what);
      // One that was noted before may be the one that names it.
      if (what === 'counted' || what === 'resolved') await deps.store.texts.drop(stored);
    }
  } catch (error) {
    // The project is deleted, or the text was dropped when this message came before.
    if (!(error instanceof Missing)) throw error;
  }
  annotate({ noted: [...new Set(noted)].join() });
}

/**
 * It is counted where one of its cause is open, which it resolves if it has ended.
 * @param messageId the same when it is noted again
 * @throws Missing when the project is deleted; Error where others were faster again and again
 */
async function note(
  deps: Deps,
  source: Source,
  messageId: string,
  sent: NewAlert,
  now: Date,
): Promise<NotedAlert> {
  const { alerts, alertCauses, processed } = deps.store;
  const { projectId } = source;
  const { fingerprint, endedAt } = sent;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const cause = await alertCauses.get(projectId, fingerprint);
    const mark = processed.mark(ALERT_MESSAGES, messageId, now);
    try {
      if (cause?.by === messageId) return await finish(deps, source, sent, now, cause);
      const isOpen = cause !== undefined && cause.closed === undefined;
      if (cause !== undefined && endedAt === null && (isOpen || isCounting(cause, messageId))) {
        const { iid } = cause;
        const what = await alertCauses.count({ projectId, fingerprint, iid, messageId, at: now });
        if (what === 'gone') continue;
        return what === 'counted' ? what : 'noted before';
      }
      if (isOpen && endedAt !== null) {
        const open = await alerts.get(projectId, cause.iid);
        if (open === undefined) continue;
        await end(deps, source, open, endedAt, now, mark);
        return 'resolved';
      }
      if (await processed.has(ALERT_MESSAGES, messageId)) return 'noted before';
      if (await create(deps, source, sent, now, { messageId, mark, cause })) return 'created';
    } catch (error) {
      // Its incident was deleted meanwhile.
      if (error instanceof DomainError && error.code === 'not-found') continue;
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('processed')) return 'noted before';
      if (error.has('project')) await requireProject(deps, projectId);
    }
  }
  throw new Error('others change this alert all the time');
}

/** What was written after the project was deleted goes as well. @throws Missing when it is */
async function requireProject({ store }: Deps, projectId: number): Promise<void> {
  if ((await store.projects.get(projectId)) !== undefined) return;
  await store.alerts.removeOfProject(projectId);
  throw new Missing('project');
}

type Mark = ReturnType<Deps['store']['processed']['mark']>;

const newAlert = (
  { projectId, integrationId }: Source,
  { payload: _, ...sent }: NewAlert,
  now: Date,
  iid: number,
): AlertRecord => ({
  ...sent,
  iid,
  projectId,
  integrationId,
  status: sent.endedAt === null ? 'triggered' : 'resolved',
  events: 1,
  createdAt: now.toISOString(),
  updatedAt: now.toISOString(),
});

/** A worker that began with the message may have died before the alert was there. */
async function finish(
  deps: Deps,
  source: Source,
  sent: NewAlert,
  now: Date,
  { iid, closed }: AlertCause,
): Promise<NotedAlert> {
  if (closed !== undefined) return 'noted before';
  const isNew = await deps.store.alerts.add(newAlert(source, sent, now, iid), sent.payload);
  await requireProject(deps, source.projectId);
  return isNew ? 'created' : 'noted before';
}

/**
 * An alert that leads to something is written with that in one transaction, and so is one that is over, with the mark of its
 * message; any other by single writes.
 * @returns false where another one of its cause is open by now
 * @throws TransactionRefused as `open` for the same, `processed`, `project`; Missing when the project is deleted
 */
async function create(
  deps: Deps,
  source: Source,
  sent: NewAlert,
  now: Date,
  { messageId, mark, cause }: { messageId: string; mark: Mark; cause: AlertCause | undefined },
): Promise<boolean> {
  const { projectId, leadsTo, baseUrl } = source;
  const { alertCauses, alerts, outbox, projects } = deps.store;
  const { payload, fingerprint } = sent;
  const isOver = sent.endedAt !== null;
  const leads = !isOver && (leadsTo.createIssue || leadsTo.sendEmail);
  const [iid, bot, project] = await Promise.all([
    alerts.nextIid(projectId),
    leads ? alertBot(deps, baseUrl) : undefined,
    leads ? projects.get(projectId) : undefined,
    isOver || cause === undefined ? undefined : alertCauses.release(projectId, fingerprint, cause, now),
  ]);
  const alert = newAlert(source, sent, now, iid);
  const messages = mails(deps, bot, leadsTo, alert, 'triggered');
  const opening = isOver ? mark : leading(alert, cause, { by: messageId });
  if (leadsTo.createIssue && bot !== undefined && project !== undefined && takesIncidents(bot, project))
    await openIncident(deps, bot, project, alert, async (led) => {
      const text = `created incident #${led.issueIid} for this alert`;
      const notes = await systemNoteWrites(deps, bot, alertThread(led), [
        { action: 'alert_issue_added', text },
      ]);
      return { writes: [...rowsOf(led, payload), ...notes, opening], messages };
    });
  else if (isOver || messages.length > 0)
    await outbox.commit([checkProjectExists(projectId), ...rowsOf(alert, payload), opening], messages);
  else {
    if (!(await alerts.begin(alert, payload, messageId, cause))) return false;
    await requireProject(deps, projectId);
  }
  return true;
}

/** @throws TransactionRefused as `alert` where others were faster, `processed`; DomainError `not-found` for its incident */
async function end(
  deps: Deps,
  { leadsTo, baseUrl }: Source,
  open: AlertRecord,
  endedAt: string,
  now: Date,
  mark: Mark,
): Promise<void> {
  const closes = leadsTo.autoCloseIncident && open.issueIid !== undefined;
  const [bot, project] = await Promise.all([
    alertBot(deps, baseUrl),
    closes ? deps.store.projects.get(open.projectId) : undefined,
  ]);
  const messages = mails(deps, bot, leadsTo, open, 'resolved');
  const closed =
    project?.deletedAt === null &&
    takesIncidents(bot, project) &&
    (await closeIncident(deps, bot, project, open, endedAt, { writes: [mark], messages }));
  if (closed) return;
  const notes = await systemNoteWrites(deps, bot, alertThread(open), [
    { action: 'status', text: recoveryText(open) },
  ]);
  const releasing = alertTodos(open, { authorId: bot.user.id, releasedIds: open.assigneeIds ?? [] });
  await deps.store.outbox.commit(
    [...ending(open, endedAt, now), ...notes, mark],
    [...messages, ...releasing],
  );
}

const alertBot = async (deps: Deps, baseUrl: string): Promise<AlertBot> =>
  actingFor(await deps.store.users.internal('alert_bot'), baseUrl);

const mails = (
  deps: Deps,
  bot: AlertBot | undefined,
  { sendEmail }: AlertConsequences,
  { projectId, iid }: AlertRecord,
  what: 'triggered' | 'resolved',
) =>
  sendEmail && bot !== undefined
    ? [enqueueNotification(deps, bot, { kind: 'alert', projectId, iid, what })]
    : [];
