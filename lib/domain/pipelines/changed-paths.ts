import { type Oid, ZERO_OID } from '../../git/oid.ts';
import type { GitRepository } from '../../git/repository.ts';
import { decodePath } from '../../git/tree/path.ts';

/** Paths that conditions are compared with; of more, all count as changed. */
const MAX_PATHS = 10_000;

/**
 * The paths that a push or a merge request changes, read once.
 * @returns what gives them; undefined where nothing is compared: a new branch, a tag, a pipeline that somebody asked for
 */
export function changedBetween(
  git: GitRepository,
  {
    beforeSha,
    mergeRequest,
  }: {
    readonly beforeSha?: string | undefined;
    readonly mergeRequest?:
      | { readonly targetSha: string; readonly diff?: { readonly baseSha: string } | undefined }
      | undefined;
  },
  commit: Oid,
): () => Promise<readonly string[] | undefined> {
  let paths: Promise<readonly string[] | undefined> | undefined;
  const read = async () => {
    const from =
      mergeRequest === undefined
        ? beforeSha
        : (mergeRequest.diff?.baseSha ??
          (await git.history.mergeBases(mergeRequest.targetSha as Oid, [commit]))[0]?.oid);
    if (from === undefined || from === ZERO_OID || (await git.resolve(from)) === undefined) return undefined;
    const { changes, truncated } = await git.changes(from as Oid, commit, { limit: MAX_PATHS });
    return truncated ? undefined : changes.map(({ path }) => decodePath(path));
  };
  return () => (paths ??= read());
}
