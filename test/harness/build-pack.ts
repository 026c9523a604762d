import { type BuiltPack, buildPack as inSteps, type Unpacked } from '../../lib/git/pack/build-pack.ts';
import { atOnce } from '../../lib/git/work.ts';

/** A small pack of objects, without deltas. */
export const buildPack = (objects: Iterable<Unpacked>): BuiltPack => atOnce(inSteps(objects));
