/** Trackers of issues elsewhere: what texts call their issues, and where these are. */
import type { IntegrationRecord } from '../../records/integrations.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import { integrationsAround } from './effective.ts';

/** Those that have issues, the first that is active counts. */
const TRACKERS = ['jira', 'custom-issue-tracker', 'bugzilla', 'redmine', 'youtrack', 'ewm'] as const;
type TrackerSlug = (typeof TRACKERS)[number];

const NAMES: Readonly<Record<TrackerSlug, string>> = {
  jira: 'Jira',
  'custom-issue-tracker': 'Custom issue tracker',
  bugzilla: 'Bugzilla',
  redmine: 'Redmine',
  youtrack: 'YouTrack',
  ewm: 'EWM',
};

export interface IssueTracker {
  readonly title: string;
  /** Whether texts call an issue by its number alone, where the project has no issues of its own. */
  readonly byNumber: boolean;
  /** Its address; undefined for what is no name of an issue of this tracker. @param name as written */
  urlOf(name: string): string | undefined;
}

/** The tracker of a project; undefined where it has none. */
export async function issueTrackerOf(deps: Deps, project: ProjectRecord): Promise<IssueTracker | undefined> {
  const { group, integrations } = await deps.settings.hooks();
  const inherits = integrations > 0 || (group > 0 && project.ancestorIds.length > 0);
  if ((project.integrationsCount ?? 0) === 0 && !inherits) return undefined;
  const active = await integrationsAround(deps, project.id, project.ancestorIds);
  for (const slug of TRACKERS) {
    const integration = active.find((one) => one.slug === slug);
    if (integration !== undefined) return trackerFrom(slug, integration);
  }
  return undefined;
}

function trackerFrom(slug: TrackerSlug, { properties }: IntegrationRecord): IssueTracker | undefined {
  const given = String(properties[slug === 'jira' ? 'url' : 'issues_url'] ?? '');
  if (given === '') return undefined;
  const at = slug === 'jira' ? `${given.replace(/\/+$/, '')}/browse/:id` : given;
  return {
    title: String(properties['title'] ?? NAMES[slug]),
    byNumber: slug !== 'jira' && slug !== 'ewm',
    urlOf(name) {
      const id = idOf(slug, name);
      return id === undefined ? undefined : at.replaceAll(':id', encodeURIComponent(id));
    },
  };
}

/** What an issue is called by its tracker: the whole key, or its number. */
function idOf(slug: TrackerSlug, name: string): string | undefined {
  const number = /\d+$/.exec(name)?.[0];
  const words = name.includes(' ');
  if (slug === 'ewm') return words ? number : undefined;
  if (words) return undefined;
  return (slug === 'jira' || slug === 'youtrack') && !name.startsWith('#') ? name : number;
}
