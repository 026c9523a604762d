import { DEVELOPER, MAINTAINER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

const features = ['operations'] as const;

export const project = {
  read_alerts: { level: DEVELOPER, reader: 'nobody', features },
  /** Their status, and alerts that try an integration. */
  update_alerts: { level: DEVELOPER, reader: 'nobody', writes: true, features },
  /** The tools that send alerts, and their keys. */
  admin_alert_integrations: { level: MAINTAINER, reader: 'nobody', writes: true },
} as const satisfies ProjectRules;
