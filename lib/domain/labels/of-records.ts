import { byId } from '../../records/by-id.ts';
import type { LabelRecord } from '../../records/labels.ts';
import type { Deps } from '../deps.ts';

/** The labels of issues, merge requests or epics by id, read in one batch. */
export async function labelsOf(
  { store }: Deps,
  records: readonly { readonly labelIds: readonly number[] }[],
): Promise<Map<number, LabelRecord>> {
  const ids = [...new Set(records.flatMap(({ labelIds }) => labelIds))];
  return byId(ids.length === 0 ? [] : await store.labels.getMany(ids));
}
