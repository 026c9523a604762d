/** `extends`: https://docs.gitlab.com/ee/ci/yaml/#extends */
import type { Steps } from '../git/work.ts';
import { ConfigError } from './errors.ts';
import { Copies, deepMerge, type Hash, hashOf, isHash, valueAt } from './yaml/values.ts';

const MAX_NESTING = 10;

interface Extended {
  readonly value: Hash;
  readonly levels: number;
}

/**
 * Merges into each job what it extends, in depth: first the earlier of its bases, then the later, then its own.
 * @throws ConfigError for a base that is absent or no hash, a circle, or more than ten levels
 */
export function* extendJobs(config: Hash): Steps<Hash> {
  const copies = new Copies();
  const done = new Map<string, Extended>();
  const extended = function* (name: string, under: readonly string[]): Steps<Extended> {
    const known = done.get(name);
    if (known !== undefined) return known;
    const own = valueAt(config, name) as Hash;
    const bases = basesOf(own);
    if (under.includes(name)) throw new ConfigError(`${name}: circular dependency detected in \`extends\``);
    if (under.length >= MAX_NESTING) throw new ConfigError(`${name}: nesting too deep in \`extends\``);
    const unknown = bases.filter((base) => !Object.hasOwn(config, base));
    if (unknown.length > 0)
      throw new ConfigError(`${name}: unknown keys in \`extends\` (${unknown.join(', ')})`);
    const odd = bases.filter((base) => !isHash(valueAt(config, base)));
    if (odd.length > 0)
      throw new ConfigError(`${name}: invalid base hashes in \`extends\` (${odd.join(', ')})`);
    let value: Hash = {};
    let levels = 0;
    for (const base of bases) {
      const parent = yield* extended(base, [...under, name]);
      value = yield* deepMerge(value, parent.value, copies);
      levels = Math.max(levels, parent.levels + 1);
    }
    if (levels > MAX_NESTING) throw new ConfigError(`${name}: nesting too deep in \`extends\``);
    const result = { value: bases.length === 0 ? own : yield* deepMerge(value, own, copies), levels };
    done.set(name, result);
    return result;
  };
  const all: [string, unknown][] = [];
  for (const [name, value] of Object.entries(config)) {
    all.push([name, isHash(value) ? (yield* extended(name, [])).value : value]);
    yield;
  }
  return hashOf(all);
}

function basesOf(job: Hash): readonly string[] {
  const bases = [valueAt(job, 'extends')].flat();
  // Other values are refused with the rest of the job.
  return bases.every((base) => typeof base === 'string') ? bases : [];
}
