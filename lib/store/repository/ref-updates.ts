/** Applies updates to a stream of all refs. Pure. */
import { ZERO_OID } from '../../git/oid.ts';
import { type Ref, RefConflict, type RefUpdate } from '../../git/ports.ts';
import { refSort } from '../row-keys/repository.ts';
import { compareText } from '../table/text-order.ts';
import { creates, inOrder, PrefixConflicts, type Rejection, staleUpdate } from './ref-check.ts';
import { refOf } from './ref-writes.ts';

/**
 * @param stored all refs, sorted by key
 * @returns the refs after the updates, sorted by key
 * @throws RefConflict at the end, if an update could not be applied
 */
export async function* updated(
  stored: AsyncIterable<readonly Ref[]>,
  updates: readonly RefUpdate[],
): AsyncGenerator<readonly Ref[], void, undefined> {
  const sorted = updates
    .map((update) => ({ update, sort: refSort(update.name) }))
    .toSorted((a, b) => compareText(a.sort, b.sort));
  const conflicts = new PrefixConflicts(updates.filter(creates).map(({ name }) => name));
  const rejections: Rejection[] = [];
  let at = 0;
  let refs: Ref[] = [];
  const keep = (ref: Ref) => {
    conflicts.beside(ref.name);
    refs.push(ref);
  };
  const make = (ref: Ref | undefined) => {
    const { update } = sorted[at++]!;
    const rejection = staleUpdate(update, ref?.oid);
    if (rejection !== undefined) rejections.push(rejection);
    else if (ref !== undefined && update.from === update.to) keep(ref);
    else if (creates(update)) refs.push(refOf(update));
    else if (update.to !== ZERO_OID) keep(refOf(update));
  };
  for await (const run of stored) {
    for (const ref of run) {
      const sort = at < sorted.length ? refSort(ref.name) : '';
      while (at < sorted.length && compareText(sorted[at]!.sort, sort) < 0) make(undefined);
      if (at < sorted.length && sorted[at]!.sort === sort) make(ref);
      else keep(ref);
    }
    yield refs;
    refs = [];
  }
  while (at < sorted.length) make(undefined);
  yield refs;
  rejections.push(...conflicts.rejections());
  if (rejections.length > 0) throw new RefConflict(inOrder(updates, rejections));
}
