import { dayOf } from '../../domain/days.ts';
import { type IterationRecord, iterationStateOn } from '../../records/iterations.ts';
import type { ApiDeps } from '../endpoint.ts';
import { groupUrl } from '../groups/present.ts';

const STATES = { upcoming: 1, current: 2, closed: 3 } as const;

const iteration = (record: IterationRecord, url: string, now: Date) => ({
  id: record.id,
  iid: record.iid,
  group_id: record.container.id,
  title: record.title,
  description: record.description,
  state: STATES[iterationStateOn(record, dayOf(now))],
  created_at: record.createdAt,
  updated_at: record.updatedAt,
  start_date: record.startDate,
  due_date: record.dueDate,
  web_url: `${url}/-/iterations/${record.id}`,
});

/** Iterations as responses show them, in their order; without those whose group is gone. */
export async function presentedIterations(
  deps: ApiDeps,
  found: readonly IterationRecord[],
  baseUrl: string,
): Promise<ReturnType<typeof iteration>[]> {
  const ids = [...new Set(found.map(({ container }) => container.id))];
  const groups = ids.length === 0 ? [] : await deps.store.groups.getMany(ids);
  const urls = new Map(ids.map((id, i) => [id, groups[i] && groupUrl(groups[i], baseUrl)]));
  const now = deps.now();
  return found.flatMap((record) => {
    const url = urls.get(record.container.id);
    return url === undefined ? [] : [iteration(record, url, now)];
  });
}
