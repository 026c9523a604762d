/** Finds issues, merge requests, snippets, labels and milestones that texts refer to. */
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { can } from '../access/permissions.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import type { Deps } from '../deps.ts';
import type { FoundIssue } from '../issues/related.ts';
import { containerOf, sameContainer, withAbove } from '../labels/containers.ts';
import type { ReferenceLink } from '../markdown/html.ts';
import type { NumberedReference, TitledReference } from '../markdown/references.ts';
import type { FoundMergeRequest } from '../merge-requests/related.ts';
import type { Finder, Reading, Targets } from './reading.ts';

/** Returns the issues that references name, as far as the reader may see them. One batch for all. */
export async function issuesAt(
  { store }: Deps,
  targets: readonly Targets<NumberedReference>[],
  { actor }: Reading,
): Promise<(FoundIssue & { readonly reference: NumberedReference })[]> {
  const asked = targets.flatMap(({ access, references }) =>
    references.map((reference) => ({ access, reference })),
  );
  const issues = await store.issues.getMany(
    asked.map(({ access, reference }) => ({ projectId: access.project.id, iid: reference.number })),
  );
  return asked.flatMap(({ access, reference }, i) => {
    const issue = issues[i];
    return issue === undefined || !maySeeIssue(actor, access, issue) ? [] : [{ issue, access, reference }];
  });
}

export const findIssues: Finder<NumberedReference> = async (deps, targets, reading) =>
  new Map(
    (await issuesAt(deps, targets, reading)).map(({ issue, access, reference }) =>
      numberedLink(
        { kind: 'issue', sign: '#', place: 'issues', ...issue },
        { issue: issue.id },
        access.project,
        reference,
        reading,
      ),
    ),
  );

/** The same for merge requests. */
export async function mergeRequestsAt(
  { store }: Deps,
  targets: readonly Targets<NumberedReference>[],
  { actor }: Reading,
): Promise<(FoundMergeRequest & { readonly reference: NumberedReference })[]> {
  const asked = targets
    .filter(({ access }) => can(actor, access, 'read_merge_requests'))
    .flatMap(({ access, references }) => references.map((reference) => ({ access, reference })));
  const found = await store.mergeRequests.getMany(
    asked.map(({ access, reference }) => ({ projectId: access.project.id, iid: reference.number })),
  );
  return asked.flatMap(({ access, reference }, i) => {
    const mergeRequest = found[i];
    return mergeRequest === undefined ? [] : [{ mergeRequest, access, reference }];
  });
}

export const findMergeRequests: Finder<NumberedReference> = async (deps, targets, reading) =>
  new Map(
    (await mergeRequestsAt(deps, targets, reading)).map(({ mergeRequest, access, reference }) =>
      numberedLink(
        { kind: 'merge_request', sign: '!', place: 'merge_requests', ...mergeRequest },
        { 'merge-request': mergeRequest.id },
        access.project,
        reference,
        reading,
      ),
    ),
  );

/** Snippets of projects; personal ones have no references. One batch for all. */
export const findSnippets: Finder<NumberedReference> = async ({ store }, targets, reading) => {
  const asked = targets.flatMap(({ access, references }) =>
    references.map((reference) => ({ access, reference })),
  );
  const found = await store.snippets.getMany([...new Set(asked.map(({ reference }) => reference.number))]);
  const snippets = new Map(found.map((snippet) => [snippet?.id, snippet]));
  return new Map(
    asked.flatMap(({ access, reference }) => {
      const snippet = snippets.get(reference.number);
      if (snippet?.projectId !== access.project.id || !maySeeSnippet(reading.actor, snippet, access))
        return [];
      const { id, title } = snippet;
      const named = { kind: 'snippet', sign: '$', place: 'snippets', iid: id, title } as const;
      return [numberedLink(named, { snippet: id }, access.project, reference, reading)];
    }),
  );
};

/** The link of something with a number in a project, by what was written. */
function numberedLink(
  named: {
    readonly kind: 'issue' | 'merge_request' | 'snippet';
    readonly sign: string;
    /** Of its kind in URLs. */
    readonly place: string;
    readonly iid: number;
    readonly title: string;
  },
  data: Readonly<Record<string, number>>,
  project: ProjectRecord,
  { source, note }: NumberedReference,
  reading: Reading,
): [string, ReferenceLink] {
  const { kind, sign, place, iid, title } = named;
  const here = project.id === reading.project?.project.id;
  const isUrl = source.startsWith(reading.baseUrl);
  const short = `${here ? '' : project.fullPath}${sign}${iid}${note === undefined ? '' : ` (comment ${note})`}`;
  return [
    source,
    {
      href: isUrl ? source : `${reading.baseUrl}/${project.fullPath}/-/${place}/${iid}`,
      ...(isUrl ? { text: short } : {}),
      title,
      class: kind,
      data: { 'reference-type': kind, project: project.id, ...data, ...(kind === 'snippet' ? {} : { iid }) },
    },
  ];
}

/** Projects whose labels or milestones one text can name: each costs a batch of reads. */
const MAX_PROJECTS = 10;

/** A batch for each project. */
export const findLabels: Finder<TitledReference> = async ({ store }, targets, { actor, baseUrl }) => {
  const found = await Promise.all(
    targets.slice(0, MAX_PROJECTS).map(async ({ access, references }) => {
      if (!can(actor, access, 'read_label')) return [];
      const containers = withAbove(access);
      const titles = references.flatMap(({ title }) => title ?? []);
      const byTitle = titles.length === 0 ? [] : await store.labels.idsOf(containers, titles);
      const ids = [...byTitle, ...references.map(({ number }) => number)].filter((id) => id !== undefined);
      const labels = await store.labels.getMany([...new Set(ids)]);
      return references.flatMap(({ source, title, number }): [string, ReferenceLink][] => {
        const label = labels.find((each) =>
          title === undefined ? each?.id === number : each?.title === title,
        );
        if (label === undefined || !containers.some((each) => sameContainer(each, label.container)))
          return [];
        const query = new URLSearchParams({ label_name: label.title });
        const href = `${baseUrl}/${access.project.fullPath}/-/issues?${query}`;
        const data = { 'reference-type': 'label', project: access.project.id, label: label.id };
        return [[source, { href, text: label.title, title: label.description ?? '', class: 'label', data }]];
      });
    }),
  );
  return new Map(found.flat());
};

/** Two batches for each project. */
export const findMilestones: Finder<TitledReference> = async ({ store }, targets, { actor, baseUrl }) => {
  const found = await Promise.all(
    targets.slice(0, MAX_PROJECTS).map(async ({ access, references }) => {
      if (!can(actor, access, 'read_milestone')) return [];
      const titles = references.flatMap(({ title }) => title ?? []);
      const numbers = references.flatMap(({ number }) => number ?? []);
      const ids = await Promise.all([
        titles.length === 0 ? [] : store.milestones.titled(withAbove(access), ...titles),
        numbers.length === 0 ? [] : store.milestones.numbered([containerOf(access)], numbers),
      ]);
      const milestones = (await store.milestones.getMany([...new Set(ids.flat())])).filter(
        (each) => each !== undefined,
      );
      return references.flatMap(({ source, title, number }): [string, ReferenceLink][] => {
        const own = (each: MilestoneRecord) => sameContainer(each.container, containerOf(access));
        const named = milestones.filter((each) =>
          title === undefined ? own(each) && each.iid === number : each.title === title,
        );
        // The project's own before those that it inherits.
        const milestone = named.find(own) ?? named[0];
        if (milestone === undefined) return [];
        const href = `${baseUrl}/${pathOf(milestone, access.project)}/-/milestones/${milestone.iid}`;
        const data = { 'reference-type': 'milestone', project: access.project.id, milestone: milestone.id };
        return [[source, { href, text: `%${milestone.title}`, title: '', class: 'milestone', data }]];
      });
    }),
  );
  return new Map(found.flat());
};

/** Web path of what has the milestone: the project or one of the groups above. */
function pathOf({ container }: MilestoneRecord, { fullPath, ancestorIds }: ProjectRecord): string {
  if (container.kind === 'project') return fullPath;
  const depth = ancestorIds.indexOf(container.id) + 1;
  return `groups/${fullPath.split('/').slice(0, depth).join('/')}`;
}
