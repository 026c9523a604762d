/** While an administrator has the instance kept as it is: what is asked for to be changed is refused, reads go on. */
import { annotate } from '../../telemetry/correlation.ts';
import { DomainError } from '../errors.ts';
import type { Settings } from './current.ts';

const API = 'GitLab is undergoing maintenance';
const PUSH =
  'Git push is not allowed because this GitLab instance is currently in (read-only) maintenance mode.';

interface MaintenanceModeDeps {
  readonly settings: Pick<Settings, 'current'>;
}

/** Of everything but pushes. @throws 503 with the message that the administrator chose */
export const requireWritable = (deps: MaintenanceModeDeps): Promise<void> =>
  demand(deps, (message) => message || API);

/** @throws 503 with what git prints, and the message behind it */
export const requirePushable = (deps: MaintenanceModeDeps): Promise<void> =>
  demand(deps, (message) => (message ? `${PUSH}\n${message}` : PUSH));

async function demand(
  { settings }: MaintenanceModeDeps,
  messageOf: (message: string) => string,
): Promise<void> {
  const { maintenance_mode: on, maintenance_mode_message: message } = await settings.current();
  if (!on) return;
  annotate({ maintenanceMode: true });
  throw new DomainError('read-only', messageOf(message?.trim() ?? ''));
}
