import type { Subject } from '../../records/subject.ts';
import { digestOf, type Key } from './key.ts';
import type { RowKind } from './row-kind.ts';
import { ABOUT, subjectPartition } from './subjects.ts';

export const attributesKey = (subject: Subject): Key => ({
  pk: subjectPartition(subject),
  sk: `${ABOUT}ATTRIBUTES`,
});

/** A single attribute, which an index finds by its value. */
export const attributeKey = (subject: Subject, name: string): Key => ({
  pk: subjectPartition(subject),
  sk: `${ABOUT}ATTRIBUTE#${digestOf(name)}`,
});

export const attributePartition = (kind: Subject['kind'], name: string, value: string): string =>
  `ATTRIBUTE#${kind}#${digestOf(JSON.stringify([name, value]))}`;

export const rowKinds = [
  {
    name: 'custom-attributes',
    partitions: ['PROJECT#', 'GROUP#', 'USER#'],
    keys: { attributesKey },
    of: ['project', 'group', 'user'],
  },
  {
    name: 'custom-attribute',
    partitions: ['PROJECT#', 'GROUP#', 'USER#'],
    keys: { attributeKey },
    of: ['project', 'group', 'user'],
  },
] as const satisfies readonly RowKind[];
