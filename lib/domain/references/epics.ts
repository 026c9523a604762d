/** Finds epics that texts refer to. They are in groups: `&1` is in the group of the text's project. */
import type { Deps } from '../deps.ts';
import { type FoundEpic, visibleEpics } from '../epics/related.ts';
import type { ReferenceLink } from '../markdown/html.ts';
import type { NumberedReference } from '../markdown/references.ts';
import type { Reading } from './reading.ts';

/** A reference, and the group that it names. */
export interface EpicTarget {
  readonly reference: NumberedReference;
  readonly groupId: number;
}

/** Returns the epics that references name, as far as the reader may see them. Two batches, then their groups. */
export async function epicsAt(
  deps: Deps,
  targets: readonly EpicTarget[],
  { actor }: Reading,
): Promise<(FoundEpic & { readonly reference: NumberedReference })[]> {
  const ids = await deps.store.epics.idsOf(
    targets.map(({ groupId, reference }) => ({ groupId, iid: reference.number })),
  );
  const epics = await visibleEpics(
    deps,
    actor,
    ids.filter((id) => id !== undefined),
  );
  return targets.flatMap(({ reference }, i) => {
    const found = epics.get(ids[i] ?? 0);
    return found === undefined ? [] : [{ ...found, reference }];
  });
}

/** Returns the links of these, by what was written. */
export async function findEpics(
  deps: Deps,
  targets: readonly EpicTarget[],
  reading: Reading,
): Promise<Map<string, ReferenceLink>> {
  const { baseUrl, project } = reading;
  const own = project?.project.ancestorIds.at(-1);
  return new Map(
    (await epicsAt(deps, targets, reading)).map(({ epic, access, reference: { source, note } }) => {
      const { id, fullPath } = access.group;
      const isUrl = source.startsWith(baseUrl);
      const short = `${id === own ? '' : fullPath}&${epic.iid}${note === undefined ? '' : ` (comment ${note})`}`;
      const link = {
        href: isUrl ? source : `${baseUrl}/groups/${fullPath}/-/epics/${epic.iid}`,
        ...(isUrl ? { text: short } : {}),
        title: epic.title,
        class: 'epic',
        data: { 'reference-type': 'epic', group: id, epic: epic.id, iid: epic.iid },
      };
      return [source, link];
    }),
  );
}
