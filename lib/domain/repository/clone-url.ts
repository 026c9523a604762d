import type { Deps } from '../deps.ts';

/** What clone addresses over HTTP begin with: as an administrator chose it, or the instance's own. No slash at its end. */
export async function cloneRoot({ settings }: Pick<Deps, 'settings'>, baseUrl: string): Promise<string> {
  const { custom_http_clone_url_root: chosen } = await settings.current();
  return (chosen || baseUrl).replace(/\/+$/, '');
}

/** @param root as `cloneRoot` tells it */
export const cloneUrl = ({ fullPath }: { readonly fullPath: string }, root: string): string =>
  `${root}/${fullPath}.git`;
