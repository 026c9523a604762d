import { DEFAULT_STORAGE, storagePrefix } from '../../records/storages.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';

/**
 * Chooses a storage by the weights of the setting.
 * @param except another one than this, if there is one
 * @returns its name
 */
export async function chooseStorage(
  { settings, environment }: Pick<Deps, 'settings' | 'environment'>,
  except?: string,
): Promise<string> {
  const { repository_storages_weighted: weights } = await settings.current();
  // A storage that is not configured any more takes none.
  const weighted = Object.entries(weights).filter(
    ([name]) => name !== except && Object.hasOwn(environment.storages, name),
  );
  let left = Math.random() * weighted.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of weighted) {
    if (left < weight) return name;
    left -= weight;
  }
  if (except !== DEFAULT_STORAGE) return DEFAULT_STORAGE;
  return Object.keys(environment.storages).find((name) => name !== except) ?? DEFAULT_STORAGE;
}

/**
 * For the record of what is to have a repository: where its packs will be.
 * @param name of a storage; default: the weights decide @throws 400 where there is no such storage
 */
export async function newStorage(
  deps: Pick<Deps, 'settings' | 'environment'>,
  name?: string,
): Promise<{ readonly storagePrefix?: string }> {
  if (name !== undefined && !Object.hasOwn(deps.environment.storages, name))
    throw invalid({ repository_storage: ['is not included in the list'] });
  const prefix = storagePrefix(name ?? (await chooseStorage(deps)));
  return prefix === '' ? {} : { storagePrefix: prefix };
}
