import type { ObjectFilter } from '../reachable.ts';
import { WireError } from './error.ts';
import { quoted } from './line.ts';

/**
 * Parses the filter of a partial clone (git-rev-list, `--filter`): `blob:none`, `blob:limit=<n>[kmg]`, `tree:<depth>`.
 * @throws WireError `unsupported` for all other filters: `sparse:oid`, `object:type`, `combine`
 */
export function parseFilter(spec: string): ObjectFilter {
  if (spec === 'blob:none') return { kind: 'blob:none' };
  const limit = /^blob:limit=([0-9]{1,15})([kmg]?)$/i.exec(spec);
  if (limit) return { kind: 'blob:limit', bytes: Number(limit[1]) * UNITS[limit[2]!.toLowerCase()]! };
  const tree = /^tree:([0-9]{1,9})$/.exec(spec);
  if (tree) return { kind: 'tree', depth: Number(tree[1]) };
  throw new WireError(
    'unsupported',
    `unsupported filter ${quoted(spec)}: use blob:none, blob:limit=<n> or tree:<n>`,
  );
}

const UNITS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
