/** Noting alerts that were taken, with the incidents and the mail that they lead to. */

import {
  ALERT_CONSEQUENCES,
  type AlertConsequences,
  type AlertRecord,
  type NewAlert,
} from '../../records/alerts.ts';
import type { StoredText } from '../../records/texts.ts';
import { ending } from '../../store/alerts/alerts.ts';
import { Missing, TransactionRefused } from '../../store/errors.ts';
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
  const { alerts, alertTallies, processed } = deps.store;
  const { projectId } = source;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const iid = await alerts.openOf(projectId, sent.fingerprint);
    const mark = processed.mark('alerts', messageId, now);
    try {
      if (iid === undefined) {
        await create(deps, source, sent, now, mark);
        return 'created';
      }
      if (sent.endedAt === null) {
        const what = await alertTallies.count({ projectId, iid, messageId, at: now, mark });
        if (what === 'gone') continue;
        return what === 'counted' ? what : 'noted before';
      }
      const open = await alerts.get(projectId, iid);
      if (open === undefined) continue;
      await end(deps, source, open, sent.endedAt, now, mark);
      return 'resolved';
    } catch (error) {
      // Its incident was deleted meanwhile.
      if (error instanceof DomainError && error.code === 'not-found') continue;
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('processed')) return 'noted before';
      if (error.has('project')) throw new Missing('project');
    }
  }
  throw new Error('others change this alert all the time');
}

type Mark = ReturnType<Deps['store']['processed']['mark']>;

/** @throws TransactionRefused as `open` where there is one by now, `processed`, `project` */
async function create(
  deps: Deps,
  { projectId, integrationId, leadsTo, baseUrl }: Source,
  { payload, ...sent }: NewAlert,
  now: Date,
  mark: Mark,
): Promise<void> {
  const { alerts, outbox, projects } = deps.store;
  const at = now.toISOString();
  const isOver = sent.endedAt !== null;
  const leads = !isOver && (leadsTo.createIssue || leadsTo.sendEmail);
  const [iid, bot, project] = await Promise.all([
    alerts.nextIid(projectId),
    leads ? alertBot(deps, baseUrl) : undefined,
    leads ? projects.get(projectId) : undefined,
  ]);
  const alert: AlertRecord = {
    ...sent,
    iid,
    projectId,
    integrationId,
    status: isOver ? 'resolved' : 'triggered',
    events: 1,
    createdAt: at,
    updatedAt: at,
  };
  const messages = mails(deps, bot, leadsTo, alert, 'triggered');
  if (leadsTo.createIssue && bot !== undefined && project?.deletedAt === null && takesIncidents(bot, project))
    await openIncident(deps, bot, project, alert, async (led) => {
      const text = `created incident #${led.issueIid} for this alert`;
      const notes = await systemNoteWrites(deps, bot, alertThread(led), [
        { action: 'alert_issue_added', text },
      ]);
      return { writes: [...alerts.creationOf(led, payload, false), ...notes, mark], messages };
    });
  else await outbox.commit([...alerts.creationOf(alert, payload, true), mark], messages);
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
