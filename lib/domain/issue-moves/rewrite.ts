/** Texts of an issue that comes to another project: what they refer to stays the same. */

import { inTurns } from '../../git/work.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { rewriteProse } from '../markdown/prose.ts';
import { type Reference, referencesIn, referencesOf } from '../markdown/references.ts';
import { resolveReferences } from '../references/resolve.ts';

/** Between which projects a text is brought, and by whom. */
export interface Relocation {
  readonly actor: Viewer;
  readonly source: ProjectAccess;
  readonly target: ProjectAccess;
}

/** Links are not made here. */
const NO_BASE_URL = 'none:';

/**
 * Writes the project before references that were meant in it: `#1` becomes `group/project#1`. References to what does not
 * exist, or the actor may not see, stay as they are, and so do labels and milestones that the target has as well.
 */
export async function rewritten(
  deps: Deps,
  { actor, source, target }: Relocation,
  texts: readonly string[],
): Promise<string[]> {
  if (source.project.id === target.project.id) return [...texts];
  const found: Reference[] = [];
  for (const text of texts) found.push(...(await inTurns(referencesIn(text, { withQuotes: true }))));
  const relative = [...new Map(found.filter(isRelative).map((each) => [each.source, each])).values()];
  if (relative.length === 0) return [...texts];
  const read = (project: ProjectAccess, references: readonly Reference[]) =>
    resolveReferences(deps, references, { actor, baseUrl: NO_BASE_URL, project });
  const titled = relative.filter(({ kind }) => kind === 'label' || kind === 'milestone');
  const [here, there] = await Promise.all([read(source, relative), read(target, titled)]);
  const places = new Map<string, string>();
  for (const reference of relative) {
    const link = here.get(reference.source);
    if (link === undefined || isSame(reference, link, there.get(reference.source))) continue;
    places.set(reference.source, absolute(reference, source.project));
  }
  return texts.map((text) => (places.size === 0 ? text : rewriteProse(text, (prose) => put(prose, places))));
}

type Relative = Exclude<Reference, { kind: 'mention' }>;

/** Whether it means another thing in another project. */
const isRelative = (reference: Reference): reference is Relative =>
  reference.kind !== 'mention' && reference.container?.includes('/') !== true;

interface Link {
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

const isSame = ({ kind }: Reference, here: Link, there: Link | undefined): boolean =>
  there !== undefined && here.data?.[kind] === there.data?.[kind];

/** With the full path of the project, or of the group for what groups have. */
function absolute({ kind, source, container }: Relative, { fullPath }: ProjectRecord): string {
  const group = fullPath.slice(0, fullPath.lastIndexOf('/'));
  if (container !== undefined) return `${group}/${source}`;
  if (kind === 'commit') return `${fullPath}@${source}`;
  return `${kind === 'epic' ? group : fullPath}${source}`;
}

function put(prose: string, places: ReadonlyMap<string, string>): string {
  let [text, from] = ['', 0];
  for (const each of referencesOf(prose)) {
    const place = each && places.get(each.reference.source);
    if (place === undefined) continue;
    const { reference, index } = each!;
    text += prose.slice(from, index) + place;
    from = index + reference.source.length;
  }
  return text + prose.slice(from);
}
