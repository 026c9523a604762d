import type { Deps } from '../deps.ts';

/** The branch that HEAD of a new repository points to. */
export const defaultBranchName = async ({ settings, environment }: Deps): Promise<string> =>
  (await settings.current()).default_branch_name || environment.defaultBranchName;
