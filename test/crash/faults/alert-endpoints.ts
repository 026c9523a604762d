import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, countOf, endpoint, flip, found } from './sent.ts';

const INTEGRATIONS = '/projects/:id/alert_integrations';
const INTEGRATION = `${INTEGRATIONS}/:integration_id`;

/** Writes of integrations of alerts, and of alerts. */
export const alertWrites: readonly Operation[] = [
  endpoint(`POST ${INTEGRATIONS}`, async (fixtures) => {
    const { id, owner } = await fixtures.ownGround();
    const { token } = owner;
    const path = `/projects/${id}/alert_integrations`;
    return { path, token, json: { name: 'x' }, state: () => counted(fixtures, path, token) };
  }),
  endpoint(`PUT ${INTEGRATION}`, async (fixtures) => {
    const { path, token } = await integrated(fixtures);
    const state = async () => after((await fixtures.done('GET', path, { token })).active, true, false);
    return { path, token, json: { active: false }, state };
  }),
  endpoint(`POST ${INTEGRATION}/rotate_key`, async (fixtures) => {
    const { path, token, updatedAt } = await integrated(fixtures);
    const state = async () =>
      (await fixtures.done('GET', path, { token })).updated_at === updatedAt ? 'before' : 'after';
    return { path: `${path}/rotate_key`, token, state };
  }),
  endpoint(`DELETE ${INTEGRATION}`, async (fixtures) => {
    const { path, token } = await integrated(fixtures);
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
  endpoint(`POST ${INTEGRATION}/test`, async (fixtures) => {
    const { path, token, alerts } = await integrated(fixtures);
    const state = async () => {
      await fixtures.settle();
      return countOf(await fixtures.done('GET', alerts, { token }));
    };
    return { path: `${path}/test`, token, json: { payload: { title: 'x' } }, state };
  }),
  endpoint('PUT /projects/:id/alerts/:alert_iid', async (fixtures) => {
    const { path, token, alerts } = await integrated(fixtures);
    await fixtures.done('POST', `${path}/test`, { token, json: { payload: { title: 'x' } } });
    await fixtures.settle();
    const alert = `${alerts}/1`;
    const state = async () =>
      after((await fixtures.done('GET', alert, { token })).status, 'triggered', 'resolved');
    return { path: alert, token, json: { status: 'resolved' }, state };
  }),
];

/** What a worker does for an alert. A message that comes again has the id that it had. */
export const alertJobs: readonly Operation[] = [
  {
    name: 'job: an alert is noted',
    async prepare(fixtures) {
      const made = await integrated(fixtures);
      const { token, alerts } = made;
      const { run } = noting(fixtures, made, '{"title":"x"}');
      const state = async () => {
        const all: { event_count: number }[] = await fixtures.done('GET', alerts, { token });
        return all.length === 1 && all[0]!.event_count !== 1 ? `counts ${all[0]!.event_count}` : countOf(all);
      };
      return { run, state };
    },
  },
  {
    name: 'job: an alert that is open is counted',
    async prepare(fixtures) {
      const made = await integrated(fixtures);
      await noting(fixtures, made, '{"title":"x"}').run();
      const { run } = noting(fixtures, made, '{"title":"x"}');
      const events = async () => {
        const [{ event_count }] = await fixtures.done('GET', made.alerts, made);
        return event_count as number;
      };
      const state = async () => {
        const found = await events();
        if (found === 1) return 'before';
        // Whoever counted it may have died before this was noted: it comes again.
        await run();
        return after(await events(), 1, 2);
      };
      return { run, state };
    },
  },
  {
    name: 'job: an alert opens an incident',
    async prepare(fixtures) {
      const made = await integrated(fixtures, { create_issue: true, send_email: true });
      const { run } = noting(fixtures, made, '{"title":"x"}');
      const state = async () => {
        const [alert] = await fixtures.done('GET', made.alerts, made);
        const issues: { iid: number }[] = await fixtures.done('GET', made.issues, made);
        if (alert?.issue_iid !== issues[0]?.iid) return `alert ${alert?.issue_iid}, issue ${issues[0]?.iid}`;
        return countOf(issues);
      };
      return { run, state };
    },
  },
  {
    name: 'job: an alert closes its incident',
    async prepare(fixtures) {
      const made = await integrated(fixtures, { create_issue: true });
      await noting(fixtures, made, '{"title":"x"}').run();
      await fixtures.settle();
      const { run } = noting(fixtures, made, '{"title":"x","end_time":"2026-11-20T10:00:00Z"}');
      const state = async () => {
        const [alert] = await fixtures.done('GET', made.alerts, made);
        const [issue] = await fixtures.done('GET', made.issues, made);
        if ((alert.status === 'resolved') !== (issue.state === 'closed'))
          return `${alert.status}, ${issue.state}`;
        return after(issue.state, 'opened', 'closed');
      };
      return { run, state };
    },
  },
];

/** A message about an alert, which has the same id whenever it comes. */
function noting(
  fixtures: Fixtures,
  { projectId, integrationId }: { readonly projectId: number; readonly integrationId: number },
  payload: string,
) {
  const id = fixtures.fresh('message');
  const body = { projectId, integrationId, at: new Date().toISOString(), payload };
  const Body = JSON.stringify({ id, type: 'alerts.note', body });
  return { run: () => fixtures.attempt('maintenance', { MessageId: id, Body }) };
}

async function integrated(fixtures: Fixtures, more: object = {}) {
  const { id, owner } = await fixtures.ownGround();
  const { token } = owner;
  const integrations = `/projects/${id}/alert_integrations`;
  const made = await fixtures.done('POST', integrations, { token, json: { name: 'x', ...more } });
  return {
    projectId: id,
    integrationId: made.id as number,
    token,
    path: `${integrations}/${made.id}`,
    updatedAt: made.updated_at as string,
    alerts: `/projects/${id}/alerts`,
    issues: `/projects/${id}/issues`,
  };
}
