import { type Oid, ZERO_OID } from './oid.ts';
import type { Ref, RefUpdate } from './ports.ts';

/** What refs lead to, each once: of a million refs, memory holds no more than these. */
export async function refTips(
  refs: AsyncIterable<readonly Ref[]>,
  end: (ref: Ref) => Oid = ({ oid }) => oid,
): Promise<Set<Oid>> {
  const tips = new Set<Oid>();
  for await (const some of refs) for (const ref of some) tips.add(end(ref));
  return tips;
}

/** The object at the end of an annotated tag. */
export const peeledOid = ({ oid, peeled }: Ref): Oid => peeled ?? oid;

/** Whether what it pointed to may be reached by nothing now. */
export const dropsTip = ({ from, to, forced }: RefUpdate): boolean =>
  from !== ZERO_OID && from !== to && (to === ZERO_OID || forced === true);
