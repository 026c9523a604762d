import type { Container } from '../../records/labels.ts';
import { type Key, padded, wholeOrDigest } from './key.ts';
import type { RowKind } from './row-kind.ts';

/** A label by its id: what has the label knows no more of it. */
export const labelKey = (id: number): Key => ({ pk: `LABEL#${padded(id)}`, sk: 'LABEL' });

/** The labels of a project or group. */
export const labelsPartition = ({ kind, id }: Container): string =>
  `LABELS#${kind === 'project' ? 'PROJECT' : 'GROUP'}#${padded(id)}`;

export const TITLE = 'TITLE#';

/** Makes a title unique in its project or group, and sorts the labels by title. */
export const labelTitleKey = (container: Container, title: string): Key => ({
  pk: labelsPartition(container),
  sk: TITLE + wholeOrDigest(title),
});

/** Number of labels of a project or group. */
export const labelCountKey = (container: Container): Key => ({ pk: labelsPartition(container), sk: 'COUNT' });

export const LABEL_SUBSCRIBERS = 'SUBSCRIBER#';

/** A user's subscription to a label: in one project, or of a group's label in the whole group (project 0). */
export const labelSubscriptionKey = (labelId: number, projectId: number, userId: number): Key => ({
  pk: labelKey(labelId).pk,
  sk: `${LABEL_SUBSCRIBERS}${padded(projectId)}#${padded(userId)}`,
});

/** Who subscribed to a label in which project, from the key of its row. */
export const ofLabelSubscription = ({ sk }: Key): { readonly at: Container; readonly userId: number } => {
  const [, projectId, userId] = sk.split('#') as [string, string, string];
  return { at: { kind: 'project', id: Number(projectId) }, userId: Number(userId) };
};

const PRIORITY = 'PRIORITY#';

/** The priority that a project gave to a label of a group above it. */
export const labelPriorityKey = (labelId: number, projectId: number): Key => ({
  pk: labelKey(labelId).pk,
  sk: PRIORITY + padded(projectId),
});

/** Attribute `list` of such rows: all of a project. */
export const labelPrioritiesOf = (projectId: number): string => `LABELPRIORITIES#${padded(projectId)}`;

export const rowKinds = [
  { name: 'label', partitions: ['LABEL#'], keys: { labelKey }, of: ['project', 'group'] },
  { name: 'label-title', partitions: ['LABELS#'], keys: { labelTitleKey }, of: ['project', 'group'] },
  { name: 'label-count', partitions: ['LABELS#'], keys: { labelCountKey }, of: ['project', 'group'] },
  {
    name: 'label-subscription',
    partitions: ['LABEL#'],
    keys: { labelSubscriptionKey },
    of: ['project', 'group', 'user'],
  },
  { name: 'label-priority', partitions: ['LABEL#'], keys: { labelPriorityKey }, of: ['project', 'group'] },
] as const satisfies readonly RowKind[];
