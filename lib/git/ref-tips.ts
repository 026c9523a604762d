import { type Oid, ZERO_OID } from './oid.ts';
import type { Ref, RefUpdate } from './ports.ts';

/** The distinct objects that refs point to. Keeps only these in memory, however many refs there are. */
export async function refTips(
  refs: AsyncIterable<readonly Ref[]>,
  oidOf: (ref: Ref) => Oid = ({ oid }) => oid,
): Promise<Set<Oid>> {
  const tips = new Set<Oid>();
  for await (const some of refs) for (const ref of some) tips.add(oidOf(ref));
  return tips;
}

/** The object a ref points to, with annotated tags peeled. */
export const peeledOid = ({ oid, peeled }: Ref): Oid => peeled ?? oid;

/** Whether the update may make the ref's old value unreachable. */
export const dropsTip = ({ from, to, forced }: RefUpdate): boolean =>
  from !== ZERO_OID && from !== to && (to === ZERO_OID || forced === true);
