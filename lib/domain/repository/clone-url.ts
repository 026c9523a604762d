import type { Deps } from '../deps.ts';

/** Base URL of HTTP clone URLs: the configured one, else the instance's own. Without a trailing slash. */
export async function cloneRoot({ settings }: Pick<Deps, 'settings'>, baseUrl: string): Promise<string> {
  const { custom_http_clone_url_root: chosen } = await settings.current();
  return (chosen || baseUrl).replace(/\/+$/, '');
}

/** @param root as returned by `cloneRoot` */
export const cloneUrl = ({ fullPath }: { readonly fullPath: string }, root: string): string =>
  `${root}/${fullPath}.git`;
