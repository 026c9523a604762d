import type { DiffLimits } from '../../git/diff/patch.ts';
import type { Deps } from '../deps.ts';

/** Size limits of diffs from the instance settings. The engine's limit for all files together applies in addition. */
export async function diffLimits({ settings }: Pick<Deps, 'settings'>): Promise<DiffLimits> {
  const { diff_max_files, diff_max_patch_bytes, diff_max_lines } = await settings.current();
  return { files: diff_max_files, fileBytes: diff_max_patch_bytes, totalLines: diff_max_lines };
}
