import type { ShownEpic } from '../../domain/epics/related.ts';
import type { EpicRecord } from '../../records/epics.ts';
import type { GroupRecord } from '../../records/groups.ts';
import { groupUrl } from '../groups/present.ts';
import { labelDetails } from '../labels/present.ts';
import { author } from '../users/present.ts';

/** @param askedIn the group that was asked; references are shown relative to it */
export function presentEpic(
  { epic, group, description, labels, parent, ...shown }: ShownEpic,
  baseUrl: string,
  askedIn: GroupRecord,
  options: { readonly labelDetails?: boolean } = {},
) {
  const api = apiUrl(epic, baseUrl);
  const short = `&${epic.iid}`;
  const full = `${group.fullPath}${short}`;
  const { start = null, due = null } = epic.inheritedDates ?? {};
  const startDate = epic.startDateIsFixed ? epic.startDateFixed : start;
  const dueDate = epic.dueDateIsFixed ? epic.dueDateFixed : due;
  return {
    id: epic.id,
    iid: epic.iid,
    group_id: group.id,
    parent_id: parent?.epic.id ?? null,
    parent_iid: parent?.epic.iid ?? null,
    title: epic.title,
    description,
    state: epic.state,
    confidential: epic.confidential,
    web_url: epicUrl(epic, group, baseUrl),
    reference: short,
    references: { short, relative: group.id === askedIn.id ? short : full, full },
    author: author(shown.author, epic.author, baseUrl),
    start_date: startDate,
    start_date_is_fixed: epic.startDateIsFixed,
    start_date_fixed: epic.startDateFixed,
    start_date_from_inherited_source: start,
    start_date_from_milestones: start,
    end_date: dueDate,
    due_date: dueDate,
    due_date_is_fixed: epic.dueDateIsFixed,
    due_date_fixed: epic.dueDateFixed,
    due_date_from_inherited_source: due,
    due_date_from_milestones: due,
    created_at: epic.createdAt,
    updated_at: epic.updatedAt,
    closed_at: epic.closedAt,
    labels: options.labelDetails ? labels.map(labelDetails) : labels.map(({ title }) => title),
    upvotes: epic.upvotes ?? 0,
    downvotes: epic.downvotes ?? 0,
    _links: {
      self: api,
      epic_issues: `${api}/issues`,
      group: `${baseUrl}/api/v4/groups/${group.id}`,
      parent: parent === undefined ? null : apiUrl(parent.epic, baseUrl),
    },
  };
}

const apiUrl = ({ container, iid }: EpicRecord, baseUrl: string): string =>
  `${baseUrl}/api/v4/groups/${container.id}/epics/${iid}`;

export const epicUrl = ({ iid }: EpicRecord, group: GroupRecord, baseUrl: string): string =>
  `${groupUrl(group, baseUrl)}/-/epics/${iid}`;
