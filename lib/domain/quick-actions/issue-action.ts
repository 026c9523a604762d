/** What the quick actions of issues have in common. */

import type { IssueFields, IssueRecord } from '../../records/issues.ts';
import type { DescribedIssue } from '../issues/issues.ts';
import type { Effect, QuickAction } from './interpret.ts';
import { settingOf, storedOf, type TrackedContext } from './tracked-action.ts';

export interface IssueContext extends TrackedContext {
  readonly issue: DescribedIssue;
  readonly stored: IssueRecord | undefined;
}

export type IssueAction = QuickAction<IssueContext, IssueFields, IssueRecord>;
export type IssueEffect = Effect<IssueFields, IssueRecord>;

/** Reporters change everything about an issue, also about one that is being created. */
export const maySet = ({ may }: IssueContext): boolean => may.organize;
export const mayWrite = ({ may, stored: issue }: IssueContext): boolean => issue !== undefined && may.write;
/** The issue exists, and is such. */
export const stored = storedOf<IssueContext>();
/** An effect that is one field, by its name in answers. */
export const setting = settingOf<IssueFields>();
