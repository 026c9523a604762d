/** What callers may say about an issue, and what becomes of it by their rights. */

import type { HealthStatus, IssueType, Severity } from '../../records/issues.ts';
import type { EpicChoice } from '../epics/for-issues.ts';
import { problemsOf, requireNoProblems } from '../tracked/input.ts';

/** Clients read four bytes. */
export const MAX_WEIGHT = 2 ** 31 - 1;

/** What every user who may write an issue decides. */
export interface IssueTexts {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
}

/** What Reporters decide; of others it is ignored. */
export interface IssueMetadata extends EpicChoice {
  /** Titles. Those that the project does not have are created. */
  readonly labels?: readonly string[] | undefined;
  readonly type?: IssueType | undefined;
  readonly assigneeIds?: readonly number[] | undefined;
  /** Null or 0: none. */
  readonly milestoneId?: number | null | undefined;
  /** Null or 0: none. */
  readonly iterationId?: number | null | undefined;
  readonly dueDate?: string | null | undefined;
  readonly weight?: number | null | undefined;
  readonly healthStatus?: HealthStatus | null | undefined;
  readonly severity?: Severity | undefined;
  readonly discussionLocked?: boolean | null | undefined;
}

/** @throws 400 by field */
export function requireValid(input: IssueTexts & IssueMetadata): void {
  const weight = input.weight ?? 0;
  const wrong = weight < 0 ? 'greater than or equal to 0' : `less than or equal to ${MAX_WEIGHT}`;
  const isWrong = weight < 0 || weight > MAX_WEIGHT;
  requireNoProblems({ ...problemsOf(input), ...(isWrong ? { weight: [`must be ${wrong}`] } : {}) });
}
