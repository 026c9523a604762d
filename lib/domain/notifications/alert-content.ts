/** Content of notifications about alerts of monitoring tools. */

import type { Deps } from '../deps.ts';
import { memberAudience, type NotificationContent } from './audience.ts';
import { aboutProject, type EventOf, shortTitle, urlOf } from './content-parts.ts';
import type { ProjectResource } from './resources.ts';

/** For those who look after the tools that send them. @returns undefined when the alert no longer exists */
export async function alertContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, actorId, baseUrl, id }: EventOf<'alert'>,
): Promise<NotificationContent | undefined> {
  const { project } = resource;
  const { iid, what } = happening;
  const alert = await deps.store.alerts.get(project.id, iid);
  if (alert === undefined) return undefined;
  const { title, description, severity, issueIid, monitoringTool, service, hosts, environment } = alert;
  const facts = {
    Severity: severity,
    ...(monitoringTool === null ? {} : { 'Monitoring-Tool': monitoringTool }),
    ...(service === null ? {} : { Service: service }),
    ...(hosts.length === 0 ? {} : { Hosts: hosts.join(', ') }),
    ...(environment === null ? {} : { Environment: environment }),
  };
  const subject = `${project.name} | Alert: ${shortTitle(title)}`;
  const happened = what === 'triggered' ? 'has been triggered' : 'has been resolved';
  return {
    ...aboutProject(resource, 'admin_alert_integrations'),
    audience: memberAudience(deps, 'alert', resource, actorId),
    mail: {
      subject: what === 'triggered' ? subject : `Re: ${subject}`,
      lines: [
        `An alert ${happened} in ${project.fullPath}: ${title}`,
        ...Object.entries(facts).map(([name, value]) => `${name.replace('-', ' ')}: ${value}`),
        ...(issueIid === undefined ? [] : [`Its incident: ${urlOf(project, baseUrl)}/-/issues/${issueIid}`]),
      ],
      ...(what === 'triggered' && description !== null ? { quote: description } : {}),
      url: `${baseUrl}/api/v4/projects/${project.id}/alerts/${iid}`,
      thread: `alert_${iid}.project_${project.id}`,
      message: `alert_${iid}.project_${project.id}.${id}`,
      project,
      facts: { 'Alert-Iid': String(iid), 'Alert-Severity': severity },
    },
  };
}
