import type { MergeChoices, MergeRequestFields } from '../../records/merge-requests.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { DEFAULT_MERGE_TEMPLATE, DEFAULT_SQUASH_TEMPLATE } from './messages.ts';

/**
 * `merge`: always a merge commit. `rebase_merge`: a merge commit, only where the head has all commits of the target.
 * `ff`: only then too, and the target's branch moves to the head.
 */
export type MergeMethod = 'merge' | 'rebase_merge' | 'ff';

/** How a project wants its merge requests merged. */
export interface MergeSettings {
  readonly method: MergeMethod;
  readonly squash: 'never' | 'always' | 'default_on' | 'default_off';
  readonly pipelineMustSucceed: boolean;
  /** A skipped pipeline is as good as one that succeeded. */
  readonly skippedSuffices: boolean;
  readonly discussionsMustBeResolved: boolean;
  readonly mergeTemplate: string;
  readonly squashTemplate: string;
}

export function mergeSettingsOf({ settings }: Pick<ProjectRecord, 'settings'>): MergeSettings {
  const text = (name: string, otherwise: string) => {
    const value = settings[name];
    return typeof value === 'string' && value.trim() !== '' ? value : otherwise;
  };
  return {
    method: (settings['merge_method'] as MergeMethod | undefined) ?? 'merge',
    squash: (settings['squash_option'] as MergeSettings['squash'] | undefined) ?? 'default_off',
    pipelineMustSucceed: settings['only_allow_merge_if_pipeline_succeeds'] === true,
    skippedSuffices: settings['allow_merge_on_skipped_pipeline'] === true,
    discussionsMustBeResolved: settings['only_allow_merge_if_all_discussions_are_resolved'] === true,
    mergeTemplate: text('merge_commit_template', DEFAULT_MERGE_TEMPLATE),
    squashTemplate: text('squash_commit_template', DEFAULT_SQUASH_TEMPLATE),
  };
}

/** Whether the commits become one: as the project demands, else as the merger chose, else as the author did. */
export function squashes(
  { squash }: Pick<MergeSettings, 'squash'>,
  record: Pick<MergeRequestFields, 'squash'>,
  chosen: MergeChoices['squash'],
): boolean {
  if (squash === 'always' || squash === 'never') return squash === 'always';
  return chosen ?? record.squash;
}
