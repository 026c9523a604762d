import type { Deps } from '../deps.ts';

/** What HEAD points to in a repository that nobody chose a default branch for. */
export const defaultBranchName = async ({ settings, environment }: Deps): Promise<string> =>
  (await settings.current()).default_branch_name || environment.defaultBranchName;
