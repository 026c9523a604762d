import type { ObjectType } from '../objects.ts';
import type { ObjectFilter } from '../reachable.ts';
import { WireError } from './error.ts';
import { quoted } from './line.ts';

/** Longer ones name more filters than there are. */
const MAX_SPEC_LENGTH = 1000;

/**
 * Parses the filter of a partial clone (git-rev-list, `--filter`): `blob:none`, `blob:limit=<n>[kmg]`,
 * `tree:<depth>`, `object:type=<type>`, and `combine:` of these, each percent-encoded, joined by `+`.
 * @throws WireError `unsupported` for all other filters: `sparse:oid`, `sparse:path`
 */
export function parseFilter(spec: string): ObjectFilter {
  if (spec.length > MAX_SPEC_LENGTH) throw unsupported(spec);
  if (spec === 'blob:none') return { blobLimit: 0 };
  const limit = /^blob:limit=([0-9]{1,15})([kmg]?)$/i.exec(spec);
  if (limit) return { blobLimit: scaled(limit) };
  const tree = /^tree:([0-9]{1,9})([kmg]?)$/i.exec(spec);
  if (tree) return { treeDepth: scaled(tree) };
  const type = /^object:type=(blob|tree|commit|tag)$/.exec(spec);
  if (type) return onlyType(type[1] as ObjectType);
  if (!spec.startsWith('combine:')) throw unsupported(spec);
  return spec
    .slice('combine:'.length)
    .split('+')
    .map((part) => parseFilter(percentDecoded(part, spec)))
    .reduce(both);
}

/** An object passes if it passes both filters. */
function both(one: ObjectFilter, other: ObjectFilter): ObjectFilter {
  const blobLimit = least(one.blobLimit, other.blobLimit);
  const treeDepth = least(one.treeDepth, other.treeDepth);
  const omit = [...(one.omit ?? []), ...(other.omit ?? [])];
  return {
    ...(blobLimit === undefined ? {} : { blobLimit }),
    ...(treeDepth === undefined ? {} : { treeDepth }),
    ...(omit.length === 0 ? {} : { omit: new Set(omit) }),
  };
}

const least = (one = Number.POSITIVE_INFINITY, other = Number.POSITIVE_INFINITY): number | undefined =>
  one === Number.POSITIVE_INFINITY && other === one ? undefined : Math.min(one, other);

function onlyType(type: ObjectType): ObjectFilter {
  const omit = new Set((['commit', 'tag', 'tree', 'blob'] as const).filter((other) => other !== type));
  // Without blobs and trees, trees need not be read.
  const contents = type === 'blob' ? {} : type === 'tree' ? { blobLimit: 0 } : { treeDepth: 0 };
  return { ...contents, omit };
}

/** As git reads a part of `combine:`: these characters have to be escaped, and others may be. */
function percentDecoded(part: string, spec: string): string {
  if (/[\0- ~`!@#$^&*()[\]{}\\;'",<>?]/.test(part)) throw unsupported(spec);
  try {
    return decodeURIComponent(part);
  } catch {
    throw unsupported(spec);
  }
}

function unsupported(spec: string): WireError {
  return new WireError(
    'unsupported',
    `unsupported filter ${quoted(spec)}: use blob:none, blob:limit=<n>, tree:<n>, object:type=<type> or combine:<filters>`,
  );
}

const scaled = ([, number, unit]: RegExpExecArray): number => Number(number) * UNITS[unit!.toLowerCase()]!;

const UNITS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
