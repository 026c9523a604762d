import type { DiffLimits } from '../../git/diff/patch.ts';
import type { Deps } from '../deps.ts';

/** How much of a diff is shown, as administrators set it; of all files together never more than the engine's own bound. */
export async function diffLimits({ settings }: Pick<Deps, 'settings'>): Promise<DiffLimits> {
  const { diff_max_files, diff_max_patch_bytes, diff_max_lines } = await settings.current();
  return { files: diff_max_files, fileBytes: diff_max_patch_bytes, totalLines: diff_max_lines };
}
