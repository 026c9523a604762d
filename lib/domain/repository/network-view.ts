import { NetworkView } from '../../git/network-view.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { packSinkTo } from '../../store/repository/pack-objects.ts';
import type { Deps } from '../deps.ts';
import { networkMember, openRepository } from './open.ts';

/**
 * The repositories of two projects of one fork network as one: for merges of a fork's branch, and to copy it. Reads
 * nothing itself. Who may read the source is for the caller to decide.
 * @throws Error when the projects are not in one network
 */
export function viewOfBoth(deps: Deps, target: ProjectRecord, source: ProjectRecord): NetworkView {
  const member = networkMember(target);
  if (networkMember(source).networkId !== member.networkId) {
    throw new Error(`projects ${target.id} and ${source.id} are in different fork networks`);
  }
  return new NetworkView({
    target: openRepository(deps, target),
    source: openRepository(deps, source).objects,
    cache: deps.packs,
    packSink: () => packSinkTo(deps.store.blobs, member),
  });
}
