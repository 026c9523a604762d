/** Links of issues in the tracker elsewhere that a project uses. */
import { inTurns } from '../../git/work.ts';
import { can } from '../access/permissions.ts';
import type { Deps } from '../deps.ts';
import { issueTrackerOf } from '../integrations/issue-trackers.ts';
import { externalNames } from '../markdown/external-names.ts';
import type { ReferenceLink } from '../markdown/html.ts';
import { proseOf } from '../markdown/prose.ts';
import type { Reference } from '../markdown/references.ts';
import type { Reading } from './reading.ts';

/** Returns where names of a text lead, by what was written. Reads nothing where the text has none. */
export async function externalLinks(
  deps: Deps,
  text: string,
  references: readonly Reference[],
  { actor, project: access }: Reading,
): Promise<ReadonlyMap<string, ReferenceLink>> {
  if (access === undefined) return new Map();
  const { project } = access;
  const names = externalNames(await inTurns(proseOf(text, { withQuotes: true }))).map(({ source }) => source);
  // Numbers are those of the project's own issues, if it has any.
  const numbers = can(actor, access, 'read_issues')
    ? []
    : references.flatMap(({ kind, source }) => (kind === 'issue' && /^#\d+$/.test(source) ? [source] : []));
  if (names.length + numbers.length === 0) return new Map();
  const tracker = await issueTrackerOf(deps, project);
  if (tracker === undefined) return new Map();
  const links = new Map<string, ReferenceLink>();
  for (const name of [...names, ...(tracker.byNumber ? numbers : [])]) {
    const href = tracker.urlOf(name);
    if (href === undefined) continue;
    links.set(name, {
      href,
      title: `Issue in ${tracker.title}`,
      class: 'issue',
      data: { 'reference-type': 'external_issue', 'external-issue': name, project: project.id },
    });
  }
  return links;
}
