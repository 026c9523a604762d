import type { Container, LabelRecord } from '../../lib/records/labels.ts';
import {
  labelCountKey,
  labelKey,
  labelPrioritiesOf,
  labelsPartition,
  labelTitleKey,
  TITLE,
} from '../../lib/store/row-keys/labels.ts';
import { groupsOf, livingOf, usersOf } from './records.ts';
import { keyText, type Row, type Rows, rowCheck } from './rows.ts';

/** Groups, and projects that are not deleted. */
export const containersOf = (rows: Rows): Container[] =>
  [...groupsOf(rows), ...livingOf(rows).filter(({ type }) => type === 'project')].map(({ type, id }) => ({
    kind: type as Container['kind'],
    id,
  }));

/** Each label is listed once, by its title, in its project or group, which knows how many there are. */
export const labels = rowCheck(['label', 'label-title', 'label-count'], function* (rows) {
  const living = new Set(containersOf(rows).map(labelsPartition));
  const records = new Map<string, Row>();
  for (const row of rows.of('LABEL#').filter(({ sk }) => sk === 'LABEL')) records.set(row.pk, row);
  const listed = Map.groupBy(
    rows.of('LABELS#').filter(({ sk }) => sk.startsWith(TITLE)),
    ({ pk }) => pk,
  );
  for (const record of records.values()) {
    const { id, container, title } = record as unknown as LabelRecord;
    if (!living.has(labelsPartition(container))) continue;
    if (rows.get(labelTitleKey(container, title))?.['labelId'] !== id)
      yield `label ${id} is not listed by its title`;
  }
  for (const container of containersOf(rows)) {
    const entries = listed.get(labelsPartition(container)) ?? [];
    for (const entry of entries) {
      const record = records.get(labelKey(entry['labelId'] as number).pk);
      const { container: of, title } = (record ?? {}) as Partial<LabelRecord>;
      if (of === undefined || keyText(labelTitleKey(of, title!)) !== keyText(entry))
        yield `${keyText(entry)} lists a label that is not there`;
    }
    const count = rows.get(labelCountKey(container))?.['count'] ?? 0;
    if (count !== entries.length) yield `${labelsPartition(container)} counts ${count} of ${entries.length}`;
  }
});

/** Priorities are of labels of groups, which know that they have some, in projects that exist. */
export const labelPriorities = rowCheck(['label-priority'], function* (rows) {
  const projects = new Set(livingOf(rows).map(({ id }) => id));
  for (const row of rows.of('LABEL#').filter(({ sk }) => sk.startsWith('PRIORITY#'))) {
    const label = rows.get({ pk: row.pk, sk: 'LABEL' });
    const projectId = Number(row.sk.slice(-12));
    if (label === undefined) yield `${keyText(row)} is of no label`;
    else if (label['prioritized'] !== true) yield `${keyText(row)} is of a label that knows of no priority`;
    if (!projects.has(projectId)) yield `${keyText(row)} is of no project`;
    if (row['list'] !== labelPrioritiesOf(projectId)) yield `${keyText(row)} is not found by its project`;
  }
});

/** Subscriptions are to labels that exist, by users who exist. */
export const labelSubscriptions = rowCheck(['label-subscription'], function* (rows) {
  const users = new Set(usersOf(rows).map(({ id }) => id));
  for (const row of rows.of('LABEL#').filter(({ sk }) => sk.startsWith('SUBSCRIBER#'))) {
    if (rows.get({ pk: row.pk, sk: 'LABEL' }) === undefined) yield `${keyText(row)} is to no label`;
    if (!users.has(Number(row.sk.slice(-12)))) yield `${keyText(row)} is of no user`;
  }
});
