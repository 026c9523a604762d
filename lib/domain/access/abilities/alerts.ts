import { DEVELOPER, MAINTAINER } from '../levels.ts';
import type { ProjectRules } from './rules.ts';

export const project = {
  read_alerts: { level: DEVELOPER, reader: 'nobody' },
  /** Their status, and alerts that try an integration. */
  update_alerts: { level: DEVELOPER, reader: 'nobody', writes: true },
  /** The tools that send alerts, and their keys. */
  admin_alert_integrations: { level: MAINTAINER, reader: 'nobody', writes: true },
} as const satisfies ProjectRules;
