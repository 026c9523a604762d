import type { IssueRecord } from '../../records/issues.ts';
import type { SystemNote } from '../../records/notes.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import type { TimeChange } from '../tracked/time.ts';
import { changeIssue } from './change.ts';

/** Changes the time of an issue. @throws `404 Not found`, 403, 400, 409 when others keep changing it */
export const trackTime = (
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
  change: TimeChange,
  notes: readonly SystemNote[] = [],
): Promise<IssueRecord> =>
  changeIssue(
    deps,
    actor,
    access,
    iid,
    (before) => {
      if (!can(actor, access, 'update_issue')) throw forbidden();
      return { ...change(before), updatedAt: deps.now().toISOString() };
    },
    { notes },
  );
