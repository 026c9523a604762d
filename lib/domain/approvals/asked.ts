/** Whom merge requests ask for their approval. */

import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { membersOf } from './details.ts';
import { evaluateApprovals } from './evaluate.ts';

/** Users who are asked for one merge request: the first that its rules name and who may approve it. */
const MAX_ASKED = 300;

/**
 * Returns the users whom rules in force name, and members of groups that they name, who may approve and have not.
 * @param which ids of rules; `all`: every rule that somebody made
 * @param atMost how many are returned, and judged at once
 */
export async function askedToApprove(
  deps: Deps,
  access: ProjectAccess,
  record: MergeRequestRecord,
  which: 'all' | readonly number[],
  atMost = MAX_ASKED,
): Promise<number[]> {
  const { state: inForce } = await evaluateApprovals(deps, access, record);
  const rules = inForce.rules.flatMap(({ rule }) =>
    rule?.type === 'regular' && (which === 'all' || which.includes(rule.id)) ? [rule] : [],
  );
  const groupIds = [...new Set(rules.flatMap((rule) => rule.groupIds))];
  const members = await membersOf(deps, groupIds);
  const ids = [...new Set([...rules.flatMap((rule) => rule.userIds), ...members])];
  const asked: number[] = [];
  for (let from = 0; from < ids.length && asked.length < atMost; from += atMost) {
    const some = ids.slice(from, from + atMost);
    const { state } = await evaluateApprovals(deps, access, record, some);
    asked.push(...some.filter(state.mayApprove));
  }
  return asked.slice(0, atMost);
}
