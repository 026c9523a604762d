import type { Oid } from '../oid.ts';
import type { Ref } from '../ports.ts';
import type { RefDatabase } from '../ref-database.ts';
import { parseRefName, type RefName, spacePrefix } from '../refname.ts';

/** Which refs clients may see, or push to, like git's `uploadpack.hideRefs` and `receive.hideRefs`. */
export type Visibility = (name: RefName) => boolean;

/** A consistent view of the refs that are not hidden, read in batches, because there may be a million. */
export interface VisibleRefs {
  /** What HEAD points to, whether that branch exists or not. */
  readonly head: RefName;
  /** HEAD's branch, when it exists and is visible. */
  readonly headRef: Ref | undefined;
  /** See {@link RefView.refs}. */
  refs(prefix?: string): AsyncIterable<readonly Ref[]>;
  /** Finds a tip by full ref name, by short name of a tag or branch, or by id. */
  named(name: string): Promise<Oid | undefined>;
  /** See {@link RefDatabase.recentTips}. */
  recentTips(): Promise<readonly Ref[]>;
}

/** @param prefixes which refs to read; all when absent */
export async function visibleRefs(
  database: RefDatabase,
  visible: Visibility = () => true,
  prefixes?: readonly string[],
): Promise<VisibleRefs> {
  const view = await database.view(prefixes === undefined ? {} : { prefixes });
  const { head } = view;
  const refs = async function* (prefix?: string) {
    for await (const some of view.refs(prefix)) {
      const shown = some.filter(({ name }) => visible(name));
      if (shown.length > 0) yield shown;
    }
  };
  let headRef: Ref | undefined;
  if (visible(head)) {
    const within = prefixes === undefined || prefixes.some((prefix) => head.startsWith(prefix));
    headRef = within ? await firstOf(view.refs(head), head) : (await database.get([head])).get(head);
  }
  const named = async (text: string): Promise<Oid | undefined> => {
    const names = [text, `${spacePrefix('tags')}${text}`, `${spacePrefix('heads')}${text}`].flatMap(
      (name) => parseRefName(name) ?? [],
    );
    const found = await database.get(names.filter(visible));
    for (const name of names) {
      const ref = found.get(name);
      if (ref !== undefined) return ref.oid;
    }
    for await (const some of refs()) {
      const ref = some.find(({ oid }) => oid === text);
      if (ref !== undefined) return ref.oid;
    }
    return undefined;
  };
  const recentTips = async () => (await database.recentTips()).filter(({ name }) => visible(name));
  return { head, headRef, refs, named, recentTips };
}

async function firstOf(refs: AsyncIterable<readonly Ref[]>, name: RefName): Promise<Ref | undefined> {
  for await (const some of refs) {
    const found = some.find((ref) => ref.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}
