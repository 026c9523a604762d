/** The ranges of keys that lists of one kind of records are read from. */

import { anyReactionPrefix, reactionPrefix } from '../row-keys/award-emoji.ts';
import { listPartitions } from '../row-keys/lists.ts';
import type { FacetValue, TitledFacet, TrackedKeys } from '../row-keys/tracked.ts';
import { userPartition } from '../row-keys/users.ts';
import type { PlaceRange } from './places.ts';

export function rangesOf<Facet extends string, Class extends string>(keys: TrackedKeys<Facet, Class>) {
  const each = (
    classes: readonly Class[],
    range: (listClass: Class) => Omit<PlaceRange, 'listClass' | 'prefix'> & { readonly prefix?: string },
  ): PlaceRange[] => classes.map((listClass) => ({ prefix: '', ...range(listClass), listClass }));
  return {
    /** Those of a project in the order of creation. */
    ofProject: (projectId: number, classes: readonly Class[]): PlaceRange[] =>
      each(classes, (listClass) => ({
        partition: keys.partition(projectId),
        prefix: keys.listPrefix(listClass),
      })),

    /** The same in the order of the last change. */
    changedOfProject: (projectId: number, classes: readonly Class[]): PlaceRange[] =>
      each(classes, (listClass) => ({ index: 'byUpdated', partition: keys.ofProject(projectId, listClass) })),

    /** The same in the order that people arrange by hand. */
    arrangedOfProject: (projectId: number, classes: readonly Class[]): PlaceRange[] =>
      each(classes, (listClass) => ({
        index: 'byId',
        partition: keys.ofProject(projectId, listClass),
        arranged: true,
      })),

    /** Those of a project with one value of a facet. */
    by: (
      projectId: number,
      facet: Facet,
      value: FacetValue,
      classes: readonly Class[],
      own = false,
    ): PlaceRange[] =>
      each(classes, (listClass) => ({
        partition: keys.partition(projectId),
        prefix: keys.byPrefix(facet, value, listClass),
        own,
      })),

    /** Those below a top-level group. */
    ofRoot: (rootId: number, classes: readonly Class[], index: 'byId' | 'byUpdated' = 'byId'): PlaceRange[] =>
      each(classes, (listClass) => ({ index, partition: keys.ofRoot(rootId, listClass) })),

    ofRootBy: (rootId: number, facet: TitledFacet, title: string, classes: readonly Class[]): PlaceRange[] =>
      each(classes, (listClass) => ({
        index: 'byId',
        partition: keys.ofRootBy(rootId, facet, title, listClass),
      })),

    /** Those of one value, such as an epic, in all projects. */
    ofValue: (facet: Facet, id: number, classes: readonly Class[]): PlaceRange[] =>
      each(classes, (listClass) => ({ index: 'byId', partition: keys.ofValue(facet, id, listClass) })),

    /** A user's in all projects. */
    ofPerson: (facet: Facet, userId: number, classes: readonly Class[], own: boolean): PlaceRange[] =>
      each(classes, (listClass) => ({
        index: 'byUser',
        partition: userPartition(userId),
        prefix: keys.ownPrefix(facet, listClass),
        own,
      })),

    ofAll: (classes: readonly Class[]): PlaceRange[] =>
      classes.flatMap((listClass) =>
        listPartitions(keys.ofAll(listClass)).map((partition, _, { length: shards }) => ({
          index: 'byId' as const,
          partition,
          prefix: '',
          listClass,
          shards,
        })),
      ),
  };
}

/** What a user awarded an emoji to, whatever its class. @param name absent: any emoji */
export const rangesOfReaction = (
  kind: Parameters<typeof anyReactionPrefix>[0],
  userId: number,
  name?: string,
): PlaceRange[] => [
  {
    index: 'byUser',
    partition: userPartition(userId),
    prefix: name === undefined ? anyReactionPrefix(kind) : reactionPrefix(kind, name),
    listClass: '',
  },
];
