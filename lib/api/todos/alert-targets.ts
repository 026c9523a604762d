import { assigneesOf } from '../../domain/alerts/alerts.ts';
import { presentAlert } from '../alerts/present.ts';
import type { TargetPresenter } from './present.ts';

export const presentAlerts: TargetPresenter<'alert'> = async (deps, _actor, found, baseUrl) => {
  const alerts = found.map(({ alert }) => alert);
  const people = await assigneesOf(deps, alerts);
  return alerts.map((alert) => ({
    ...presentAlert(alert, people, baseUrl),
    // Alerts have no other page.
    web_url: `${baseUrl}/api/v4/projects/${alert.projectId}/alerts/${alert.iid}`,
  }));
};
