import type { Remover } from '../deletion/remover.ts';
import { untilNoneLeft } from '../table/delete-page.ts';
import type { Alerts } from './alerts.ts';
import type { AlertIntegrations } from './integrations.ts';

export const remover: Remover<{
  readonly alerts: Alerts;
  readonly alertIntegrations: AlertIntegrations;
}> = {
  ofProject: {
    rows: [
      'alert-integration',
      'alert-integration-count',
      'alert-endpoint',
      'alert-key',
      'alert',
      'alert-payload',
      'alert-tally',
      'alert-cause',
      'alert-count',
    ],
    // First the integrations, so that nothing more is sent. Long payloads go with the texts of the project.
    run: async ({ alerts, alertIntegrations }, { id }, deadline) =>
      (await untilNoneLeft(() => alertIntegrations.removeOfProject(id), deadline)) &&
      (await untilNoneLeft(() => alerts.removeOfProject(id), deadline)),
  },
};
