import type { Ref, RefDatabase, RefSnapshot } from '../ports.ts';
import type { RefName } from '../refname.ts';

/** Which refs clients may see, or push to; as `uploadpack.hideRefs` and `receive.hideRefs` do for git. */
export type Visibility = (name: RefName) => boolean;

export interface VisibleRefs extends RefSnapshot {
  /** HEAD's branch, when it exists and is visible. */
  readonly headRef: Ref | undefined;
}

/** The snapshot without hidden refs, and what HEAD resolves to when its branch exists. */
export async function visibleRefs(
  refs: RefDatabase,
  visible: Visibility | undefined,
  prefix?: string,
): Promise<VisibleRefs> {
  const snapshot = await refs.all(prefix === undefined ? {} : { prefix });
  const shown = visible ? snapshot.refs.filter((ref) => visible(ref.name)) : snapshot.refs;
  const headShown = visible?.(snapshot.head) ?? true;
  let headRef: Ref | undefined;
  if (headShown) {
    headRef = snapshot.head.startsWith(prefix ?? '')
      ? shown.find((ref) => ref.name === snapshot.head)
      : (await refs.get([snapshot.head])).get(snapshot.head);
  }
  return { head: snapshot.head, refs: shown, headRef };
}
