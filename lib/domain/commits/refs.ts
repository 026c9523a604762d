import { shortName } from '../../git/refname.ts';
import type { GitRepository } from '../../git/repository.ts';
import { bounded, resolved } from '../repository/read.ts';

export interface CommitRef {
  readonly type: 'branch' | 'tag';
  readonly name: string;
}

/**
 * Returns the branches and tags that contain a commit: branches first, each sorted by name.
 *
 * @throws `404 Commit Not Found`
 */
export async function refsContaining(
  git: GitRepository,
  sha: string,
  type: 'branch' | 'tag' | 'all',
): Promise<CommitRef[]> {
  const [{ commit }, branches, tags] = await Promise.all([
    resolved(git, sha),
    type === 'tag' ? undefined : git.branches(),
    type === 'branch' ? undefined : git.tags(),
  ]);
  const refs = [...(branches?.refs ?? []), ...(tags?.refs ?? [])];
  const containing = await bounded(() => git.containing(refs, commit));
  return containing.map(({ name }) => ({
    type: name.startsWith('refs/heads/') ? 'branch' : 'tag',
    name: shortName(name),
  }));
}
