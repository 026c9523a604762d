import { listedStatuses } from '../../domain/merge-requests/listed-status.ts';
import { shownMergeRequests } from '../../domain/merge-requests/related.ts';
import { presentMergeRequest } from '../merge-requests/present.ts';
import type { TargetPresenter } from './present.ts';

export const presentMergeRequests: TargetPresenter<'merge-request'> = async (
  deps,
  _actor,
  found,
  baseUrl,
) => {
  const [shown, statuses] = await Promise.all([shownMergeRequests(deps, found), listedStatuses(deps, found)]);
  return shown.map((each, i) =>
    presentMergeRequest(each, statuses[i]!, baseUrl, { kind: 'project', id: each.access.project.id }),
  );
};
