import type { Subject } from '../../records/subject.ts';
import { digestOf, type Key } from './key.ts';
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
