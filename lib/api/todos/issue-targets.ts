import { shownIssues } from '../../domain/issues/related.ts';
import { presentIssue } from '../issues/present.ts';
import type { TargetPresenter } from './present.ts';

export const presentIssues: TargetPresenter<'issue'> = async (deps, actor, found, baseUrl) => {
  const shown = await shownIssues(deps, actor, found);
  return shown.map((each) => presentIssue(each, baseUrl, { kind: 'project', id: each.access.project.id }));
};
